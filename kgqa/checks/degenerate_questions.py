"""Questions that ask nothing."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.metrics.normalize import normalize

SHORTEST = 2
"""Words that a question has at least."""


class DegenerateQuestions(ShareCheck):
    """Whether a question has fewer than two words, or is the answer or a paragraph's title and nothing else.

    Empty questions have a check of their own.
    """

    name = "degenerate-questions"
    family = "fault"
    title = "The question asks nothing"
    meaning = "The share of questions of fewer than two words, or that are their own answer or a paragraph's title."
    remedy = "Write a question, or drop the record."
    nothing = "No question has any words."

    def outcomes(self, batch: Batch) -> Floats:
        """1 for a degenerate question."""
        words = np.diff(batch.question_words[0])
        return np.array([_asks_nothing(batch, number, int(count)) for number, count in enumerate(words)], np.float64)

    def describe(self, batch: Batch, number: int) -> str:
        """The question's text in quotation marks."""
        return f"“{batch.instances[number].question}”"


def _asks_nothing(batch: Batch, number: int, words: int) -> float:
    instance = batch.instances[number]
    if not instance.question.strip():
        return np.nan
    question = normalize(instance.question)
    names = {normalize(answer) for answer in instance.answers} | {normalize(p.title) for p in instance.paragraphs if p.title}
    return float(words < SHORTEST or question in names)
