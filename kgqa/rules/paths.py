"""Composed paths: which two hops, one after the other, imply a relation, and how surely.

A path rule says ``r1(x, z) and r2(z, y) => r(x, y)``. Its measures are those of AMIE (Galárraga et al. 2013, section 3): support, head
coverage and confidence under the partial completeness assumption, which counts a pair against the rule only where the graph knows some
object of r for x. As questions offer end points of the right kind only, :attr:`PathRules.confidence` also leaves out the y that is never
an object of r.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Offsets, paired, row_bounds
from kgqa.arrays.search import lower_bound
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.bodies import PARTS, Bodies, Counts
from kgqa.rules.roles import RoleGraph
from kgqa.settings.workers import worker_count

STRIDE = 16
"""Every so many-th entity is looked at first, to see which paths cannot become rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRules:
    """Rules as columns, ordered by (first, second, relation)."""

    first: IntArray
    """The role from x to z (:mod:`kgqa.rules.roles`); ``second`` that from z to y."""
    second: IntArray
    relation: IntArray
    """Row of the relation table."""
    support: Counts
    """Pairs (x, y) that the path joins and of which the relation holds."""
    body: Counts
    """Pairs that the path joins and of which x has some object of the relation."""
    typed: Counts
    """Those of them of which y is an object of the relation somewhere."""
    head_facts: Counts
    """Facts of the relation."""

    def __len__(self) -> int:
        """Number of rules."""
        return len(self.relation)

    @property
    def head_coverage(self) -> npt.NDArray[np.float64]:
        """The share of the relation's facts that the rule finds."""
        return self.support / self.head_facts

    @property
    def pca_confidence(self) -> npt.NDArray[np.float64]:
        """AMIE's: the share of ``body`` of which the relation holds."""
        return self.support / self.body

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """The lower end of the 95% Wilson interval of the share of ``typed`` of which the relation holds: few cases count for less."""
        return wilson_low(self.support, self.typed)

    def select(self, kept: npt.NDArray[np.bool_]) -> PathRules:
        """The rules for which ``kept`` holds."""
        return PathRules(**{field.name: getattr(self, field.name)[kept] for field in fields(self)})


def mine_paths(
    graph: RoleGraph,
    head: IntArray,
    relation: IntArray,
    tail: IntArray,
    *,
    min_support: int,
    min_confidence: float,
    workers: int | None = None,
) -> PathRules:
    """All path rules over ``graph`` for the relations of the given facts, hubs included.

    Of a rule ``min_support`` pairs must be true, and its confidence at least ``min_confidence``. The rules do not depend on ``workers``.
    Paths that a first look at every ``STRIDE``-th x shows to be far below ``min_confidence`` are not counted out. O(paths of two hops that
    some rule asks for) steps; memory: 16 bytes a support, 24 a hop that leaves one entity's neighbours.
    """
    roles, workers = graph.role_count, worker_count(workers)
    back = graph.reversed()
    found = _all_supports(graph, back, head, relation, tail, workers=workers)
    keys, support = np.unique(found, return_counts=True)
    keys, support = keys[support >= min_support], support[support >= min_support]
    bodies = Bodies.of(graph, head, relation, tail)
    looked = head % STRIDE == 0
    hits = _occurrences(keys, _all_supports(graph, back, head[looked], relation[looked], tail[looked], workers=workers))
    _, typed = bodies.count(keys, stride=STRIDE, workers=workers)
    hopeful = hits + 3 * np.sqrt(hits + 1.0) + 1 >= min_confidence * typed
    keys, support = keys[hopeful], support[hopeful]
    body, typed = bodies.count(keys, stride=1, workers=workers)
    path, of = keys // graph.relations, keys % graph.relations
    rules = PathRules(
        first=(path // roles).astype(np.int32), second=(path % roles).astype(np.int32), relation=of.astype(np.int32), support=support,
        body=body, typed=typed, head_facts=np.bincount(relation, minlength=graph.relations)[of],
    )  # fmt: skip
    return rules.select(rules.confidence >= min_confidence)


def _all_supports(graph: RoleGraph, back: RoleGraph, head: IntArray, relation: IntArray, tail: IntArray, *, workers: int) -> Counts:
    """For each fact the distinct paths that join its ends, as keys."""
    bounds = np.linspace(0, len(head), PARTS + 1).astype(np.int64)

    def run(part: int) -> Counts:
        facts = slice(bounds[part], bounds[part + 1])
        return _supports(  # type: ignore[no-any-return]
            graph.offsets, graph.targets, graph.roles, back.offsets, back.targets, back.roles,
            head[facts], relation[facts], tail[facts], graph.role_count, graph.relations,
        )  # fmt: skip

    with ThreadPoolExecutor(workers) as pool:
        return np.concatenate(list(pool.map(run, range(PARTS))))


def path_index(rules: PathRules, roles: int) -> tuple[Offsets, Counts]:
    """Where the rules of each first role begin (roles + 1), and of each rule ``second << 32 | relation``, which ascend within a first role.

    Memory: 8 bytes a role and a rule.
    """
    return row_bounds(rules.first, roles), paired(rules.second, rules.relation)


def _occurrences(keys: Counts, found: Counts) -> Counts:
    """How often each of the ``keys``, which ascend, is in ``found``."""
    found = np.sort(found)
    return np.searchsorted(found, keys, side="right") - np.searchsorted(found, keys)


@kernel
def _supports(offsets, targets, roles, back_offsets, back_targets, back_roles, heads, relations, tails, role_count, relation_count):  # type: ignore[no-untyped-def]
    """For each fact (x, r, y) the distinct paths of two hops from x to y, as ``(first * role_count + second) * relations + r``."""
    out, count = np.empty(1 << 16, np.int64), 0
    for fact in range(len(heads)):
        x, y = heads[fact], tails[fact]
        begin = count
        short, short_end, short_targets = offsets[x], offsets[x + 1], targets
        low, long_end, long_targets = back_offsets[y], back_offsets[y + 1], back_targets
        swapped = short_end - short > long_end - low
        if swapped:
            short, short_end, short_targets, low, long_end, long_targets = low, long_end, long_targets, short, short_end, short_targets
        # The shorter row is walked, and in the longer one each of its entities is looked for.
        while short < short_end:
            z = short_targets[short]
            stop = short
            while stop < short_end and short_targets[stop] == z:
                stop += 1
            place = low = lower_bound(long_targets, low, long_end, z)
            # Not "z not in (x, y)": columns of facts may have two types.
            while z != x and z != y and place < long_end and long_targets[place] == z:  # noqa: PLR1714
                for i in range(short, stop):
                    first, second = (roles[place], back_roles[i]) if swapped else (roles[i], back_roles[place])
                    if count == len(out):
                        out = grown(out, count + 1)
                    out[count] = (np.int64(first) * role_count + second) * relation_count + relations[fact]
                    count += 1
                place += 1
            short = stop
        if count > begin + 1:
            part = np.sort(out[begin:count])
            kept = begin
            for i in range(len(part)):
                if i == 0 or part[i] != part[i - 1]:
                    out[kept] = part[i]
                    kept += 1
            count = kept
    return out[:count].copy()
