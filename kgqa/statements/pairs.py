"""Whether a sentence states that two entities of different kinds have to do with each other, or only names both.

Where there is one document about each entity, :mod:`kgqa.statements.model` learns each role apart. Abstracts are about no entity, and the
facts between two kinds (drugs and their targets) are few and of one role. So this model asks of each sentence that mentions both ends
whether they are joined by a fact at all: a logistic regression over tokens between, before and behind the two mentions, learned from the
facts (Mintz et al. 2009). It has no list of words: what denies ("did not inhibit") or lists ("were also measured") is what stands in
sentences between entities that no fact joins. Other mentions are seen by kind alone, so that no name is learned by heart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.optimize import minimize
from scipy.sparse import csr_array

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Offsets
from kgqa.arrays.sentences import sentence_starts
from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import character_tables, tokenize

FAR = 25
"""Tokens between two mentions beyond which these are no features."""
WINDOW = 4
"""Tokens before the first mention, and behind the second, that are features."""
MOST = 6
"""Sentences and mentions of a pair that are looked at in a document: the first ones."""
LEAST = 2
"""Contexts that a feature must be in."""
RIDGE = 100.0
"""The weight of the squared weights against the loss of one pair: large, as labels are facts and not what the sentence says."""
STEPS = 100
"""Of L-BFGS, at most; it ends where a step changes the loss by less than the part ``ENOUGH``."""
ENOUGH = 1e-5
FloatArray = npt.NDArray[np.float64]
_EDGE = 3
"""Stands for the beginning and the end of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePairs:
    """Pairs of entities in one sentence, ordered by (document, one, other): one entry a pair."""

    document: IntArray
    one: IntArray
    """The entity of the first kind."""
    other: IntArray
    bounds: Offsets
    """The contexts of pair i are ``bounds[i]:bounds[i + 1]``; those of all pairs run from 0 upwards."""
    feature_bounds: Offsets
    features: npt.NDArray[np.uint64]
    """Hashes: those of context c are ``features[feature_bounds[c]:feature_bounds[c + 1]]``."""

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.document)


def sentence_pairs(
    texts: pa.ChunkedArray, mentions: tuple[Offsets, IntArray, IntArray, IntArray], first: npt.NDArray[np.bool_]
) -> SentencePairs:
    """The pairs of an entity of the ``first`` kind and another one that a sentence mentions.

    ``mentions`` are those of each document by start: offsets, entities, starts, ends (characters), none inside another. O(tokens + pairs);
    memory: 8 bytes a feature, about 70 features a context.
    """
    sentences = sentence_starts(texts)
    document, one, other, feature_bounds, features = _contexts(
        *text_buffers(texts), *character_tables(), sentences.offsets, sentences.targets, *mentions, first
    )
    # Contexts were found sentence by sentence: the first ``MOST`` of each pair stay, pair by pair.
    order = np.lexsort((np.arange(len(document)), other, one, document))
    key = np.stack([document[order], one[order], other[order]])
    begins = np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0))[: len(order)]
    place = np.arange(len(order)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    kept = order[place < MOST]
    pair = (np.cumsum(begins) - 1)[place < MOST]
    sizes = np.diff(feature_bounds)[kept]
    at = np.repeat(feature_bounds[kept] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
    starts = order[begins]
    return SentencePairs(
        document=document[starts], one=one[starts], other=other[starts],
        bounds=np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=len(starts)))]).astype(np.int64),
        feature_bounds=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), features=features[at],
    )  # fmt: skip


