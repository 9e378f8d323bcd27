"""Agreement of several annotators, some of whose answers may be missing: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, Cohen's kappa.

Each comes with a 95% interval by the jackknife over items: the measure without each item in turn says how far it would move (Fleiss and
Davies 1982, "Jackknifing functions of multinomial frequencies, with an application to a measure of concordance"). It needs no random draws.
All measures are functions of sums over items, so that leaving one item out is a subtraction, and tables of any length are arrays here.

Sources: Fleiss 1971, "Measuring nominal scale agreement among many raters"; Krippendorff 2011, "Computing Krippendorff's
alpha-reliability" (nominal data); Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement"; Cohen
1960, "A coefficient of agreement for nominal scales".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.arrays.wilson import Z

Codes = npt.NDArray[np.integer]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A coefficient of agreement: 1 is perfect, 0 is chance, negative is worse than chance."""

    value: float | None
    """None where it is not defined: no item was judged twice, or every answer is the same, so that chance explains all agreement."""
    low: float | None
    """Lower end of its 95% interval, at least -1. None, as ``high``, with fewer than two items, or where the coefficient is not defined
    without one of them."""
    high: float | None
    items: int
    """Items that it is computed from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement of any number of annotators on one question."""

    items: int
    """Items with at least two answers."""
    answers: int
    """Answers to these items."""
    unanimous: int
    """Items whose answers are all the same."""
    observed: float | None
    """Mean over items of the share of pairs of answers that are the same; None without items."""
    annotators: int
    """Answers per item where Fleiss' kappa is computed: the most frequent number of at least two, the larger one in a tie; 0 without."""
    fleiss: Measure
    """Of the items with exactly ``annotators`` answers."""
    alpha: Measure
    """Krippendorff's alpha, nominal, of the items with at least two answers."""
    ac1: Measure
    """Gwet's AC1; chance is computed from the items with one answer too, and from the labels that somebody gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Answers as counts: how many annotators gave an item a label, one row per pair that occurs; items and labels count from 0."""

    item: Codes
    label: Codes
    count: Numbers
    items: int

    def of(self, mask: npt.NDArray[np.bool_]) -> _Table:
        """The rows of some items."""
        rows = mask[self.item]
        place = np.cumsum(mask) - 1
        return _Table(item=place[self.item[rows]], label=self.label[rows], count=self.count[rows], items=int(mask.sum()))

    def per_item(self, values: Numbers) -> Numbers:
        """The sum of ``values``, one per row, for each item."""
        return np.bincount(self.item, weights=values, minlength=self.items).astype(np.float64)

    @property
    def size(self) -> Numbers:
        """Number of answers of each item."""
        return self.per_item(self.count)

    @property
    def agreeing(self) -> Numbers:
        """Ordered pairs of answers per item that are the same."""
        return self.per_item(self.count * (self.count - 1))

    def squares(self, values: Numbers) -> tuple[Numbers, Numbers]:
        """The sum over labels of the square of the sum of ``values``: of all items, and without each item."""
        total = np.bincount(self.label, weights=values)
        whole = (total * total).sum(keepdims=True)
        # (t - v)^2 = t^2 + v (v - 2 t), and only the item's own labels change.
        return whole, whole + self.per_item(values * (values - 2 * total[self.label]))


def agreement(items: Codes, labels: Codes) -> Agreement:
    """The agreement of answers: the item and the label of each, as codes of any range. Labels are categories without order."""
    table = _table(items, labels)
    size, agreeing = table.size, table.agreeing
    twice = size >= 2
    pairs = size * (size - 1)
    sizes, frequencies = np.unique(size[twice], return_counts=True)
    annotators = int(sizes[frequencies == frequencies.max()].max()) if len(sizes) else 0
    return Agreement(
        items=int(twice.sum()),
        answers=int(size[twice].sum()),
        unanimous=int((twice & (agreeing == pairs)).sum()),
        observed=float((agreeing[twice] / pairs[twice]).mean()) if twice.any() else None,
        annotators=annotators,
        fleiss=_fleiss(table.of(twice & (size == annotators)), annotators),
        alpha=_alpha(table.of(twice)),
        ac1=_ac1(table),
    )


