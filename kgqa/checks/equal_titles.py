"""Two paragraphs of one question have the same title."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.records import Instance


class EqualTitles(ShareCheck):
    """A supporting fact that is a title and the number of a sentence, as HotpotQA's, then means two.

    So it looks at questions that mark supporting sentences, and at titles of supporting paragraphs: two distractors with one title harm
    nobody, nor do several paragraphs of one article where support is told by ids, as in MuSiQue.
    """

    name = "equal-titles"
    family = "fault"
    title = "Equal titles in one question"
    meaning = "The share of questions in which another paragraph has the title of one with a supporting sentence."
    remedy = "Name paragraphs by ids, or drop one of the two."
    nothing = "No question tells its support by titles and sentences."

    def outcomes(self, batch: Batch) -> Floats:
        """1 where there are two."""
        return np.array([self._outcome(instance) for instance in batch.instances])

    def _outcome(self, instance: Instance) -> float:
        named = any(paragraph.title and paragraph.supporting_sentences for paragraph in instance.paragraphs)
        return float(bool(_repeated(instance))) if named else float("nan")

    def badness(self, batch: Batch, number: int) -> float:
        """Number of paragraphs that share their title with another."""
        return float(sum(_repeated(batch.instances[number]).values()))

    def describe(self, batch: Batch, number: int) -> str:
        """The titles and the question."""
        instance = batch.instances[number]
        titles = ", ".join(f"“{title}” × {count}" for title, count in sorted(_repeated(instance).items()))
        return f"{titles}: {instance.question}"


def _repeated(instance: Instance) -> dict[str, int]:
    """Titles of several different paragraphs, and how many these are."""
    texts = {(paragraph.title.strip(), paragraph.text) for paragraph in instance.paragraphs if paragraph.title}
    counts = Counter(title for title, _ in texts)
    marked = {paragraph.title.strip() for paragraph in instance.paragraphs if paragraph.title and paragraph.supporting_sentences}
    return {title: count for title, count in counts.items() if count > 1 and title in marked}
