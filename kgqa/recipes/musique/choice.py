"""Step S4 (Trivedi et al. 2022): choose the chains to compose, in turns over shapes and answer types, with limits on reuse."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import kernel
from kgqa.recipes.musique.shapes import chain_hops, edges_of
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.kinds import answer_kinds
from kgqa.settings.musique import SHAPES, ShapeSettings


def answer_types(chains: pa.Table, pairs: pa.Table, single_hop: pa.Table) -> npt.NDArray[np.int64]:
    """For each chain a number for the type of its last answer: the noun of its question, or its templates. Shape: chains."""
    last_answers = _last(chain_hops(chains, pairs))
    last_rows, inverse = np.unique(last_answers, return_inverse=True)
    rows = single_hop.select(["question", "answer", "kind", "relations"]).take(pa.array(last_rows)).to_pylist()
    names = []
    for row in rows:
        kinds = answer_kinds(row["question"], row["answer"]) if row["kind"] == ASKED else [tuple(row["relations"])]
        names.append(" ".join(kinds[0][:1]) if kinds else "")
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([numbers[name] for name in names], np.int64)[inverse]


def choose_chains(
    chains: pa.Table, pairs: pa.Table, types: npt.NDArray[np.int64], settings: ShapeSettings
) -> tuple[npt.NDArray[np.int64], dict[str, int]]:
    """Rows of ``chains`` that are kept, ascending, and the number of chains dropped for each of ``REASONS``.

    Longer chains come first, so that the chains they contain are left out. Among chains of one length the shapes take turns; within a shape
    the answer types do (``types``: a number for each chain). Within a type the order is random.
    """
    shape, draw = chains["shape"].to_numpy(), chains["draw"].to_numpy()
    edges, hops = edges_of(chains), chain_hops(chains, pairs)
    length = (hops >= 0).sum(axis=1)
    table = pl.DataFrame({"row": np.arange(len(shape)), "shape": shape, "type": types, "draw": draw, "length": length})
    # A turn for each chain within its type, then a place within its shape: so types take turns in a shape, and shapes with each other.
    table = table.sort("shape", "type", "draw").with_columns(turn=pl.int_range(pl.len()).over("shape", "type"))
    table = table.sort("shape", "turn", "draw").with_columns(place=pl.int_range(pl.len()).over("shape"))
    order = (
        table.sort(pl.col("length"), pl.col("place"), pl.col("shape"), descending=[True, False, False])["row"].to_numpy().astype(np.int64)
    )
    quota = np.array([round(settings.size * settings.shares.get(name, 0.0)) for name in SHAPES], np.int64)
    bridge = pairs["bridge"].to_numpy()
    questions = int(hops.max(initial=-1)) + 1
    is_choice, reasons = _choose(
        order,
        shape,
        edges,
        hops,
        bridge,
        quota,
        settings.max_per_bridge,
        settings.max_per_question,
        questions,
        int(bridge.max(initial=-1)) + 1,
    )
    return np.flatnonzero(is_choice), dict(zip(REASONS, reasons.tolist(), strict=True))


REASONS = {
    "contained": "the chain is a part of a longer one that is kept",
    "bridge": "one of its bridge entities is in as many questions as may be",
    "question": "one of its single-hop questions is in as many questions as may be",
    "size": "there are as many of its shape as are wanted",
}
"""Reason for dropping a chain → the sentence in reports."""


ALWAYS = 5
"""Minimum number of questions per split that may share an answer, however small the split is."""


def _last(hops: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """For each chain the row of its last question; ``hops`` is padded with -1."""
    return np.take_along_axis(hops, (hops >= 0).sum(axis=1, keepdims=True) - 1, axis=1)[:, 0]


@kernel
def _choose(order, shape, edges, hops, bridge, quota, per_bridge, per_question, questions, bridges):  # type: ignore[no-untyped-def]
    """A mask of the chosen chains and the number dropped for each of ``REASONS``.

    Each part of a chosen chain is recorded as the sum of its hops' hashes.
    """
    is_choice, reasons = np.zeros(len(shape), np.bool_), np.zeros(4, np.int64)
    used_bridge, used_question = np.zeros(bridges, np.int32), np.zeros(questions, np.int32)
    slots = np.zeros(_table_size(32 * max(1, quota.sum())), np.uint64)
    for at in range(len(order)):
        i = order[at]
        count = 0
        hashes = np.zeros(4, np.uint64)
        while count < 4 and hops[i, count] >= 0:
            hashes[count] = mixed(np.uint64(hops[i, count]) + np.uint64(1))
            count += 1
        bridge_is_full = False
        for k in range(count - 1):
            bridge_is_full = bridge_is_full or used_bridge[bridge[edges[i, k]]] >= per_bridge
        question_is_full = False
        for k in range(count):
            question_is_full = question_is_full or used_question[hops[i, k]] >= per_question
        # The sum is independent of order, so equal sets of hops collide; 0 marks a free slot, so the last bit is set.
        chain_hash = hashes.sum() | np.uint64(1)
        if slots[_slot(slots, chain_hash)] == chain_hash:
            reasons[0] += 1
        elif bridge_is_full:
            reasons[1] += 1
        elif question_is_full:
            reasons[2] += 1
        elif quota[shape[i]] <= 0:
            reasons[3] += 1
        else:
            is_choice[i] = True
            quota[shape[i]] -= 1
            for k in range(count - 1):
                used_bridge[bridge[edges[i, k]]] += 1
            for k in range(count):
                used_question[hops[i, k]] += 1
            # Record all subsets of the hops (at most 15), so that shorter chains inside this one are found.
            for part in range(1, 1 << count):
                value = np.uint64(0)
                for k in range(count):
                    if part >> k & 1:
                        value += hashes[k]
                value |= np.uint64(1)
                slots[_slot(slots, value)] = value
    return is_choice, reasons


@kernel
def _table_size(entries):  # type: ignore[no-untyped-def]
    size = 1 << 16
    while size < entries:
        size *= 2
    return size


@kernel
def _slot(table, value):  # type: ignore[no-untyped-def]
    """The slot of ``value``, or the free slot for it."""
    mask = np.uint64(len(table) - 1)
    slot = mixed(value) & mask
    while table[slot] != np.uint64(0) and table[slot] != value:
        slot = (slot + np.uint64(1)) & mask
    return slot
