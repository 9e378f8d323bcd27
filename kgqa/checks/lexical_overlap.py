"""The paragraph that sounds like the question has the answer."""

from __future__ import annotations

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck


class LexicalOverlap(ShareCheck):
    """Whether one look at the paragraph with most of the question's words suffices to have the answer before one's eyes.

    Words that all paragraphs of the question have count nothing (``lexical.overlap``). A multi-hop question's last paragraph need not
    share a word with it, so a fair set is near the blind guess, which opens any paragraph.
    """

    name = "lexical-overlap"
    family = "shortcut"
    title = "The answer is where the question's words are"
    meaning = "The share of questions whose answer stands in the one paragraph that shares most words with the question."
    remedy = "Add distractors that share as many words, or keep questions whose last hop shares none."
    nothing = "No question has several paragraphs and an answer that could stand in them."

    def outcomes(self, batch: Batch) -> Floats:
        """The chance that the best paragraph holds it."""
        return np.where(batch.searchable & (batch.paragraph_counts > 1), batch.best_holds(_all_questions(batch)), np.nan)

    def chances(self, batch: Batch) -> Floats:
        """The share of paragraphs that hold it."""
        return batch.share_holding(_all_questions(batch))

    def badness(self, batch: Batch, number: int) -> float:
        """Overlap of the paragraph with the question."""
        return float(batch.overlap[batch.paragraphs_of(number)].max())

    def describe(self, batch: Batch, number: int) -> str:
        """Question, answer and the paragraph's beginning."""
        instance = batch.instances[number]
        place = batch.paragraphs_of(number)
        best = instance.paragraphs[int(np.argmax(np.where(batch.holds[place], batch.overlap[place], -1.0)))]
        return f"“{instance.answers[0]}” is in [{best.title or best.id}] {best.text[:140]} … {instance.question}"


def _all_questions(batch: Batch) -> np.typing.NDArray[np.bool_]:
    return np.ones(len(batch.overlap), np.bool_)
