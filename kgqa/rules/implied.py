"""Which single edges imply a relation: relations that say the same, inverses, sub-relations, and texts that put two names together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, row_bounds
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.roles import RoleGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpliedRelations:
    """For each role (row) and relation (column) how often an edge with the role goes with a fact of the relation."""

    support: npt.NDArray[np.int64]
    """Pairs (x, y) joined by the role of which the relation holds."""
    typed: npt.NDArray[np.int64]
    """Pairs joined by the role of which x has some object of the relation, and y is one somewhere."""

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """The lower end of the 95% Wilson interval of ``support / typed``."""
        return wilson_low(self.support, self.typed)

    @property
    def share(self) -> npt.NDArray[np.float64]:
        """``support / typed`` itself."""
        return self.support / np.maximum(self.typed, 1)


def mine_implied(graph: RoleGraph, head: IntArray, relation: IntArray, tail: IntArray) -> ImpliedRelations:
    """What each role of ``graph`` implies of the relations of the given facts; a relation says nothing about itself.

    O(edges × relations of their ends); memory: 16 bytes for each pair of role and relation.
    """
    order = np.lexsort((relation, tail, head))
    subjects, objects = (Adjacency.from_pairs(ends, relation, graph.entities) for ends in (head, tail))
    support, typed = _count_implied(
        graph.offsets, graph.targets, graph.roles, graph.role_count, graph.relations,
        row_bounds(head[order], graph.entities), tail[order], relation[order],
        subjects.offsets, subjects.targets, objects.offsets, objects.targets,
    )  # fmt: skip
    same = np.arange(graph.relations)
    support[2 * same, same] = typed[2 * same, same] = 0
    return ImpliedRelations(support=support, typed=typed)


@kernel
def _count_implied(  # type: ignore[no-untyped-def]
    offsets, targets, roles, role_count, relation_count, fact_offsets, tails, relations, subjects, of_subject, objects, of_object
):
    support = np.zeros((role_count, relation_count), np.int64)
    typed = np.zeros((role_count, relation_count), np.int64)
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
                        typed[roles[k], relation] += 1
                        if true[relation] == i:
                            support[roles[k], relation] += 1
            i = stop
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = False
        for i in range(fact_offsets[x], fact_offsets[x + 1]):
            true[relations[i]] = -1
    return support, typed
