"""How far annotators agree: Cohen's kappa (1960) of two, Fleiss' (1971) of several, and how often there is no majority."""

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
    """Of each item; they need not be the same people."""
    kappa: float | None
    """1: they always agree; 0: no more than chance. None where only one category was ever chosen, so that chance explains everything."""
    without_majority: float
    """The share of items, between 0 and 1, on which no category has more than half of the annotators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """The agreement of two annotators who judged the same items."""

    items: int
    same: int
    """Items on which they chose the same category."""
    kappa: float | None
    """1: they always agree; 0: no more than chance. None where both chose one and the same category throughout."""


def cohen(first: Sequence[str], second: Sequence[str]) -> PairAgreement:
    """The agreement of two annotators, whose categories stand in the same order of items; InputError where there is none, or they differ.

    Cohen's chance is that of two people with habits of their own; Fleiss' takes both for the same.

    >>> cohen(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"]).kappa
    0.5
    """
    if not first or len(first) != len(second):
        raise InputError(f"Cohen's kappa needs items that both judged; the one has {len(first)} judgements and the other {len(second)}.")
    items, same = len(first), sum(one == other for one, other in zip(first, second, strict=True))
    mine, theirs = Counter(first), Counter(second)
    chance = sum(mine[category] * theirs[category] for category in mine)
    kappa = (same * items - chance) / (items * items - chance) if chance < items * items else None
    return PairAgreement(items=items, same=same, kappa=kappa)


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
    agreeing = sum(count * (count - 1) for categories in items for count in Counter(categories).values())
    observed = agreeing / pairs / len(items)
    chosen = Counter(category for categories in items for category in categories)
    expected = sum((count / chosen.total()) ** 2 for count in chosen.values())
    return Agreement(
        items=len(items),
        annotators=annotators,
        kappa=(observed - expected) / (1 - expected) if len(chosen) > 1 else None,
        without_majority=sum(majority(categories) is None for categories in items) / len(items),
    )


def majority(categories: Sequence[str]) -> str | None:
    """The category that more than half of the annotators chose, if there is one."""
    return next((category for category, count in Counter(categories).items() if 2 * count > len(categories)), None)
