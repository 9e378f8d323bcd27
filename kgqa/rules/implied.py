"""Which single edges imply a relation: relations that say the same, inverses, sub-relations, and texts that put two names together."""

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
"""Places of the hash table of pairs when it is new: a power of two, and so is it when it grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpliedRelations:
    """How often an edge with a role goes with a fact of a relation, for the pairs of role and relation of which there is any."""

    relations: Adjacency
    """For each role the relations that an edge with it could imply; the other columns have one entry for each entry of its targets."""
    support: Counts
    """Pairs (x, y) joined by the role of which the relation holds."""
    typed: Counts
    """Pairs joined by the role of which x has some object of the relation, and y is one somewhere; never 0."""

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """The lower end of the 95% Wilson interval of ``support / typed``; of a pair that is not there it is 0."""
        return wilson_low(self.support, self.typed)

    @property
    def share(self) -> npt.NDArray[np.float64]:
        """``support / typed`` itself."""
        return self.support / self.typed


def mine_implied(graph: RoleGraph, head: IntArray, relation: IntArray, tail: IntArray) -> ImpliedRelations:
    """What each role of ``graph`` implies of the relations of the given facts; a relation says nothing about itself.

    O(edges × relations of their ends); memory: at most 150 bytes for each pair of role and relation that occurs.
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
    """A hash table: ``role * relation_count + relation``, -1 where there is none, and of each its support and typed."""
    keys, counts, count = np.full(FIRST_SIZE, -1, np.int64), np.zeros((FIRST_SIZE, 2), np.int64), 0
    has, true = np.zeros(relation_count, np.bool_), np.full(relation_count, -1, np.int64)
    for x in range(len(offsets) - 1):
        if subjects[x] == subjects[x + 1]:
            continue
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = True
        fact = fact_offsets[x]
        i = offsets[x]
        while i < offsets[x + 1]:
            y = targets[i]
            stop = i
            while stop < offsets[x + 1] and targets[stop] == y:
                stop += 1
            while fact < fact_offsets[x + 1] and tails[fact] < y:
                fact += 1
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
    """Where ``key`` is in a hash table with a power of two of places, or where it would go."""
    place = np.int64(mixed(np.uint64(key)) & np.uint64(len(keys) - 1))
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) & (len(keys) - 1)
    return place


@kernel
def _larger(keys, counts):  # type: ignore[no-untyped-def]
    """The same hash table with twice as many places."""
    larger, new_counts = np.full(2 * len(keys), -1, np.int64), np.zeros((2 * len(keys), 2), np.int64)
    for old in range(len(keys)):
        if keys[old] >= 0:
            place = _place(larger, keys[old])
            larger[place], new_counts[place] = keys[old], counts[old]
    return larger, new_counts
