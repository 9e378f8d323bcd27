"""Overlap of a prediction with the gold, over token multisets and over sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from typing import NamedTuple


class Overlap(NamedTuple):
    """Exact match, F1, precision and recall of one prediction, each between 0 and 1."""

    em: float = 0.0
    f1: float = 0.0
    precision: float = 0.0
    recall: float = 0.0


NOTHING = Overlap()
"""The scores of a missing prediction."""


def harmonic(precision: float, recall: float) -> float:
    """F1 of precision and recall; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def token_overlap(prediction: Sequence[str], gold: Sequence[str]) -> Overlap:
    """Overlap of multisets: a token counts as often as both sides have it. Without a common token all is 0, except EM of two empty sides.

    >>> round(token_overlap("new york new york".split(), "new york".split()).f1, 2)
    0.67
    """
    em = float(prediction == gold)
    if set(prediction).isdisjoint(gold):
        return Overlap(em=em)
    common_counts = sum((Counter(prediction) & Counter(gold)).values())
    precision, recall = common_counts / len(prediction), common_counts / len(gold)
    return Overlap(em, harmonic(precision, recall), precision, recall)


def set_overlap(prediction: Set[Hashable], gold: Set[Hashable]) -> Overlap:
    """Overlap of sets. Without a common member all is 0, except EM of two empty sets, which is 1."""
    common_counts = len(prediction & gold)
    precision = common_counts / len(prediction) if prediction else 0.0
    recall = common_counts / len(gold) if gold else 0.0
    return Overlap(float(prediction == gold), harmonic(precision, recall), precision, recall)


def joint(*parts: Overlap) -> Overlap:
    """HotpotQA's joint score: the products of precisions, recalls and EMs, and the F1 of the joint precision and recall."""
    em = precision = recall = 1.0
    for part in parts:
        em, precision, recall = em * part.em, precision * part.precision, recall * part.recall
    return Overlap(em, harmonic(precision, recall), precision, recall)


def best(overlaps: Sequence[Overlap]) -> Overlap:
    """The maximum of each score on its own; there must be at least one."""
    return Overlap(*map(max, zip(*overlaps, strict=True)))


def capped(overlap: Overlap, cap: Overlap) -> Overlap:
    """The minimum of each score on its own."""
    return Overlap(*map(min, zip(overlap, cap, strict=True)))
