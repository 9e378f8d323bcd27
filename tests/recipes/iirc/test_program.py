"""The arithmetic of questions, by hand."""

from __future__ import annotations

import pytest

from kgqa.recipes.iirc.program import Undecided, bounds, evaluate

BORN = {"time": "1912-06-23", "calendar": "gregorian"}


def time(text: str, calendar: str = "gregorian") -> dict[str, str]:
    return {"time": text, "calendar": calendar}


def quantity(number: float, unit: str = "", factor: float = 1.0) -> dict[str, object]:
    return {"number": number, "unit": unit, "base": number * factor}


@pytest.mark.parametrize(
    ("first", "second", "years"),
    [
        ("1912-06-23", "1954-06-07", "41"),  # the birthday was still to come
        ("1912-06-23", "1954-06-23", "42"),
        ("1954-06-07", "1912-06-23", "41"),  # in either order
        ("1912-06", "1954-08", "42"),
        ("-0044-03-15", "0014-08-19", "57"),  # there was no year 0
        ("-0100-07-12", "-0044-03-15", "55"),
        ("1911-06-23", "1912-06-23", "1"),
    ],
)
def test_ages_are_full_years(first: str, second: str, years: str) -> None:
    assert evaluate("years(#1, #2)", {"1": time(first), "2": time(second)}) == years


@pytest.mark.parametrize(
    ("program", "values"),
    [
        ("years(#1, #2)", {"1": time("1912"), "2": time("1954")}),
        ("years(#1, #2)", {"1": time("1912-06"), "2": time("1954-06")}),
        ("years(#1, #2)", {"1": time("1612-06-23", "julian"), "2": time("1654-08-01")}),
        ("less(#1, #2)", {"1": time("1912"), "2": time("1912-03-01")}),
        ("less(#1, #2)", {"1": time("1612-06-23", "julian"), "2": time("1612-07-01")}),
        ("less(#1, #2)", {"1": quantity(1_000_000), "2": quantity(1_010_000)}),
        ("total([#1, #2])", {"1": quantity(1, "km"), "2": quantity(1, "mile")}),
        ("difference(#1, #2)", {"1": quantity(1, "km"), "2": quantity(1, "")}),
        ("least([#1, #2], [#3, #4])", {"1": {"text": "A"}, "2": {"text": "B"}, "3": time("1912-01-01"), "4": time("1912-01-01")}),
    ],
)
def test_values_that_do_not_determine_an_answer_give_none(program: str, values: dict[str, dict[str, object]]) -> None:
    with pytest.raises(Undecided):
        evaluate(program, values)


@pytest.mark.parametrize(
    ("program", "values", "answer"),
    [
        ("calendar_years(#1, #2)", {"1": time("1954"), "2": time("1912-06-23")}, "42"),
        ("calendar_range([#1, #2, #3])", {"1": time("1954"), "2": time("-0044"), "3": time("1912")}, "1997"),
        ("year(#1)", {"1": time("-0044")}, "44 BC"),
        ("year(#1)", {"1": time("0800-12-25")}, "800"),
        ("less(#1, #2)", {"1": time("-0044"), "2": time("-0043")}, "yes"),
        ("less(#1, value)", {"1": time("1950"), "value": time("1950-01-01")}, "no"),
        ("more(#1, #2)", {"1": quantity(2, "km", 1000), "2": quantity(1500, "m")}, "yes"),
        ("total([#1, #2])", {"1": quantity(0.1), "2": quantity(0.2)}, "0.3"),
        ("number(#1)", {"1": quantity(60062)}, "60062"),
        ("count_less([#1, #2], value)", {"1": time("1912"), "2": time("1954"), "value": time("1950-01-01")}, "1"),
        ("count_equal([#1, #2], value)", {"1": {"entity": "a"}, "2": {"entity": "b"}, "value": {"entity": "b"}}, "1"),
        ("every_less([#1, #2], value)", {"1": time("1912"), "2": time("1954"), "value": time("1960-01-01")}, "yes"),
        ("most([#1, subject], [#2, #3])", {"1": {"text": "A"}, "subject": {"text": "S"}, "2": BORN, "3": time("1920")}, "S"),
        ("equal(#1, #2)", {"1": {"entity": "a"}, "2": {"entity": "a"}}, "yes"),
    ],
)
def test_each_operation(program: str, values: dict[str, dict[str, object]], answer: str) -> None:
    assert evaluate(program, values) == answer


def test_a_date_that_is_known_to_the_month_lasts_as_long_as_the_month() -> None:
    assert bounds(time("1912-06")) == ((1912, 6, 1), (1912, 6, 30))
    assert bounds(time("-0001")) == ((0, 1, 1), (0, 12, 31))
