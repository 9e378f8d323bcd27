"""A model that separates sentences that state a relation between two entities of different kinds from mere co-mentions.

:mod:`kgqa.statements.model` learns each role separately, from articles about one entity. Abstracts are about no single entity, and the
facts between two kinds, such as drugs and their targets, are few and have one role. This model therefore only predicts whether any fact
joins the two entities of a sentence. It is a logistic regression over the tokens between, before and after the two mentions, trained on the
facts (Mintz et al. 2009). It uses no word lists: it learns negations ("did not inhibit") and mere lists ("were also measured") from
sentences about entities that no fact joins. Mentions are replaced by their kind, so that it cannot memorise names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_array

from kgqa.arrays.hashes import mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Offsets
from kgqa.arrays.sentences import sentence_starts
from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import character_tables, tokenize

FAR = 25
"""Maximum number of tokens between two mentions for these tokens to be features."""
WINDOW = 4
"""Number of tokens before the first mention, and after the second, that are features."""
MOST = 6
"""Number of contexts of a pair in a document: the first ones."""
LEAST = 2
"""Minimum number of contexts with a feature."""
RIDGE = 100.0
"""Weight of the L2 penalty against the loss of one pair: large, because a fact of the graph is only a noisy label for a sentence."""
STEPS = 100
"""Maximum number of L-BFGS steps."""
ENOUGH = 1e-5
"""L-BFGS stops when a step changes the loss by less than this share."""
FloatArray = npt.NDArray[np.float64]
_EDGE = 3
"""The token before the beginning and after the end of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePairs:
    """Pairs of entities that share a sentence, one entry per document and pair, ordered by (document, one, other)."""

    document: IntArray
    one: IntArray
    """The entity of the first kind."""
    other: IntArray
    """The entity of another kind."""
    bounds: Offsets
    """The contexts of pair i are ``bounds[i]:bounds[i + 1]``."""
    feature_bounds: Offsets
    features: npt.NDArray[np.uint64]
    """Hashes; those of context c are ``features[feature_bounds[c]:feature_bounds[c + 1]]``."""

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.document)


def sentence_pairs(
    texts: pa.ChunkedArray, mentions: tuple[Offsets, IntArray, IntArray, IntArray], is_first_kind: npt.NDArray[np.bool_]
) -> SentencePairs:
    """The pairs of an entity of the first kind and another entity that share a sentence.

    ``is_first_kind`` is a mask over the entities. ``mentions``: offsets per document, then entities, starts and ends in characters, ordered
    by start, without overlap. O(tokens + pairs); memory: 8 bytes per feature, about 70 features per context.
    """
    sentences = sentence_starts(texts)
    document, one, other, feature_bounds, features = _contexts(
        *text_buffers(texts), *character_tables(), sentences.offsets, sentences.targets, *mentions, is_first_kind
    )
    # Contexts come sentence by sentence. Group them by pair, and keep the first ``MOST`` of each.
    order = np.lexsort((np.arange(len(document)), other, one, document))
    key = np.stack([document[order], one[order], other[order]])
    begins = np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0))[: len(order)]
    place = np.arange(len(order)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    rows = order[place < MOST]
    pair = (np.cumsum(begins) - 1)[place < MOST]
    sizes = np.diff(feature_bounds)[rows]
    at = np.repeat(feature_bounds[rows] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
    starts = order[begins]
    return SentencePairs(
        document=document[starts], one=one[starts], other=other[starts],
        bounds=np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=len(starts)))]).astype(np.int64),
        feature_bounds=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), features=features[at],
    )  # fmt: skip


def cross_fit(
    pairs: SentencePairs, labels: npt.NDArray[np.bool_], folds: Sequence[IntArray], is_example: npt.NDArray[np.bool_]
) -> FloatArray:
    """Cross-fitted log-odds of each pair: each fold is scored by a model that was trained on the other folds.

    The context with the highest score counts. Each array in ``folds`` assigns the pairs to folds (one entry per pair); the result is the
    mean over these divisions. Only pairs where ``is_example`` is true are used for training. The caller should exclude pairs with an entity
    that has no fact, as they have no reliable label. Single-threaded, so that the bytes do not depend on the number of cores.
    """
    table, owner = _matrix(pairs), np.repeat(np.arange(len(pairs)), np.diff(pairs.bounds))
    # Each pair has weight 1 in total, however many contexts it has.
    weight = 1 / np.diff(pairs.bounds)[owner]
    total = np.zeros(len(pairs))
    for fold in folds:
        scores = np.full(len(pairs), -np.inf)
        for number in np.unique(fold):
            rows = np.flatnonzero((is_example & (fold != number))[owner])
            held_out = np.flatnonzero((fold == number)[owner])
            weights = _fitted(table[rows], labels[owner[rows]], weight[rows])
            np.maximum.at(scores, owner[held_out], table[held_out] @ weights)
        total += scores
    return total / len(folds)


