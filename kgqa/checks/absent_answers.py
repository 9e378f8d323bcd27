"""The answer is in none of the paragraphs."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.checks.measures.mentions import without_other_forms


class AbsentAnswers(ShareCheck):
    """Whether no paragraph, its title included, has the answer or an alias as a run of words, or marks another form of it.

    Yes, no and computed numbers are left out.
    """

    name = "absent-answers"
    family = "fault"
    title = "The answer is in no paragraph"
    meaning = "The share of answerable questions whose answer, under none of its names, stands in any paragraph shown."
    remedy = "Add the missing alias or paragraph, or mark the question as unanswerable."
    nothing = "No question shows paragraphs and has an answer that could stand in them."

    def outcomes(self, batch: Batch) -> Floats:
        """1 where it is absent."""
        outcomes = np.where(batch.searchable & batch.textual & (batch.paragraph_counts > 0), batch.absent, np.nan)
        return without_other_forms(outcomes, batch.instances, supporting=False)

    def describe(self, batch: Batch, number: int) -> str:
        """The answer, the number of paragraphs and the question."""
        instance = batch.instances[number]
        return f"“{instance.answers[0]}” stands in none of {len(instance.paragraphs)} paragraphs: {instance.question}"
