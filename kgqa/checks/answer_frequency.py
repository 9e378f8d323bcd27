"""Some answers come again and again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from kgqa.checks.batch import Batch
from kgqa.checks.findings import Part
from kgqa.checks.guess_check import GuessCheck
from kgqa.checks.measures.guessing import Keys
from kgqa.records import Instance

SHOWN = 12


class AnswerFrequency(GuessCheck):
    """Always guesses the most frequent answer, among the candidates where there are some (WikiHop caps an answer at 0.1% of the set).

    Memory: that of a guesser, and the distinct answers.
    """

    name = "answer-frequency"
    title = "The answer is guessed from how frequent it is"
    meaning = "How often the most frequent answer is right, or of the listed candidates the one that is most often an answer."
    remedy = "Cap how often one answer may come; mask candidates where the set is too small for that."
    parts_are = "the most frequent answers, of all questions"

    def __init__(self, *, seed: int) -> None:
        """No answer was seen yet."""
        super().__init__(seed=seed)
        self._answers: Counter[str] = Counter()

    def update(self, batch: Batch) -> None:
        """Learn from the questions of a batch, and count their answers."""
        super().update(batch)
        self._answers.update(instance.answers[0].lower() for instance in batch.instances if instance.answers and instance.answerable)

    def features(self, batch: Batch) -> tuple[npt.NDArray[np.int64], Keys]:
        """The same for all questions."""
        return np.ones(len(batch.instances), np.int64), np.ones(len(batch.instances), np.uint64)

    def name_of(self, feature: int, instance: Instance) -> str:
        """The name of the only feature, for the report."""
        return "its frequency alone"

    def parts(self) -> tuple[Part, ...]:
        """The most frequent answers with their counts, most frequent first."""
        ranking = sorted(self._answers.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
        return tuple(
            Part(name=answer if answer.strip() else "(empty)", count=count, total=self._answers.total()) for answer, count in ranking
        )
