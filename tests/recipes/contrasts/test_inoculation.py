"""A training portion holds whole groups, as many as asked for, and the larger one holds the smaller."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from kgqa.recipes.contrasts.inoculation import PERCENTAGES, choose_groups


@given(st.lists(st.text(max_size=3), min_size=1, max_size=400), st.sampled_from(PERCENTAGES), st.integers(0, 99))
def test_so_many_different_groups_whatever_their_order(groups: list[str], percent: int, seed: int) -> None:
    chosen = choose_groups(groups, percent, seed=seed)
    assert len(chosen) == math.ceil(len(set(groups)) * percent / 100)
    assert chosen <= set(groups)
    assert choose_groups(sorted(groups), percent, seed=seed) == chosen
    assert choose_groups(groups, 1, seed=seed) <= choose_groups(groups, 5, seed=seed)


@pytest.mark.parametrize(("percent", "count"), [(0, 0), (1, 2), (5, 10)])
def test_of_two_hundred_groups(percent: int, count: int) -> None:
    assert len(choose_groups(map(str, range(200)), percent, seed=13)) == count
