"""Readers that take the answer which training questions with the same cue have most often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import Rows
from kgqa.errors import EmptyResult
from kgqa.readers.lexical.answer_counts import AnswerCounts
from kgqa.readers.lexical.choices import Choices, Scores
from kgqa.readers.lexical.counts import Counts
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.records import Instance
from kgqa.settings.defaults import SEED
from kgqa.training.reader import Prediction

ANY = np.uint64(0)
"""The cue that every question has: what is told by it where nothing else is."""


class CueReader(LexicalReader):
    """A subclass says which cues a question has. Memory: 24 bytes for each pair of a cue and an answer, twice while it learns."""

    def __init__(self, *, seed: int = SEED) -> None:
        """No answer was seen."""
        super().__init__(seed=seed)
        self._texts: dict[int, str] = {}
        self._counts = Counts("cue", "answer")
        self._learned = AnswerCounts.of(self._counts, {})

    def cues(self, instance: Instance) -> Iterable[str]:
        """What its answer is to be told by."""
        raise NotImplementedError

    def learn(self, instances: Sequence[Instance]) -> None:
        """Count each answer once for each different cue of its question; questions without an answer teach nothing."""
        pairs = [(instance, answer) for instance in instances if (answer := _answer(instance))]
        answers = text_hashes(pa.array([answer for _, answer in pairs], pa.string()))
        self._texts.update(zip(answers.tolist(), (answer for _, answer in pairs), strict=True))
        cues = self._cues([instance for instance, _ in pairs])
        self._counts.add(np.concatenate([cues[1], np.full(len(pairs), ANY)]), np.concatenate([answers[cues[0].sources()], answers]))

    def learned(self) -> None:
        """EmptyResult where no training question has an answer."""
        if not self._texts:
            raise EmptyResult(
                f"no training question has an answer, or all are hidden, and the reader {self.name} learns from nothing else; "
                "give a set with answers."
            )
        self._learned = AnswerCounts.of(self._counts, self._texts)
        self._counts, self._texts = Counts("cue", "answer"), {}

    def _cues(self, instances: Sequence[Instance]) -> tuple[Rows, npt.NDArray[np.uint64]]:
        """For each question the numbers of its different cues, and the hashes of all of them."""
        rows = [list(dict.fromkeys(self.cues(instance))) for instance in instances]
        rows_of = Rows.numbering(np.array([len(row) for row in rows], np.int64), "cues", "predict in parts")
        return rows_of, text_hashes(pa.array([cue for row in rows for cue in row], pa.string()))

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """Of candidates the one that is most often the answer with one of the cues; without candidates the most frequent such answer."""
        chosen = iter(self._chosen([instance for instance in instances if instance.candidates]))
        free = iter(self._free([instance for instance in instances if not instance.candidates]))
        return [next(chosen) if instance.candidates else next(free) for instance in instances]

    def _chosen(self, instances: Sequence[Instance]) -> list[Prediction]:
        choices = Choices.of(instances)
        return choices.predictions(self.choice_scores(choices), seed=self.seed)

    def choice_scores(self, choices: Choices) -> Scores:
        """The largest count of each choice with one of its question's cues."""
        cues, hashes = self._cues(choices.instances)
        told = cues.take(choices.questions())
        counts = self._learned.counts(hashes[told.targets], choices.hashes()[told.sources()])
        scores = np.zeros(len(choices.texts))
        np.maximum.at(scores, told.sources(), counts)
        return scores

    def _free(self, instances: Sequence[Instance]) -> list[Prediction]:
        """The answer with the highest count; by the cue that all have where no other was seen."""
        asked = text_hashes(pa.array([instance.id for instance in instances], pa.string()))
        cues, hashes = self._cues(instances)
        question = np.concatenate([cues.sources(), np.arange(len(instances))])
        hashes = np.concatenate([hashes, np.full(len(instances), ANY)])
        draws = shuffling(asked[question], hashes, purpose="answers of lexical readers", seed=self.seed)
        found, own = self._learned.best(hashes, draws), np.arange(len(hashes)) < len(cues.targets)
        order = np.lexsort((draws, found.times, own & (found.answer >= 0), question))
        best = order[np.searchsorted(question[order], np.arange(len(instances)), side="right") - 1]
        return [
            Prediction(id=instance.id, answer=self._learned.texts[answer], confidence=count / total)
            if answer >= 0
            else Prediction(id=instance.id, answer="")
            for instance, answer, count, total in zip(
                instances, found.answer[best].tolist(), found.times[best].tolist(), found.total[best].tolist(), strict=True
            )
        ]

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the learned counts; there is no other state."""
        self._learned.write(folder)
        return {}

    def read(self, folder: Path, state: dict[str, Any]) -> None:
        """Read the counts that :meth:`write` wrote."""
        self._learned = AnswerCounts.read(folder)


def _answer(instance: Instance) -> str:
    """As it is shown among the candidates; "" where there is none to learn."""
    if not instance.answerable or not instance.answers:
        return ""
    shown = (candidate.text for candidate in instance.candidates or () if candidate.id == instance.answer_id)
    return next(shown, instance.answers[0])
