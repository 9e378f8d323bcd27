"""A trie of all names over token numbers, in flat arrays for the matcher."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import mixed, table_size
from kgqa.arrays.int32 import check_fits
from kgqa.arrays.kernel import kernel
from kgqa.arrays.tokens import token_hashes

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
SLOT = np.dtype([("key", np.uint64), ("value", np.int32)], align=True)
"""A slot of a hash table; key and value are adjacent, so a look-up touches one cache line."""
NODE = np.dtype([("following", np.uint64), ("group", np.int32)], align=True)
"""``following`` has bit t % 64 set for each token t that continues, which saves most failing look-ups. ``group`` is the number of the
names that end here, or -1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trie:
    """A dictionary of token sequences; ``group`` numbers the distinct ones.

    The vocabulary maps token hashes to numbers by open addressing; transitions map (node, token) to the next node the same way. The node
    of a prefix of one token has that token's number, so that a match begins without a look-up.
    """

    vocabulary: npt.NDArray[np.void]
    """``SLOT`` records: token hash → token number."""
    transitions: npt.NDArray[np.void]
    """``SLOT`` records: (node, token) → node."""
    nodes: npt.NDArray[np.void]
    """Records of type ``NODE``, one per prefix."""


def build_trie(names: pa.Array | pa.ChunkedArray) -> tuple[Trie, npt.NDArray[np.int32]]:
    """The trie of ``names``, and for each of them its group; names without any token have group -1. O(tokens)."""
    bounds, hashes = token_hashes(names)
    distinct, tokens = np.unique(hashes, return_inverse=True)
    check_fits(len(distinct) + len(tokens), "tokens of names", "make the dataset from fewer names")
    transitions = _free_slots(len(tokens))
    nodes = np.zeros(len(distinct) + len(tokens), NODE)
    ends = np.full(len(bounds) - 1, -1, np.int32)
    nodes = nodes[: _insert(bounds, tokens.astype(np.int64), len(distinct), nodes, transitions, ends)].copy()
    # Many names share their beginnings: a table of the size that the transitions need stays in the cache for longer.
    transitions = _copied(transitions, _free_slots(len(nodes) - len(distinct)))
    nodes["group"] = -1
    group_of_name = np.full(len(ends), -1, np.int32)
    has_children = np.diff(bounds) > 0
    ending, inverse = np.unique(ends[has_children], return_inverse=True)
    nodes["group"][ending] = np.arange(len(ending), dtype=np.int32)
    group_of_name[has_children] = inverse
    return Trie(vocabulary=slots_of(distinct), transitions=transitions, nodes=nodes), group_of_name


def slots_of(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.void]:
    """A hash table that maps each of the distinct ``hashes`` to its position, for :func:`find_token`."""
    table = _free_slots(len(hashes))
    _fill(hashes, table)
    return table


def _free_slots(entries: int) -> npt.NDArray[np.void]:
    table = np.zeros(table_size(entries), SLOT)
    table["key"] = EMPTY
    return table


@kernel
def _fill(keys, table):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table) - 1)
    for i in range(len(keys)):
        slot = keys[i] & mask
        while table[slot].key != EMPTY:
            slot = (slot + np.uint64(1)) & mask
        table[slot].key = keys[i]
        table[slot].value = i


@kernel
def _copied(table, smaller):  # type: ignore[no-untyped-def]
    """``smaller`` with the slots of ``table`` that are in use."""
    mask = np.uint64(len(smaller) - 1)
    for old in range(len(table)):
        if table[old].key != EMPTY:
            slot = mixed(table[old].key) & mask
            while smaller[slot].key != EMPTY:
                slot = (slot + np.uint64(1)) & mask
            smaller[slot].key = table[old].key
            smaller[slot].value = table[old].value
    return smaller


@kernel(inline=True)
def find_slot(key, slot, table):  # type: ignore[no-untyped-def]
    """The place of ``key`` in a hash table, searched from ``slot`` on, or -1."""
    mask = np.uint64(len(table) - 1)
    slot &= mask
    while table[slot].key != key:
        if table[slot].key == EMPTY:
            return np.int64(-1)
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)


@kernel(inline=True)
def find_token(hashed, table):  # type: ignore[no-untyped-def]
    """The number of the token with this hash, or -1 where no name contains it."""
    slot = find_slot(hashed, hashed, table)
    return table[slot].value if slot >= 0 else np.int32(-1)


@kernel(inline=True)
def child_slot(node, token, table):  # type: ignore[no-untyped-def]
    """The place in the transitions of the child of ``node`` for ``token``, or -1."""
    code = (np.uint64(node) << np.uint64(32)) | np.uint64(token)
    return find_slot(code, mixed(code), table)


@kernel(inline=True)
def find_child(node, token, table):  # type: ignore[no-untyped-def]
    """The child of ``node`` for ``token``, or -1."""
    slot = child_slot(node, token, table)
    return table[slot].value if slot >= 0 else np.int32(-1)


@kernel
def _insert(bounds, tokens, count, nodes, table, ends):  # type: ignore[no-untyped-def]
    """Insert all names; the first ``count`` nodes, one per token, exist already. Returns the number of nodes."""
    mask = np.uint64(len(table) - 1)
    for name in range(len(bounds) - 1):
        node = np.int64(-1)
        for at in range(bounds[name], bounds[name + 1]):
            token = tokens[at]
            if node < 0:
                node = token
                continue
            # Set the bit even if the transition exists already; this costs less than the look-up that would avoid it.
            nodes[node].following |= np.uint64(1) << np.uint64(token & 63)
            code = (np.uint64(node) << np.uint64(32)) | np.uint64(token)
            slot = mixed(code) & mask
            while table[slot].key != EMPTY and table[slot].key != code:
                slot = (slot + np.uint64(1)) & mask
            if table[slot].key == EMPTY:
                table[slot].key = code
                table[slot].value = count
                count += 1
            node = np.int64(table[slot].value)
        ends[name] = node
    return count
