"""Path rules: two hops in a row that imply a relation, with a confidence.

A path rule reads ``r1(x, z) and r2(z, y) => r(x, y)``. Its counts are those of AMIE's measures (Galárraga et al. 2013, section 3):
support, head coverage, and confidence under the partial completeness assumption. Under that assumption a pair counts against the rule only
if the graph has some object of r for x. The candidates of a question are end points of the right kind, so :attr:`PathRules.confidence` also
ignores every y that is not an object of r anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.parallel import Engine, Threads, ranges
from kgqa.arrays.rows import IntArray, Offsets, paired, row_bounds
from kgqa.arrays.search import lower_bound
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.bodies import PARTS, Bodies, Counts
from kgqa.rules.roles import RoleGraph

STRIDE = 16
"""One of this many entities is sampled first, to discard paths that cannot become rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRules:
    """Rules as columns, ordered by (first, second, relation)."""

    first: IntArray
    """The role from x to z (:mod:`kgqa.rules.roles`); ``second`` is the role from z to y."""
    second: IntArray
    relation: IntArray
    """Row of the relation table."""
    support: Counts
    """Number of pairs (x, y) that the path joins and that have the relation."""
    body: Counts
    """Number of pairs that the path joins, if x has any object of the relation."""
    typed: Counts
    """Number of pairs in ``body`` whose y is an object of the relation for some subject."""
    head_facts: Counts
    """Number of facts of the relation."""

    def __len__(self) -> int:
        """The number of rules."""
        return len(self.relation)

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """The lower end of the 95% Wilson interval of ``support / typed``, which discounts rules with few cases."""
        return wilson_low(self.support, self.typed)

    def select(self, mask: npt.NDArray[np.bool_]) -> PathRules:
        """The rules with a true entry in ``mask``."""
        return PathRules(**{field.name: getattr(self, field.name)[mask] for field in fields(self)})


