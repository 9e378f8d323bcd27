"""Signed sums: those found by arrays are those of plain loops; units and calendar years must go together."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, strategies as st

from kgqa.readers.numbers.mentions import NumberMention, number_mentions
from kgqa.readers.numbers.sums import Sum, is_sound, result, sums_to

MENTIONS = st.builds(
    lambda value, unit, is_year: NumberMention(
        value=float(1990 + value if is_year else value), unit="years" if is_year else unit, is_year=is_year, start=0, end=1
    ),
    st.integers(0, 6), st.sampled_from(["", "", "km", "years"]), st.booleans(),
)  # fmt: skip


@given(st.lists(MENTIONS, max_size=7), st.integers(-3, 12) | st.integers(1988, 2000), st.integers(1, 3))
def test_arrays_find_what_plain_loops_find(numbers: list[NumberMention], target: int, operands: int) -> None:
    wanted = [
        Sum(places=places, signs=signs)
        for size in range(1, operands + 1)
        for places in combinations(range(len(numbers)), size)
        for signs in product((1, -1), repeat=size)
        if sum(sign * numbers[place].value for place, sign in zip(places, signs, strict=True)) == target
        and is_sound([numbers[place] for place in places], signs)
    ]
    assert sums_to(float(target), numbers, operands=operands) == wanted


def _by(text: str, target: float) -> list[tuple[float, str]]:
    numbers = number_mentions(text)
    return [result([numbers[place] for place in each.places], each.signs) for each in sums_to(target, numbers)]


@pytest.mark.parametrize(
    ("text", "target", "wanted"),
    [
        ("born in 1951, died in 2005", 54, [(54, "years")]),
        ("born in 1951, lived 54 years", 2005, [(2005, "")]),
        ("5 km and 3 km", 8, [(8, "km")]),
        ("5 km and 3 kg", 8, []),
        ("5 km and 3", 2, [(2, "km")]),
        ("in 1990, 10 km away", 2000, []),
        ("1990 and 1985", 3975, []),
        ("0.1 and 0.2", 0.3, [(0.3, "")]),
        ("no numbers", 3, []),
    ],
)
def test_units_and_years_decide_what_is_added(text: str, target: float, wanted: list[tuple[float, str]]) -> None:
    assert _by(text, target) == wanted
