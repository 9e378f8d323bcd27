"""The protocol of all readers, from word counts to networks, and their predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kgqa.chat.connection import Connection
from kgqa.progress import Progress
from kgqa.records import Step
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A reader's prediction for one Instance."""

    id: str
    answer: str
    """"" if the reader gives none."""
    parts: tuple[str, ...] = ()
    """The parts of an answer of several spans; else empty."""
    type: str = ""
    """The type of the answer, a key of ``kgqa.records.ANSWER_TYPES``; "" if the reader does not tell types apart."""
    value: float | None = None
    """The number, for an answer of the type ``number``."""
    unit: str = ""
    """Its unit, as ``km`` or ``years``; "" without one."""
    candidate: str | None = None
    """The candidate's id, if the question has candidates."""
    confidence: float = 0.0
    """The reader's probability of its answer, from 0 to 1; DiRe's probe compares it between the parts of a question."""
    supporting: tuple[str, ...] = ()
    """Ids of paragraphs, in the order shown."""
    supporting_sentences: tuple[tuple[str, int], ...] = ()
    """Paragraph id and index of the sentence."""
    answerable: bool = True
    sufficiency: int = 1
    """DiRe's label: 1 sufficient, 0 partial, -1 no support at all. For sets without such labels 1 or 0, as ``answerable``."""
    paragraph_scores: tuple[tuple[str, float], ...] = ()
    """Probability that each shown paragraph supports the answer; empty if the reader gives none."""
    steps: tuple[Step, ...] = ()
    """The executed decomposition, with its answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """The arguments of a fit, apart from the questions."""

    place: Path
    """A folder of its own; an interrupted fit in it is resumed."""
    settings: TrainingSettings
    seed: int
    progress: Progress
    record: Callable[[dict[str, object]], None]
    """Receives each point of the curve: ``step``, and ``loss`` or ``score``; with ``part`` if the reader has several parts."""
    start: Path | None = None
    """A saved reader of the same kind, whose weights are the initial ones."""
    connection: Connection | None = None
    """For a reader that asks an endpoint."""

    def part(self, name: str) -> Fitting:
        """The arguments for one of a reader's parts, in a subfolder."""
        return Fitting(
            place=self.place / name,
            settings=self.settings,
            seed=self.seed,
            progress=self.progress,
            record=lambda point: self.record({"part": name, **point}),
            start=None if self.start is None else self.start / name,
            connection=self.connection,
        )


class Reader(Protocol):
    """Learns from questions, and answers others."""

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Learn from ``train``; ``dev`` only decides when to stop. May be called once."""

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in their order."""

    def save(self, folder: Path) -> None:
        """Write everything that :meth:`predict` needs into an empty folder; never a pickle."""

    def load(self, folder: Path) -> None:
        """Load what :meth:`save` wrote. Raises InputError if the folder holds something else."""
