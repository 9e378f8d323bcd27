"""Step S2 (Trivedi et al. 2022): find the questions that name answers of others, in one pass over an inverted index of all answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.particles import BEGINS, ENDS, mark_edges, particle_tables
from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import character_tables, token_arrays, tokenize
from kgqa.arrays.words import places
from kgqa.linking.trie import build_trie, find_child, find_token

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """Places in texts that have all tokens of a name, in any case; sorted by text and start, the longest first."""

    text: Numbers
    name: Numbers
    """The name's group; names with equal tokens share it."""
    start: Numbers
    """In bytes of UTF-8; so is ``end``, which is exclusive."""
    end: Numbers
    inside: npt.NDArray[np.bool_]
    """Whether the place is part of a longer one, as York in New York."""


def everywhere(text: str, name: str) -> list[tuple[int, int]]:
    """All places of a name in one text, in its exact spelling and as separate words, in characters."""
    return list(places(name, text))


def find_names(names: pa.Array, texts: pa.Array) -> tuple[Mentions, Numbers]:
    """All places of ``names`` in ``texts``, and the group of each name, -1 where it has no token.

    O(bytes + places); 20 bytes for each place.
    """
    trie, group = build_trie(names)
    data, offsets = text_buffers(texts)
    rows = _find(data, offsets, *character_tables(), *particle_tables(), trie.vocabulary, trie.nodes, trie.transitions)
    text, name, start, end = (np.ascontiguousarray(column) for column in rows.T)
    order = np.lexsort((-end, start, text))
    text, name, start, end = text[order], name[order], start[order], end[order]
    return Mentions(text=text, name=name, start=start, end=end, inside=_inside(text, start, end)), group


@kernel
def _find(data, offsets, classes, folded, plain, codes, roles, vocabulary, nodes, transitions):  # type: ignore[no-untyped-def]
    starts, ends, hashes, spellings, initials = token_arrays(offsets)
    tokens, edges = np.empty(len(starts), np.int32), np.empty(len(starts), np.uint8)
    out = np.empty((1024, 4), np.int32)
    size = 0
    for text in range(len(offsets) - 1):
        count = tokenize(data, offsets[text], offsets[text + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        for i in range(count):
            tokens[i] = find_token(hashes[i], vocabulary)
        has_edges = mark_edges(data, offsets[text], count, starts, ends, hashes, codes, roles, edges)
        for i in range(count):
            if has_edges and edges[i] & BEGINS == 0:
                continue
            node = tokens[i]
            at = i
            while node >= 0:
                if nodes[node].group >= 0 and (not has_edges or edges[at] & ENDS):
                    if size == len(out):
                        out = grown(out, size + 1)
                    out[size, 0], out[size, 1], out[size, 2], out[size, 3] = text, nodes[node].group, starts[i], ends[at]
                    size += 1
                at += 1
                if at >= count or tokens[at] < 0:
                    break
                node = find_child(node, tokens[at], transitions)
    return out[:size]


@kernel
def _inside(text, start, end):  # type: ignore[no-untyped-def]
    """Mask of places inside longer ones. Places are sorted by start, the longest first, so only the ends so far matter."""
    out = np.zeros(len(text), np.bool_)
    last_text, furthest, begin = -1, -1, -1
    for i in range(len(text)):
        if text[i] != last_text:
            last_text, furthest, begin = text[i], -1, -1
        out[i] = furthest >= end[i] and (begin < start[i] or furthest > end[i])
        if end[i] > furthest:
            furthest, begin = end[i], start[i]
    return out
