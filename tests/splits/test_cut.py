"""Splits share nothing, what is dropped is counted, and less is dropped than by a greedy search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.rows import Adjacency
from kgqa.splits.cut import DROPPED, greedy, leak_free

QUESTIONS = st.lists(st.lists(st.integers(0, 25), min_size=1, max_size=5, unique=True), min_size=1, max_size=50)
SHARES = st.sampled_from([(0.8, 0.1, 0.1), (0.5, 0.5, 0.0), (0.34, 0.33, 0.33), (1.0, 0.0, 0.0), (0.6, 0.4)])


def items_of(questions: list[list[int]]) -> Adjacency:
    pairs = [(row, item) for row, items in enumerate(questions) for item in items]
    return Adjacency.from_pairs(np.array([row for row, _ in pairs]), np.array([item for _, item in pairs]), len(questions))


@given(QUESTIONS, SHARES, st.integers(0, 1000))
def test_splits_share_no_item(questions: list[list[int]], shares: tuple[float, ...], seed: int) -> None:
    for made in (leak_free(items_of(questions), shares, seed=seed), greedy(items_of(questions), shares, seed=seed)):
        assert sum(made.kept) + made.dropped == len(questions)
        assert [int((made.split == number).sum()) for number in range(len(shares))] == list(made.kept)
        seen = [
            {item for row, items in enumerate(questions) if made.split[row] == number for item in items} for number in range(len(shares))
        ]
        for one, other in product(range(len(shares)), repeat=2):
            assert one == other or not seen[one] & seen[other]


@given(QUESTIONS, st.integers(0, 1000))
def test_the_same_seed_gives_the_same_splits(questions: list[list[int]], seed: int) -> None:
    once, again = (leak_free(items_of(questions), (0.7, 0.2, 0.1), seed=seed) for _ in range(2))
    assert once.split.tolist() == again.split.tolist()


def test_what_nothing_joins_is_not_dropped() -> None:
    apart = [[3 * number, 3 * number + 1, 3 * number + 2] for number in range(100)]
    made = leak_free(items_of(apart), (0.8, 0.1, 0.1), seed=0)
    assert made.dropped == 0
    assert made.kept == (80, 10, 10)


@pytest.mark.parametrize(("size", "count", "kept"), [(2, 16, (26, 4, 2)), (5, 8, (30, 5, 5)), (1, 32, None)])
def test_what_can_be_dealt_out_in_small_parts_is_not_dropped(size: int, count: int, kept: tuple[int, ...] | None) -> None:
    """Pairs of questions cannot give splits of 25.6, 3.2 and 3.2, and two questions less would not do so either."""
    pairs = [[part, count + part * size + place] for part in range(count) for place in range(size)]
    made = leak_free(items_of(pairs), (0.8, 0.1, 0.1), seed=0)
    assert made.dropped == 0
    assert kept is None or made.kept == kept


def test_what_is_too_large_for_a_split_is_still_cut() -> None:
    """Two halves, one of which a bridge joins to itself: neither is a tenth."""
    rng = np.random.default_rng(0)
    halves = [(60 * half + rng.choice(50, 3, replace=False)).tolist() for half in range(2) for _ in range(60)]
    made = leak_free(items_of(halves), (0.8, 0.1, 0.1), seed=0)
    assert min(made.kept) > 0
    assert made.dropped > 0


def test_two_towns_are_parted_at_the_bridge() -> None:
    """Two dense halves with three questions between them: only these have to go."""
    rng = np.random.default_rng(0)
    left = [rng.choice(30, 4, replace=False).tolist() for _ in range(200)]
    right = [(30 + rng.choice(30, 4, replace=False)).tolist() for _ in range(200)]
    made = leak_free(items_of([*left, *right, [0, 30], [1, 31], [2, 32]]), (0.5, 0.5), seed=1)
    assert made.dropped == 3
    assert (made.split[-3:] == DROPPED).all()


def test_less_is_dropped_than_by_the_greedy_search() -> None:
    """As in composed questions, a few items are in very many, most in few."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, 3000, 1500)
    questions = [sorted({*(place + rng.integers(0, 12, 5)).tolist(), 4000 + int(rng.pareto(2.0) * 40)}) for place in places.tolist()]
    items = items_of(questions)
    best, first = leak_free(items, (0.8, 0.1, 0.1), seed=0), greedy(items, (0.8, 0.1, 0.1), seed=0)
    assert best.dropped < 0.8 * first.dropped
    assert min(best.kept[1:]) > 0.08 * sum(best.kept)


@pytest.mark.parametrize(("share", "kept"), [(1.0, (3000, 0, 0)), (0.5, None)])
def test_a_thing_of_too_many_questions_stays_on_one_side(share: float, kept: tuple[int, ...] | None) -> None:
    """Nothing parts the questions of one answer; what does not have it still fills the smaller splits."""
    rng = np.random.default_rng(3)
    count = 3000
    questions = [
        [0 if row < share * count else 10 * count + row, 1 + int(rng.integers(0, count // 3)), 2 * count + row] for row in range(count)
    ]
    made = leak_free(items_of(questions), (0.8, 0.1, 0.1), seed=0)
    hub = made.split[: int(share * count)]
    assert set(hub.tolist()) <= {0, DROPPED}
    if kept:
        assert made.kept == kept
    else:
        assert min(made.kept[1:]) > 0.08 * sum(made.kept)
        assert made.dropped < 0.15 * count


def test_kinds_are_shared_out() -> None:
    """Of questions with more to share the smaller sides get their part."""
    rng = np.random.default_rng(2)
    places = rng.integers(0, 3000, 2000)
    kinds = (np.arange(2000) % 5 == 0).astype(np.int8)
    questions = [
        sorted({*(place + rng.integers(0, 25 if kind else 8, 7 if kind else 4)).tolist(), 4000 + int(rng.pareto(2.0) * 40)})
        for place, kind in zip(places.tolist(), kinds.tolist(), strict=True)
    ]
    shares = {}
    for name, told in (("told", kinds), ("untold", None)):
        made = leak_free(items_of(questions), (0.8, 0.1, 0.1), seed=0, kinds=told)
        shares[name] = min(float(kinds[made.split == number].mean()) / float(kinds[made.split == 0].mean()) for number in (1, 2))
    assert shares["told"] > 0.7
    assert shares["told"] >= shares["untold"]
