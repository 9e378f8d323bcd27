"""Precision, recall and F1: over multisets where tokens are meant, over sets where ids are; bounds, symmetry, emptiness."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from kgqa.metrics.overlap import NOTHING, Overlap, best, capped, joint, set_overlap, token_overlap

TOKENS = st.lists(st.sampled_from("abc"), max_size=5)
SETS = st.frozensets(st.sampled_from("abcd"))
OVERLAPS = st.builds(set_overlap, SETS, SETS)


def test_a_token_counts_as_often_as_both_sides_have_it() -> None:
    assert token_overlap(["new", "york", "new", "york"], ["new", "york"]) == pytest.approx((0, 2 / 3, 1 / 2, 1))


@given(TOKENS, TOKENS)
def test_tokens_are_a_multiset(predicted: list[str], gold: list[str]) -> None:
    overlap = token_overlap(predicted, gold)
    left = Counter(predicted)
    common = sum(min(left[token], count) for token, count in Counter(gold).items())
    expected = Fraction(2 * common, len(predicted) + len(gold)) if common else 0
    assert overlap.f1 == pytest.approx(float(expected))
    assert overlap.em == (predicted == gold)
    swapped = token_overlap(gold, predicted)
    assert (overlap.f1, overlap.precision, overlap.recall) == (swapped.f1, swapped.recall, swapped.precision)


@given(SETS, SETS)
def test_sets_agree_fully_only_where_they_are_equal(predicted: frozenset[str], gold: frozenset[str]) -> None:
    overlap = set_overlap(predicted, gold)
    assert overlap.em == (predicted == gold)
    assert (overlap.f1 == 1) == (predicted == gold and bool(gold))
    assert overlap.precision * len(predicted) == pytest.approx(overlap.recall * len(gold))


def test_two_empty_sides_match_exactly_and_overlap_in_nothing() -> None:
    assert set_overlap(frozenset(), frozenset()) == token_overlap([], []) == Overlap(em=1.0)


@given(OVERLAPS, OVERLAPS)
def test_joint_multiplies_precision_and_recall(one: Overlap, other: Overlap) -> None:
    both = joint(one, other)
    assert both.em == one.em * other.em
    assert (both.precision, both.recall) == (one.precision * other.precision, one.recall * other.recall)
    if both.precision + both.recall:
        assert both.f1 == pytest.approx(2 * both.precision * both.recall / (both.precision + both.recall))
    assert joint(one, NOTHING) == NOTHING


@given(OVERLAPS, OVERLAPS)
def test_the_best_and_the_cap_hold_for_each_score_on_its_own(one: Overlap, other: Overlap) -> None:
    assert best([one, other]) == tuple(max(pair) for pair in zip(one, other, strict=True))
    assert capped(one, other) == tuple(min(pair) for pair in zip(one, other, strict=True))
