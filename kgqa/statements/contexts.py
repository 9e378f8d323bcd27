"""Contexts: the words around two entities in a document, as hashed features.

The features are independent of the language: the tokens before, between and after the two mentions, their distance, and the first sentence
of the document. That sentence usually tells the kind of the document's subject. There is one context per mention of the second entity, for
at most three mentions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import mixed
from kgqa.arrays.joined import joined
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.parallel import Engine, Threads
from kgqa.arrays.rows import IntArray, Offsets
from kgqa.arrays.sentences import sentence_starts
from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import character_tables, tokenize

MENTIONS = 3
"""Number of mentions of the second entity that get a context: the first ones."""
WINDOW = 10
"""Number of tokens before a mention that are features."""
AFTER = 6
"""Number of tokens after a mention, within its sentence, that are features: many languages put their verbs there."""
PARTS, PART = 16, 1 << 19
"""Number of parts into which pairs are divided for threads, and about the number of pairs from which on there are more parts."""
OPENING = 24
"""Number of tokens of a document's first sentence that are features."""
_OPENING, _BETWEEN, _LAST, _PAIR, _TRIPLE, _NEXT, _NEXT_PAIR, _DISTANCE, _SENTENCE, _ORDER, _FIRST, _AFTER = range(12)
"""Families of features; the family is hashed together with the token, so that a token means something else in each family."""
Pairs = tuple[IntArray, IntArray, IntArray]
"""Document (ascending), first entity, second entity (int32 each)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts:
    """The contexts of pairs: those of pair i are ``offsets[i]:offsets[i + 1]``; none if no sentence mentions both entities."""

    offsets: Offsets
    bounds: Offsets
    """The features of context c are ``features[bounds[c]:bounds[c + 1]]``."""
    features: npt.NDArray[np.uint32]
    """Hashes of family and value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Documents with their mentions, from which contexts are read as often as they are needed: kept whole, they take more memory than all
    else."""

    shared: tuple[Any, ...]
    """The first arguments of the kernel."""

    @classmethod
    def of(cls, texts: pa.ChunkedArray, mentions: tuple[Offsets, IntArray, IntArray, IntArray], subjects: IntArray) -> Texts:
        """``mentions``: offsets per document, then entities, starts and ends in characters, ordered by start.

        ``subjects``: the entity that each document is about, or -1.
        """
        sentences = sentence_starts(texts)
        return cls(shared=(*text_buffers(texts), *character_tables(), sentences.offsets, sentences.targets, *mentions, subjects))

    def contexts(self, pairs: Pairs, *, engine: Engine | None = None) -> Contexts:
        """The contexts of ``pairs``; they do not depend on ``engine`` (by default threads).

        A sentence has to mention both entities, unless the first is the subject of the document: every sentence is taken to be about it.
        O(tokens + pairs); memory: 4 bytes per feature, about 40 features per context, and as much again for the largest parts.
        """
        mapped = (engine or Threads()).map(_contexts_part, parts_of(pairs), (*pairs, *self.shared))
        counts, bounds, features = map(list, zip(*mapped, strict=True))
        sizes = np.cumsum([0, *map(len, features)])
        return Contexts(
            offsets=np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
            bounds=np.concatenate([[0], *(part[1:] + size for part, size in zip(bounds, sizes, strict=False))]).astype(np.int64),
            features=joined(features),
        )


def parts_of(pairs: Pairs) -> list[tuple[int, int]]:
    """Ranges of pairs, of at most about ``PART`` each, so that the memory of a part does not grow with the corpus.

    No document is divided between two parts.
    """
    document = pairs[0]
    bounds = np.linspace(0, len(document), max(PARTS, len(document) // PART) + 1).astype(np.int64)
    bounds[1:-1] = np.searchsorted(document, document[bounds[1:-1]]) if len(document) else 0
    return list(pairwise(bounds.tolist()))


def _contexts_part(
    bounds: tuple[int, int], document: IntArray, first_entities: IntArray, second_entities: IntArray, *others: Any
) -> tuple[Offsets, Offsets, npt.NDArray[np.uint32]]:
    return contexts_of(slice(*bounds), (document, first_entities, second_entities), others)


def contexts_of(rows: slice, pairs: Pairs, shared: tuple[Any, ...]) -> tuple[Offsets, Offsets, npt.NDArray[np.uint32]]:
    """The contexts of some of the ``pairs``: counts per pair, bounds and features. ``shared``: of :class:`Texts`."""
    return _contexts(*shared, *(column[rows] for column in pairs))


@kernel(inline=True)
def _feature(family, value):  # type: ignore[no-untyped-def]
    return np.uint32(mixed(value + np.uint64(family + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32))


@kernel
def _contexts(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over documents, tokens and pairs
    data, text_offsets, classes, folded, plain, sentence_offsets, sentences, mention_offsets, entities, mention_starts, mention_ends,
    subjects, document, first_entities, second_entities,
):  # fmt: skip
    """The kernel of :meth:`Texts.contexts` for the pairs of some documents.

    Returns ``counts`` (int64, contexts per pair), ``bounds`` (int64, contexts + 1) and ``features`` (uint32).
    """
    counts = np.zeros(len(document), np.int64)
    bounds, features = np.zeros(1 << 16, np.int64), np.empty(1 << 20, np.uint32)
    pair_count = size = 0
    longest_text = max_mentions = 0
    for d in document:
        longest_text = max(longest_text, text_offsets[d + 1] - text_offsets[d])
        max_mentions = max(max_mentions, mention_offsets[d + 1] - mention_offsets[d])
    starts, ends, hashes = np.empty(longest_text + 1, np.int32), np.empty(longest_text + 1, np.int32), np.empty(longest_text + 1, np.uint64)
    spellings, initials = np.empty(longest_text + 1, np.uint64), np.empty(longest_text + 1, np.uint64)
    begin, stop, sentence = np.empty(longest_text + 1, np.int32), np.empty(max_mentions + 1, np.int32), np.empty(max_mentions + 1, np.int32)
    first_token = np.empty(max_mentions + 1, np.int32)
    i = 0
    while i < len(document):
        d = document[i]
        last_mention = i
        while last_mention < len(document) and document[last_mention] == d:
            last_mention += 1
        # Token offsets are in bytes and mention offsets in characters, so the starts of tokens are converted to characters.
        count = tokenize(data, text_offsets[d], text_offsets[d + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        at = text_offsets[d]
        character = 0
        for token in range(count):
            goal = text_offsets[d] + starts[token]
            while at < goal:
                character += (data[at] & 0xC0) != 0x80
                at += 1
            begin[token] = character
        # The first token, the end token and the sentence of each mention.
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
        # The tokens of the first sentence, or of the whole text if there is only one.
        opening = 0
        until = sentences[sentence_offsets[d] + 1] if sentence_offsets[d] + 1 < sentence_offsets[d + 1] else np.int32(1 << 30)
        while opening < min(count, OPENING) and begin[opening] < until:
            opening += 1
        for pair in range(i, last_mention):
            x, z = first_entities[pair], second_entities[pair]
            about = subjects[d] == x
            mention_count = 0
            for m in range(mentioned):
                if entities[base + m] != z or mention_count == MENTIONS:
                    continue
                # The nearest mention of x in the same sentence, before or after.
                near, distance, is_after = np.int64(-1), np.int64(1 << 30), False
                for position in range(mentioned):
                    if sentence[position] != sentence[m] or entities[base + position] != x:
                        continue
                    gap = first_token[m] - stop[position] if position < m else first_token[position] - stop[m]
                    if 0 <= gap < distance:
                        near, distance, is_after = np.int64(position), np.int64(gap), position > m
                if near < 0 and not about:
                    continue
                left = np.int64(0)
                if near >= 0 and not is_after:
                    left = np.int64(stop[near])
                else:
                    # The first entity comes later or only as the subject: take the tokens from the beginning of the sentence.
                    left = np.int64(first_token[m])
                    while left > 0 and begin[left - 1] >= sentences[sentence[m]]:
                        left -= 1
                # Tokens between the two mentions. If x comes later, a flipped bit tells them from those before the mention.
                right = np.int64(first_token[m])
                need = size + 2 * WINDOW + OPENING + AFTER + 12
                features = grown(features, need)
                order = np.uint64(0 if near < 0 else (2 if is_after else 1))
                for k in range(max(left, right - WINDOW), right):
                    features[size] = _feature(_BETWEEN, hashes[k])
                    size += 1
                if is_after:
                    for k in range(stop[m], min(first_token[near], stop[m] + WINDOW)):
                        features[size] = _feature(_BETWEEN, hashes[k] ^ np.uint64(1))
                        size += 1
                finish = sentences[sentence[m] + 1] if sentence[m] + 1 < sentence_offsets[d + 1] else np.int32(1 << 30)
                for k in range(stop[m], min(count, stop[m] + AFTER)):
                    if begin[k] >= finish:
                        break
                    features[size] = _feature(_AFTER, hashes[k])
                    size += 1
                # The last one, two and three tokens before the mention and the next two after it; 7 to 12 stand for a missing token.
                before_last = hashes[right - 1] if right - 1 >= left else np.uint64(7)
                two = hashes[right - 2] if right - 2 >= left else np.uint64(8)
                three = hashes[right - 3] if right - 3 >= left else np.uint64(9)
                features[size] = _feature(_LAST, before_last)
                features[size + 1] = _feature(_PAIR, mixed(before_last) ^ two)
                features[size + 2] = _feature(_TRIPLE, mixed(mixed(before_last) ^ two) ^ three)
                next_token = hashes[stop[m]] if stop[m] < count else np.uint64(11)
                further = hashes[stop[m] + 1] if stop[m] + 1 < count else np.uint64(12)
                features[size + 3] = _feature(_NEXT, next_token)
                features[size + 4] = _feature(_NEXT_PAIR, mixed(next_token) ^ further)
                # Distance in tokens and place of the sentence, in coarse steps, and the order of the two mentions.
                gap = right - left
                features[size + 5] = _feature(_DISTANCE, np.uint64(gap if gap < 5 else (5 if gap < 10 else (6 if gap < 20 else 7))))
                place = sentence[m] - sentence_offsets[d]
                features[size + 6] = _feature(_SENTENCE, np.uint64(place if place < 3 else 3))
                features[size + 7] = _feature(_ORDER, order + np.uint64(4) * np.uint64(mention_count))
                size += 8
                # Articles about the same kind of subject open alike, which helps only for facts about the subject.
                if about:
                    for k in range(opening):
                        features[size] = _feature(_OPENING, hashes[k])
                        size += 1
                    features[size] = _feature(_FIRST, np.uint64(place == 0))
                    size += 1
                pair_count += 1
                bounds = grown(bounds, pair_count + 1)
                bounds[pair_count] = size
                counts[pair] += 1
                mention_count += 1
        i = last_mention
    return counts, bounds[: pair_count + 1].copy(), features[:size].copy()
