"""Bootstrap intervals of means (Efron 1979)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from kgqa.arrays.draws import draw
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

    def times(self, factor: float) -> Interval:
        """The interval on a scale ``factor`` times as large."""
        return Interval(mean=factor * self.mean, low=factor * self.low, high=factor * self.high)

    def __str__(self) -> str:
        """``73.3 (55.6 to 85.8)``."""
        return f"{self.mean:.1f} ({self.low:.1f} to {self.high:.1f})"


def interval(scores: Collection[float], *, rng: np.random.Generator, resamples: int = RESAMPLES) -> Interval:
    """The 95% interval of the mean of one score per question, or per group if scoring is by group. Raises InputError without scores.

    Resampling n scores with replacement and counting each distinct value is exactly a multinomial draw. F1 over 100,000 questions has a few
    hundred distinct values, and only those are drawn. The order of the scores does not change the interval.
    """
    if not len(scores):
        raise InputError("There are no scores to compute an interval from.")
    values, counts = np.unique(np.fromiter(scores, np.float64, len(scores)), return_counts=True)
    means = np.empty(resamples)
    step = max(1, BATCH // len(values))
    for begin in range(0, resamples, step):
        draws = rng.multinomial(len(scores), counts / len(scores), size=min(step, resamples - begin))
        # Not ``@``: its last bit would depend on the machine's linear algebra and on how many rows there are.
        means[begin : begin + step] = (draws * values).sum(axis=1) / len(scores)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(mean=float((counts * values).sum() / len(scores)), low=float(low), high=float(high))


def intervals(per_record: Mapping[str, Mapping[str, float]], *, scale: float, seed: int) -> dict[str, Interval]:
    """Score → mean and 95% interval of its values, times ``scale``.

    Each score has its own draws, so its interval does not depend on which other scores are computed.
    """
    interval_of = {}
    for name, values in per_record.items():
        rng = np.random.default_rng(draw(purpose=f"interval of {name}", seed=seed, id="all"))
        interval_of[name] = interval(values.values(), rng=rng).times(scale)
    return interval_of
