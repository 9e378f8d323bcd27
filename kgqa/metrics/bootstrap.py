"""Bootstrap intervals of means (Efron 1979): what the mean would have been on other questions of the same kind."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kgqa.errors import InputError

RESAMPLES = 1000
BATCH = 1 << 22
"""Draws held in memory at a time, 8 bytes each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with its 95% interval, on the scale of the scores."""

    mean: float
    low: float
    high: float


def interval(scores: Collection[float], *, rng: np.random.Generator, resamples: int = RESAMPLES) -> Interval:
    """The interval of the mean of one score per question, or per group where scoring is by group; InputError without scores.

    Resampling n scores with replacement and counting how often each distinct one comes is a multinomial draw, exactly; F1 of 100,000
    questions has some hundreds of distinct values, and only those are drawn. The same scores in another order give the same interval.
    """
    if not len(scores):
        raise InputError("There is no score to compute an interval from.")
    values, counts = np.unique(np.fromiter(scores, np.float64, len(scores)), return_counts=True)
    means = np.empty(resamples)
    step = max(1, BATCH // len(values))
    for first in range(0, resamples, step):
        draws = rng.multinomial(len(scores), counts / len(scores), size=min(step, resamples - first))
        # Not ``@``: its last bit would depend on the machine's linear algebra and on how many rows there are.
        means[first : first + step] = (draws * values).sum(axis=1) / len(scores)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(mean=float((counts * values).sum() / len(scores)), low=float(low), high=float(high))
