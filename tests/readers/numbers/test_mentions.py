"""Numbers in texts: figures, words, multiples and units; what is no number; the places of what is found."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kgqa.readers.numbers.mentions import WORDS, number_mentions, number_text, parsed_number
from kgqa.readers.numbers.units import ENGLISH, symbols

FOUND = [
    ("3.5 million people", [(3.5e6, "", False)]),
    ("1,234,567 km", [(1234567, "km", False)]),
    ("a 22-yard field goal", [(22, "yards", False)]),
    ("5km", [(5, "km", False)]),
    ("$ 3 billion", [(3e9, "$", False)]),
    ("12% or 12 percent", [(12, "%", False), (12, "%", False)]),
    ("Ninety-nine and forty", [(99, "", False), (40, "", False)]),
    ("two hundred thousand", [(2e5, "", False)]),
    ("from 1985-1990", [(1985, "years", True), (1990, "years", True)]),
    ("1500 soldiers in 1500", [(1500, "", False), (1500, "years", True)]),
    ("2000 km, 1,990, 1990.5", [(2000, "km", False), (1990, "", False), (1990.5, "", False)]),
    ("0999 or 3000", [(999, "", False), (3000, "", False)]),
    ("the 21st, the 1990s, B2, x1.5, 3rd", []),
    ("someone tennis freight", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "wanted"), FOUND)
def test_numbers_are_read_with_their_units(text: str, wanted: list[tuple[float, str, bool]]) -> None:
    assert [(each.value, each.unit, each.is_year) for each in number_mentions(text)] == wanted


@given(st.text(alphabet="0123456789,.-$% kmyearsonetwenty\u00a0é\n", max_size=60))
def test_places_are_in_order_and_hold_the_number(text: str) -> None:
    end = 0
    for each in number_mentions(text):
        assert end <= each.start < each.end <= len(text)
        end = each.end
        written = text[each.start : each.end]
        assert written[0].isdecimal() or written.lower().split("-")[0].split(" ")[0] in WORDS


@given(st.integers(0, 10**9) | st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 3)))
def test_a_written_number_is_read_again(value: float) -> None:
    text = number_text(value)
    found = parsed_number(text)
    assert found is not None
    assert found.value == pytest.approx(value)
    again = parsed_number(f"{value:,} km")
    assert again is not None
    assert again.value == pytest.approx(value)
    assert (again.unit, again.is_year) == ("km", False)


@pytest.mark.parametrize("text", ["about 3 of them", "3 to 5", "", "three men", "May 1990"])
def test_another_text_is_no_number(text: str) -> None:
    assert parsed_number(text) is None


def test_units_of_the_recipes_are_known() -> None:
    assert ENGLISH.is_file()
    assert symbols()["square miles"] == "sq mi"
    assert symbols()["kilometres"] == "km"
