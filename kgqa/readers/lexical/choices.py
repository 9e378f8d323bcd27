"""The choices of a question: its candidates, or if it has none, the names and numbers in its paragraphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import offsets_of
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.readers.lexical.spans import name_like
from kgqa.records import Instance
from kgqa.training.reader import Prediction

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The choices of several questions, concatenated."""

    instances: Sequence[Instance]
    offsets: npt.NDArray[np.int64]
    """First choice of each question (questions + 1)."""
    texts: Sequence[str]
    ids: Sequence[str | None]
    """The candidate's id; None for a span."""

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> Choices:
        """The candidates, or the spans that :func:`~kgqa.readers.lexical.spans.name_like` finds."""
        rows: list[list[tuple[str | None, str]]] = []
        for instance in instances:
            if instance.candidates:
                rows.append([(candidate.id, candidate.text) for candidate in instance.candidates])
            else:
                rows.append([(None, span) for span in name_like(instance)])
        flat = [choice for row in rows for choice in row]
        return cls(
            instances=instances, offsets=offsets_of(list(map(len, rows))), texts=[text for _, text in flat], ids=[name for name, _ in flat]
        )

    def questions(self) -> npt.NDArray[np.int64]:
        """For each choice the index of its question."""
        return np.repeat(np.arange(len(self.instances)), np.diff(self.offsets))

    def hashes(self) -> npt.NDArray[np.uint64]:
        """Hashes of the texts, not of the ids, which could reveal the answers of masked sets."""
        return text_hashes(pa.array(self.texts, pa.string()))

    def best(self, scores: Scores, *, seed: int) -> npt.NDArray[np.int64]:
        """For each question the index of its best choice, ties broken at random; -1 if it has no choice."""
        question_hashes, question = text_hashes(pa.array([instance.id for instance in self.instances], pa.string())), self.questions()
        # Not by the choices' numbers, so that neither their order nor what else is asked changes a draw.
        ties = shuffling(question_hashes[question], self.hashes(), purpose="ties of lexical readers", seed=seed)
        order = np.lexsort((ties, scores, question))
        has_choices = np.diff(self.offsets) > 0
        best_choice = np.full(len(self.instances), -1, np.int64)
        best_choice[has_choices] = order[self.offsets[1:][has_choices] - 1]
        return best_choice

    def predictions(self, scores: Scores, *, seed: int, supporting: Sequence[str] | None = None) -> list[Prediction]:
        """The best choices. Confidence is the choice's share of the question's total score, or 1/n if all n scores are 0.

        ``scores`` (choices) are not negative; ``supporting``: for each choice the paragraph that supports it.
        """
        predictions_ = []
        for number, (instance, best) in enumerate(zip(self.instances, self.best(scores, seed=seed).tolist(), strict=True)):
            if best < 0:
                predictions_.append(Prediction(id=instance.id, answer=""))
                continue
            question_scores = scores[self.offsets[number] : self.offsets[number + 1]]
            total = float(question_scores.sum())
            predictions_.append(
                Prediction(
                    id=instance.id,
                    answer=self.texts[best],
                    candidate=self.ids[best],
                    confidence=min(1.0, float(scores[best]) / total) if total else 1 / len(question_scores),
                    supporting=(supporting[best],) if supporting is not None and supporting[best] else (),
                )
            )
        return predictions_


class RandomChoice(LexicalReader):
    """All choices have the same score, so that the random tie-break decides."""

    name = "random"
    learns = False

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """A random choice for each question."""
        choices = Choices.of(instances)
        return choices.predictions(np.zeros(len(choices.texts)), seed=self.seed)
