"""Of how many pairs that a path joins a relation could hold: what the support of a rule is compared with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import Adjacency, IntArray, row_bounds
from kgqa.rules.roles import RoleGraph, RoleRuns

PARTS = 16
"""Ranges of entities that threads take one after the other."""
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """A graph, and for each entity the relations of which it is a subject, and those of which it is an object."""

    runs: RoleRuns
    roles: int
    subjects: Adjacency
    objects: Adjacency
    relations: int

    @classmethod
    def of(cls, graph: RoleGraph, head: IntArray, relation: IntArray, tail: IntArray) -> Bodies:
        """Over the paths of ``graph``, for the relations of the given facts."""
        subjects, objects = (Adjacency.from_pairs(ends, relation, graph.entities) for ends in (head, tail))
        return cls(runs=graph.runs(), roles=graph.role_count, subjects=subjects, objects=objects, relations=graph.relations)

    def count(self, keys: Counts, *, stride: int, workers: int) -> tuple[Counts, Counts]:
        """``body`` and ``typed`` (:class:`~kgqa.rules.paths.PathRules`) of each key (:mod:`kgqa.rules.paths`), over every ``stride``-th x.

        ``keys`` ascend. O(paths that some key asks for over their x); memory: 8 bytes an entity and worker.
        """
        entities = len(self.runs.offsets) - 1
        path, relation = keys // self.relations, (keys % self.relations).astype(np.int32)
        bounds, second = row_bounds(path // self.roles, self.roles), (path % self.roles).astype(np.int32)
        starts = np.linspace(0, entities, PARTS + 1).astype(np.int64)

        def run(part: int) -> tuple[Counts, Counts]:
            return _count_bodies(  # type: ignore[no-any-return]
                self.runs.offsets, self.runs.roles, self.runs.starts, self.runs.targets, bounds, second, relation,
                self.subjects.offsets, self.subjects.targets, self.objects.offsets, self.objects.targets,
                starts[part], starts[part + 1], stride, self.relations,
            )  # fmt: skip

        body, typed = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        with ThreadPoolExecutor(workers) as pool:
            for more_body, more_typed in pool.map(run, range(PARTS)):
                body += more_body
                typed += more_typed
        return body, typed


@kernel
def _count_bodies(  # type: ignore[no-untyped-def]
    offsets, roles, starts, targets, bounds, seconds, relations, subjects, of_subject, objects, of_object,
    first_x, last_x, stride, relation_count,
):  # fmt: skip
    body, typed = np.zeros(len(relations), np.int64), np.zeros(len(relations), np.int64)
    has, rule_of = np.zeros(relation_count, np.bool_), np.full(relation_count, -1, np.int64)
    slot_of = np.full(len(bounds) - 1, -1, np.int64)
    slots, asked = np.empty(len(bounds), np.int64), np.empty(len(relations), np.int64)
    latest = np.empty(len(bounds), np.int64)
    legs, before = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64)
    seen, turn = np.zeros(len(offsets) - 1, np.int64), 0
    for x in range(first_x + (-first_x) % stride, last_x, stride):
        if subjects[x] == subjects[x + 1]:
            continue
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = True
        for run in range(offsets[x], offsets[x + 1]):
            first = roles[run]
            count = _ask(bounds[first], bounds[first + 1], seconds, relations, has, slot_of, slots, asked)
            if count == 0:
                continue
            legs, before = _link_legs(offsets, roles, targets[starts[run] : starts[run + 1]], slot_of, latest[:count], legs, before)
            for slot in range(count):
                slot_of[seconds[asked[slots[slot]]]] = -1
                if latest[slot] < 0:
                    continue
                turn += 1
                for rule in asked[slots[slot] : slots[slot + 1]]:
                    rule_of[relations[rule]] = rule
                ends = _count_ends(x, latest[slot], legs, before, starts, targets, objects, of_object, rule_of, seen, turn, typed)
                for rule in asked[slots[slot] : slots[slot + 1]]:
                    rule_of[relations[rule]] = -1
                    body[rule] += ends
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = False
    return body, typed


@kernel
def _ask(low, high, seconds, relations, has, slot_of, slots, asked):  # type: ignore[no-untyped-def]
    """How many second roles the rules ``low`` to ``high`` ask for, of those whose relation x ``has``.

    Each role gets a slot in ``slot_of``; the rules of a slot are ``asked[slots[slot]:slots[slot + 1]]``.
    """
    count = rules = 0
    for rule in range(low, high):
        if has[relations[rule]]:
            if slot_of[seconds[rule]] < 0:
                slot_of[seconds[rule]] = count
                slots[count] = rules
                count += 1
            asked[rules] = rule
            rules += 1
    slots[count] = rules
    return count


@kernel
def _link_legs(offsets, roles, via, slot_of, latest, legs, before):  # type: ignore[no-untyped-def]
    """The runs that go on from ``via`` and have a slot: those of one slot are linked, from ``latest[slot]`` over ``before`` to -1."""
    latest[:] = -1
    found = 0
    for z in via:
        for leg in range(offsets[z], offsets[z + 1]):
            slot = slot_of[roles[leg]]
            if slot < 0:
                continue
            if found == len(legs):
                legs, before = grown(legs, found + 1), grown(before, found + 1)
            legs[found], before[found] = leg, latest[slot]
            latest[slot] = found
            found += 1
    return legs, before


@kernel
def _count_ends(x, at, legs, before, starts, targets, objects, of_object, rule_of, seen, turn, typed):  # type: ignore[no-untyped-def]
    """How many ends, ``x`` left out, the linked runs have; each counts once, and in ``typed`` for the rules that it is an object of."""
    ends = 0
    while at >= 0:
        for i in range(starts[legs[at]], starts[legs[at] + 1]):
            y = targets[i]
            if y == x or seen[y] == turn:
                continue
            seen[y] = turn
            ends += 1
            for j in range(objects[y], objects[y + 1]):
                rule = rule_of[of_object[j]]
                if rule >= 0:
                    typed[rule] += 1
        at = before[at]
    return ends
