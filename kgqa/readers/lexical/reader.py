"""The base class of lexical readers: questions in batches, one Prediction each, and a folder with the reader's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from kgqa.arrays.parallel import Threads
from kgqa.errors import BrokenInput
from kgqa.formats.native import batched
from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.records import Instance
from kgqa.settings.defaults import SEED
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction

BATCH = 256
"""Questions in memory at a time."""


class LexicalReader:
    """Answers by counts. Ties are broken by a draw per question and answer, independent of the order of either."""

    name: ClassVar[str]
    learns: ClassVar[bool] = True
    """Whether it reads the training questions."""

    def __init__(self, *, seed: int = SEED) -> None:
        """``seed``: seed of the random order that breaks ties between equal scores."""
        self.seed = seed

    def learn(self, instances: Sequence[Instance]) -> None:
        """Count in a batch of the training questions."""

    def finish_learning(self) -> None:
        """Called after the last training question. Raises EmptyResult if there is nothing to learn."""

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """A Prediction for each question, in order."""
        raise NotImplementedError

    def write(self, folder: Path) -> dict[str, Any]:
        """Write tables; return the rest of the state, small and JSON-able."""
        return {}

    def read(self, folder: Path, state: dict[str, Any]) -> None:
        """Restore both. Raises InputError if they are not from :meth:`write`."""

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Read ``train`` once. ``dev`` is not used, since there is no early stopping. The fitting's seed breaks ties."""
        self.seed = fitting.seed
        if not self.learns:
            return
        fitting.progress.start("Counting", len(train), "questions")
        for instances in batched(train, BATCH):
            self.learn(instances)
            fitting.progress.advance(len(instances))
        self.finish_learning()
        fitting.progress.finish(f"{len(train):,} questions")

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in their order."""
        progress.start("Predicting", len(questions), "questions")
        for predictions in (questions.engine or Threads(1)).map(_answers, batched(questions, BATCH), (self,)):
            yield from predictions
            progress.advance(len(predictions))
        progress.finish(f"{len(questions):,} questions")

    def save(self, folder: Path) -> None:
        """Write tables as Parquet, and everything else to ``reader.json``, last."""
        saved.write(folder, self.name, seed=self.seed, **self.write(folder))

    def load(self, folder: Path) -> None:
        """Load a saved reader with its seed. Raises InputError."""
        state = dict(saved.read(folder, self.name))
        if not isinstance(state.get("seed"), int):
            raise BrokenInput(f"{folder / saved.FILE}: it has no seed; train the reader again.")
        self.read(folder, state)
        self.seed = state["seed"]


def _answers(instances: Sequence[Instance], reader: LexicalReader) -> list[Prediction]:
    return list(reader.answers(instances))