def cross_fit(pairs: SentencePairs, true: npt.NDArray[np.bool_], folds: Sequence[IntArray], learned: npt.NDArray[np.bool_]) -> FloatArray:
    """The log-odds of each pair by models that have learned from the other folds: of its contexts the surest counts.

    Each of ``folds`` is one division of the pairs; the mean of all is taken. Pairs that are not ``learned`` from are only scored; those of
    which one end has no fact at all teach nothing, so the caller leaves them out. One thread; the same bytes on any number of cores.
    """
    table, owner = _matrix(pairs), np.repeat(np.arange(len(pairs)), np.diff(pairs.bounds))
    weight = 1 / np.diff(pairs.bounds)[owner]
    total = np.zeros(len(pairs))
    for fold in folds:
        scores = np.full(len(pairs), -np.inf)
        for number in np.unique(fold):
            rows = np.flatnonzero((learned & (fold != number))[owner])
            here = np.flatnonzero((fold == number)[owner])
            weights = _fitted(table[rows], true[owner[rows]], weight[rows])
            np.maximum.at(scores, owner[here], table[here] @ weights)
        total += scores
    return total / len(folds)


def _matrix(pairs: SentencePairs) -> csr_array:
    """Contexts × features, of 0 and 1, with a last column of ones."""
    names, column, counts = np.unique(pairs.features, return_inverse=True, return_counts=True)
    contexts = len(pairs.feature_bounds) - 1
    row = np.repeat(np.arange(contexts), np.diff(pairs.feature_bounds))
    kept = (counts >= LEAST)[column]
    names, column = np.unique(column[kept], return_inverse=True)
    row = row[kept]
    cells = np.unique(row.astype(np.int64) * (len(names) + 1) + column)
    ones = np.arange(contexts, dtype=np.int64) * (len(names) + 1) + len(names)
    cells = np.sort(np.concatenate([cells, ones]))
    offsets = np.searchsorted(cells // (len(names) + 1), np.arange(contexts + 1))
    return csr_array((np.ones(len(cells)), cells % (len(names) + 1), offsets), shape=(contexts, len(names) + 1))


def _fitted(table: csr_array, true: npt.NDArray[np.bool_], weight: FloatArray) -> FloatArray:
    sign = np.where(true, 1.0, -1.0)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margin = sign * (table @ weights)
        value = (weight * np.logaddexp(0, -margin)).sum() + RIDGE / 2 * weights @ weights
        slope = -weight * sign / (1 + np.exp(margin))
        return float(value), table.T @ slope + RIDGE * weights

    found: FloatArray = minimize(loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "ftol": ENOUGH}).x
    return found


@kernel(inline=True)
def _named(family, value):  # type: ignore[no-untyped-def]
    return mixed(value ^ mixed(np.uint64(family) * np.uint64(0x9E3779B97F4A7C15)))


@kernel(inline=True)
def _two(one, other):  # type: ignore[no-untyped-def]
    return mixed(one) * np.uint64(3) ^ other


