"""Answers as one line of text that a network can learn to write: the answer itself, or arithmetic that gives it.

``difference(1990, 1985) years`` and ``total(3, 4, -2) km`` are computed; ``a ;; b`` are several spans; ``none`` is no answer; any other
line is the answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.readers.answers import OPTIONS, spans_of
from kgqa.readers.numbers.mentions import NumberMention, number_text, parsed_number
from kgqa.readers.numbers.sums import Sum, result

NONE = "none"
DIFFERENCE, TOTAL = "difference", "total"
_CALL = re.compile(rf"({DIFFERENCE}|{TOTAL}) *\(([^()]*)\)(.*)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """The answer of a line."""

    text: str
    type: str
    """A key of ``kgqa.records.ANSWER_TYPES``."""
    parts: tuple[str, ...] = ()
    value: float | None = None
    unit: str = ""


def program_of(found: Sum, numbers: Sequence[NumberMention]) -> str:
    """A sum as a program, with the unit of the result; a single number as it is.

    >>> from kgqa.readers.numbers.mentions import number_mentions
    >>> program_of(Sum(places=(0, 1), signs=(-1, 1)), number_mentions("from 1985 to 1990"))
    'difference(1990, 1985) years'
    """
    terms_of_sum = [numbers[place] for place in found.places]
    unit = result(terms_of_sum, found.signs)[1]
    if found.signs == (1,):
        text = number_text(terms_of_sum[0].value)
    elif sorted(found.signs) == [-1, 1]:
        positive, subtracted = sorted(terms_of_sum, key=lambda number: -found.signs[terms_of_sum.index(number)])
        text = f"{DIFFERENCE}({number_text(positive.value)}, {number_text(subtracted.value)})"
    else:
        terms = ", ".join(number_text(sign * number.value) for number, sign in zip(terms_of_sum, found.signs, strict=True))
        text = f"{TOTAL}({terms})"
    return f"{text} {unit}".strip()


def executed(line: str) -> Executed:
    """The answer of any line; arithmetic that cannot be computed is taken as text.

    >>> executed("difference(1985, 1990) years")
    Executed(text='5', type='number', parts=(), value=5.0, unit='years')
    """
    line = " ".join(line.split())
    if line.lower() in {"", NONE}:
        return Executed(text="", type="none")
    if line.lower() in OPTIONS:
        return Executed(text=line.lower(), type="boolean")
    computed = _computed(line)
    if computed is not None:
        return computed
    if len(parts := spans_of(line)) > 1:
        return Executed(text=", ".join(parts), type="spans", parts=parts)
    number = parsed_number(line)
    if number is None:
        return Executed(text=line, type="span")
    return Executed(text=number_text(number.value), type="number", value=number.value, unit="" if number.is_year else number.unit)


def _computed(line: str) -> Executed | None:
    call = _CALL.fullmatch(line)
    # A tokenizer may have put blanks around points and signs.
    terms = [term.replace(" ", "") for term in call[2].split(",")] if call else []
    if call is None or not all(_NUMBER.fullmatch(term) for term in terms):
        return None
    values = [float(term) for term in terms]
    is_difference = call[1].lower() == DIFFERENCE
    if is_difference and len(values) != 2:
        return None
    value = float(f"{abs(values[0] - values[1]) if is_difference else math.fsum(values):.10g}")
    if not math.isfinite(value):
        return None
    return Executed(text=number_text(value), type="number", value=value, unit=call[3].strip())
