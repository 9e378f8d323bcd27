"""What every scorer returns, and the little that they share: who is missing, and how official scripts add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgqa.errors import InputError

SHOWN = 5
"""How many ids an error message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What a scorer found."""

    official: dict[str, Any]
    """The official script's own names, with the values that it prints: on its scale and in its rounding.

    Numbers, but for DROP's ``types``: type of answer → what the script prints of its questions.
    """
    unrounded: dict[str, float]
    """The same before rounding, and after them what the official script does not report."""
    per_record: dict[str, dict[str, float]]
    """Name → id → score between 0 and 1, in the order of the gold; ids are groups where scoring is by group.

    Exactly the names of ``unrounded`` that are means over records are here; a mean over some of the records holds those only.
    """
    missing: tuple[str, ...] = ()
    """Gold ids without a prediction, in the order of the gold; they count as 0."""
    missing_parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Part of a prediction, as its file calls it → gold ids that have a prediction without it, which counts as 0."""
    extra: tuple[str, ...] = ()
    """Predicted ids that the gold does not know, in the order of the predictions; they are ignored."""


def unmatched(gold: Iterable[str], predicted: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids only the gold has, and those only the predictions have, each in its own order; InputError where there is no gold."""
    wanted, given = dict.fromkeys(gold), dict.fromkeys(predicted)
    if not wanted:
        raise InputError("There is nothing to score: the gold data holds no question.")
    return tuple(key for key in wanted if key not in given), tuple(key for key in given if key not in wanted)


def missing_parts(gold: Iterable[str], predictions: Mapping[str, object], names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Which parts predictions lack, by their ``names`` in the file, each with the attribute that holds it; parts that all have left out."""
    lacking = {
        part: tuple(key for key in gold if key in predictions and getattr(predictions[key], attribute) is None)
        for part, attribute in names.items()
    }
    return {part: ids for part, ids in lacking.items() if ids}


def listed(ids: Iterable[str]) -> str:
    """``a, b, c and 7 more``: ids for a message."""
    known = list(ids)
    rest = len(known) - SHOWN
    return ", ".join(known[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def total(values: Iterable[float]) -> float:
    """The sum, one value after the other from the left.

    Not ``sum``: from Python 3.12 on it makes up for rounding errors, and then the last digit is another than the official scripts'.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values: Mapping[str, float]) -> float:
    """The total over the count; 0 where there is nothing."""
    return total(values.values()) / len(values) if values else 0.0
