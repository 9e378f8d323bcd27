"""The recurrent readers: count the vocabulary, fit, save the network with its vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from kgqa.errors import EmptyResult
from kgqa.readers.neural import NeuralReader
from kgqa.readers.recurrent.embeddings import word_vectors
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
        self._vector_size: int | None = None

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Train; the seed also determines the order of paragraphs, in training and prediction."""
        self._seed = fitting.seed
        super().fit(train, dev, fitting)

    def new_task(self, train: Questions) -> Task:
        """The task with the vocabulary of the training questions."""
        self._vocabulary = count_vocabulary(train, most=self.settings.words)
        vectors = None if self.settings.embeddings is None else word_vectors(self.settings.embeddings, self._vocabulary)
        if vectors is not None and not bool(vectors.any()):
            raise EmptyResult(f"{self.settings.embeddings}: it has no vector for any word of the training questions; choose another one.")
        self._vector_size = None if vectors is None else vectors.shape[1]
        return self._make_task(vectors)

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task with the saved vocabulary."""
        self._vocabulary, self._seed, self._vector_size = load_vocabulary(folder), state["seed"], state["vector_size"]
        return self._make_task(None if self._vector_size is None else torch.zeros(len(self._vocabulary), self._vector_size))

    def _make_task(self, vectors: torch.Tensor | None) -> Task:
        assert self._vocabulary is not None
        return RecurrentTask(self.name, self.settings, self._vocabulary, seed=self._seed, pretrained=vectors)

    def state(self) -> Mapping[str, Any]:
        """The seed of the paragraphs' order, and the width of pretrained vectors."""
        return {"seed": self._seed, "vector_size": self._vector_size}

    def save_beside(self, folder: Path) -> None:
        """Write the vocabulary into the reader's folder, next to the weights."""
        assert self._vocabulary is not None
        self._vocabulary.save(folder)
