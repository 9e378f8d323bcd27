"""Single edges that imply a relation: synonymous relations, inverses, sub-relations, and texts that mention two entities together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, paired, row_bounds
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.roles import RoleGraph

Counts = npt.NDArray[np.int64]
FIRST_SIZE = 1 << 10
"""Initial size of the hash table of (role, relation) pairs; always a power of two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpliedRelations:
    """How often two entities that are joined by a role also have a relation, for all pairs of role and relation that occur."""

    relations: Adjacency
    """Role → the relations that it may imply; the other columns have one entry per entry of its targets."""
    support: Counts
    """Number of pairs (x, y) joined by the role that have the relation."""
    typed: Counts
    """Number of pairs joined by the role where x has some object of the relation and y is an object of it; at least 1."""

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """The lower end of the 95% Wilson interval of ``support / typed``; missing pairs have confidence 0."""
        return wilson_low(self.support, self.typed)

    @property
    def share(self) -> npt.NDArray[np.float64]:
        """The share ``support / typed``, without an allowance for few cases."""
        return self.support / self.typed


def mine_implied(graph: RoleGraph, head: IntArray, relation: IntArray, tail: IntArray) -> ImpliedRelations:
    """Count support and typed for each role of ``graph`` and each relation of the given facts, except a relation's own role.

    O(edges × relations of their ends); memory: at most 150 bytes per pair of role and relation that occurs.
    """
    order = np.argsort(paired(head, tail))
    subjects, objects = (Adjacency.from_pairs(ends, relation, graph.entities) for ends in (head, tail))
    keys, counts = _count_implied(
        graph.offsets, graph.targets, graph.roles, graph.relations,
        row_bounds(head[order], graph.entities), tail[order], relation[order],
        subjects.offsets, subjects.targets, objects.offsets, objects.targets,
    )  # fmt: skip
    rows = np.flatnonzero(keys >= 0)
    rows = rows[np.argsort(keys[rows])]
    role, of = keys[rows] // graph.relations, keys[rows] % graph.relations
    rows, role, of = (column[role != 2 * of] for column in (rows, role, of))
    relations = Adjacency(offsets=row_bounds(role, graph.role_count), targets=of.astype(np.int32))
    return ImpliedRelations(relations=relations, support=counts[rows, 0], typed=counts[rows, 1])


@kernel
def _count_implied(  # type: ignore[no-untyped-def]
    offsets, targets, roles, relation_count, fact_offsets, tails, relations, subjects, of_subject, objects, of_object
):
    """Count support and typed for each pair of role and relation, in an open hash table.

    Returns ``keys`` (int64, ``role * relation_count + relation``, -1 for a free slot) and ``counts`` (int64, slots × 2).
    """
    keys, counts, count = np.full(FIRST_SIZE, -1, np.int64), np.zeros((FIRST_SIZE, 2), np.int64), 0
    has, true = np.zeros(relation_count, np.bool_), np.full(relation_count, -1, np.int64)
    for x in range(len(offsets) - 1):
        if subjects[x] == subjects[x + 1]:
            continue
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = True
        # Edges and facts of x are both ordered by their end y, so one pass merges them.
        fact = fact_offsets[x]
        i = offsets[x]
        while i < offsets[x + 1]:
            y = targets[i]
            stop = i
            while stop < offsets[x + 1] and targets[stop] == y:
                stop += 1
            while fact < fact_offsets[x + 1] and tails[fact] < y:
                fact += 1
            # ``true[r] == i`` marks the relations that x has to y; i is new for each y, so nothing is cleared in between.
            while fact < fact_offsets[x + 1] and tails[fact] == y:
                true[relations[fact]] = i
                fact += 1
            for j in range(objects[y], objects[y + 1]):
                relation = of_object[j]
                if has[relation]:
                    for k in range(i, stop):
                        key = np.int64(roles[k]) * relation_count + relation
                        place = _place(keys, key)
                        if keys[place] < 0:
                            if 2 * count >= len(keys):
                                keys, counts = _larger(keys, counts)
                                place = _place(keys, key)
                            keys[place] = key
                            count += 1
                        counts[place, 0] += true[relation] == i
                        counts[place, 1] += 1
            i = stop
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = False
        for i in range(fact_offsets[x], fact_offsets[x + 1]):
            true[relations[i]] = -1
    return keys, counts


@kernel(inline=True)
def _place(keys, key):  # type: ignore[no-untyped-def]
    """The slot of ``key`` in the hash table, or the free slot where it belongs (linear probing)."""
    place = np.int64(mixed(np.uint64(key)) & np.uint64(len(keys) - 1))
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) & (len(keys) - 1)
    return place


@kernel
def _larger(keys, counts):  # type: ignore[no-untyped-def]
    """The same hash table with twice as many slots."""
    larger, new_counts = np.full(2 * len(keys), -1, np.int64), np.zeros((2 * len(keys), 2), np.int64)
    for old in range(len(keys)):
        if keys[old] >= 0:
            place = _place(larger, keys[old])
            larger[place], new_counts[place] = keys[old], counts[old]
    return larger, new_counts
