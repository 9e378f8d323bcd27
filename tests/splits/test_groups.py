"""A group lands in one split, whatever else there is, and the shares come out about right."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.splits.groups import assign_splits

GROUPS = st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=20)
SHARES = st.sampled_from([(0.85, 0.1, 0.05), (0.65, 0.135, 0.215), (0.5, 0.25, 0.25), (0.2, 0.2, 0.6)])


def splits(groups: list[str], shares: tuple[float, ...], seed: int) -> list[int]:
    return assign_splits(pa.array(groups, pa.string()), shares, seed=seed).tolist()


@given(groups=GROUPS, more=GROUPS, shares=SHARES, seed=st.integers(0, 2**31 - 2))
def test_more_groups_move_none(groups: list[str], more: list[str], shares: tuple[float, ...], seed: int) -> None:
    alone = splits(groups, shares, seed)
    assert splits([*more, *groups], shares, seed)[len(more) :] == alone
    assert all(len({s for g, s in zip(groups, alone, strict=True) if g == group}) == 1 for group in groups)
    assert all(0 <= split < len(shares) for split in alone)


@pytest.mark.parametrize("shares", [(0.85, 0.1, 0.05), (0.65, 0.135, 0.215)])
@pytest.mark.parametrize("seed", [0, 1, 99])
def test_each_split_gets_about_its_share_of_the_groups(shares: tuple[float, ...], seed: int) -> None:
    count = 20_000
    found = np.bincount(splits([f"Q{i}" for i in range(count)], shares, seed), minlength=3) / count
    assert np.allclose(found, shares, atol=0.01)


def test_another_seed_divides_differently() -> None:
    groups = [f"Q{i}" for i in range(1000)]
    assert splits(groups, (0.5, 0.25, 0.25), 0) != splits(groups, (0.5, 0.25, 0.25), 1)


def test_the_splits_of_a_seed_never_change() -> None:
    frozen = [0, 1, 0, 2, 1, 2, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 2, 0]
    assert splits([f"Q{i}" for i in range(20)], (0.6, 0.2, 0.2), 0) == frozen