@kernel
def _contexts(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over documents, sentences and pairs of mentions
    data, text_offsets, classes, folded, plain, sentence_offsets, sentences, mention_offsets, entities, mention_starts, mention_ends, first,
):  # fmt: skip
    document, ones, others = np.empty(1 << 12, np.int32), np.empty(1 << 12, np.int32), np.empty(1 << 12, np.int32)
    bounds, features = np.zeros(1 << 12, np.int64), np.empty(1 << 18, np.uint64)
    made = size = 0
    longest = most = 0
    for d in range(len(text_offsets) - 1):
        longest = max(longest, text_offsets[d + 1] - text_offsets[d])
        most = max(most, mention_offsets[d + 1] - mention_offsets[d])
    starts, ends, hashes = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int32), np.empty(longest + 1, np.uint64)
    spellings, initials = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    token, place = np.empty(longest + most + 1, np.uint64), np.empty(most + 1, np.int64)
    kinds = np.empty(longest + most + 1, np.int8)
    for d in range(len(text_offsets) - 1):
        base, mentioned = mention_offsets[d], mention_offsets[d + 1] - mention_offsets[d]
        if mentioned < 2:
            continue
        # The tokens of the document, each mention as one by its kind; sentence by sentence.
        count = tokenize(data, text_offsets[d], text_offsets[d + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        at, character = text_offsets[d], 0
        length = mention = 0
        sentence = sentence_offsets[d]
        begin = begun = 0
        for t in range(count + 1):
            if t < count:
                goal = text_offsets[d] + starts[t]
                while at < goal:
                    character += (data[at] & 0xC0) != 0x80
                    at += 1
            ended = t == count or (sentence + 1 < sentence_offsets[d + 1] and character >= sentences[sentence + 1])
            if ended:
                for x in range(begun, mention):
                    for z in range(begun, mention):
                        if not first[entities[base + x]] or first[entities[base + z]]:
                            continue
                        left, right = min(place[x], place[z]), max(place[x], place[z])
                        order = np.uint64(1 + (x < z))
                        features = grown(features, size + 4 * FAR + 6 * WINDOW + 40)
                        near = right - left - 1 <= FAR
                        for k in range(left + 1, right if near else left + 1):
                            features[size] = _named(1, token[k])
                            features[size + 1] = _named(1 + order, token[k])
                            size += 2
                            if k + 1 < right:
                                both = _two(token[k], token[k + 1])
                                features[size] = _named(4, both)
                                features[size + 1] = _named(4 + order, both)
                                size += 2
                        before = np.uint64(_EDGE)
                        for k in range(max(begin, left - WINDOW), left):
                            features[size] = _named(7 + order, token[k])
                            features[size + 1] = _named(9 + order, _two(before, token[k]))
                            size += 2
                            before = token[k]
                        features[size] = _named(11 + order, before)
                        size += 1
                        before = np.uint64(_EDGE)
                        for k in range(right + 1, min(length, right + 1 + WINDOW)):
                            features[size] = _named(13 + order, token[k])
                            size += 1
                            if k > right + 1:
                                features[size] = _named(15 + order, _two(before, token[k]))
                                size += 1
                            before = token[k]
                        features[size] = _named(17 + order, token[right + 1] if right + 1 < length else np.uint64(_EDGE))
                        one = token[left + 1] if right > left + 1 else np.uint64(_EDGE)
                        last = token[right - 1] if right > left + 1 else np.uint64(_EDGE)
                        features[size + 1] = _named(19 + order, _two(one, last))
                        features[size + 2] = _named(22, np.uint64(min((right - left - 1) // 2, 15)))
                        size += 3
                        for kind in (np.int8(1), np.int8(2)):
                            within = among = 0
                            for k in range(begin, length):
                                within += kinds[k] == kind
                                among += kinds[k] == kind and left < k < right
                            features[size] = _named(22 + kind, np.uint64(min(within, 5)))
                            features[size + 1] = _named(24 + kind, np.uint64(min(among, 3)))
                            size += 2
                        # How many others of its kind stand nearer to the other end.
                        nearer = farther = 0
                        for other in range(begun, mention):
                            if entities[base + other] in (entities[base + x], entities[base + z]):
                                continue
                            if first[entities[base + other]]:
                                nearer += abs(place[other] - place[z]) < right - left
                            else:
                                farther += abs(place[other] - place[x]) < right - left
                        features[size] = _named(27, np.uint64(min(nearer, 3)))
                        features[size + 1] = _named(28, np.uint64(min(farther, 3)))
                        size += 2
                        document, ones, others = grown(document, made + 1), grown(ones, made + 1), grown(others, made + 1)
                        document[made], ones[made], others[made] = d, entities[base + x], entities[base + z]
                        made += 1
                        bounds = grown(bounds, made + 1)
                        bounds[made] = size
                begin, begun = length, mention
                while sentence + 1 < sentence_offsets[d + 1] and character >= sentences[sentence + 1]:
                    sentence += 1
            if t == count:
                break
            if mention < mentioned and character >= mention_starts[base + mention]:
                kind = np.int8(1 if first[entities[base + mention]] else 2)
                token[length], kinds[length], place[mention] = np.uint64(kind), kind, length
                length += 1
                mention += 1
            if mention > 0 and character < mention_ends[base + mention - 1]:
                continue
            token[length], kinds[length] = hashes[t], 0
            length += 1
    return document[:made].copy(), ones[:made].copy(), others[:made].copy(), bounds[: made + 1].copy(), features[:size].copy()