def _matrix(pairs: SentencePairs) -> csr_array:
    """The design matrix, contexts × features: 0 or 1, with a last column of ones. Features in fewer than ``LEAST`` contexts are dropped."""
    names, column, counts = np.unique(pairs.features, return_inverse=True, return_counts=True)
    contexts = len(pairs.feature_bounds) - 1
    row = np.repeat(np.arange(contexts), np.diff(pairs.feature_bounds))
    is_frequent = (counts >= LEAST)[column]
    names, column = np.unique(column[is_frequent], return_inverse=True)
    row = row[is_frequent]
    cells = np.unique(row.astype(np.int64) * (len(names) + 1) + column)
    bias_columns = np.arange(contexts, dtype=np.int64) * (len(names) + 1) + len(names)
    cells = np.sort(np.concatenate([cells, bias_columns]))
    offsets = np.searchsorted(cells // (len(names) + 1), np.arange(contexts + 1))
    return csr_array((np.ones(len(cells)), cells % (len(names) + 1), offsets), shape=(contexts, len(names) + 1))


def _fitted(table: csr_array, labels: npt.NDArray[np.bool_], weight: FloatArray) -> FloatArray:
    """The weights (one per column of ``table``) of a logistic regression with an L2 penalty; ``weight`` is that of each row."""
    from scipy.optimize import minimize  # the import takes half a second, and most runs do not need it

    sign = np.where(labels, 1.0, -1.0)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        # ``logaddexp`` does not overflow for pairs on the wrong side of a large margin.
        margin = sign * (table @ weights)
        value = (weight * np.logaddexp(0, -margin)).sum() + RIDGE / 2 * weights @ weights
        slope = -weight * sign / (1 + np.exp(margin))
        return float(value), table.T @ slope + RIDGE * weights

    solution: FloatArray = minimize(
        loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "ftol": ENOUGH}
    ).x
    return solution


@kernel(inline=True)
def _feature(family, value):  # type: ignore[no-untyped-def]
    return mixed(value ^ mixed(np.uint64(family) * np.uint64(0x9E3779B97F4A7C15)))


@kernel(inline=True)
def _bigram(token, next_token):  # type: ignore[no-untyped-def]
    return mixed(token) * np.uint64(3) ^ next_token


