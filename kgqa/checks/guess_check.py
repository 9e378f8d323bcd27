"""A check whose figure is the accuracy of a guesser that sees one thing only."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kgqa.checks.batch import Batch
from kgqa.checks.check import Check
from kgqa.checks.findings import Finding, Part, Worst
from kgqa.checks.measures.guessing import Guesses, Keys, Questions
from kgqa.metrics.normalize import normalize
from kgqa.records import Instance
from kgqa.splits.items import keys_of


class GuessCheck(Check):
    """Learns the answers that occur with each feature, and guesses by them (``guessing.py``).

    Memory grows with the questions: 8 bytes a feature and candidate, about 120 bytes a question for its id.
    """

    family: ClassVar[str] = "shortcut"
    rereads: ClassVar[bool] = True
    precise: ClassVar[bool] = True
    """Whether the feature with the surest answer decides, or the pair of feature and answer seen most often."""
    parts_are: ClassVar[str] = ""

    def __init__(self, *, seed: int) -> None:
        """No question was seen yet."""
        super().__init__(seed=seed)
        self._questions = Questions(seed)
        self._chances: list[npt.NDArray[np.float64]] = []
        self._places: list[tuple[str, int, list[str]]] = []

    @abstractmethod
    def features(self, batch: Batch) -> tuple[npt.NDArray[np.int64], Keys]:
        """Number of features of each question, and all features."""

    @abstractmethod
    def name_of(self, feature: int, instance: Instance) -> str:
        """The feature of a question in words, for the report."""

    def update(self, batch: Batch) -> None:
        """Note what can be learned from the questions."""
        instances = batch.instances
        lists = [instance.candidates or () for instance in instances]
        self._questions.add(
            train=batch.side.name == "train",
            groups=[instance.group for instance in instances],
            answer=batch.answer_keys,
            features=self.features(batch),
            candidates=(
                np.array([len(candidates) for candidates in lists], np.int64),
                keys_of(normalize(choice.text) for candidates in lists for choice in candidates)[:, 0],
            ),
        )
        self._chances.append(np.array([_chance(instance) for instance in instances]))
        self._places.append((batch.side.name, batch.first, [instance.id for instance in instances]))

    def result(self, rng: np.random.Generator) -> Finding:
        """The accuracy over the questions that were tried."""
        guesses = self._questions.guesses(precise=self.precise)
        total = len(guesses.question)
        if not total:
            return self.finding(reason="No question has an answer that could be guessed.")
        order = np.argsort(guesses.question)
        chance = float(np.concatenate(self._chances)[guesses.question[order]].mean())
        return self.share(
            int(guesses.right.sum()), total, rng, chance=round(chance, 12), examples=self._worst(guesses).examples(),
            note=self._how(total), parts=self.parts(), parts_are=self.parts_are,
        )  # fmt: skip

    def parts(self) -> tuple[Part, ...]:
        """Data of the plot in the report."""
        return ()

    def _how(self, total: int) -> str:
        questions = sum(len(ids) for _, _, ids in self._places)
        if total < questions and any(split == "train" for split, _, _ in self._places):
            return f"Learned from the train split, tried on the {total:,} questions of the others."
        return "Each fifth of the questions, drawn by their group, was guessed from the other four."

    def _worst(self, guesses: Guesses) -> Worst:
        """The right guesses that were seen most often before."""
        worst = Worst()
        starts = np.cumsum([0, *(len(ids) for _, _, ids in self._places)])
        hits = np.flatnonzero(guesses.right)
        hits = hits[np.lexsort((guesses.question[hits], -guesses.occurrences[hits]))][: 1 << 10]
        for row in hits.tolist():
            question = int(guesses.question[row])
            batch = int(np.searchsorted(starts, question, side="right")) - 1
            split, first, ids = self._places[batch]
            place = question - int(starts[batch])
            what = f"{guesses.feature[row]} {guesses.occurrences[row]}"
            worst.add(float(guesses.occurrences[row]), split, ids[place], what=lambda text=what: text, number=first + place)  # type: ignore[misc]
        return worst

    def explain(self, what: str, instance: Instance, counterpart: Instance | None) -> str:
        """The question, the answer and the feature that predicted it."""
        feature, count = map(int, what.split())
        answer = instance.answers[0] if instance.answers else ""
        return f"“{answer}” guessed from {self.name_of(feature, instance)}, seen together {count:,} times: {instance.question}"


def _chance(instance: Instance) -> float:
    """Score of a blind guess."""
    if instance.candidates:
        return 1 / len(instance.candidates)
    return 0.5 if instance.answer_type == "boolean" else 0.0
