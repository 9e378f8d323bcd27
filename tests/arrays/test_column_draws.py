"""Draws for columns are even, depend on what is drawn for whom alone, and never change, because data depend on them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from kgqa.arrays.column_draws import deal, shuffling
from kgqa.arrays.rows import Rows


def test_shuffling_never_changes() -> None:
    groups, members = np.array([0, 1, 2**63 + 5], np.uint64), np.array([0, 7, 2**31 - 1])
    assert shuffling(groups, members, purpose="a").tolist() == [4269021986575796157, 9647211881801561473, 2178206413362825102]
    assert shuffling(groups[1:2], members[1:2], purpose="a", seed=3).tolist() == [15599745251128356927]


@given(groups=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8), seed=st.integers(0, 2**31 - 1), data=st.data())
def test_shuffling_depends_on_the_pair_and_the_seed_alone(groups: list[int], seed: int, data: st.DataObject) -> None:
    members = data.draw(st.lists(st.integers(0, 2**31 - 1), min_size=len(groups), max_size=len(groups)))
    together = shuffling(np.array(groups, np.uint64), np.array(members), purpose="a", seed=seed).tolist()
    alone = [shuffling(np.array([g], np.uint64), np.array([m]), purpose="a", seed=seed)[0] for g, m in zip(groups, members, strict=True)]
    assert together == alone


def test_draws_for_different_purposes_have_nothing_in_common() -> None:
    groups, members = np.repeat(np.arange(4000, dtype=np.uint64), 9), np.tile(np.arange(9), 4000)
    chosen = shuffling(groups, members, purpose="a").reshape(4000, 9).argmin(axis=1)
    winner = shuffling(groups, members, purpose="b").reshape(4000, 9).argmax(axis=1)
    assert 0.09 < np.mean(chosen == winner) < 0.13


def test_shuffling_favours_no_member() -> None:
    groups = np.repeat(np.arange(4000, dtype=np.uint64), 4)
    drawn = shuffling(groups, np.tile(np.arange(4), 4000), purpose="a").reshape(4000, 4)
    assert all(900 < count < 1100 for count in np.bincount(drawn.argmin(axis=1)).tolist())


@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=6), groups=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6),
    room=st.integers(0, 20), seed=st.integers(0, 2**31 - 1),
)  # fmt: skip
def test_dealt_numbers_differ_within_a_row_and_depend_on_its_group_alone(sizes: list[int], groups: list[int], room: int, seed: int) -> None:
    def dealt(sizes: list[int], groups: list[int]) -> list[list[int]]:
        rows = Rows.numbering(np.array(sizes), "things", "have fewer")
        flat = deal(rows, np.array(groups, np.uint64), numbers=numbers, seed=seed).tolist()
        return [flat[a:b] for a, b in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)]

    numbers = max(sizes) + room
    together = dealt(sizes, groups[: len(sizes)])
    for size, group, part in zip(sizes, groups, together, strict=False):
        assert len(set(part)) == size
        assert all(0 <= n < numbers for n in part)
        assert dealt([size], [group]) == [part]


def test_dealt_numbers_are_even_and_never_change() -> None:
    count = 2000
    rows = Rows.numbering(np.full(count, 2), "things", "have fewer")
    groups = np.random.default_rng(0).integers(0, 2**63, count).astype(np.uint64)
    first, second = deal(rows, groups, numbers=10, seed=0).reshape(count, 2).T
    for drawn in (first, second):
        assert all(150 < n < 250 for n in np.bincount(drawn, minlength=10).tolist())
    assert (deal(rows, groups, numbers=10, seed=1)[::2] != first).any()
    few = Rows.numbering(np.array([3, 0, 4]), "things", "have fewer")
    assert deal(few, np.array([7, 8, 2**63 + 5], np.uint64), numbers=100, seed=3).tolist() == [62, 39, 14, 55, 59, 23, 94]
