"""The recurrent readers: count the vocabulary, fit, save the network with its vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgqa.errors import EmptyResult
from kgqa.readers.neural import NeuralReader
from kgqa.readers.recurrent.embeddings import Table, open_table, same_table
from kgqa.readers.recurrent.task import RecurrentTask
from kgqa.readers.recurrent.vocabulary import Vocabulary, count_vocabulary, load_vocabulary
from kgqa.settings.recurrent import RecurrentSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting
from kgqa.training.task import Task


class RecurrentReader(NeuralReader):
    """BiDAF, FastQA or the RNN baseline."""

    settings: RecurrentSettings

    def __init__(self, name: str, settings: RecurrentSettings, training: TrainingSettings) -> None:
        """``name`` is a key of ``task.NETWORKS``."""
        super().__init__(name, settings, training)
        self._vocabulary: Vocabulary | None = None
        self._seed = 0
        self._table: Table | None = None

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Train; the seed also determines the order of paragraphs, in training and prediction."""
        self._seed = fitting.seed
        super().fit(train, dev, fitting)

    def new_task(self, train: Questions) -> Task:
        """The task with the vocabulary of the training questions."""
        self._vocabulary = count_vocabulary(train, most=self.settings.words)
        self._table = None if self.settings.embeddings is None else open_table(self.settings.embeddings)
        if self._table is not None and not any(self._table.rows([*self._vocabulary.numbers])):
            raise EmptyResult(f"{self.settings.embeddings}: it has no vector for any word of the training questions; choose another one.")
        return self._make_task()

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task with the saved vocabulary, and the table of pretrained vectors if it is still the same."""
        self._vocabulary, self._seed, table = load_vocabulary(folder), state["seed"], state["table"]
        self._table = None
        if self.settings.embeddings is not None:
            self._table = same_table(self.settings.embeddings, table["kind"], table["hash"])
        return self._make_task()

    def _make_task(self) -> Task:
        assert self._vocabulary is not None
        return RecurrentTask(self.name, self.settings, self._vocabulary, seed=self._seed, table=self._table)

    def state(self) -> Mapping[str, Any]:
        """The seed of the paragraphs' order, and the hash of the table of pretrained vectors."""
        return {"seed": self._seed, "table": None if self._table is None else {"kind": self._table.kind, "hash": self._table.key}}

    def save_beside(self, folder: Path) -> None:
        """Write the vocabulary into the reader's folder, next to the weights."""
        assert self._vocabulary is not None
        self._vocabulary.save(folder)
