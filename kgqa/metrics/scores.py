"""The result type of all scorers, and what they share: unmatched ids, and sums as the official scripts compute them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgqa.errors import InputError

SHOWN = 5
"""Maximum number of ids in an error message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The result of a scorer."""

    official: dict[str, Any]
    """The official script's own names with the values that it prints, on its scale and with its rounding.

    All are numbers, except DROP's ``types``: type of answer → the script's scores for its questions.
    """
    unrounded: dict[str, float]
    """The same before rounding, followed by scores that the official script does not report."""
    per_record: dict[str, dict[str, float]]
    """Name → id → score from 0 to 1, in gold order; ids are groups if scoring is by group.

    It has exactly the names of ``unrounded`` that are means over records; a mean over some of the records has only those.
    """
    missing: tuple[str, ...] = ()
    """Gold ids without a prediction, in the order of the gold; they count as 0."""
    missing_parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Part of a prediction, under its name in the file → gold ids with a prediction that lacks it; the part counts as 0."""
    extra: tuple[str, ...] = ()
    """Predicted ids that the gold lacks, in the order of the predictions; they are ignored."""


def unmatched(gold: Iterable[str], prediction: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids that only the gold has, and those that only the predictions have, each in its own order. Raises InputError without gold."""
    gold_ids, predicted_ids = dict.fromkeys(gold), dict.fromkeys(prediction)
    if not gold_ids:
        raise InputError("There is nothing to score: the gold data has no questions.")
    return tuple(key for key in gold_ids if key not in predicted_ids), tuple(key for key in predicted_ids if key not in gold_ids)


def missing_parts(gold: Iterable[str], predictions: Mapping[str, object], names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Gold ids whose prediction lacks a part. ``names``: part, as the file names it → attribute. Parts that every prediction has are left
    out.
    """
    ids_by_part = {
        part: tuple(key for key in gold if key in predictions and getattr(predictions[key], attribute) is None)
        for part, attribute in names.items()
    }
    return {part: ids for part, ids in ids_by_part.items() if ids}


def listed(ids: Iterable[str]) -> str:
    """``a, b, c and 7 more``: ids for a message."""
    all_ids = list(ids)
    more = len(all_ids) - SHOWN
    return ", ".join(all_ids[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def total(values: Iterable[float]) -> float:
    """The sum, added from left to right.

    Not ``sum``: since Python 3.12 it compensates rounding errors, and the last digit would differ from the official scripts'.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values: Mapping[str, float]) -> float:
    """The total over the count; 0 for no values."""
    return total(values.values()) / len(values) if values else 0.0