@kernel
def _contexts(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over documents, sentences and pairs of mentions
    data, text_offsets, classes, folded, plain, sentence_offsets, sentences, mention_offsets, entities, mention_starts, mention_ends,
    is_first_kind,
):  # fmt: skip
    """The contexts of all pairs in one sentence, in the order of documents and sentences.

    Returns document, first and other entity (int32, contexts), the bounds of their features (int64, contexts + 1), and features (uint64).
    The number after ``_feature(`` is the family; families that depend on the order of the two mentions add ``order``, 1 or 2.
    """
    document, first_entities, second_entities = np.empty(1 << 12, np.int32), np.empty(1 << 12, np.int32), np.empty(1 << 12, np.int32)
    bounds, features = np.zeros(1 << 12, np.int64), np.empty(1 << 18, np.uint64)
    pair_count = size = 0
    longest_text = most_mentions = 0
    for d in range(len(text_offsets) - 1):
        longest_text = max(longest_text, text_offsets[d + 1] - text_offsets[d])
        most_mentions = max(most_mentions, mention_offsets[d + 1] - mention_offsets[d])
    starts, ends, hashes = np.empty(longest_text + 1, np.int32), np.empty(longest_text + 1, np.int32), np.empty(longest_text + 1, np.uint64)
    spellings, initials = np.empty(longest_text + 1, np.uint64), np.empty(longest_text + 1, np.uint64)
    token, place = np.empty(longest_text + most_mentions + 1, np.uint64), np.empty(most_mentions + 1, np.int64)
    kinds = np.empty(longest_text + most_mentions + 1, np.int8)
    for d in range(len(text_offsets) - 1):
        base, mention_count = mention_offsets[d], mention_offsets[d + 1] - mention_offsets[d]
        if mention_count < 2:
            continue
        # Read the tokens sentence by sentence; ``token`` collects those of one document, with one token, its kind, for each mention.
        count = tokenize(data, text_offsets[d], text_offsets[d + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        at, character = text_offsets[d], 0
        length = mention = 0
        sentence = sentence_offsets[d]
        begin = first_mention = 0
        for t in range(count + 1):
            if t < count:
                goal = text_offsets[d] + starts[t]
                while at < goal:
                    character += (data[at] & 0xC0) != 0x80
                    at += 1
            is_complete = t == count or (sentence + 1 < sentence_offsets[d + 1] and character >= sentences[sentence + 1])
            if is_complete:
                # The sentence is complete: make a context for each pair of its mentions.
                for x in range(first_mention, mention):
                    for z in range(first_mention, mention):
                        if not is_first_kind[entities[base + x]] or is_first_kind[entities[base + z]]:
                            continue
                        left_place, right_place = min(place[x], place[z]), max(place[x], place[z])
                        order = np.uint64(1 + (x < z))
                        features = grown(features, size + 4 * FAR + 6 * WINDOW + 40)
                        # Unigrams and bigrams between the mentions, with and without the order of the two.
                        is_near = right_place - left_place - 1 <= FAR
                        for k in range(left_place + 1, right_place if is_near else left_place + 1):
                            features[size] = _feature(1, token[k])
                            features[size + 1] = _feature(1 + order, token[k])
                            size += 2
                            if k + 1 < right_place:
                                bigram = _bigram(token[k], token[k + 1])
                                features[size] = _feature(4, bigram)
                                features[size + 1] = _feature(4 + order, bigram)
                                size += 2
                        # Unigrams and bigrams before the first mention, then after the second.
                        previous_token = np.uint64(_EDGE)
                        for k in range(max(begin, left_place - WINDOW), left_place):
                            features[size] = _feature(7 + order, token[k])
                            features[size + 1] = _feature(9 + order, _bigram(previous_token, token[k]))
                            size += 2
                            previous_token = token[k]
                        features[size] = _feature(11 + order, previous_token)
                        size += 1
                        previous_token = np.uint64(_EDGE)
                        for k in range(right_place + 1, min(length, right_place + 1 + WINDOW)):
                            features[size] = _feature(13 + order, token[k])
                            size += 1
                            if k > right_place + 1:
                                features[size] = _feature(15 + order, _bigram(previous_token, token[k]))
                                size += 1
                            previous_token = token[k]
                        features[size] = _feature(17 + order, token[right_place + 1] if right_place + 1 < length else np.uint64(_EDGE))
                        # The first and last token between the mentions, their distance, and the number of mentions of each kind.
                        first_token = token[left_place + 1] if right_place > left_place + 1 else np.uint64(_EDGE)
                        last_token = token[right_place - 1] if right_place > left_place + 1 else np.uint64(_EDGE)
                        features[size + 1] = _feature(19 + order, _bigram(first_token, last_token))
                        features[size + 2] = _feature(22, np.uint64(min((right_place - left_place - 1) // 2, 15)))
                        size += 3
                        for kind in (np.int8(1), np.int8(2)):
                            sentence_total = between_total = 0
                            for k in range(begin, length):
                                sentence_total += kinds[k] == kind
                                between_total += kinds[k] == kind and left_place < k < right_place
                            features[size] = _feature(22 + kind, np.uint64(min(sentence_total, 5)))
                            features[size + 1] = _feature(24 + kind, np.uint64(min(between_total, 3)))
                            size += 2
                        # Number of rival mentions that are nearer to the other end than the mention of their own kind.
                        nearer = farther = 0
                        for rival in range(first_mention, mention):
                            if entities[base + rival] in (entities[base + x], entities[base + z]):
                                continue
                            if is_first_kind[entities[base + rival]]:
                                nearer += abs(place[rival] - place[z]) < right_place - left_place
                            else:
                                farther += abs(place[rival] - place[x]) < right_place - left_place
                        features[size] = _feature(27, np.uint64(min(nearer, 3)))
                        features[size + 1] = _feature(28, np.uint64(min(farther, 3)))
                        size += 2
                        document, first_entities, second_entities = (
                            grown(document, pair_count + 1),
                            grown(first_entities, pair_count + 1),
                            grown(second_entities, pair_count + 1),
                        )
                        document[pair_count], first_entities[pair_count], second_entities[pair_count] = (
                            d,
                            entities[base + x],
                            entities[base + z],
                        )
                        pair_count += 1
                        bounds = grown(bounds, pair_count + 1)
                        bounds[pair_count] = size
                begin, first_mention = length, mention
                while sentence + 1 < sentence_offsets[d + 1] and character >= sentences[sentence + 1]:
                    sentence += 1
            if t == count:
                break
            # A mention becomes one token, its kind; the tokens inside it are skipped.
            if mention < mention_count and character >= mention_starts[base + mention]:
                kind = np.int8(1 if is_first_kind[entities[base + mention]] else 2)
                token[length], kinds[length], place[mention] = np.uint64(kind), kind, length
                length += 1
                mention += 1
            if mention > 0 and character < mention_ends[base + mention - 1]:
                continue
            token[length], kinds[length] = hashes[t], 0
            length += 1
    return (
        document[:pair_count].copy(),
        first_entities[:pair_count].copy(),
        second_entities[:pair_count].copy(),
        bounds[: pair_count + 1].copy(),
        features[:size].copy(),
    )
