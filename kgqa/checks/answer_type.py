"""Knowing what kind of answer is wanted is enough."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from kgqa.checks.batch import Batch
from kgqa.checks.guess_check import GuessCheck
from kgqa.checks.measures.guessing import Keys
from kgqa.checks.measures.shapes import shape_of
from kgqa.records import Instance


def _key(shape: str) -> int:
    return int.from_bytes(hashlib.sha256(shape.encode()).digest()[:8], "big")


class AnswerType(GuessCheck):
    """Guesses the most frequent answer of the same shape (``shapes.py``): yes or no, a year, a number, a name."""

    name = "answer-type"
    title = "The answer is guessed from its type"
    meaning = "How often the right answer is guessed by whoever knows only what it looks like: yes or no, a year, a number, a name."
    remedy = "Balance yes and no, and cap the most frequent answer of each type."

    def features(self, batch: Batch) -> tuple[npt.NDArray[np.int64], Keys]:
        """The shape of the answer."""
        shapes = [_key(shape_of(instance.answers[0])) if instance.answers else 0 for instance in batch.instances]
        return np.ones(len(shapes), np.int64), np.array(shapes, np.uint64)

    def name_of(self, feature: int, instance: Instance) -> str:
        """The shape of the answer, as the cue is called in a report."""
        return f"its type ({shape_of(instance.answers[0])})"
