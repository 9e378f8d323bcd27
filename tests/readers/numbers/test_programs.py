"""Lines that are answers or programs: any text is accepted, a program of a sum gives the sum."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kgqa.readers.numbers.mentions import NumberMention
from kgqa.readers.numbers.programs import Executed, executed, program_of
from kgqa.readers.numbers.sums import Sum, is_sound, result
from kgqa.records import ANSWER_TYPES

MENTIONS = st.builds(
    lambda value, unit: NumberMention(value=value, unit=unit, is_year=False, start=0, end=1),
    st.integers(0, 500).map(lambda value: value / 4), st.sampled_from(["", "km", "%"]),
)  # fmt: skip


@given(st.lists(st.tuples(MENTIONS, st.sampled_from([1, -1])), min_size=1, max_size=3))
def test_a_program_gives_its_sum(terms: list[tuple[NumberMention, int]]) -> None:
    numbers, signs = [number for number, _ in terms], tuple(sign for _, sign in terms)
    if not is_sound(numbers, signs):
        return
    value, unit = result(numbers, signs)
    found = executed(program_of(Sum(places=tuple(range(len(terms))), signs=signs), numbers))
    wanted = abs(value) if sorted(signs) == [-1, 1] else value
    assert (found.type, found.unit) == ("number", unit)
    assert found.value == pytest.approx(wanted)


@given(st.text(max_size=40) | st.text(alphabet="difference total(,)19.- ;km", max_size=40))
def test_any_text_is_an_answer(text: str) -> None:
    found = executed(text)
    assert found.type in ANSWER_TYPES
    assert (found.value is not None) == (found.type == "number")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("none", Executed(text="", type="none")),
        ("Yes", Executed(text="yes", type="boolean")),
        ("a ;; b; c", Executed(text="a, b; c", type="spans", parts=("a", "b; c"))),
        ("Simon; Garfunkel", Executed(text="Simon; Garfunkel", type="span")),
        ("total ( 3 . 5 , 1, - 2 ) km", Executed(text="2.5", type="number", value=2.5, unit="km")),
        ("5 km", Executed(text="5", type="number", value=5.0, unit="km")),
        ("difference(1, 2, 3)", Executed(text="difference(1, 2, 3)", type="span")),
        ("total(" + "9" * 400 + ")", Executed(text="total(" + "9" * 400 + ")", type="span")),
        ("total(one, two)", Executed(text="total(one, two)", type="span")),
    ],
)
def test_lines_are_executed(text: str, wanted: Executed) -> None:
    assert executed(text) == wanted
