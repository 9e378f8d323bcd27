"""A reader's figure: mean over questions and seeds, interval over groups of questions, range over seeds, what a random reader gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.checks.findings import Finding
from kgqa.checks.readers.names import Measure
from kgqa.metrics.bootstrap import BATCH, RESAMPLES

Floats = npt.NDArray[np.float64]
WIDE = 0.1
"""Half width of an interval above this makes a figure inconclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A score of one kind of reader."""

    name: str
    """Name of the measure or the reader."""
    scored: str
    """Kind of score, as "answer F1"."""
    value: float
    """Share of 1; so are the bounds of its 95% interval."""
    low: float
    high: float
    lowest: float
    """Lowest score over the seeds; ``highest`` likewise."""
    highest: float
    chance: float
    """Score of a random reader."""
    questions: int
    groups: int
    measure: Measure | None = None
    """The one that it is the figure of."""

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def finding(self, note: str) -> Finding:
        """The figure as a finding, in the form in which all checks report; ``note`` is added to it."""
        assert self.measure is not None
        return Finding(
            check=self.measure.name, family="reader", title=self.measure.title, meaning=self.measure.meaning, remedy=self.measure.remedy,
            unit="questions", figure=self.value, low=self.low, high=self.high, count=self.value * self.questions, total=self.questions,
            chance=self.chance, note=note,
        )  # fmt: skip


def figure_of(
    scores: Floats,
    groups: Sequence[str],
    *,
    name: str,
    scored: str,
    chance: float,
    rng: np.random.Generator,
    measure: Measure | None = None,
) -> Figure:
    """The figure of ``scores``, a row for each seed and a column for each question, whose ``groups`` are drawn together."""
    low, high = grouped_interval(scores.mean(axis=0), groups, rng=rng)
    seeds = scores.mean(axis=1)
    return Figure(
        name=name, scored=scored, value=_plain(scores.mean()), low=_plain(low), high=_plain(high), lowest=_plain(seeds.min()),
        highest=_plain(seeds.max()), chance=_plain(chance), questions=scores.shape[1], groups=len(set(groups)), measure=measure,
    )  # fmt: skip


def grouped_interval(scores: Floats, groups: Sequence[str], *, rng: np.random.Generator) -> tuple[float, float]:
    """The 95% percentile interval of the mean score over questions, where groups are drawn with replacement and come whole."""
    _, group_of = np.unique(np.array(groups, dtype=object), return_inverse=True)
    sums, sizes = np.bincount(group_of, weights=scores), np.bincount(group_of)
    means = np.empty(RESAMPLES)
    step = max(1, BATCH // len(sums))
    for begin in range(0, RESAMPLES, step):
        draws = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=min(step, RESAMPLES - begin))
        # Not ``@``, as in ``kgqa.metrics.bootstrap``.
        means[begin : begin + step] = (draws * sums).sum(axis=1) / (draws * sizes).sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _plain(value: float) -> float:
    """Without the noise of the last bits, which differs between processors."""
    return round(float(value), 10)