def cohen(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> Measure:
    """Cohen's kappa of two annotators: the label of each for the same items."""
    n = len(first)
    _, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = codes[:n], codes[n:]
    one_total, other_total = (np.bincount(code, minlength=len(codes)).astype(np.float64) for code in (one, other))
    is_same = (one == other).astype(np.float64)
    chance = (one_total * other_total).sum(keepdims=True)

    def kappa(agreements: Numbers, by_chance: Numbers, count: int) -> Numbers:
        return _ratio(agreements * count - by_chance, count * count - by_chance)

    without = kappa(is_same.sum() - is_same, chance - other_total[one] - one_total[other] + is_same, n - 1)
    return _measure(kappa(is_same.sum(keepdims=True), chance, n), without)


def _table(items: Codes, labels: Codes) -> _Table:
    names, item = np.unique(items, return_inverse=True)
    values, label = np.unique(labels, return_inverse=True)
    width = max(len(values), 1)
    pair, count = np.unique(item.astype(np.int64) * width + label, return_counts=True)
    return _Table(item=pair // width, label=pair % width, count=count.astype(np.float64), items=len(names))


def _fleiss(table: _Table, annotators: int) -> Measure:
    def kappa(agreeing: Numbers, chance: Numbers, items: int) -> Numbers:
        answers = items * annotators
        observed_agreement, expected_agreement = _ratio(agreeing, answers * (annotators - 1)), _ratio(chance, answers * answers)
        return _ratio(observed_agreement - expected_agreement, 1 - expected_agreement)

    chance, chance_without = table.squares(table.count)
    agreeing = table.agreeing
    without = kappa(agreeing.sum() - agreeing, chance_without, table.items - 1)
    return _measure(kappa(agreeing.sum(keepdims=True), chance, table.items), without)


def _alpha(table: _Table) -> Measure:
    def alpha(disagreeing: Numbers, chance: Numbers, answers: Numbers) -> Numbers:
        return 1 - _ratio(disagreeing * (answers - 1), answers * answers - chance)

    size = table.size
    disagreeing = size - table.agreeing / (size - 1)
    chance, chance_without = table.squares(table.count)
    without = alpha(disagreeing.sum() - disagreeing, chance_without, size.sum() - size)
    return _measure(alpha(disagreeing.sum(keepdims=True), chance, size.sum(keepdims=True)), without)


def _ac1(table: _Table) -> Measure:
    size = table.size
    twice = (size >= 2).astype(np.float64)
    same_share = table.agreeing / np.maximum(size * (size - 1), 1)
    labels = len(np.unique(table.label))

    def ac1(agreeing: Numbers, ratings: Numbers, chance: Numbers, items: int) -> Numbers:
        expected = _ratio(1 - _ratio(chance, items * items), labels - 1)
        return _ratio(_ratio(agreeing, ratings) - expected, 1 - expected)

    chance, chance_without = table.squares(table.count / size[table.item])
    without = ac1(same_share.sum() - same_share, twice.sum() - twice, chance_without, table.items - 1)
    return _measure(ac1(same_share.sum(keepdims=True), twice.sum(keepdims=True), chance, table.items), without, items=int(twice.sum()))


def _ratio(numerator: Numbers, denominator: Numbers | float) -> Numbers:
    """The quotient; NaN where the denominator is 0, which goes on to mean: not defined."""
    of = np.broadcast_to(np.asarray(denominator, np.float64), numerator.shape)
    return np.divide(numerator, of, out=np.full(numerator.shape, np.nan), where=of != 0)


def _measure(whole: Numbers, without: Numbers, items: int | None = None) -> Measure:
    """The measure with its interval from its values without each item."""
    value, n = float(whole[0]), len(without)
    low = high = None
    if n > 1 and np.isfinite(value) and np.isfinite(without).all():
        half = Z * float(np.sqrt((n - 1) / n * np.square(without - without.mean()).sum()))
        # Rounding can put a perfect value above 1 by the last bit.
        low, high = max(-1.0, value - half), min(1.0, value + half)
    return Measure(value=value if np.isfinite(value) else None, low=low, high=high, items=n if items is None else items)
