"""Step S4 (Trivedi et al. 2022): chains of composable pairs, in the six shapes of the paper's table 1.

chains   ``shape`` (number in ``SHAPES``), ``edge_1`` to ``edge_3`` (rows of ``pairs``, -1 for no edge), ``draw`` (a random number for the
         choice)

``EDGES`` gives the order of the edges of each shape, ``HOPS`` its number of questions.
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
from kgqa.recipes.musique.heads_and_tails import Within, answers_within
from kgqa.recipes.musique.pool import tokens_of
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
"""Shape → the hops (from 0) at both ends of each edge."""
HOPS: Mapping[str, int] = MappingProxyType({name: len(edges) + 1 for name, edges in EDGES.items()})
CHAINS = pa.schema([("shape", pa.int8()), ("edge_1", pa.int32()), ("edge_2", pa.int32()), ("edge_3", pa.int32()), ("draw", pa.uint64())])
Bools = npt.NDArray[np.bool_]
Rows4 = npt.NDArray[np.int32]
"""Chains × 4 rows of ``single_hop``, padded with -1; or chains × (shape number, three rows of ``pairs``)."""


def edges_of(chains: pa.Table) -> npt.NDArray[np.int32]:
    """The pairs of each chain (chains × 3, padded with -1)."""
    return np.stack([chains[f"edge_{place}"].to_numpy() for place in (1, 2, 3)], axis=1)


def chain_hops(chains: pa.Table, pairs: pa.Table) -> Rows4:
    """The questions of each chain of a table (:func:`hops_of`)."""
    return hops_of(chains["shape"].to_numpy(), edges_of(chains), pairs)


def hops_of(shape: npt.NDArray[np.integer], edges: npt.NDArray[np.int32], pairs: pa.Table) -> Rows4:
    """The questions of each chain, in order (chains × 4, padded with -1); ``edges``: chains × 3."""
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    hops = np.full((len(shape), 4), -1, np.int32)
    for number, name in enumerate(SHAPES):
        rows = np.flatnonzero(shape == number)
        for place, (source, target) in enumerate(EDGES[name]):
            edge = edges[rows, place]
            hops[rows, source], hops[rows, target] = head[edge], tail[edge]
    return hops


def build_chains(
    single_hop: pa.Table,
    pairs: pa.Table,
    usable: Bools,
    mentions: Adjacency,
    groups: Adjacency,
    settings: ShapeSettings,
    *,
    seed: int,
    ask: Callable[[npt.NDArray[np.int32]], Rows4] | None = None,
) -> pa.Table:
    """All chains of ``usable`` pairs in each shape, sorted by shape and edges; at most ``fan_in`` heads per place of a question, sampled.

    ``usable``: mask over ``pairs``. ``mentions``: question → groups of the answers that it names. ``groups``: question → groups of its own
    answer. No two questions of a chain share a paragraph or an answer; a question names another one's answer only where an edge says so.

    ``ask`` finds the chains elsewhere: rows of ``pairs`` → chains × (shape, three edges), -1 where there is no edge.
    """
    ids = text_hashes(single_hop["id"])
    tokens = tokens_of(single_hop)
    edges = _drawn_edges(pairs, usable, ids, tokens, settings, seed)
    rows = ask(edges) if ask else _search(pairs, edges, single_hop["paragraph"].to_numpy(), tokens, mentions, groups, settings)
    shape = rows[:, 0].astype(np.int8)
    hops = hops_of(shape, rows[:, 1:], pairs)
    is_regular = ~_early_answers(hops, answers_within(single_hop))
    rows, shape, hops = rows[is_regular], shape[is_regular], hops[is_regular]
    draw = _draws(shape, hops, np.append(ids, np.uint64(0)), np.uint64(seed))
    order = np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], shape))
    columns = [shape[order], *(np.ascontiguousarray(rows[order, place]) for place in (1, 2, 3)), draw[order]]
    return pa.table([pa.array(column) for column in columns], schema=CHAINS)


def _search(
    pairs: pa.Table,
    edges: npt.NDArray[np.int32],
    paragraph: npt.NDArray[np.int32],
    tokens: npt.NDArray[np.int32],
    mentions: Adjacency,
    groups: Adjacency,
    settings: ShapeSettings,
) -> Rows4:
    head, tail, start = (pairs[name].to_numpy() for name in ("head", "tail", "start"))
    edge_starts = np.searchsorted(tail[edges], np.arange(len(tokens) + 1)).astype(np.int64)
    limits = (settings.max_tokens_short, settings.max_tokens_long)
    return _chains(
        head,
        tail,
        start,
        edges,
        edge_starts,
        paragraph,
        tokens,
        mentions.offsets,
        mentions.targets,
        groups.offsets,
        groups.targets,
        *limits,
    )


def _drawn_edges(
    pairs: pa.Table, usable: Bools, ids: npt.NDArray[np.uint64], tokens: npt.NDArray[np.int32], settings: ShapeSettings, seed: int
) -> npt.NDArray[np.int32]:
    """Rows of ``pairs``, sorted by tail, place and head: usable pairs of short questions, at most ``fan_in`` per place."""
    head, tail, start = (pairs[name].to_numpy() for name in ("head", "tail", "start"))
    short_rows = np.flatnonzero(usable & (tokens[head] <= settings.max_tokens) & (tokens[tail] <= settings.max_tokens))
    draws = shuffling(ids[tail[short_rows]] ^ ids[head[short_rows]], start[short_rows], purpose="heads of a place", seed=seed)
    table = pl.DataFrame(
        {"edge": short_rows.astype(np.int32), "tail": tail[short_rows], "start": start[short_rows], "head": head[short_rows], "draw": draws}
    )
    picks = table.sort("tail", "start", "draw", "head").filter(pl.int_range(pl.len()).over("tail", "start") < settings.fan_in)
    return picks.sort("tail", "start", "head")["edge"].to_numpy()


def _early_answers(hops: Rows4, within: Within) -> Bools:
    """Mask of chains where the answer of a hop contains that of a later one."""
    flags = np.zeros(len(hops), np.bool_)
    for earlier in range(3):
        for later in range(earlier + 1, 4):
            rows = np.flatnonzero(hops[:, later] >= 0)
            flags[rows] |= within.joins(hops[rows, earlier], hops[rows, later])
    return flags


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
def _apart(mention_offsets, mentions, group_offsets, groups, paragraph, first, second):  # type: ignore[no-untyped-def]
    """Whether two questions without an edge fit into one chain: other paragraphs and answers, and neither names the other's answer."""
    if first == second or paragraph[first] == paragraph[second] or meet(group_offsets, groups, first, group_offsets, groups, second):
        return False
    names = meet(mention_offsets, mentions, first, group_offsets, groups, second)
    return not names and not meet(mention_offsets, mentions, second, group_offsets, groups, first)


