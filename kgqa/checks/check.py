"""Base of the checks: a check sees batches of questions as they stream by, and reports a finding at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, ClassVar

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.findings import Finding, Part, Worst
from kgqa.metrics.bootstrap import interval
from kgqa.records import Instance


class Check(ABC):
    """A check of a whole question set."""

    name: ClassVar[str]
    """As in ``--fail-on name>0``."""
    family: ClassVar[str]
    """A key of ``FAMILIES``."""
    title: ClassVar[str]
    meaning: ClassVar[str]
    """One sentence: what the figure is."""
    remedy: ClassVar[str]
    """One sentence: what to do about it."""
    unit: ClassVar[str] = "questions"
    """Plural noun of the things that the check counts."""
    compares: ClassVar[bool] = False
    """Whether it also looks at the sets that this one is compared with."""
    rereads: ClassVar[bool] = False
    """Whether :meth:`explain` describes examples from a second reading, so that no text is kept."""

    def __init__(self, *, seed: int) -> None:
        """``seed`` draws what the check draws, hash functions and folds; intervals are drawn from what :meth:`result` is given."""
        self.seed = seed

    @abstractmethod
    def update(self, batch: Batch) -> None:
        """Update the counts with a batch of questions; called once per batch, in order."""

    @abstractmethod
    def result(self, rng: np.random.Generator) -> Finding:
        """The finding over all batches; called once, at the end."""

    def explain(self, what: str, instance: Instance, counterpart: Instance | None) -> str:
        """The example's text, for a check that :attr:`rereads`; ``what`` is what it noted, ``counterpart`` the question compared with."""
        raise NotImplementedError

    def finding(self, **values: Any) -> Finding:
        """A Finding of this check."""
        return Finding(
            check=self.name, family=self.family, title=self.title, meaning=self.meaning, remedy=self.remedy, unit=self.unit, **values
        )

    def share(self, count: int, total: int, rng: np.random.Generator, **values: Any) -> Finding:
        """A Finding whose figure is a share: ``count`` of ``total`` outcomes are 1, the others 0."""
        estimate = interval(np.repeat([1.0, 0.0], [count, total - count]), rng=rng)
        return self.finding(figure=estimate.mean, low=estimate.low, high=estimate.high, count=count, total=total, **values)


class ShareCheck(Check):
    """A check whose figure is the mean over questions of an outcome between 0 and 1. Memory: one counter for each distinct outcome."""

    nothing: ClassVar[str]
    """Why it does not apply where no question has an outcome."""

    def __init__(self, *, seed: int) -> None:
        """No question was seen yet."""
        super().__init__(seed=seed)
        self._outcomes: dict[str, Counter[float]] = {}
        self._chances: Counter[float] = Counter()
        self.worst = Worst()

    @abstractmethod
    def outcomes(self, batch: Batch) -> Floats:
        """For each question its outcome, the worse the higher; NaN where the check does not apply to it."""

    def chances(self, batch: Batch) -> Floats | None:
        """For each question the outcome of a blind guess; None where there is no such thing."""
        return None

    def badness(self, batch: Batch, number: int) -> float:
        """Order of examples with the same outcome; higher values come first."""
        return 0.0

    @abstractmethod
    def describe(self, batch: Batch, number: int) -> str:
        """Description of the problem of question ``number`` of the batch."""

    def update(self, batch: Batch) -> None:
        """Count the outcomes and keep the worst."""
        outcomes = self.outcomes(batch)
        applies = ~np.isnan(outcomes)
        self._outcomes.setdefault(batch.side.name, Counter()).update(outcomes[applies].tolist())
        chances = self.chances(batch)
        if chances is not None:
            self._chances.update(chances[applies].tolist())
        for number in np.flatnonzero(applies & (outcomes > 0)).tolist():
            instance = batch.instances[number]
            # An outcome outweighs any badness, which only orders equal ones.
            badness = float(outcomes[number]) * 1e9 + self.badness(batch, number)
            self.worst.add(badness, batch.side.name, instance.id, lambda at=number: self.describe(batch, at))  # type: ignore[misc]

    def result(self, rng: np.random.Generator) -> Finding:
        """The mean, in all splits and in each."""
        all_outcomes: Counter[float] = sum(self._outcomes.values(), Counter())
        if not all_outcomes:
            return self.finding(reason=self.nothing)
        values = sorted(all_outcomes)
        estimate = interval(np.repeat(values, [all_outcomes[value] for value in values]), rng=rng)
        return self.finding(
            figure=estimate.mean,
            low=estimate.low,
            high=estimate.high,
            count=_sum(all_outcomes),
            total=all_outcomes.total(),
            chance=_sum(self._chances) / self._chances.total() if self._chances else None,
            parts=tuple(
                Part(name=split, count=_sum(outcomes), total=outcomes.total()) for split, outcomes in self._outcomes.items() if outcomes
            ),
            parts_are="by split",
            examples=self.worst.examples(),
        )


def _sum(counts: Counter[float]) -> float:
    """In ascending order, so that the order of the questions does not matter."""
    return float(sum(value * counts[value] for value in sorted(counts)))
