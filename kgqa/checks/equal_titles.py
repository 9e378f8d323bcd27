"""Two paragraphs of one question have the same title."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.records import Instance


class EqualTitles(ShareCheck):
    """A supporting fact given as a title and a sentence number, as in HotpotQA, is ambiguous if two paragraphs have the title.

    Only questions with supporting sentences and only titles of supporting paragraphs are tested. Two distractors may share a title, and so
    may paragraphs of one article in sets that name support by ids, such as MuSiQue.
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
        has_facts = any(paragraph.title and paragraph.supporting_sentences for paragraph in instance.paragraphs)
        return float(bool(_repeated(instance))) if has_facts else float("nan")

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
    supporting_titles = {paragraph.title.strip() for paragraph in instance.paragraphs if paragraph.title and paragraph.supporting_sentences}
    return {title: count for title, count in counts.items() if count > 1 and title in supporting_titles}
