"""The question says its own answer."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck


class AnswerInQuestion(ShareCheck):
    """Whether the answer, or an alias, is a run of words of the question. Comparisons ("who is older, A or B?") name it on purpose."""

    name = "answer-in-question"
    family = "shortcut"
    title = "The answer stands in the question"
    meaning = "The share of questions in whose own words the answer stands; yes and no are left out."
    remedy = "Reword or drop such questions, unless they ask to choose between things that they name."
    nothing = "No question has an answer that could stand in a text."

    def outcomes(self, batch: Batch) -> Floats:
        """1 if the question contains the answer."""
        return np.where(batch.searchable, batch.question_holds, np.nan)

    def badness(self, batch: Batch, number: int) -> float:
        """A long answer is no coincidence."""
        return float(len(batch.instances[number].answers[0]))

    def describe(self, batch: Batch, number: int) -> str:
        """The answer and the question that contains it."""
        instance = batch.instances[number]
        return f"“{instance.answers[0]}” is the answer to: {instance.question}"
