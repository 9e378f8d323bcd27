"""The other candidates are of another type."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.checks.measures.shapes import shape_of


class CandidateTypes(ShareCheck):
    """The accuracy of a guess among the candidates that look like the answer; candidates of one type leave it at chance.

    Types are read from the surface (``shapes.py``), so "Paris, the city" and "Paris, the person" count as the same.
    """

    name = "candidate-types"
    family = "shortcut"
    title = "Candidates of another type than the answer"
    meaning = "The accuracy of a blind guess among only those candidates that look like the answer: a year, a number, a name, a phrase."
    remedy = "Draw candidates of the answer's type, as WikiHop draws objects of the same relation."
    nothing = "No question has a list of candidates with the answer among them."

    def outcomes(self, batch: Batch) -> Floats:
        """One over the number of candidates of the answer's shape."""
        return np.array([self._outcome(batch, number) for number in range(len(batch.instances))])

    def _outcome(self, batch: Batch, number: int) -> float:
        instance = batch.instances[number]
        if not instance.candidates or len(instance.candidates) < 2 or not instance.answers:
            return float("nan")
        shape = shape_of(instance.answers[0])
        count = sum(shape_of(candidate.text) == shape for candidate in instance.candidates)
        return 1 / count if count else float("nan")

    def chances(self, batch: Batch) -> Floats:
        """For each question the accuracy of a random choice among its candidates; nan without candidates."""
        return np.array([1 / len(instance.candidates) if instance.candidates else np.nan for instance in batch.instances])

    def badness(self, batch: Batch, number: int) -> float:
        """Number of candidates that the type excludes."""
        return float(len(batch.instances[number].candidates or ()))

    def describe(self, batch: Batch, number: int) -> str:
        """The answer and what the others look like."""
        instance = batch.instances[number]
        shapes = Counter(shape_of(candidate.text) for candidate in instance.candidates or ())
        summary = ", ".join(f"{count} × {shape}" for shape, count in sorted(shapes.items()))
        return f"“{instance.answers[0]}” is a {shape_of(instance.answers[0])}; the candidates are {summary}: {instance.question}"
