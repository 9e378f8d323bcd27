"""Which single edges imply a relation: relations that say the same, inverses, sub-relations, and texts that put two names together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.growth import grown
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, row_bounds
from kgqa.arrays.search import lower_bound
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.roles import RoleGraph

Counts = npt.NDArray[np.int64]


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

    O(edges × relations of the end that has fewer × log of those of the other); memory: 20 bytes for each pair of role and relation that
    occurs, twice that while it grows, and 16 for each edge.
    """
    facts = np.lexsort((relation, tail, head))
    edges = np.argsort(graph.roles, kind="stable")  # the edges of a role stay ordered by (source, target)
    subjects, objects = (Adjacency.from_pairs(ends, relation, graph.entities) for ends in (head, tail))
    offsets, relations, support, typed = _count_implied(
        row_bounds(graph.roles[edges], graph.role_count), graph.sources()[edges], graph.targets[edges], graph.relations,
        row_bounds(head[facts], graph.entities), tail[facts], relation[facts],
        subjects.offsets, subjects.targets, objects.offsets, objects.targets,
    )  # fmt: skip
    return ImpliedRelations(relations=Adjacency(offsets=offsets, targets=relations), support=support, typed=typed)


@kernel
def _count_implied(  # type: ignore[no-untyped-def]
    bounds, sources, targets, relation_count, fact_offsets, tails, relations, subjects, of_subject, objects, of_object
):
    """One role after the other, so that the counts of one role alone have an entry for every relation."""
    offsets = np.zeros(len(bounds), np.int64)
    found, supports, typeds = np.empty(1 << 10, np.int32), np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64)
    support, typed = np.zeros(relation_count, np.int64), np.zeros(relation_count, np.int64)
    met, total = np.empty(relation_count, np.int32), 0
    for role in range(len(bounds) - 1):
        count = 0
        for edge in range(bounds[role], bounds[role + 1]):
            x, y = sources[edge], targets[edge]
            count = _shared(of_subject[subjects[x] : subjects[x + 1]], of_object[objects[y] : objects[y + 1]], typed, met, count)
            fact, latest = lower_bound(tails, fact_offsets[x], fact_offsets[x + 1], y), -1
            while fact < fact_offsets[x + 1] and tails[fact] == y:
                if relations[fact] != latest:
                    latest = relations[fact]
                    support[latest] += 1
                fact += 1
        found, supports, typeds = grown(found, total + count), grown(supports, total + count), grown(typeds, total + count)
        for relation in np.sort(met[:count]):
            if role != 2 * relation:
                found[total], supports[total], typeds[total] = relation, support[relation], typed[relation]
                total += 1
            support[relation] = typed[relation] = 0
        offsets[role + 1] = total
    return offsets, found[:total].copy(), supports[:total].copy(), typeds[:total].copy()


@kernel
def _shared(one, other, counts, met, count):  # type: ignore[no-untyped-def]
    """Count what two rows that ascend share: the shorter is walked, and in the longer one each is looked for.

    What had no count before goes to ``met``, of which ``count`` are there already; how many there are then.
    """
    if len(one) > len(other):
        one, other = other, one
    low = 0
    for value in one:
        low = lower_bound(other, low, len(other), value)
        if low == len(other):
            break
        if other[low] == value:
            if counts[value] == 0:
                met[count] = value
                count += 1
            counts[value] += 1
    return count
