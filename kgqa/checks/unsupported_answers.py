"""The answer is in no paragraph that is marked as supporting."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.checks.measures.mentions import without_other_forms


class UnsupportedAnswers(ShareCheck):
    """Whether a paragraph states the answer and none of those does that are marked as supporting."""

    name = "unsupported-answers"
    family = "fault"
    title = "The answer is in no supporting paragraph"
    meaning = "The share of answerable questions whose answer some paragraph states, but none of those marked as supporting."
    remedy = "Mark the paragraph that states the answer, or fix the answer."
    nothing = "No question has marked paragraphs and an answer that could be stated in them."

    def outcomes(self, batch: Batch) -> Floats:
        """1 where only other paragraphs state it; absent answers have a check of their own."""
        counts = np.zeros(len(batch.instances), np.int64)
        rows = np.repeat(np.arange(len(batch.instances)), batch.paragraph_counts)
        np.add.at(counts, rows, batch.holds & batch.supporting)
        applies = batch.searchable & batch.marked & batch.textual & (batch.absent == 0)
        outcomes = np.where(applies, counts == 0, np.nan).astype(np.float64)
        return without_other_forms(outcomes, batch.instances, supporting=True)

    def describe(self, batch: Batch, number: int) -> str:
        """The answer and the question whose supporting paragraphs lack it."""
        instance = batch.instances[number]
        return f"“{instance.answers[0]}” is in no supporting paragraph: {instance.question}"
