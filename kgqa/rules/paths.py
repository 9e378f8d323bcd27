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

from kgqa.arrays.growth import grown
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import IntArray, Offsets, paired, row_bounds
from kgqa.rules.roles import RoleGraph
from kgqa.settings.workers import worker_count

STRIDE = 16
"""Every so many-th entity is looked at first, to see which paths cannot become rules."""
PARTS = 16
"""Ranges of entities that are counted one by one, so that sums of shares do not depend on the number of workers."""
Counts = npt.NDArray[np.int64]


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
    expected: npt.NDArray[np.float64]
    """Of how many of these the relation would hold if y were drawn as often as it is an object at all."""
    head_facts: Counts
    """Facts of the relation."""

    def __len__(self) -> int:
        """How many rules."""
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

    @property
    def lift(self) -> npt.NDArray[np.float64]:
        """How many times oftener the relation holds than for an end point drawn by its frequency."""
        return self.support / np.maximum(self.expected, 1e-12)

    def select(self, kept: npt.NDArray[np.bool_]) -> PathRules:
        """The rules for which ``kept`` holds."""
        return PathRules(**{field.name: getattr(self, field.name)[kept] for field in fields(self)})


def wilson_low(hits: npt.NDArray[np.integer], of: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """The lower end of the 95% interval (Wilson 1927) of ``hits / of``; 0 where ``of`` is 0."""
    z, n = 1.959963984540054, np.maximum(of, 1)
    share = hits / n
    low = (share + z * z / (2 * n) - z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    result: npt.NDArray[np.float64] = np.where(of > 0, low, 0.0)
    return result


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
    Paths that a first look at every ``STRIDE``-th x shows to be far below ``min_confidence`` are not counted out. O(sum over entities of
    the square of their degree) steps; memory: 16 bytes a path of one entity and worker, and of a support.
    """
    roles = graph.role_count
    back = graph.reversed()
    found = _all_supports(graph, back, head, relation, tail, workers=worker_count(workers))
    keys, support = np.unique(found, return_counts=True)
    keys, support = keys[support >= min_support], support[support >= min_support]
    objects, times = np.unique(paired(tail, relation), return_counts=True)
    subjects = np.unique(paired(head, relation))
    known = _Known(
        graph=graph,
        subjects=row_bounds(subjects >> 32, graph.entities), of_subject=(subjects & 0xFFFFFFFF).astype(np.int32),
        objects=row_bounds(objects >> 32, graph.entities), of_object=(objects & 0xFFFFFFFF).astype(np.int32),
        share=times / np.maximum(np.bincount((subjects & 0xFFFFFFFF), minlength=graph.relations), 1)[objects & 0xFFFFFFFF],
        workers=worker_count(workers),
    )  # fmt: skip
    looked = head % STRIDE == 0
    early = _all_supports(graph, back, head[looked], relation[looked], tail[looked], workers=worker_count(workers))
    hits = _occurrences(keys, early)
    _, typed, _ = _bodies(known, keys, STRIDE)
    hopeful = hits + 3 * np.sqrt(hits + 1.0) + 1 >= min_confidence * typed
    keys, support = keys[hopeful], support[hopeful]
    body, typed, expected = _bodies(known, keys, 1)
    path, of = keys // graph.relations, keys % graph.relations
    rules = PathRules(
        first=(path // roles).astype(np.int32), second=(path % roles).astype(np.int32), relation=of.astype(np.int32), support=support,
        body=body, typed=typed, expected=expected, head_facts=np.bincount(relation, minlength=graph.relations)[of],
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The graph, and for each entity the relations of which it is a subject and an object, the latter with how usual it is."""

    graph: RoleGraph
    subjects: Offsets
    of_subject: IntArray
    objects: Offsets
    of_object: IntArray
    share: npt.NDArray[np.float64]
    workers: int


def _occurrences(keys: Counts, found: Counts) -> Counts:
    """How often each of the ``keys``, which ascend, is in ``found``."""
    found = np.sort(found)
    return np.searchsorted(found, keys, side="right") - np.searchsorted(found, keys)


def _bodies(known: _Known, keys: Counts, stride: int) -> tuple[Counts, Counts, npt.NDArray[np.float64]]:
    """``body``, ``typed`` and ``expected`` of each key (path and relation), counted over every ``stride``-th x."""
    graph = known.graph
    paths, first = np.unique(keys // graph.relations, return_index=True)
    bounds = np.append(first, len(keys)).astype(np.int64)
    number = np.full(graph.role_count**2, -1, np.int32)
    number[paths] = np.arange(len(paths))
    relation = (keys % graph.relations).astype(np.int32)
    starts = np.linspace(0, graph.entities, PARTS + 1).astype(np.int64)

    def run(part: int) -> tuple[Counts, Counts, npt.NDArray[np.float64]]:
        return _count_bodies(  # type: ignore[no-any-return]
            graph.offsets, graph.targets, graph.roles, graph.role_count, number, bounds, relation, known.subjects, known.of_subject,
            known.objects, known.of_object, known.share, starts[part], starts[part + 1], stride, graph.relations,
        )  # fmt: skip

    body, typed = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
    expected = np.zeros(len(keys), np.float64)
    with ThreadPoolExecutor(known.workers) as pool:
        for more_body, more_typed, more_expected in pool.map(run, range(len(starts) - 1)):
            body += more_body
            typed += more_typed
            expected += more_expected
    return body, typed, expected


@kernel
def _supports(offsets, targets, roles, back_offsets, back_targets, back_roles, heads, relations, tails, role_count, relation_count):  # type: ignore[no-untyped-def]
    """For each fact (x, r, y) the distinct paths of two hops from x to y, as ``(first * role_count + second) * relations + r``."""
    out, count = np.empty(1 << 16, np.int64), 0
    for fact in range(len(heads)):
        x, y = heads[fact], tails[fact]
        begin = count
        at, end = offsets[x], offsets[x + 1]
        other, last = back_offsets[y], back_offsets[y + 1]
        swapped = end - at > last - other
        # The shorter row is walked, and in the longer one each of its entities is looked for.
        short, short_end = (other, last) if swapped else (at, end)
        low, long_end = (at, end) if swapped else (other, last)
        while short < short_end:
            z = back_targets[short] if swapped else targets[short]
            stop = short
            while stop < short_end and (back_targets[stop] if swapped else targets[stop]) == z:
                stop += 1
            high = long_end
            while low < high:
                middle = (low + high) // 2
                if (targets[middle] if swapped else back_targets[middle]) < z:
                    low = middle + 1
                else:
                    high = middle
            place = low
            # Not "z not in (x, y)": columns of facts may have two types.
            while z != x and z != y and place < long_end and (targets[place] if swapped else back_targets[place]) == z:  # noqa: PLR1714
                for i in range(short, stop):
                    first = roles[place] if swapped else roles[i]
                    second = back_roles[i] if swapped else back_roles[place]
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


@kernel
def _count_bodies(  # type: ignore[no-untyped-def]  # noqa: PLR0912 - one entity at a time, so that its paths need be sorted but once
    offsets, targets, roles, role_count, number, bounds, relations, subjects, of_subject, objects, of_object, share,
    first_x, last_x, stride, relation_count,
):  # fmt: skip
    body, typed = np.zeros(len(relations), np.int64), np.zeros(len(relations), np.int64)
    expected = np.zeros(len(relations), np.float64)
    has = np.zeros(relation_count, np.bool_)
    pairs = np.empty(1 << 16, np.int64)
    start = first_x + (-first_x) % stride
    for x in range(start, last_x, stride):
        if subjects[x] == subjects[x + 1]:
            continue
        count = 0
        for i in range(offsets[x], offsets[x + 1]):
            z = targets[i]
            row = np.int64(roles[i]) * role_count
            need = count + offsets[z + 1] - offsets[z]
            if need > len(pairs):
                pairs = grown(pairs, need)
            for j in range(offsets[z], offsets[z + 1]):
                path = number[row + roles[j]]
                if path >= 0 and targets[j] != x:
                    pairs[count] = (np.int64(path) << 32) | targets[j]
                    count += 1
        if count == 0:
            continue
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = True
        part = np.sort(pairs[:count])
        for i in range(count):
            if i > 0 and part[i] == part[i - 1]:
                continue
            path, y = part[i] >> 32, part[i] & 0xFFFFFFFF
            for rule in range(bounds[path], bounds[path + 1]):
                relation = relations[rule]
                if not has[relation]:
                    continue
                body[rule] += 1
                low, high = objects[y], objects[y + 1]
                while low < high:
                    middle = (low + high) // 2
                    if of_object[middle] < relation:
                        low = middle + 1
                    else:
                        high = middle
                if low < objects[y + 1] and of_object[low] == relation:
                    typed[rule] += 1
                    expected[rule] += share[low]
        for i in range(subjects[x], subjects[x + 1]):
            has[of_subject[i]] = False
    return body, typed, expected
