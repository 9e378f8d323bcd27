"""Multi-hop questions as graphs of composable pairs, in the six shapes of the paper's table 1 (step S4).

chains   ``shape`` (its number in ``SHAPES``), ``edge_1`` to ``edge_3`` (rows of ``pairs``, -1 where the shape has fewer), ``draw`` (a
         random number by which they are chosen)

The order of the edges of each shape is that of ``EDGES``, and its questions come in the order of ``HOPS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import mixed, text_hashes
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import Adjacency
from kgqa.arrays.search import meet
from kgqa.recipes.musique.pool import tokens_of
from kgqa.recipes.musique.sides import Within, answers_within
from kgqa.settings.musique import SHAPES, ShapeSettings

EDGES: Mapping[str, tuple[tuple[int, int], ...]] = MappingProxyType(
    {
        "2hop": ((0, 1),),
        "3hop1": ((0, 1), (1, 2)),
        "3hop2": ((0, 2), (1, 2)),
        "4hop1": ((0, 1), (1, 2), (2, 3)),
        "4hop2": ((0, 2), (1, 2), (2, 3)),
        "4hop3": ((0, 1), (1, 3), (2, 3)),
    }
)
"""Shape → for each edge the hops, from 0, that it leads from and to."""
HOPS: Mapping[str, int] = MappingProxyType({name: len(edges) + 1 for name, edges in EDGES.items()})
CHAINS = pa.schema([("shape", pa.int8()), ("edge_1", pa.int32()), ("edge_2", pa.int32()), ("edge_3", pa.int32()), ("draw", pa.uint64())])
Bools = npt.NDArray[np.bool_]
Rows4 = npt.NDArray[np.int32]
"""Chains × 4 rows of ``single_hop``, -1 where a chain has fewer hops; or × a shape's number and rows of ``pairs``."""


def hops_of(shape: npt.NDArray[np.integer], edges: npt.NDArray[np.int32], pairs: pa.Table) -> Rows4:
    """The questions of each chain, in order; ``edges`` is chains × 3."""
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    found = np.full((len(shape), 4), -1, np.int32)
    for number, name in enumerate(SHAPES):
        mine = np.flatnonzero(shape == number)
        for place, (source, target) in enumerate(EDGES[name]):
            edge = edges[mine, place]
            found[mine, source], found[mine, target] = head[edge], tail[edge]
    return found


def build_chains(
    single_hop: pa.Table,
    pairs: pa.Table,
    usable: Bools,
    said: Adjacency,
    groups: Adjacency,
    settings: ShapeSettings,
    *,
    seed: int,
    ask: Callable[[npt.NDArray[np.int32]], Rows4] | None = None,
) -> pa.Table:
    """Every chain of the ``usable`` ones of ``pairs`` in each shape, but of the heads of one place in a question only ``fan_in``, drawn.

    ``said``: question → the answers' groups that it names; ``groups``: question → those of its answer. In a chain no two questions have the
    same paragraph or answer, and none names the answer of another but by the edge that leads from it. Sorted by shape and edges.

    ``ask`` finds them elsewhere: from the rows of ``pairs`` that may be used, the shape and three edges (-1: none) of each chain.
    """
    ids = text_hashes(single_hop["id"])
    tokens = tokens_of(single_hop)
    edges = _drawn_edges(pairs, usable, ids, tokens, settings, seed)
    found = ask(edges) if ask else _found(pairs, edges, single_hop["paragraph"].to_numpy(), tokens, said, groups, settings)
    shape = found[:, 0].astype(np.int8)
    hops = hops_of(shape, found[:, 1:], pairs)
    plain = ~_told_early(hops, answers_within(single_hop))
    found, shape, hops = found[plain], shape[plain], hops[plain]
    draw = _draws(shape, hops, np.append(ids, np.uint64(0)), np.uint64(seed))
    order = np.lexsort((found[:, 3], found[:, 2], found[:, 1], shape))
    columns = [shape[order], *(np.ascontiguousarray(found[order, place]) for place in (1, 2, 3)), draw[order]]
    return pa.table([pa.array(column) for column in columns], schema=CHAINS)


def _found(
    pairs: pa.Table,
    edges: npt.NDArray[np.int32],
    paragraph: npt.NDArray[np.int32],
    tokens: npt.NDArray[np.int32],
    said: Adjacency,
    groups: Adjacency,
    settings: ShapeSettings,
) -> Rows4:
    head, tail, start = (pairs[name].to_numpy() for name in ("head", "tail", "start"))
    first = np.searchsorted(tail[edges], np.arange(len(tokens) + 1)).astype(np.int64)
    limits = (settings.max_tokens_short, settings.max_tokens_long)
    rows: Rows4 = _chains(
        head, tail, start, edges, first, paragraph, tokens, said.offsets, said.targets, groups.offsets, groups.targets, *limits
    )
    return rows


