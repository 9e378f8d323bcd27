"""Counts the bodies of path rules: the pairs that a path joins and that could have the relation. Confidence divides support by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.parallel import Engine, ranges
from kgqa.arrays.rows import Adjacency, IntArray, row_bounds
from kgqa.rules.roles import RoleGraph, RoleRuns

PARTS = 16
"""Number of ranges of entities that are counted in parallel."""
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """A graph, with the relations that each entity is a subject and an object of."""

    runs: RoleRuns
    roles: int
    """Number of roles of the graph."""
    subjects: Adjacency
    """Entity → the relations that it is a subject of."""
    objects: Adjacency
    """Entity → the relations that it is an object of."""
    relations: int
    """Number of relations of the graph."""

    @classmethod
    def of(cls, graph: RoleGraph, head: IntArray, relation: IntArray, tail: IntArray) -> Bodies:
        """For the paths of ``graph`` and the relations of the given facts (int32 columns)."""
        subjects, objects = (Adjacency.from_pairs(ends, relation, graph.entities) for ends in (head, tail))
        return cls(runs=graph.runs(), roles=graph.role_count, subjects=subjects, objects=objects, relations=graph.relations)

    def count(self, keys: Counts, *, stride: int, engine: Engine) -> tuple[Counts, Counts]:
        """``body`` and ``typed`` (:class:`~kgqa.rules.paths.PathRules`) of each key, counted over every ``stride``-th entity x.

        ``keys`` (int64, ascending) are those of :func:`kgqa.rules.paths._supports`. O(two-hop paths with some key); memory: 8 bytes per
        entity and worker.
        """
        entities = len(self.runs.offsets) - 1
        path, relation = keys // self.relations, (keys % self.relations).astype(np.int32)
        bounds, second = row_bounds(path // self.roles, self.roles), (path % self.roles).astype(np.int32)
        arguments = (
            stride, self.relations, self.runs.offsets, self.runs.roles, self.runs.starts, self.runs.targets, bounds, second, relation,
            self.subjects.offsets, self.subjects.targets, self.objects.offsets, self.objects.targets,
        )  # fmt: skip
        body, typed = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        for more_body, more_typed in engine.map(_count_part, ranges(entities, PARTS), arguments):
            body += more_body
            typed += more_typed
        return body, typed


def _count_part(entities: tuple[int, int], stride: int, relations: int, *arrays: Any) -> tuple[Counts, Counts]:
    return _count_bodies(*arrays, *entities, stride, relations)  # type: ignore[call-arg]


@kernel
def _count_bodies(  # type: ignore[no-untyped-def]
    offsets, roles, starts, targets, bounds, seconds, relations, subjects, of_subject, objects, of_object,
    first_x, last_x, stride, relation_count,
):  # fmt: skip
    """Count ``body`` and ``typed`` of each rule over the entities x from ``first_x`` to ``last_x``.

    The rules with first role a are ``bounds[a]:bounds[a + 1]``, with second role ``seconds`` and relation ``relations``. A pair (x, y)
    counts once per rule however many z join it, so all ends of one path are marked before the next path begins.
    """
    body, typed_counts = np.zeros(len(relations), np.int64), np.zeros(len(relations), np.int64)
    has, rule_of = np.zeros(relation_count, np.bool_), np.full(relation_count, -1, np.int64)
    slot_of = np.full(len(bounds) - 1, -1, np.int64)
    slots, rules = np.empty(len(bounds), np.int64), np.empty(len(relations), np.int64)
    latest = np.empty(len(bounds), np.int64)
    legs, previous_legs = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64)
    last_turn, turn = np.zeros(len(offsets) - 1, np.int64), 0
    for x in range(first_x + (-first_x) % stride, last_x, stride):
        if subjects[x] == subjects[x + 1]:
            continue
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = True
        for run in range(offsets[x], offsets[x + 1]):
            first = roles[run]
            count = _group_by_second_role(bounds[first], bounds[first + 1], seconds, relations, has, slot_of, slots, rules)
            if count == 0:
                continue
            # Second hops are collected once per first hop, and then visited path by path.
            legs, previous_legs = _link_legs(
                offsets, roles, targets[starts[run] : starts[run + 1]], slot_of, latest[:count], legs, previous_legs
            )
            for slot in range(count):
                slot_of[seconds[rules[slots[slot]]]] = -1
                if latest[slot] < 0:
                    continue
                # ``rule_of`` maps a relation to its rule on this path, so that one look at y serves all rules of the path.
                turn += 1
                for rule in rules[slots[slot] : slots[slot + 1]]:
                    rule_of[relations[rule]] = rule
                ends = _count_ends(
                    x, latest[slot], legs, previous_legs, starts, targets, objects, of_object, rule_of, last_turn, turn, typed_counts
                )
                for rule in rules[slots[slot] : slots[slot + 1]]:
                    rule_of[relations[rule]] = -1
                    body[rule] += ends
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = False
    return body, typed_counts


@kernel
def _group_by_second_role(low, high, seconds, relations, has, slot_of, slots, rules):  # type: ignore[no-untyped-def]
    """Group the rules ``low`` to ``high`` by second role, if x ``has`` their relation; return the number of distinct second roles.

    Each role gets a slot in ``slot_of``; the rules of a slot are ``rules[slots[slot]:slots[slot + 1]]``. Rules ascend by second role, so
    those of a slot follow each other.
    """
    count = rule_count = 0
    for rule in range(low, high):
        if has[relations[rule]]:
            if slot_of[seconds[rule]] < 0:
                slot_of[seconds[rule]] = count
                slots[count] = rule_count
                count += 1
            rules[rule_count] = rule
            rule_count += 1
    slots[count] = rule_count
    return count


@kernel
def _link_legs(offsets, roles, via, slot_of, latest, legs, previous_legs):  # type: ignore[no-untyped-def]
    """Collect the runs of the entities ``via`` whose role has a slot.

    The runs of a slot form a linked list: from ``latest[slot]`` through ``previous_legs`` to -1. Returns ``legs`` and ``previous_legs``,
    which may have grown.
    """
    latest[:] = -1
    size = 0
    for z in via:
        for leg in range(offsets[z], offsets[z + 1]):
            slot = slot_of[roles[leg]]
            if slot < 0:
                continue
            if size == len(legs):
                legs, previous_legs = grown(legs, size + 1), grown(previous_legs, size + 1)
            legs[size], previous_legs[size] = leg, latest[slot]
            latest[slot] = size
            size += 1
    return legs, previous_legs


@kernel
def _count_ends(x, at, legs, previous_legs, starts, targets, objects, of_object, rule_of, last_turn, turn, typed_counts):  # type: ignore[no-untyped-def]
    """Number of distinct ends of the linked runs, without ``x``; ``typed_counts`` gets each end for the relations that have it as object.

    ``last_turn`` (int64, entities) holds the turn in which an entity was last counted.
    """
    ends = 0
    while at >= 0:
        for i in range(starts[legs[at]], starts[legs[at] + 1]):
            y = targets[i]
            if y == x or last_turn[y] == turn:
                continue
            last_turn[y] = turn
            ends += 1
            for j in range(objects[y], objects[y + 1]):
                rule = rule_of[of_object[j]]
                if rule >= 0:
                    typed_counts[rule] += 1
        at = previous_legs[at]
    return ends
