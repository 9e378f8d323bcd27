"""Readers that choose the most frequent answer of the training questions with the same cue."""

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
from kgqa.formats.provenance import everything
from kgqa.readers.lexical.answer_counts import AnswerCounts
from kgqa.readers.lexical.choices import Choices, Scores
from kgqa.readers.lexical.counts import Counts
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.records import Instance
from kgqa.settings.defaults import SEED
from kgqa.training.reader import Prediction

ANY = np.uint64(0)
"""The cue that every question has; it decides if no other cue is known."""
QUESTION_WORDS = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})


class CueReader(LexicalReader):
    """A subclass defines the cues of a question. Memory: 24 bytes per distinct pair of a cue and an answer, twice that in training."""

    def __init__(self, *, seed: int = SEED) -> None:
        """An untrained reader; ``seed`` breaks ties between answers."""
        super().__init__(seed=seed)
        self._texts: dict[int, str] = {}
        self._counts = Counts("cue", "answer")
        self._answer_counts = AnswerCounts.of(self._counts, {})

    def cues(self, instance: Instance) -> Iterable[str]:
        """The cues of a question, as texts."""
        raise NotImplementedError

    def learn(self, instances: Sequence[Instance]) -> None:
        """Count each answer once per distinct cue of its question; questions without an answer are skipped."""
        pairs = [(instance, answer) for instance in instances if (answer := _answer(instance))]
        answers = text_hashes(pa.array([answer for _, answer in pairs], pa.string()))
        self._texts.update(zip(answers.tolist(), (answer for _, answer in pairs), strict=True))
        cues = self._cues([instance for instance, _ in pairs])
        self._counts.add(np.concatenate([cues[1], np.full(len(pairs), ANY)]), np.concatenate([answers[cues[0].sources()], answers]))

    def finish_learning(self) -> None:
        """Raise EmptyResult if no training question has an answer."""
        if not self._texts:
            raise EmptyResult(
                f"no training question has an answer, or all are hidden, and the reader {self.name} learns from nothing else; "
                "give a set with answers."
            )
        self._answer_counts = AnswerCounts.of(self._counts, self._texts)
        self._counts, self._texts = Counts("cue", "answer"), {}

    def _cues(self, instances: Sequence[Instance]) -> tuple[Rows, npt.NDArray[np.uint64]]:
        """For each question the numbers of its distinct cues, and the hashes of all cues."""
        rows = [list(dict.fromkeys(self.cues(instance))) for instance in instances]
        cue_rows = Rows.numbering(np.array([len(row) for row in rows], np.int64), "cues", "predict in parts")
        return cue_rows, text_hashes(pa.array([cue for row in rows for cue in row], pa.string()))

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """The candidate that is most often the answer with one of the cues; without candidates the most frequent such answer."""
        with_candidates = iter(self._candidate_predictions([instance for instance in instances if instance.candidates]))
        without_candidates = iter(self._free_predictions([instance for instance in instances if not instance.candidates]))
        return [next(with_candidates) if instance.candidates else next(without_candidates) for instance in instances]

    def _candidate_predictions(self, instances: Sequence[Instance]) -> list[Prediction]:
        choices = Choices.of(instances)
        return choices.predictions(self.choice_scores(choices), seed=self.seed)

    def choice_scores(self, choices: Choices) -> Scores:
        """The largest count of each choice with one of its question's cues."""
        cues, hashes = self._cues(choices.instances)
        cues_of_choice = cues.take(choices.questions())
        counts = self._answer_counts.counts(hashes[cues_of_choice.targets], choices.hashes()[cues_of_choice.sources()])
        scores = np.zeros(len(choices.texts))
        np.maximum.at(scores, cues_of_choice.sources(), counts)
        return scores

    def _free_predictions(self, instances: Sequence[Instance]) -> list[Prediction]:
        """The answer with the highest count; by the cue :data:`ANY` if no other cue is known."""
        question_hashes = text_hashes(pa.array([instance.id for instance in instances], pa.string()))
        cues, hashes = self._cues(instances)
        question = np.concatenate([cues.sources(), np.arange(len(instances))])
        hashes = np.concatenate([hashes, np.full(len(instances), ANY)])
        draws = shuffling(question_hashes[question], hashes, purpose="answers of lexical readers", seed=self.seed)
        best_answers, is_own = self._answer_counts.best(hashes, draws), np.arange(len(hashes)) < len(cues.targets)
        order = np.lexsort((draws, best_answers.times, is_own & (best_answers.answer >= 0), question))
        best_rows = order[np.searchsorted(question[order], np.arange(len(instances)), side="right") - 1]
        return [
            Prediction(id=instance.id, answer=self._answer_counts.texts[answer], confidence=count / total)
            if answer >= 0
            else Prediction(id=instance.id, answer="")
            for instance, answer, count, total in zip(
                instances,
                best_answers.answer[best_rows].tolist(),
                best_answers.times[best_rows].tolist(),
                best_answers.total[best_rows].tolist(),
                strict=True,
            )
        ]

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the counts; there is no other state."""
        self._answer_counts.write(folder)
        return {}

    def read(self, folder: Path, state: dict[str, Any]) -> None:
        """Read the counts that :meth:`write` wrote."""
        self._answer_counts = AnswerCounts.read(folder)


class Prior(CueReader):
    """All questions have the same cue: the most frequent answer of all."""

    name = "prior"

    def cues(self, instance: Instance) -> Iterable[str]:
        """One cue for all questions."""
        return ("",)


class Majority(CueReader):
    """The cue is the type of the query."""

    name = "majority"

    def cues(self, instance: Instance) -> Iterable[str]:
        """The query's type, the only cue."""
        return (query_type(instance),)


def query_type(instance: Instance) -> str:
    """The relation of a multiple-choice query, as noted or from its first word; else the first question word.

    ``how`` includes the next word (*how many*). A question without a question word (*Is …*) has the type of its first word.
    """
    words = instance.question.lower().split()
    if instance.candidates:
        relation = everything(instance).get("relation")
        return relation if isinstance(relation, str) else next(iter(words), "")
    words = [word.strip("?,.:;'\"()") for word in words]
    position = next((position_ for position_, word in enumerate(words) if word in QUESTION_WORDS), 0)
    return " ".join(words[position : position + 2] if words[position : position + 1] == ["how"] else words[position : position + 1])


class DocumentCue(CueReader):
    """Each paragraph is a cue: cooccurrence(d, c) counts the training questions that show d and have the answer c (section 3.2).

    Documents are identified by their text. In a masked set a document has another text in each question, and is no cue.
    """

    name = "document-cue"

    def cues(self, instance: Instance) -> Iterable[str]:
        """The text of each paragraph is a cue."""
        return (paragraph.text for paragraph in instance.paragraphs)


def _answer(instance: Instance) -> str:
    """The answer's text among the candidates; "" if there is none."""
    if not instance.answerable or not instance.answers:
        return ""
    texts = (candidate.text for candidate in instance.candidates or () if candidate.id == instance.answer_id)
    return next(texts, instance.answers[0])
