"""Among what an answer is chosen: a question's candidates, or where it has none the names and numbers in its paragraphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.readers.lexical.spans import name_like
from kgqa.records import Instance
from kgqa.training.reader import Prediction

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The choices of some questions, one after the other."""

    instances: Sequence[Instance]
    offsets: npt.NDArray[np.int64]
    """Where each question's begin (questions + 1)."""
    texts: Sequence[str]
    ids: Sequence[str | None]
    """The candidate's; None for a span."""

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> Choices:
        """The candidates, or the spans that :func:`~kgqa.readers.lexical.spans.name_like` finds."""
        rows: list[list[tuple[str | None, str]]] = []
        for instance in instances:
            if instance.candidates:
                rows.append([(candidate.id, candidate.text) for candidate in instance.candidates])
            else:
                rows.append([(None, span) for span in name_like(instance)])
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        flat = [choice for row in rows for choice in row]
        return cls(instances=instances, offsets=offsets, texts=[text for _, text in flat], ids=[name for name, _ in flat])

    def questions(self) -> npt.NDArray[np.int64]:
        """For each choice the place of its question."""
        return np.repeat(np.arange(len(self.instances)), np.diff(self.offsets))

    def hashes(self) -> npt.NDArray[np.uint64]:
        """Of the texts: a choice is what is shown of it, or masked sets would be readable by their ids."""
        return text_hashes(pa.array(self.texts, pa.string()))

    def best(self, scores: Scores, *, seed: int) -> npt.NDArray[np.int64]:
        """For each question the place of the choice with the highest score, of several a drawn one; -1 where it has no choice."""
        asked, question = text_hashes(pa.array([instance.id for instance in self.instances], pa.string())), self.questions()
        # Not by the choices' numbers, so that neither their order nor what else is asked changes a draw.
        ties = shuffling(asked[question], self.hashes(), purpose="ties of lexical readers", seed=seed)
        order = np.lexsort((ties, scores, question))
        filled = np.diff(self.offsets) > 0
        found = np.full(len(self.instances), -1, np.int64)
        found[filled] = order[self.offsets[1:][filled] - 1]
        return found

    def predictions(self, scores: Scores, *, seed: int, supporting: Sequence[str] | None = None) -> list[Prediction]:
        """The best choices; confidence is the score's share of the question's, or 1/n where all n are 0.

        ``scores`` are not negative; ``supporting``: for each choice the paragraph that speaks for it.
        """
        found = []
        for number, (instance, best) in enumerate(zip(self.instances, self.best(scores, seed=seed).tolist(), strict=True)):
            if best < 0:
                found.append(Prediction(id=instance.id, answer=""))
                continue
            mine = scores[self.offsets[number] : self.offsets[number + 1]]
            total = float(mine.sum())
            found.append(
                Prediction(
                    id=instance.id,
                    answer=self.texts[best],
                    candidate=self.ids[best],
                    confidence=min(1.0, float(scores[best]) / total) if total else 1 / len(mine),
                    supporting=(supporting[best],) if supporting is not None and supporting[best] else (),
                )
            )
        return found