@kernel(inline=True)
def _append(out, count, shape, first, second, third):  # type: ignore[no-untyped-def]
    if count == len(out):
        out = grown(out, count + 1)
    out[count, 0], out[count, 1], out[count, 2], out[count, 3] = shape, first, second, third
    return out, count + 1


@kernel
def _chains(  # type: ignore[no-untyped-def]
    head, tail, start, edges, edge_starts, paragraph, tokens, mention_offsets, mentions, group_offsets, groups, max_short, max_long
):
    """Chains × (shape, three edges). ``edge_starts``: where the edges into each question begin in ``edges``."""
    index = (mention_offsets, mentions, group_offsets, groups, paragraph)
    out = np.full((4096, 4), -1, np.int32)
    count = 0
    for i in range(len(edges)):
        e = edges[i]
        a, b = head[e], tail[e]
        if tokens[a] + tokens[b] <= max_short:
            out, count = _append(out, count, 0, e, -1, -1)
        for j in range(i + 1, edge_starts[b + 1]):  # a second head of b
            f = edges[j]
            if start[f] != start[e] and tokens[a] + tokens[b] + tokens[head[f]] <= max_short and _apart(*index, a, head[f]):
                out, count = _append(out, count, 2, e, f, -1)
        for j in range(edge_starts[a], edge_starts[a + 1]):  # c leads to a
            f = edges[j]
            c = head[f]
            total = tokens[a] + tokens[b] + tokens[c]
            if not _apart(*index, c, b):
                continue
            if total <= max_short:
                out, count = _append(out, count, 1, f, e, -1)
            for k in range(edge_starts[c], edge_starts[c + 1]):  # d leads to c
                d = head[edges[k]]
                if total + tokens[d] <= max_long and _apart(*index, d, a) and _apart(*index, d, b):
                    out, count = _append(out, count, 3, edges[k], f, e)
            for k in range(j + 1, edge_starts[a + 1]):  # d and c both lead to a
                d = head[edges[k]]
                fits = start[edges[k]] != start[f] and total + tokens[d] <= max_long
                if fits and _apart(*index, d, c) and _apart(*index, d, b):
                    out, count = _append(out, count, 4, f, edges[k], e)
            for k in range(edge_starts[b], edge_starts[b + 1]):  # d and a both lead to b
                d = head[edges[k]]
                fits = start[edges[k]] != start[e] and total + tokens[d] <= max_long
                if fits and _apart(*index, d, a) and _apart(*index, d, c):
                    out, count = _append(out, count, 5, f, e, edges[k])
    return out[:count]
