"""A learning curve, and how far it must be prolonged: a line through the scores over the logarithm of the training questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve:
    """A least-squares line, score = ``begin`` + ``slope`` · log2(questions), with the interval of the slope."""

    begin: float
    slope: float
    """Points of score per doubling of the training questions."""
    low: float
    """95% interval of the slope, by resampling the points; so is ``high``."""
    high: float

    def needed(self, score: float) -> float | None:
        """Training questions with which the line reaches ``score``; None if it does not rise, or only beyond 2^60."""
        exponent = (score - self.begin) / self.slope if self.slope > 0 else np.inf
        return float(2.0**exponent) if exponent <= 60 else None

    def reached(self, score: float) -> str:
        """:meth:`needed` in words; the upper end of the slope's interval says how little it may be."""
        if self.slope <= 0:
            return f"no: the curve does not rise ({self.slope:+.1f} points per doubling, {self.low:+.1f} to {self.high:+.1f})"
        count = self.needed(score)
        size = "more than 10^18" if count is None else f"about {count:,.0f}" if count < 1e9 else f"about 10^{np.log10(count):.0f}"
        sure = "" if self.low > 0 else "; the interval includes 0, so the curve may not rise at all"
        return f"{size} questions ({self.slope:+.1f} points per doubling, {self.low:+.1f} to {self.high:+.1f}{sure})"


def learning_curve(questions: Sequence[int], scores: Sequence[float], *, seed: int = 0) -> LearningCurve:
    """The line through points, one per run: its training questions, at least two different numbers, and its score."""
    sizes, values = np.log2(np.array(questions, np.float64)), np.array(scores, np.float64)
    slope, begin = np.polyfit(sizes, values, 1)
    rng = np.random.default_rng(seed)
    slopes = []
    for rows in rng.integers(0, len(sizes), (RESAMPLES, len(sizes))):
        if np.ptp(sizes[rows]):  # a resample of one size has no slope
            slopes.append(np.polyfit(sizes[rows], values[rows], 1)[0])
    low, high = np.percentile(slopes, [2.5, 97.5])
    return LearningCurve(begin=float(begin), slope=float(slope), low=float(low), high=float(high))
