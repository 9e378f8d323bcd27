"""Cohen's kappa (1960) of two annotators, and the majority of several. :mod:`kgqa.metrics.agreement` has the agreement of several, and
intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """The agreement of two annotators who judged the same items."""

    items: int
    same: int
    """Number of items where both chose the same category."""
    kappa: float | None
    """1 is perfect agreement, 0 is chance. None if both chose the same single category throughout."""


def cohen(first: Sequence[str], second: Sequence[str]) -> PairAgreement:
    """Agreement of two annotators whose categories are in the same order of items. Raises InputError if there are none, or lengths differ.

    >>> cohen(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"]).kappa
    0.5
    """
    if not first or len(first) != len(second):
        raise InputError(f"Cohen's kappa needs items that both judged; the one has {len(first)} judgements and the other {len(second)}.")
    items, agreements = (
        len(first),
        sum(first_category == second_category for first_category, second_category in zip(first, second, strict=True)),
    )
    first_counts, second_counts = Counter(first), Counter(second)
    chance = sum(first_counts[category] * second_counts[category] for category in first_counts)
    kappa = (agreements * items - chance) / (items * items - chance) if chance < items * items else None
    return PairAgreement(items=items, same=agreements, kappa=kappa)


def majority(categories: Sequence[str]) -> str | None:
    """The category that more than half of the annotators chose, if there is one."""
    return next((category for category, count in Counter(categories).items() if 2 * count > len(categories)), None)