def _drawn_edges(
    pairs: pa.Table, usable: Bools, ids: npt.NDArray[np.uint64], tokens: npt.NDArray[np.int32], settings: ShapeSettings, seed: int
) -> npt.NDArray[np.int32]:
    """Rows of ``pairs``, sorted by tail, place and head: usable ones of short questions, of each place at most ``fan_in``."""
    head, tail, start = (pairs[name].to_numpy() for name in ("head", "tail", "start"))
    short = np.flatnonzero(usable & (tokens[head] <= settings.max_tokens) & (tokens[tail] <= settings.max_tokens))
    draws = shuffling(ids[tail[short]] ^ ids[head[short]], start[short], purpose="heads of a place", seed=seed)
    table = pl.DataFrame({"edge": short.astype(np.int32), "tail": tail[short], "start": start[short], "head": head[short], "draw": draws})
    kept = table.sort("tail", "start", "draw", "head").filter(pl.int_range(pl.len()).over("tail", "start") < settings.fan_in)
    edges: npt.NDArray[np.int32] = kept.sort("tail", "start", "head")["edge"].to_numpy()
    return edges


def _told_early(hops: Rows4, within: Within) -> Bools:
    """Whether the answer to a hop holds that to a later one, however many lie between."""
    told = np.zeros(len(hops), np.bool_)
    for one in range(3):
        for other in range(one + 1, 4):
            both = np.flatnonzero(hops[:, other] >= 0)
            told[both] |= within.joins(hops[both, one], hops[both, other])
    return told


@kernel
def _draws(shape, hops, ids, seed):  # type: ignore[no-untyped-def]
    out = np.empty(len(shape), np.uint64)
    for i in range(len(shape)):
        value = mixed(seed + np.uint64(shape[i]) + np.uint64(1))
        for k in range(4):
            value = mixed(value ^ ids[hops[i, k]])
        out[i] = mixed(value)
    return out


@kernel
def _apart(said_offsets, said, group_offsets, groups, paragraph, one, other):  # type: ignore[no-untyped-def]
    """Whether two questions that no edge joins can be in one chain: with other paragraphs and answers, and neither names the other's."""
    if one == other or paragraph[one] == paragraph[other] or meet(group_offsets, groups, one, group_offsets, groups, other):
        return False
    names = meet(said_offsets, said, one, group_offsets, groups, other)
    return not names and not meet(said_offsets, said, other, group_offsets, groups, one)


@kernel(inline=True)
def _added(out, count, shape, one, other, third):  # type: ignore[no-untyped-def]
    if count == len(out):
        out = grown(out, count + 1)
    out[count, 0], out[count, 1], out[count, 2], out[count, 3] = shape, one, other, third
    return out, count + 1


@kernel
def _chains(head, tail, start, edges, first, paragraph, tokens, said_offsets, said, group_offsets, groups, short, long):  # type: ignore[no-untyped-def]
    """Rows of shape and three edges. ``first``: where the edges into each question begin in ``edges``."""
    known = (said_offsets, said, group_offsets, groups, paragraph)
    out = np.full((4096, 4), -1, np.int32)
    count = 0
    for i in range(len(edges)):
        e = edges[i]
        a, b = head[e], tail[e]
        if tokens[a] + tokens[b] <= short:
            out, count = _added(out, count, 0, e, -1, -1)
        for j in range(i + 1, first[b + 1]):  # a second head of b
            f = edges[j]
            if start[f] != start[e] and tokens[a] + tokens[b] + tokens[head[f]] <= short and _apart(*known, a, head[f]):
                out, count = _added(out, count, 2, e, f, -1)
        for j in range(first[a], first[a + 1]):  # c leads to a
            f = edges[j]
            c = head[f]
            total = tokens[a] + tokens[b] + tokens[c]
            if not _apart(*known, c, b):
                continue
            if total <= short:
                out, count = _added(out, count, 1, f, e, -1)
            for k in range(first[c], first[c + 1]):  # d leads to c
                d = head[edges[k]]
                if total + tokens[d] <= long and _apart(*known, d, a) and _apart(*known, d, b):
                    out, count = _added(out, count, 3, edges[k], f, e)
            for k in range(j + 1, first[a + 1]):  # d leads to a beside c
                d = head[edges[k]]
                fits = start[edges[k]] != start[f] and total + tokens[d] <= long
                if fits and _apart(*known, d, c) and _apart(*known, d, b):
                    out, count = _added(out, count, 4, f, edges[k], e)
            for k in range(first[b], first[b + 1]):  # d leads to b beside a
                d = head[edges[k]]
                fits = start[edges[k]] != start[e] and total + tokens[d] <= long
                if fits and _apart(*known, d, a) and _apart(*known, d, c):
                    out, count = _added(out, count, 5, f, e, edges[k])
    return out[:count]
