"""Inter-annotator agreement: Cohen's kappa (1960) for two annotators, Fleiss' (1971) for several, and the share of items without a
majority.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement of several annotators on several items."""

    items: int
    annotators: int
    """Annotators per item; they need not be the same people for every item."""
    kappa: float | None
    """1 is perfect agreement, 0 is chance. None if only one category was ever chosen: chance then explains everything."""
    without_majority: float
    """The share of items, from 0 to 1, without a majority: no category was chosen by more than half of the annotators."""


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

    Cohen's chance agreement uses each annotator's own distribution; Fleiss' pools them.

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


def fleiss(items: Sequence[Sequence[str]]) -> Agreement:
    """The agreement on items, each a list of its annotators' categories.

    InputError where there is no item, an item has fewer than two annotators, or items have different numbers of them.
    """
    annotators = len(items[0]) if items else 0
    if annotators < 2:
        raise InputError("Fleiss' kappa needs at least one item that two or more annotators judged.")
    for number, categories in enumerate(items, start=1):
        if len(categories) != annotators:
            raise InputError(
                f"item {number}: it has {len(categories)} annotators and the first has {annotators}; Fleiss' kappa needs the same number."
            )
    pairs = annotators * (annotators - 1)
    agreeing_pairs = sum(count * (count - 1) for categories in items for count in Counter(categories).values())
    observed = agreeing_pairs / pairs / len(items)
    category_counts = Counter(category for categories in items for category in categories)
    expected = sum((count / category_counts.total()) ** 2 for count in category_counts.values())
    return Agreement(
        items=len(items),
        annotators=annotators,
        kappa=(observed - expected) / (1 - expected) if len(category_counts) > 1 else None,
        without_majority=sum(majority(categories) is None for categories in items) / len(items),
    )


def majority(categories: Sequence[str]) -> str | None:
    """The category that more than half of the annotators chose, if there is one."""
    return next((category for category, count in Counter(categories).items() if 2 * count > len(categories)), None)
