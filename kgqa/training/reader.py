"""What every reader can do, be it a count of words or a network, and what it says about a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kgqa.progress import Progress
from kgqa.records import Step
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a reader says about one Instance."""

    id: str
    answer: str
    """"" where it gives none."""
    candidate: str | None = None
    """The candidate's id, where the question has candidates."""
    confidence: float = 0.0
    """Its own probability of the answer, from 0 to 1, which DiRe's probe compares between the parts of a question."""
    supporting: tuple[str, ...] = ()
    """Ids of paragraphs, in the order shown."""
    supporting_sentences: tuple[tuple[str, int], ...] = ()
    """Paragraph id and index of the sentence."""
    answerable: bool = True
    sufficiency: int = 1
    """DiRe's label: 1 sufficient, 0 not, -1 nothing of the support is there; of sets without such labels 1 or 0, as ``answerable``."""
    paragraph_scores: tuple[tuple[str, float], ...] = ()
    """Probability that each paragraph supports the answer, of those that it was shown; "" where the reader gives none."""
    steps: tuple[Step, ...] = ()
    """The decomposition that it executed, with its answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """All that a fit is given beside the questions."""

    place: Path
    """A folder of its own; what was done there by a fit that ended early is gone on with."""
    settings: TrainingSettings
    seed: int
    progress: Progress
    record: Callable[[dict[str, object]], None]
    """Is told each point of the curve: ``step``, and ``loss`` or ``score``, with ``part`` of readers that consist of several."""
    start: Path | None = None
    """A saved reader of the same kind whose weights it starts with."""

    def part(self, name: str) -> Fitting:
        """That of one of a reader's parts, in a folder below."""
        return Fitting(
            place=self.place / name,
            settings=self.settings,
            seed=self.seed,
            progress=self.progress,
            record=lambda point: self.record({"part": name, **point}),
            start=None if self.start is None else self.start / name,
        )


class Reader(Protocol):
    """Learns from questions, and answers others."""

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Learn from ``train``; ``dev`` decides when to stop, and is not learned from. May be called once."""

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction for each question, in their order."""

    def save(self, folder: Path) -> None:
        """Put everything that :meth:`predict` needs into an empty folder; never a pickle."""

    def load(self, folder: Path) -> None:
        """Become what was saved there. Raises InputError where it is something else."""
