"""The supporting paragraphs can be taken away."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck


class UnneededSupport(ShareCheck):
    """Without everything that is marked as supporting, whether the paragraph that shares most words with the question holds the answer."""

    name = "support-not-needed"
    family = "shortcut"
    title = "The answer is found without the support"
    meaning = "The share of questions whose answer stands in the best of the paragraphs that are not marked as supporting."
    remedy = "Drop distractors that state the answer, or mark them as supporting; DiRe probes tell what a reader makes of them."
    nothing = "No question has paragraphs marked as supporting beside others and an answer that could stand in them."

    def outcomes(self, batch: Batch) -> Floats:
        """The chance that the best of the others holds it."""
        return np.where(batch.searchable & batch.marked, batch.best_holds(~batch.supporting), np.nan)

    def chances(self, batch: Batch) -> Floats:
        """The share of the others that hold it."""
        return batch.share_holding(~batch.supporting)

    def badness(self, batch: Batch, number: int) -> float:
        """Overlap of that paragraph with the question."""
        place = batch.paragraphs_of(number)
        return float(np.where(batch.supporting[place], -1.0, batch.overlap[place]).max())

    def describe(self, batch: Batch, number: int) -> str:
        """Question, answer and the paragraph's beginning."""
        instance, place = batch.instances[number], batch.paragraphs_of(number)
        scores = np.where(batch.supporting[place] | ~batch.holds[place], -1.0, batch.overlap[place])
        paragraph = instance.paragraphs[int(np.argmax(scores))]
        return f"“{instance.answers[0]}” is also in [{paragraph.title or paragraph.id}] {paragraph.text[:140]} … {instance.question}"
