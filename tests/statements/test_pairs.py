"""The model of pairs tells sentences that state from those that deny or list, though it never saw a word list."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgqa.arrays.rows import IntArray, Offsets
from kgqa.statements.calibration import logistic
from kgqa.statements.pairs import SentencePairs, cross_fit, sentence_pairs

SENTENCES = ("{a} strongly inhibits {b} in cells.", "{a} did not inhibit {b} in cells.", "{b} was measured and {a} was given.")
DRUGS, PROTEINS = 240, 40


def corpus() -> tuple[SentencePairs, np.ndarray, IntArray]:
    """A text for each pair of drug and protein; three of four pairs that are facts are stated, others denied or listed."""
    rng = np.random.default_rng(3)
    texts, entities, starts, ends, offsets, kind, fact = [], [], [], [], [0], [], []
    for drug in range(DRUGS):
        for protein in rng.choice(PROTEINS, 3, replace=False):
            true = bool(rng.integers(2))
            which = 0 if rng.random() < (0.75 if true else 0.05) else int(rng.integers(1, 3))
            a, b = f"d{drug}x", f"p{protein}y"
            text = "We looked at rats. " + SENTENCES[which].format(a=a, b=b)
            for entity, name in sorted(((drug, a), (DRUGS + int(protein), b)), key=lambda pair: text.index(pair[1])):
                entities.append(entity)
                starts.append(text.index(name))
                ends.append(starts[-1] + len(name))
            texts.append(text)
            offsets.append(len(entities))
            kind.append(which)
            fact.append(true)
    first = np.arange(DRUGS + PROTEINS) < DRUGS
    mentions: tuple[Offsets, IntArray, IntArray, IntArray] = (
        np.array(offsets, np.int64), np.array(entities, np.int32), np.array(starts, np.int32), np.array(ends, np.int32)
    )  # fmt: skip
    pairs = sentence_pairs(pa.chunked_array([texts]), mentions, first)
    return pairs, np.array(fact)[pairs.document], np.array(kind)[pairs.document]


def test_stated_pairs_score_above_denied_and_listed_ones() -> None:
    pairs, true, kind = corpus()
    assert len(pairs) == 3 * DRUGS
    scores = cross_fit(pairs, true, [pairs.one % 3], np.ones(len(pairs), np.bool_))
    assert scores[kind == 0].min() > scores[kind != 0].max()
    probabilities = logistic(scores, true, scores)
    assert abs(probabilities.mean() - true.mean()) < 0.02
    assert (np.diff(probabilities[np.argsort(scores)]) >= 0).all()


def test_a_pair_is_found_only_in_its_own_sentence() -> None:
    texts = pa.chunked_array([["Aspirin helps. Thrombin hurts.", "Aspirin helps thrombin. Aspirin hurts thrombin."]])
    mentions = (
        np.array([0, 2, 6]), np.array([0, 1, 0, 1, 0, 1], np.int32), np.array([0, 15, 0, 14, 24, 38], np.int32),
        np.array([7, 23, 7, 22, 31, 46], np.int32),
    )  # fmt: skip
    pairs = sentence_pairs(texts, mentions, np.array([True, False]))
    assert (pairs.document.tolist(), pairs.one.tolist(), pairs.other.tolist()) == ([1], [0], [1])
    assert np.diff(pairs.bounds).tolist() == [2]
