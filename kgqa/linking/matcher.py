"""Documents → mentions: longest match on token boundaries, from left to right, and every occurrence of what can be a candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from kgqa.linking.dictionary import FREE, Dictionary, name_hash
from kgqa.linking.tokens import character_tables, text_buffers, tokenize
from kgqa.linking.trie import find_child, find_token

LONGEST_NAME = 64
"""Tokens; a longer name is matched by its first 64 only, which no real name reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Places in documents, ordered by (document, start, end, entity); ``start`` and ``end`` count characters."""

    document: npt.NDArray[np.int32]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    entity: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What :func:`match` found."""

    mentions: Spans
    """Without overlap: each place is the longest name there, and belongs to one entity."""
    occurrences: Spans
    """Every name of every possible candidate, inside longer names and shared names too: what a reader would see stated."""
    shared: int
    """Longest matches left out because the name belongs to several entities."""


def match(
    texts: pa.ChunkedArray,
    dictionary: Dictionary,
    *,
    workers: int = 1,
    occurrences: bool = True,
    before_number: bool = True,
    advance: Callable[[int], None] | None = None,
) -> Matches:
    """Match ``dictionary`` in ``texts`` in batches of about 1 MiB on ``workers`` threads; ``advance`` gets the bytes of each batch.

    Memory: the texts, the result (16 bytes a span) and 20 bytes per byte of one batch and worker. The result does not depend on
    ``workers``: batches are cut by size alone and joined in order. ``before_number`` false rejects a name directly followed by a hyphen and a
    digit, as "IL" in "IL-2".
    """
    data, offsets = text_buffers(texts)
    classes, folded, plain = character_tables()
    trie = dictionary.trie
    tables = (classes, folded, plain, trie.vocabulary_keys, trie.vocabulary_values, trie.first, trie.inner, trie.keys, trie.values, trie.group)
    entries = (dictionary.offsets, dictionary.entity, dictionary.case, dictionary.hashed, dictionary.priority, dictionary.candidate)

    def run(bounds: tuple[int, int]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], int]:
        return _match_batch(data, offsets, *bounds, *tables, *entries, occurrences, before_number)  # type: ignore[no-any-return]

    batches = list(_batches(offsets, 1 << 20))
    parts = []
    with ThreadPoolExecutor(workers) as pool:
        for (first, last), part in zip(batches, pool.map(run, batches), strict=True):
            parts.append(part)
            if advance:
                advance(int(offsets[last] - offsets[first]))
    return Matches(
        mentions=_spans([part[0] for part in parts]),
        occurrences=_spans([part[1] for part in parts]),
        shared=sum(part[2] for part in parts),
    )


def _batches(offsets: npt.NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    first, documents = 0, len(offsets) - 1
    while first < documents:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1)
        yield first, min(last, documents)
        first = last


def _spans(parts: list[npt.NDArray[np.int32]]) -> Spans:
    rows = np.concatenate(parts) if parts else np.empty((0, 4), np.int32)
    return Spans(document=rows[:, 0].copy(), start=rows[:, 1].copy(), end=rows[:, 2].copy(), entity=rows[:, 3].copy())


@njit(cache=True, nogil=True)
def _grown(rows):  # type: ignore[no-untyped-def]
    larger = np.empty((2 * len(rows), rows.shape[1]), rows.dtype)
    larger[: len(rows)] = rows
    return larger


@njit(cache=True, nogil=True)
def _match_batch(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over the bytes; splitting it would hide the order
    data, offsets, first_document, last_document,
    classes, folded, plain, vocabulary_keys, vocabulary_values, first, inner, keys, values, group,
    entry_offsets, entry_entity, entry_case, entry_hash, entry_priority, entry_candidate,
    occurrences, before_number,
):  # fmt: skip
    longest = 1
    for document in range(first_document, last_document):
        longest = max(longest, offsets[document + 1] - offsets[document])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    tokens = np.empty(longest, np.int32)
    continuation = np.zeros(longest + 1, np.int32)
    mentions, mention_count = np.empty((4096, 4), np.int32), 0
    found, found_count = np.empty((4096, 4), np.int32), 0
    stack_group, stack_last = np.empty(LONGEST_NAME, np.int32), np.empty(LONGEST_NAME, np.int32)
    shared = 0
    for document in range(first_document, last_document):
        begin = offsets[document]
        length = offsets[document + 1] - begin
        count = tokenize(data, begin, begin + length, classes, folded, starts, ends, hashes)
        for i in range(count):
            tokens[i] = find_token(hashes[i], vocabulary_keys, vocabulary_values)
        first_mention, first_found = mention_count, found_count
        free_from = 0
        for i in range(count):
            if tokens[i] < 0:
                continue
            node = first[tokens[i]]
            if node < 0 or (i < free_from and not occurrences):
                continue
            depth = 0
            last = i
            while True:
                if group[node] >= 0 and depth < LONGEST_NAME:
                    stack_group[depth], stack_last[depth] = group[node], last
                    depth += 1
                if not inner[node] or last + 1 >= count or tokens[last + 1] < 0:
                    break
                node = find_child(node, tokens[last + 1], keys, values)
                if node < 0:
                    break
                last += 1
            linked = i < free_from
            for level in range(depth - 1, -1, -1):
                last = stack_last[level]
                stop = ends[last]
                if not before_number and stop + 1 < length and data[begin + stop] == 45 and 48 <= data[begin + stop + 1] <= 57:
                    continue
                best, winner, draw, seen = np.int32(2147483647), np.int32(-1), False, np.int32(-1)
                for entry in range(entry_offsets[stack_group[level]], entry_offsets[stack_group[level] + 1]):
                    case = entry_case[entry]
                    if case != FREE and name_hash(data, begin + starts[i], begin + stop, case, classes, plain) != entry_hash[entry]:
                        continue
                    entity = entry_entity[entry]
                    # Entries are ordered by priority, then entity: the first that fits wins, another of equal priority makes a draw.
                    if winner < 0:
                        best, winner = entry_priority[entry], entity
                    elif entry_priority[entry] == best and entity != winner:
                        draw = True
                    if occurrences and entry_candidate[entry] and entity != seen:
                        seen = entity
                        if found_count == len(found):
                            found = _grown(found)
                        found[found_count, 0], found[found_count, 1] = document, starts[i]
                        found[found_count, 2], found[found_count, 3] = stop, entity
                        found_count += 1
                if winner >= 0 and not linked:
                    linked = True
                    free_from = last + 1
                    if draw:
                        shared += 1
                        continue
                    if mention_count == len(mentions):
                        mentions = _grown(mentions)
                    mentions[mention_count, 0], mentions[mention_count, 1] = document, starts[i]
                    mentions[mention_count, 2], mentions[mention_count, 3] = stop, winner
                    mention_count += 1
        if mention_count > first_mention or found_count > first_found:
            _to_characters(data, begin, length, continuation, mentions, first_mention, mention_count)
            _to_characters(data, begin, length, continuation, found, first_found, found_count)
    return mentions[:mention_count], found[:found_count], shared


@njit(cache=True, nogil=True)
def _to_characters(data, begin, length, continuation, rows, first, last):  # type: ignore[no-untyped-def]
    """Turn byte offsets into character offsets by taking off the continuation bytes before them."""
    if first == last:
        return
    seen = 0
    for at in range(length):
        continuation[at] = seen
        if data[begin + at] & 0xC0 == 0x80:
            seen += 1
    if seen == 0:
        return
    continuation[length] = seen
    for i in range(first, last):
        rows[i, 1] -= continuation[rows[i, 1]]
        rows[i, 2] -= continuation[rows[i, 2]]
