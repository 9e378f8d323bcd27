"""The arithmetic of a question as a small program over the answers of its steps, as ``years(#2, #4)``; :func:`evaluate` computes it.

``#k`` is the answer of step k, ``value`` is the one that the question itself names, ``subject`` is the subject of the passage, and
``group0``, ``group1``, … are what the passage names. A typed answer is a record: ``{"entity": id,
"text": name}``, ``{"time": "1912-06-23", "calendar": "gregorian"}`` (a year or month where no more is known; ``-0044`` is 44 BC), or
``{"number": 3.5, "unit": "km", "base": 3500}``, where base is the number in the base unit of the measure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

Value = Mapping[str, Any]
Date = tuple[int, int, int]
ROUNDED = 0.02
"""Quantities that differ by no more than this share may be one that was rounded differently."""
_STEP = re.compile(r"#(\d+)")
_DATE = re.compile(r"(-?\d+)(?:-(\d+))?(?:-(\d+))?")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Undecided(Exception):
    """The values do not determine the answer, as the difference in full years of two dates of which only the years are known."""


def evaluate(program: str, values: Mapping[str, Value]) -> str:
    """The answer that ``program`` computes; ``values``: "1", "2", … and these names → typed answer. Raises Undecided.

    >>> evaluate("years(#1, #2)", {"1": {"time": "1912-06-23"}, "2": {"time": "1954-06-07"}})
    '41'
    """
    result = _evaluated(_parsed(program), values)
    if isinstance(result, bool):
        return "yes" if result else "no"
    if isinstance(result, Mapping):
        return str(result["text"])
    return str(int(result)) if isinstance(result, float) and result.is_integer() else str(result)


@lru_cache(maxsize=1024)  # the questions of a pattern share few programs
def _parsed(program: str) -> ast.expr:
    return ast.parse(_STEP.sub(r"step[\1]", program), mode="eval").body


def _evaluated(node: ast.expr, values: Mapping[str, Value]) -> Any:
    match node:
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](*(_evaluated(argument, values) for argument in arguments))
        case ast.List(elts=elements):
            return [_evaluated(element, values) for element in elements]
        case ast.Subscript(slice=ast.Constant(value=number)):
            return values[str(number)]
        case ast.Name(id=name):
            return values[name]
    raise AssertionError(ast.dump(node))


def bounds(value: Value) -> tuple[Date, Date]:
    """The first and the last date that a date can be, with years counted as astronomers do: 0 is 1 BC."""
    match = _DATE.fullmatch(value["time"])
    assert match is not None
    year = int(match[1]) + (match[1].startswith("-"))
    first_month, last_month = (int(match[2]),) * 2 if match[2] else (1, 12)
    first_day, last_day = (int(match[3]),) * 2 if match[3] else (1, _LENGTHS[last_month - 1])
    return (year, first_month, first_day), (year, last_month, last_day)


def said_year(year: int) -> str:
    """A year as astronomers count it, in words.

    >>> said_year(1912), said_year(0), said_year(-43)
    ('1912', '1 BC', '44 BC')
    """
    return str(year) if year > 0 else f"{1 - year} BC"


def _year(value: Value) -> str:
    return said_year(_year_number(value))


def _years(first: Value, second: Value) -> int:
    """The full years between two dates, in either order."""
    if first.get("calendar") != second.get("calendar"):
        raise Undecided
    (low, high), (later_low, later_high) = sorted((bounds(first), bounds(second)))
    least, most = _full_years(high, later_low), _full_years(low, later_high)
    if least != most or least < 0:
        raise Undecided
    return least


def _full_years(begin: Date, end: Date) -> int:
    return end[0] - begin[0] - (end[1:] < begin[1:])


def _year_number(value: Value) -> int:
    return bounds(value)[0][0]


def _base(value: Value) -> float:
    return float(value["base"])


def _calendar_years(first: Value, second: Value) -> int:
    """The difference between the numbers of two years."""
    return abs(_year_number(second) - _year_number(first))


def _difference(first: Value, second: Value) -> float:
    _check_units(first, second)
    return _rounded(abs(float(first["number"]) - float(second["number"])))


def _total(*summands: Value | list[Value]) -> float:
    values = [value for summand in summands for value in (summand if isinstance(summand, list) else [summand])]
    _check_units(*values)
    return _rounded(sum(float(value["number"]) for value in values))


def _rounded(number: float) -> float:
    """Without the digits that a floating-point sum adds."""
    return float(f"{number:.10g}")


def _check_units(*values: Value) -> None:
    if len({value["unit"] for value in values}) > 1:
        raise Undecided


def _is_less(first: Value, second: Value) -> bool:
    if "time" in first:
        if first.get("calendar") != second.get("calendar") and abs(bounds(first)[0][0] - bounds(second)[0][0]) <= 1:
            raise Undecided
        (low, high), (other_low, other_high) = bounds(first), bounds(second)
        if high < other_low:
            return True
        if low >= other_high:
            return False
        raise Undecided
    number, second_number = float(first["base"]), float(second["base"])
    if abs(number - second_number) <= ROUNDED * max(abs(number), abs(second_number)):
        raise Undecided
    return number < second_number


def _least(things: Sequence[Value], values: Sequence[Value]) -> Value:
    """The thing with the least value."""
    return _extreme([all(_is_less(value, rival) for rival in _other_values(values, place)) for place, value in enumerate(values)], things)


def _most(things: Sequence[Value], values: Sequence[Value]) -> Value:
    """The thing with the greatest value."""
    return _extreme([all(_is_less(rival, value) for rival in _other_values(values, place)) for place, value in enumerate(values)], things)


def _extreme(is_extreme: Sequence[bool], things: Sequence[Value]) -> Value:
    if not any(is_extreme):  # two of them are equal
        raise Undecided
    return things[is_extreme.index(True)]


def _other_values(values: Sequence[Value], place: int) -> list[Value]:
    return [value for number, value in enumerate(values) if number != place]


def _equal(first: Value, second: Value) -> bool:
    return bool(first["entity"] == second["entity"])


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "year": _year,
    "years": _years,
    "calendar_years": _calendar_years,
    "difference": _difference,
    "total": _total,
    "number": lambda value: float(value["number"]),
    "same": lambda value: value,
    "equal": _equal,
    "less": _is_less,
    "more": lambda first, second: _is_less(second, first),
    "every_less": lambda values, other: all(_is_less(value, other) for value in values),
    "calendar_range": lambda values: max(map(_year_number, values)) - min(map(_year_number, values)),
    "range": lambda values: _difference(max(values, key=_base), min(values, key=_base)),
    "least": _least,
    "most": _most,
    "count_equal": lambda values, other: sum(_equal(value, other) for value in values),
    "count_less": lambda values, other: sum(_is_less(value, other) for value in values),
}
"""The functions of programs. ``least`` and ``most`` take things and their values."""
