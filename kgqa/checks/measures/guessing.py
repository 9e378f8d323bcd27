"""Guessing answers from a single feature, such as a word of the question, by the answers that occurred with it in training.

If the set has a train split and others, the guesser learns from train and is tested on the others. Otherwise the questions are divided into
five parts by the hash of their group, and each part is guessed from the other four. No question helps to guess itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import find, spread

Keys = npt.NDArray[np.uint64]
FOLDS = 5
CHUNK = 1 << 21
"""Pairs of a feature and a candidate that are looked up at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """Guesses for the evaluated questions."""

    question: npt.NDArray[np.int64]
    """Indices of the evaluated questions."""
    right: npt.NDArray[np.bool_]
    feature: Keys
    """Feature of each guess."""
    occurrences: npt.NDArray[np.int64]
    """How often the feature and the guessed answer came together where the guesser learned; 0 where it had nothing to go by."""


@dataclass(slots=True)
class Questions:
    """Input of guessers: answers, features, candidates, as keys. Memory: 8 bytes each, and 20 bytes per question."""

    seed: int
    train: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    fold: list[npt.NDArray[np.int64]] = field(default_factory=list)
    answer: list[Keys] = field(default_factory=list)
    features: list[tuple[npt.NDArray[np.int64], Keys]] = field(default_factory=list)
    """For each batch: features per question, and the features."""
    candidates: list[tuple[npt.NDArray[np.int64], Keys]] = field(default_factory=list)
    """The same of the candidates; a question without a list of them has none."""

    def add(
        self,
        *,
        train: bool,
        groups: list[str],
        answer: Keys,
        features: tuple[npt.NDArray[np.int64], Keys],
        candidates: tuple[npt.NDArray[np.int64], Keys],
    ) -> None:
        """Take some questions of one split."""
        self.train.append(np.full(len(groups), train))
        hashes = text_hashes(pa.array(groups, pa.string()), seed=self.seed)
        self.fold.append((hashes % np.uint64(FOLDS)).astype(np.int64))
        self.answer.append(answer)
        self.features.append(features)
        self.candidates.append(candidates)

    def guesses(self, *, precise: bool) -> Guesses:
        """Guess every question that can be tried.

        ``precise`` chooses the feature with the largest share n / (all + 2) of its most frequent answer, otherwise the most frequent pair
        of feature and answer decides. A question with candidates is guessed among them alone.
        """
        answer, train = _all_keys(self.answer), np.concatenate([np.empty(0, np.bool_), *self.train])
        features, candidates = _Rows.of(self.features), _Rows.of(self.candidates)
        if train.any() and not train.all():
            parts = [_guess(answer, features, candidates, train, ~train, precise)]
        else:
            fold = np.concatenate([np.empty(0, np.int64), *self.fold])
            parts = [_guess(answer, features, candidates, fold != part, fold == part, precise) for part in range(FOLDS)]
        return Guesses(
            question=np.concatenate([part.question for part in parts]),
            right=np.concatenate([part.right for part in parts]),
            feature=np.concatenate([part.feature for part in parts]),
            occurrences=np.concatenate([part.occurrences for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    offsets: npt.NDArray[np.int64]
    values: Keys

    @classmethod
    def of(cls, batches: list[tuple[npt.NDArray[np.int64], Keys]]) -> _Rows:
        counts = np.concatenate([np.zeros(1, np.int64), *(batch[0] for batch in batches)])
        return cls(np.cumsum(counts), _all_keys([batch[1] for batch in batches]))

    def take(self, questions: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Keys]:
        """The values of some questions, and for each the place of its question in ``questions``."""
        counts = self.offsets[questions + 1] - self.offsets[questions]
        return np.repeat(np.arange(len(questions)), counts), self.values[spread(self.offsets[questions], counts)]


@dataclass(frozen=True, slots=True)
class _Learned:
    """Counts of each pair of feature and answer, sorted by both; for each feature its most frequent pair."""

    features: Keys
    answers: Keys
    counts: npt.NDArray[np.int64]
    distinct: Keys
    """Each feature once; ``begins`` and ``ends`` bound its pairs, ``best`` is the place of the most frequent."""
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    best: npt.NDArray[np.int64]
    totals: npt.NDArray[np.int64]

    @classmethod
    def of(cls, features: Keys, answers: Keys) -> _Learned:
        order = np.lexsort((answers, features))
        features, answers = features[order], answers[order]
        is_first = np.ones(len(features), np.bool_)
        is_first[1:] = (features[1:] != features[:-1]) | (answers[1:] != answers[:-1])
        first_rows = np.flatnonzero(is_first)
        counts = np.diff(np.append(first_rows, len(features)))
        features, answers = features[first_rows], answers[first_rows]
        distinct, begins, sizes = np.unique(features, return_index=True, return_counts=True)
        ends = begins + sizes
        by_count = np.lexsort((answers, -counts, features))
        totals = np.add.reduceat(counts, begins) if len(begins) else counts
        return cls(features, answers, counts, distinct, begins, ends, by_count[begins], totals)

    def look_up(self, at: npt.NDArray[np.int64], answers: Keys) -> npt.NDArray[np.int64]:
        """How often each answer came with the feature at each place; binary search in all rows at once."""
        low, high = self.begins[at].copy(), self.ends[at].copy()
        while (is_open := low < high).any():
            middle = (low + high) // 2
            below = is_open & (self.answers[np.minimum(middle, len(self.answers) - 1)] < answers)
            low = np.where(below, middle + 1, low)
            high = np.where(is_open & ~below, middle, high)
        is_known = (low < self.ends[at]) & (self.answers[np.minimum(low, len(self.answers) - 1)] == answers)
        return np.where(is_known, self.counts[np.minimum(low, len(self.counts) - 1)], 0)


def _guess(
    answer: Keys,
    features: _Rows,
    candidates: _Rows,
    is_training: npt.NDArray[np.bool_],
    is_tested: npt.NDArray[np.bool_],
    precise: bool,
) -> Guesses:
    training = np.flatnonzero(is_training & (answer != 0))
    owner, values = features.take(training)
    model = _Learned.of(values, answer[training][owner])
    question = np.flatnonzero(is_tested & (answer != 0))
    has_candidates = np.diff(candidates.offsets)[question] > 0
    guess, feature = np.zeros(len(question), np.uint64), np.zeros(len(question), np.uint64)
    counts = np.zeros(len(question), np.int64)
    for mask, guesser in ((~has_candidates, _free), (has_candidates, _among)):
        rows = np.flatnonzero(mask)
        guess[rows], feature[rows], counts[rows] = guesser(model, question[rows], features, candidates, precise)
    return Guesses(question=question, right=(guess == answer[question]) & (counts > 0), feature=feature, occurrences=counts)


_Guessed = tuple[Keys, Keys, npt.NDArray[np.int64]]


def _free(model: _Learned, question: npt.NDArray[np.int64], features: _Rows, candidates: _Rows, precise: bool) -> _Guessed:
    owner, values = features.take(question)
    at = find(model.distinct, values)
    owner, at = owner[at >= 0], at[at >= 0]
    best = model.best[at]
    counts = model.counts[best]
    score = counts / (model.totals[at] + 2.0) if precise else counts.astype(np.float64)
    return _highest(len(question), owner, score, model.answers[best], model.distinct[at], counts)


def _among(model: _Learned, question: npt.NDArray[np.int64], features: _Rows, candidates: _Rows, precise: bool) -> _Guessed:
    guess, feature, counts_of_guesses = (
        np.zeros(len(question), np.uint64),
        np.zeros(len(question), np.uint64),
        np.zeros(len(question), np.int64),
    )
    pairs = np.diff(features.offsets)[question] * np.diff(candidates.offsets)[question]
    bounds = np.searchsorted(np.cumsum(pairs), np.arange(0, pairs.sum() + CHUNK, CHUNK))
    edges = np.unique(np.append(bounds, len(question)))
    for begin, end in zip(np.append(0, edges[:-1]), edges, strict=True):
        if begin == end:
            continue
        part = question[begin:end]
        owner, values = features.take(part)
        at = find(model.distinct, values)
        owner, at = owner[at >= 0], at[at >= 0]
        choice, names = candidates.take(part[owner])
        counts = model.look_up(at[choice], names)
        score = counts / (model.totals[at[choice]] + 2.0) if precise else counts.astype(np.float64)
        is_known = counts > 0
        score_columns = (owner[choice][is_known], score[is_known], names[is_known], model.distinct[at[choice]][is_known], counts[is_known])
        guess[begin:end], feature[begin:end], counts_of_guesses[begin:end] = _highest(end - begin, *score_columns)
    return guess, feature, counts_of_guesses


def _highest(
    size: int,
    owner: npt.NDArray[np.int64],
    score: npt.NDArray[np.float64],
    answers: Keys,
    features: Keys,
    counts: npt.NDArray[np.int64],
) -> _Guessed:
    """For each question the guess with the highest score; of equal ones that with the smallest key, which is a hash and so says nothing."""
    guess, feature, seen_counts = np.zeros(size, np.uint64), np.zeros(size, np.uint64), np.zeros(size, np.int64)
    order = np.lexsort((features, answers, -score, owner))
    top_rows = order[np.diff(owner[order], prepend=-1) > 0]
    guess[owner[top_rows]], feature[owner[top_rows]], seen_counts[owner[top_rows]] = answers[top_rows], features[top_rows], counts[top_rows]
    return guess, feature, seen_counts


def _all_keys(parts: list[Keys]) -> Keys:
    return np.concatenate([np.empty(0, np.uint64), *parts])
