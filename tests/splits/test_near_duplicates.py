"""Near-duplicates are those that comparing all pairs finds, within the stated recall; what is reported is never below the threshold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.arrays.tokens import word_hashes
from kgqa.splits.near_duplicates import THRESHOLD, WINDOW, Pairs, near_duplicates, recall
from kgqa.splits.shingles import Shingles, concatenate, shingle
from tests.lengths import example_count

WORDS = [f"w{number}" for number in range(40)]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS[:8]), max_size=12).map(" ".join), max_size=12)


def shingles_of(texts: list[str], width: int = 1) -> Shingles:
    return shingle(word_hashes(pa.array(texts, pa.string())), width=width)


def plain_shingles(text: str, width: int) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[at : at + width]) for at in range(max(1, len(words) - width + 1))} if words else set()


def plain_jaccard(one: str, other: str, width: int) -> float:
    a, b = plain_shingles(one, width), plain_shingles(other, width)
    return len(a & b) / len(a | b) if a | b else 1.0


def found(pairs: Pairs) -> dict[tuple[int, int], float]:
    return {(a, b): s for a, b, s in zip(pairs.one.tolist(), pairs.other.tolist(), pairs.similarity.tolist(), strict=True)}


@given(texts=TEXTS, width=st.integers(1, 4))
def test_similarity_is_that_of_the_sets_of_word_runs(texts: list[str], width: int) -> None:
    shingles = shingles_of(texts, width)
    assert [int(n) for n in np.diff(shingles.offsets)] == [len(plain_shingles(text, width)) for text in texts]
    one, other = (part.ravel() for part in np.meshgrid(np.arange(len(texts)), np.arange(len(texts))))
    expected = [plain_jaccard(texts[a], texts[b], width) for a, b in zip(one, other, strict=True)]
    assert shingles.jaccard(one, other).tolist() == pytest.approx(expected)


@given(texts=TEXTS, width=st.integers(1, 3))
def test_nothing_is_reported_that_brute_force_does_not_find_and_what_is_sure_is_found(texts: list[str], width: int) -> None:
    pairs = found(near_duplicates(shingles_of(texts, width)))
    every = {(a, b): plain_jaccard(texts[a], texts[b], width) for b in range(len(texts)) for a in range(b) if texts[a] and texts[b]}
    assert all(pairs[pair] == pytest.approx(every[pair]) and every[pair] >= THRESHOLD for pair in pairs)
    assert {pair for pair, alike in every.items() if alike >= 0.95} <= set(pairs)


def test_recall_is_what_is_stated() -> None:
    rng = np.random.default_rng(1)
    texts, wanted = [], []
    for number in range(1500):
        words = [f"t{number}w{place}" for place in range(27)]
        texts += [" ".join(words), " ".join([*words[: int(rng.integers(24, 27))], f"t{number}other"])]
        wanted.append((2 * number, 2 * number + 1))
    shingles = shingles_of(texts)
    alike = shingles.jaccard(np.array([a for a, _ in wanted]), np.array([b for _, b in wanted]))
    expected = sum(recall(similarity) for similarity in alike if similarity >= THRESHOLD)
    pairs = found(near_duplicates(shingles))
    assert set(pairs) <= set(wanted)
    assert len(pairs) >= 0.998 * expected
    assert expected > 1400


def test_a_thousand_texts_of_one_template_are_not_compared_with_each_other() -> None:
    texts = [" ".join([*WORDS, f"end{number}"]) for number in range(1000)]
    pairs = near_duplicates(shingles_of(texts))
    assert pairs.not_compared > 0
    assert len(pairs) < 24 * 1000 * WINDOW
    assert len(set(pairs.one.tolist()) | set(pairs.other.tolist())) == 1000
    assert near_duplicates(shingles_of(texts), window=2000).not_compared == 0
    assert len(near_duplicates(shingles_of(texts), window=2000)) == 1000 * 999 // 2


def test_texts_with_other_labels_do_not_fill_a_bucket() -> None:
    texts = [" ".join([*WORDS, f"end{number}"]) for number in range(1000)]
    labels = np.arange(1000, dtype=np.uint64)
    labels[999] = 0
    pairs = near_duplicates(shingles_of(texts), labels=labels)
    assert set(found(pairs)) == {(0, 999)}
    assert pairs.not_compared == 0


def test_labels_that_agree_in_their_last_bits_are_told_apart() -> None:
    labels = np.array([1, 1 + (1 << 32)], np.uint64)
    assert len(near_duplicates(shingles_of([" ".join(WORDS)] * 2), labels=labels)) == 0


@given(texts=TEXTS, sides=st.lists(st.integers(1, 3), min_size=12, max_size=12), seed=st.integers(0, 3))
@settings(max_examples=example_count(50))
def test_only_pairs_across_sides_are_looked_at(texts: list[str], sides: list[int], seed: int) -> None:
    shingles = shingles_of(texts)
    bits = np.array(sides[: len(texts)], np.uint64)
    every = found(near_duplicates(shingles, seed=seed))
    across = found(near_duplicates(shingles, sides=bits, seed=seed))
    one_side = {1, 2}
    expected = {(a, b): s for (a, b), s in every.items() if not (sides[a] == sides[b] and sides[a] in one_side)}
    assert across == expected


def test_the_same_seed_finds_the_same_and_parts_make_no_difference() -> None:
    texts = [" ".join(WORDS[at : at + 20]) for at in range(20)] * 2
    whole = shingles_of(texts)
    parts = concatenate([shingles_of(texts[:7]), shingles_of([]), shingles_of(texts[7:])])
    assert parts.offsets.tolist() == whole.offsets.tolist()
    assert parts.values.tolist() == whole.values.tolist()
    assert found(near_duplicates(whole, seed=3)) == found(near_duplicates(parts, seed=3))


def test_words_are_folded_and_signs_left_out() -> None:
    one, other = "“Ada’s”, (LOVELACE)! été…", 'ada\'s lovelace "ÉTÉ"'
    bounds, hashes = word_hashes(pa.array([one, other]))
    assert hashes[: bounds[1]].tolist() == hashes[bounds[1] :].tolist()
    assert len(hashes) == 8


def test_without_texts_nothing_is_found() -> None:
    assert len(near_duplicates(shingles_of([]))) == 0
    assert len(near_duplicates(shingles_of(["", "…", "one"]))) == 0
