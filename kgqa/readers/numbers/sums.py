"""Sums and differences of a few numbers: those that give an answer, and the unit of a result.

Numbers with different units are not combined; one without a unit goes with any. Of calendar years either none remains, as in a difference,
or one, as in a year plus a duration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from kgqa.readers.numbers.mentions import NumberMention
from kgqa.readers.numbers.units import YEARS

OPERANDS = 3
"""Maximum numbers of a sum."""
CLOSE = 1e-9
"""Relative difference of two numbers that count as equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A signed sum of some numbers."""

    places: tuple[int, ...]
    """Which numbers, in rising order."""
    signs: tuple[int, ...]
    """1 or -1 for each."""


def sums_to(target: float, numbers: Sequence[NumberMention], *, operands: int = OPERANDS) -> list[Sum]:
    """All signed sums of 1 to ``operands`` of the numbers that equal ``target``; those of few numbers first, then in the text's order.

    O(2^k · n^k) time and memory for k operands.
    """
    values = np.array([number.value for number in numbers], float)
    units = _unit_numbers(numbers)
    years = np.array([number.is_year for number in numbers], np.int64)
    sums: list[Sum] = []
    for size in range(1, operands + 1):
        places, signs = _choices(len(numbers), size), _signs(size)
        if not len(places):
            break
        totals = values[places] @ signs.T
        is_right = np.abs(totals - target) <= CLOSE * np.maximum(1.0, np.maximum(abs(target), values[places].max(1, keepdims=True)))
        is_right &= _agree(units[places])[:, None]
        is_right &= np.isin(years[places] @ signs.T, (0, 1))
        for row, column in np.argwhere(is_right).tolist():
            sums.append(Sum(places=tuple(places[row].tolist()), signs=tuple(signs[column].tolist())))
    return sums


def is_sound(numbers: Sequence[NumberMention], signs: Sequence[int]) -> bool:
    """Whether the numbers may be added with these signs, by their units and calendar years."""
    years = sum(sign * number.is_year for number, sign in zip(numbers, signs, strict=True))
    return years in {0, 1} and len({number.unit for number in numbers if number.unit}) <= 1


def result(numbers: Sequence[NumberMention], signs: Sequence[int]) -> tuple[float, str]:
    """The sum and its unit; a calendar year has none."""
    total = float(f"{sum(sign * number.value for number, sign in zip(numbers, signs, strict=True)):.10g}")
    if sum(sign * number.is_year for number, sign in zip(numbers, signs, strict=True)):
        return total, ""
    return total, next((number.unit for number in numbers if number.unit), YEARS if any(number.is_year for number in numbers) else "")


def _unit_numbers(numbers: Sequence[NumberMention]) -> npt.NDArray[np.int64]:
    """A number for each unit, 0 for none."""
    symbols = sorted({number.unit for number in numbers if number.unit})
    return np.array([symbols.index(number.unit) + 1 if number.unit else 0 for number in numbers], np.int64)


def _agree(units: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether the known units of each row are equal (rows × operands)."""
    lowest = np.where(units > 0, units, np.iinfo(np.int64).max).min(1)
    return (units.max(1) == 0) | (units.max(1) == lowest)


@lru_cache(maxsize=256)
def _choices(count: int, size: int) -> npt.NDArray[np.int64]:
    """All sets of ``size`` of ``count`` places (sets × size)."""
    return np.array(list(combinations(range(count), size)), np.int64).reshape(-1, size)


@lru_cache(maxsize=8)
def _signs(size: int) -> npt.NDArray[np.int64]:
    """All signs of ``size`` numbers (2^size × size)."""
    return np.array(list(product((1, -1), repeat=size)), np.int64)
