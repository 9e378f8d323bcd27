"""The best pairing is the best of all pairings, which for small tables can be tried one by one."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from kgqa.metrics.drop import assignment_values


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    return draw(
        st.lists(st.lists(st.sampled_from((0.0, 0.25, 0.5, 2 / 3, 1.0)), min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )


@given(tables())
def test_no_other_pairing_is_better(values: list[list[float]]) -> None:
    rows, columns = len(values), len(values[0])
    wide = values if rows <= columns else [list(column) for column in zip(*values, strict=True)]
    tried = [sum(wide[row][column] for row, column in enumerate(chosen)) for chosen in permutations(range(len(wide[0])), len(wide))]
    found = assignment_values(values)
    assert sum(found) == pytest.approx(max(tried))
    assert len(found) == rows
    assert all(value in (0.0, *row) for value, row in zip(found, values, strict=True))


def test_the_greedy_pairing_is_not_always_the_best() -> None:
    assert assignment_values([[1.0, 0.9], [0.9, 0.0]]) == [0.9, 0.9]


def test_nobody_to_pair_with() -> None:
    assert assignment_values([]) == []
    assert assignment_values([[], []]) == [0.0, 0.0]