def mine_paths(
    graph: RoleGraph,
    head: IntArray,
    relation: IntArray,
    tail: IntArray,
    *,
    min_support: int,
    min_confidence: float,
    engine: Engine | None = None,
) -> PathRules:
    """Mine all path rules in ``graph`` for the relations of the given facts; hubs are not capped.

    A rule needs a support of ``min_support`` and a confidence of ``min_confidence``. The result does not depend on ``engine``. Counting
    bodies is the expensive part, so paths that are far below ``min_confidence`` in a sample of entities are discarded before it. O(two-hop
    paths of the remaining rules); memory: 16 bytes per supporting pair and path, and 24 per hop from the neighbours of one entity.
    """
    roles, engine = graph.role_count, engine or Threads()
    back = graph.reversed()
    pairs = _all_supports(graph, back, head, relation, tail, engine=engine)
    keys, support = np.unique(pairs, return_counts=True)
    # The support is cheap to count and exact, so it prunes before the bodies are counted.
    keys, support = keys[support >= min_support], support[support >= min_support]
    bodies = Bodies.of(graph, head, relation, tail)
    # In the sample of every STRIDE-th x, keep a path unless its hits lie more than about three standard errors below what it needs.
    is_sampled = head % STRIDE == 0
    hits = _occurrences(keys, _all_supports(graph, back, head[is_sampled], relation[is_sampled], tail[is_sampled], engine=engine))
    _, typed = bodies.count(keys, stride=STRIDE, engine=engine)
    hopeful = hits + 3 * np.sqrt(hits + 1.0) + 1 >= min_confidence * typed
    keys, support = keys[hopeful], support[hopeful]
    body, typed = bodies.count(keys, stride=1, engine=engine)
    path, of = keys // graph.relations, keys % graph.relations
    rules = PathRules(
        first=(path // roles).astype(np.int32), second=(path % roles).astype(np.int32), relation=of.astype(np.int32), support=support,
        body=body, typed=typed, head_facts=np.bincount(relation, minlength=graph.relations)[of],
    )  # fmt: skip
    return rules.select(rules.confidence >= min_confidence)


def _all_supports(graph: RoleGraph, back: RoleGraph, head: IntArray, relation: IntArray, tail: IntArray, *, engine: Engine) -> Counts:
    """The distinct paths between the ends of each fact, as keys (:func:`_supports`), for all facts."""
    arguments = (
        head, relation, tail, graph.role_count, graph.relations,
        graph.offsets, graph.targets, graph.roles, back.offsets, back.targets, back.roles,
    )  # fmt: skip
    return np.concatenate(list(engine.map(_supports_part, ranges(len(head), PARTS), arguments)))


def _supports_part(
    bounds: tuple[int, int], head: IntArray, relation: IntArray, tail: IntArray, roles: int, relations: int, *edges: Any
) -> Counts:
    facts = slice(*bounds)
    return _supports(*edges, head[facts], relation[facts], tail[facts], roles, relations)  # type: ignore[call-arg]


def path_index(rules: PathRules, roles: int) -> tuple[Offsets, Counts]:
    """An index for looking up rules: the bounds of each first role (roles + 1), and ``second << 32 | relation`` for each rule.

    The keys ascend within a first role. Memory: 8 bytes per role and per rule.
    """
    return row_bounds(rules.first, roles), paired(rules.second, rules.relation)


def _occurrences(keys: Counts, values: Counts) -> Counts:
    """How often each of the ``keys``, which ascend, occurs in ``values``.

    >>> _occurrences(np.array([2, 5]), np.array([5, 1, 5])).tolist()
    [0, 2]
    """
    values = np.sort(values)
    return np.searchsorted(values, keys, side="right") - np.searchsorted(values, keys)


@kernel
def _supports(offsets, targets, roles, back_offsets, back_targets, back_roles, heads, relations, tails, role_count, relation_count):  # type: ignore[no-untyped-def]
    """The distinct two-hop paths from x to y for each fact (x, r, y), as ``(first * role_count + second) * relation_count + r``.

    Input: edges by source and, in the ``back_*`` arrays, by target; facts as int32 columns. Returns int64 keys, ascending within a fact.
    O(sum over facts of the smaller degree of x and y, times a binary search).
    """
    out, count = np.empty(1 << 16, np.int64), 0
    for fact in range(len(heads)):
        x, y = heads[fact], tails[fact]
        begin = count
        short, short_end, short_targets = offsets[x], offsets[x + 1], targets
        low, long_end, long_targets = back_offsets[y], back_offsets[y + 1], back_targets
        is_swapped = short_end - short > long_end - low
        if is_swapped:
            short, short_end, short_targets, low, long_end, long_targets = low, long_end, long_targets, short, short_end, short_targets
        # Intersect the neighbours of x and y: walk the shorter row, and search the longer one for each of its entities. Rows ascend, so
        # each search starts where the last one ended.
        while short < short_end:
            z = short_targets[short]
            stop = short
            while stop < short_end and short_targets[stop] == z:
                stop += 1
            place = low = lower_bound(long_targets, low, long_end, z)
            # Not "z not in (x, y)": numba needs one type in a tuple, and columns of facts may have two.
            while z != x and z != y and place < long_end and long_targets[place] == z:  # noqa: PLR1714
                for i in range(short, stop):
                    first, second = (roles[place], back_roles[i]) if is_swapped else (roles[i], back_roles[place])
                    if count == len(out):
                        out = grown(out, count + 1)
                    out[count] = (np.int64(first) * role_count + second) * relation_count + relations[fact]
                    count += 1
                place += 1
            short = stop
        # Several z may give the same path; a fact counts once for each path.
        if count > begin + 1:
            part = np.sort(out[begin:count])
            size = begin
            for i in range(len(part)):
                if i == 0 or part[i] != part[i - 1]:
                    out[size] = part[i]
                    size += 1
            count = size
    return out[:count].copy()
