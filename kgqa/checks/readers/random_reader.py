"""A random reader, the chance level of every figure: the same scores, of predictions drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgqa.readers.answers import OPTIONS, is_option
from kgqa.records import Instance
from kgqa.training.reader import Prediction

DRAWS = 20
"""How often the whole set is guessed."""


class RandomReader:
    """Draws a candidate; else yes or no where the answer is one of them, else a run of words, as long as some question's answer is.

    Support is drawn by the share of paragraphs that are marked, sufficiency from the labels that occur. Without paragraphs it draws the
    answer of some other question.
    """

    def __init__(
        self, instances: Sequence[Instance], labels: Sequence[int], rng: np.random.Generator, *, hides_context: bool = False
    ) -> None:
        """``instances``: those that are judged; ``labels``: the sufficiency of each."""
        self._rng, self._labels, self._hides_context = rng, list(labels), hides_context
        answered_instances = [instance for instance in instances if instance.answers]
        self._answers = [instance.answers[0] for instance in answered_instances]
        self._places = {instance.id: place for place, instance in enumerate(answered_instances)}
        marks = [bool(paragraph.supporting) for instance in instances for paragraph in instance.paragraphs]
        self._share = float(np.mean(marks)) if marks else 0.0

    def predict(self, instance: Instance) -> Prediction:
        """A random candidate or span, with random support and confidence."""
        rng = self._rng
        candidate = instance.candidates[rng.integers(len(instance.candidates))] if instance.candidates else None
        support = rng.random(len(instance.paragraphs)) < self._share
        label = self._labels[rng.integers(len(self._labels))] if self._labels else 1
        return Prediction(
            id=instance.id,
            answer=candidate.text if candidate else self._answer(instance),
            candidate=candidate.id if candidate else None,
            confidence=float(rng.random()),
            supporting=tuple(
                paragraph.id for paragraph, is_supporting in zip(instance.paragraphs, support.tolist(), strict=True) if is_supporting
            ),
            answerable=label == 1,
            sufficiency=label,
        )

    def _answer(self, instance: Instance) -> str:
        if is_option(instance):
            return OPTIONS[self._rng.integers(len(OPTIONS))]
        other = self._other_answer(instance)
        if self._hides_context or not instance.paragraphs:
            return other
        words = instance.paragraphs[self._rng.integers(len(instance.paragraphs))].text.split()
        length = min(len(words), max(1, len(other.split())))
        first = int(self._rng.integers(len(words) - length + 1)) if words else 0
        return " ".join(words[first : first + length])

    def _other_answer(self, instance: Instance) -> str:
        """The answer of a question drawn among all but this one, whose own would make a small set look easy to guess."""
        own_place = self._places.get(instance.id, len(self._answers))
        count = len(self._answers) - (own_place < len(self._answers))
        if not count:
            return ""
        place = int(self._rng.integers(count))
        return self._answers[place + (place >= own_place)]
