"""Contexts: how a document puts two entities into words, as hashed features.

The features know no language: tokens before, between and after the two mentions, how far apart these are, and the first sentence of the
document, which says what its subject is. One context is made for each mention of the second entity, three at most.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Offsets
from kgqa.arrays.sentences import sentence_starts
from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import character_tables, tokenize
from kgqa.settings.workers import worker_count

MENTIONS = 3
"""Mentions of the second entity of which contexts are made: the first ones."""
WINDOW = 10
"""Tokens before a mention that are features of their own."""
AFTER = 6
"""Tokens behind a mention that are, where the sentence goes on: many languages have their verbs there."""
PARTS = 16
"""Parts in which documents are read, so that threads share them."""
OPENING = 24
"""Tokens of a document's first sentence that say what its subject is."""
_OPENING, _BETWEEN, _LAST, _PAIR, _TRIPLE, _NEXT, _NEXT_PAIR, _DISTANCE, _SENTENCE, _ORDER, _FIRST, _AFTER = range(12)
"""Families of features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts:
    """Contexts of pairs: those of pair i are ``offsets[i]:offsets[i + 1]``, none where no sentence brings the two together."""

    offsets: Offsets
    bounds: Offsets
    """The features of context c are ``features[bounds[c]:bounds[c + 1]]``."""
    features: npt.NDArray[np.uint32]
    """Hashes."""


def contexts(
    texts: pa.ChunkedArray, mentions: tuple[Offsets, IntArray, IntArray, IntArray], subjects: IntArray,
    pairs: tuple[IntArray, IntArray, IntArray], *, workers: int | None = None,
) -> Contexts:  # fmt: skip
    """The contexts of ``pairs``: document (ascending), first and second entity (int32 each); they do not depend on ``workers``.

    ``mentions`` are those of each document by start: offsets, entities, starts, ends (characters); ``subjects`` the entity that a document
    is about, or -1. A document is about its subject in every sentence; of other entities a sentence must mention both. O(tokens + pairs);
    memory: 4 bytes a feature, about 40 features a context.
    """
    sentences, buffers, tables = sentence_starts(texts), text_buffers(texts), character_tables()
    document, before, after = pairs
    # Parts end where a document ends.
    bounds = np.linspace(0, len(document), PARTS + 1).astype(np.int64)
    bounds[1:-1] = np.searchsorted(document, document[bounds[1:-1]]) if len(document) else 0

    def part(number: int) -> tuple[Offsets, Offsets, npt.NDArray[np.uint32]]:
        rows = slice(bounds[number], bounds[number + 1])
        return _contexts(  # type: ignore[no-any-return]
            *buffers, *tables, sentences.offsets, sentences.targets, *mentions, subjects, document[rows], before[rows], after[rows]
        )

    with ThreadPoolExecutor(worker_count(workers)) as pool:
        parts = list(pool.map(part, range(PARTS)))
    counts = np.concatenate([part[0] for part in parts])
    sizes = np.cumsum([0, *(len(part[2]) for part in parts)])
    return Contexts(
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        bounds=np.concatenate([[0], *(part[1][1:] + size for part, size in zip(parts, sizes, strict=False))]).astype(np.int64),
        features=np.concatenate([part[2] for part in parts]),
    )


@kernel(inline=True)
def _feature(family, value):  # type: ignore[no-untyped-def]
    return np.uint32(mixed(value + np.uint64(family + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32))


@kernel
def _contexts(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over documents, tokens and pairs
    data, text_offsets, classes, folded, plain, sentence_offsets, sentences, mention_offsets, entities, mention_starts, mention_ends,
    subjects, document, before, after,
):  # fmt: skip
    counts = np.zeros(len(document), np.int64)
    bounds, features = np.zeros(1 << 16, np.int64), np.empty(1 << 20, np.uint32)
    made = size = 0
    longest = most = 0
    for d in document:
        longest = max(longest, text_offsets[d + 1] - text_offsets[d])
        most = max(most, mention_offsets[d + 1] - mention_offsets[d])
    starts, ends, hashes = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int32), np.empty(longest + 1, np.uint64)
    spellings, initials = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    begin, stop, sentence = np.empty(longest + 1, np.int32), np.empty(most + 1, np.int32), np.empty(most + 1, np.int32)
    first_token = np.empty(most + 1, np.int32)
    i = 0
    while i < len(document):
        d = document[i]
        last = i
        while last < len(document) and document[last] == d:
            last += 1
        # Tokens with their places in characters, and the tokens of each mention.
        count = tokenize(data, text_offsets[d], text_offsets[d + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        at = text_offsets[d]
        character = 0
        for token in range(count):
            goal = text_offsets[d] + starts[token]
            while at < goal:
                character += (data[at] & 0xC0) != 0x80
                at += 1
            begin[token] = character
        base = mention_offsets[d]
        mentioned = mention_offsets[d + 1] - base
        token = 0
        number = np.int64(sentence_offsets[d])
        for m in range(mentioned):
            while token > 0 and begin[token - 1] >= mention_starts[base + m]:
                token -= 1
            while token < count and begin[token] < mention_starts[base + m]:
                token += 1
            first_token[m] = token
            past = token
            while past < count and begin[past] < mention_ends[base + m]:
                past += 1
            stop[m] = past
            while number + 1 < sentence_offsets[d + 1] and sentences[number + 1] <= mention_starts[base + m]:
                number += 1
            sentence[m] = number
        opening = 0
        until = sentences[sentence_offsets[d] + 1] if sentence_offsets[d] + 1 < sentence_offsets[d + 1] else np.int32(1 << 30)
        while opening < min(count, OPENING) and begin[opening] < until:
            opening += 1
        for pair in range(i, last):
            x, z = before[pair], after[pair]
            about = subjects[d] == x
            seen = 0
            for m in range(mentioned):
                if entities[base + m] != z or seen == MENTIONS:
                    continue
                # The nearest mention of x in the same sentence, before or after.
                near, distance, behind = np.int64(-1), np.int64(1 << 30), False
                for other in range(mentioned):
                    if sentence[other] != sentence[m] or entities[base + other] != x:
                        continue
                    gap = first_token[m] - stop[other] if other < m else first_token[other] - stop[m]
                    if 0 <= gap < distance:
                        near, distance, behind = np.int64(other), np.int64(gap), other > m
                if near < 0 and not about:
                    continue
                left = np.int64(0)
                if near >= 0 and not behind:
                    left = np.int64(stop[near])
                else:
                    # From the beginning of the sentence.
                    left = np.int64(first_token[m])
                    while left > 0 and begin[left - 1] >= sentences[sentence[m]]:
                        left -= 1
                right = np.int64(first_token[m])
                need = size + 2 * WINDOW + OPENING + AFTER + 12
                features = grown(features, need)
                order = np.uint64(0 if near < 0 else (2 if behind else 1))
                for k in range(max(left, right - WINDOW), right):
                    features[size] = _feature(_BETWEEN, hashes[k])
                    size += 1
                if behind:
                    for k in range(stop[m], min(first_token[near], stop[m] + WINDOW)):
                        features[size] = _feature(_BETWEEN, hashes[k] ^ np.uint64(1))
                        size += 1
                finish = sentences[sentence[m] + 1] if sentence[m] + 1 < sentence_offsets[d + 1] else np.int32(1 << 30)
                for k in range(stop[m], min(count, stop[m] + AFTER)):
                    if begin[k] >= finish:
                        break
                    features[size] = _feature(_AFTER, hashes[k])
                    size += 1
                one = hashes[right - 1] if right - 1 >= left else np.uint64(7)
                two = hashes[right - 2] if right - 2 >= left else np.uint64(8)
                three = hashes[right - 3] if right - 3 >= left else np.uint64(9)
                features[size] = _feature(_LAST, one)
                features[size + 1] = _feature(_PAIR, mixed(one) ^ two)
                features[size + 2] = _feature(_TRIPLE, mixed(mixed(one) ^ two) ^ three)
                following = hashes[stop[m]] if stop[m] < count else np.uint64(11)
                further = hashes[stop[m] + 1] if stop[m] + 1 < count else np.uint64(12)
                features[size + 3] = _feature(_NEXT, following)
                features[size + 4] = _feature(_NEXT_PAIR, mixed(following) ^ further)
                gap = right - left
                features[size + 5] = _feature(_DISTANCE, np.uint64(gap if gap < 5 else (5 if gap < 10 else (6 if gap < 20 else 7))))
                place = sentence[m] - sentence_offsets[d]
                features[size + 6] = _feature(_SENTENCE, np.uint64(place if place < 3 else 3))
                features[size + 7] = _feature(_ORDER, order + np.uint64(4) * np.uint64(seen))
                size += 8
                if about:
                    for k in range(opening):
                        features[size] = _feature(_OPENING, hashes[k])
                        size += 1
                    features[size] = _feature(_FIRST, np.uint64(place == 0))
                    size += 1
                made += 1
                bounds = grown(bounds, made + 1)
                bounds[made] = size
                counts[pair] += 1
                seen += 1
        i = last
    return counts, bounds[: made + 1].copy(), features[:size].copy()
