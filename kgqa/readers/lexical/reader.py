"""What all readers here share: questions in batches, one Prediction each, and a folder that says whose it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from kgqa.errors import BrokenInput
from kgqa.formats.native import batched
from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.records import Instance
from kgqa.settings.defaults import SEED
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction

BATCH = 256
"""Questions at a time; so many, and what is counted in them, are in memory."""


class LexicalReader:
    """Answers by counts. Ties are broken by a draw for each question and answer, whatever the order of either."""

    name: ClassVar[str]
    learns: ClassVar[bool] = True
    """Whether training questions are read at all."""

    def __init__(self, *, seed: int = SEED) -> None:
        """Nothing is learned yet; ``seed`` draws among ties."""
        self.seed = seed

    def learn(self, instances: Sequence[Instance]) -> None:
        """Count in some of the training questions."""

    def learned(self) -> None:
        """All training questions were seen. Raises EmptyResult where they teach nothing."""

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """A Prediction for each, in order."""
        raise NotImplementedError

    def write(self, folder: Path) -> dict[str, Any]:
        """Write tables, and return what is small and JSON-able."""
        return {}

    def read(self, folder: Path, state: dict[str, Any]) -> None:
        """Take both back; InputError where they are not what :meth:`write` gave."""

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Read ``train`` once; ``dev`` decides nothing, as nothing is to be stopped. The fitting's seed draws among ties."""
        self.seed = fitting.seed
        if not self.learns:
            return
        fitting.progress.start("Counting", len(train), "questions")
        for instances in batched(train, BATCH):
            self.learn(instances)
            fitting.progress.advance(len(instances))
        self.learned()
        fitting.progress.finish(f"{len(train):,} questions")

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction for each question, in their order."""
        progress.start("Predicting", len(questions), "questions")
        for instances in batched(questions, BATCH):
            yield from self.answers(instances)
            progress.advance(len(instances))
        progress.finish(f"{len(questions):,} questions")

    def save(self, folder: Path) -> None:
        """Tables as Parquet, everything else in ``reader.json``, which is written last."""
        saved.write(folder, self.name, seed=self.seed, **self.write(folder))

    def load(self, folder: Path) -> None:
        """As saved, with the seed of then. Raises InputError."""
        state = dict(saved.read(folder, self.name))
        if not isinstance(state.get("seed"), int):
            raise BrokenInput(f"{folder / saved.FILE}: it has no seed; train the reader again.")
        self.read(folder, state)
        self.seed = state["seed"]
