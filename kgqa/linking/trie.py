"""All names as one trie over token numbers, in flat arrays that the matcher walks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from kgqa.linking.tokens import mixed, token_hashes

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trie:
    """A dictionary of token sequences; ``group`` numbers the distinct ones.

    The vocabulary maps token hashes to numbers by open addressing; transitions map (node, token) to the next node the same way. Node 0
    is the root, whose transitions are in ``first`` by token number, because most tokens of a text begin no name.
    """

    vocabulary_keys: npt.NDArray[np.uint64]
    vocabulary_values: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    """Token number → node of the one-token prefix, or -1."""
    inner: npt.NDArray[np.bool_]
    """Node → whether a longer name goes on from it."""
    keys: npt.NDArray[np.uint64]
    values: npt.NDArray[np.int32]
    group: npt.NDArray[np.int32]
    """Node → the group of names that end there, or -1."""


def build_trie(names: pa.Array | pa.ChunkedArray) -> tuple[Trie, npt.NDArray[np.int32]]:
    """The trie of ``names``, and for each of them its group; names without any token have group -1. O(tokens)."""
    bounds, hashes = token_hashes(names)
    distinct, tokens = np.unique(hashes, return_inverse=True)
    vocabulary_keys, vocabulary_values = _hash_table(distinct)
    lengths = np.diff(bounds)
    nodes, first, inner, keys, values, ends = _build(bounds, tokens.astype(np.int64), len(distinct))
    group = np.full(nodes, -1, np.int32)
    group_of_name = np.full(len(lengths), -1, np.int32)
    filled = lengths > 0
    ending, inverse = np.unique(ends[filled], return_inverse=True)
    group[ending] = np.arange(len(ending), dtype=np.int32)
    group_of_name[filled] = inverse
    trie = Trie(
        vocabulary_keys=vocabulary_keys,
        vocabulary_values=vocabulary_values,
        first=first,
        inner=inner,
        keys=keys,
        values=values,
        group=group,
    )
    return trie, group_of_name


def _capacity(entries: int) -> int:
    return 1 << max(4, int(np.ceil(np.log2(max(entries, 1) * 2))))


def _hash_table(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
    table = np.full(_capacity(len(keys)), EMPTY, np.uint64)
    values = np.full(len(table), -1, np.int32)
    _fill(keys, table, values)
    return table, values


@njit(cache=True, nogil=True)
def _fill(keys, table, values):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table) - 1)
    for i in range(len(keys)):
        slot = keys[i] & mask
        while table[slot] != EMPTY:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = keys[i]
        values[slot] = i


@njit(cache=True, nogil=True, inline="always")
def find_token(hashed, keys, values):  # type: ignore[no-untyped-def]
    """The number of the token with this hash, or -1 where no name contains it."""
    mask = np.uint64(len(keys) - 1)
    slot = hashed & mask
    while True:
        key = keys[slot]
        if key == hashed:
            return values[slot]
        if key == EMPTY:
            return np.int32(-1)
        slot = (slot + np.uint64(1)) & mask


@njit(cache=True, nogil=True, inline="always")
def find_child(node, token, keys, values):  # type: ignore[no-untyped-def]
    """The node that ``token`` leads to from ``node`` (not the root), or -1."""
    mask = np.uint64(len(keys) - 1)
    wanted = (np.uint64(node) << np.uint64(32)) | np.uint64(token)
    slot = mixed(wanted) & mask
    while True:
        key = keys[slot]
        if key == wanted:
            return values[slot]
        if key == EMPTY:
            return np.int32(-1)
        slot = (slot + np.uint64(1)) & mask


def _build(bounds, tokens, vocabulary):  # type: ignore[no-untyped-def]
    keys = np.full(_capacity(len(tokens)), EMPTY, np.uint64)
    values = np.full(len(keys), -1, np.int32)
    first = np.full(max(vocabulary, 1), -1, np.int32)
    inner = np.zeros(len(tokens) + 1, np.bool_)
    ends = np.full(len(bounds) - 1, -1, np.int32)
    nodes = _insert(bounds, tokens, first, inner, keys, values, ends)
    return nodes, first, inner[:nodes], keys, values, ends


@njit(cache=True, nogil=True)
def _insert(bounds, tokens, first, inner, keys, values, ends):  # type: ignore[no-untyped-def]
    nodes = 1
    mask = np.uint64(len(keys) - 1)
    for name in range(len(bounds) - 1):
        node = 0
        for at in range(bounds[name], bounds[name + 1]):
            token = tokens[at]
            if node == 0:
                if first[token] < 0:
                    first[token] = nodes
                    nodes += 1
                node = first[token]
                continue
            inner[node] = True
            wanted = (np.uint64(node) << np.uint64(32)) | np.uint64(token)
            slot = mixed(wanted) & mask
            while keys[slot] != EMPTY and keys[slot] != wanted:
                slot = (slot + np.uint64(1)) & mask
            if keys[slot] == EMPTY:
                keys[slot] = wanted
                values[slot] = nodes
                nodes += 1
            node = values[slot]
        ends[name] = node
    return nodes
