"""The base class of readers with one network: initialise, fit, predict, save."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.readers.lora import Lora
from kgqa.runs.files import file_hash, key_of
from kgqa.settings.base import Settings
from kgqa.settings.training import TrainingSettings
from kgqa.training.checkpoints import load_weights, save_weights
from kgqa.training.loop import FitResult, fit_task
from kgqa.training.predicting import predict_task
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction
from kgqa.training.task import Task

WEIGHTS = "model.safetensors"


class NeuralReader:
    """One network. A subclass makes its task from training questions, or from a saved folder."""

    def __init__(self, name: str, settings: Settings, training: TrainingSettings) -> None:
        """Of ``training``, prediction uses device and precision only."""
        self.name, self.settings, self._training = name, settings, training
        self._task: Task | None = None
        self.fitted: FitResult | None = None

    def new_task(self, train: Questions) -> Task:
        """The task with a new network, drawn from torch's random state."""
        raise NotImplementedError

    def state(self) -> Mapping[str, Any]:
        """The JSON-able state that :meth:`saved_task` needs, apart from settings and the files of :meth:`save_beside`."""
        return {}

    def save_beside(self, folder: Path) -> None:
        """Write files that the network needs in addition to its weights."""

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The saved task, its weights not yet loaded."""
        raise NotImplementedError

    def view(self, questions: Questions) -> Questions:
        """The questions as this reader sees them, in training and prediction."""
        return questions

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Train the network with :func:`kgqa.training.loop.fit_task`."""
        import torch

        lora = Lora(self.settings)
        torch.manual_seed(fitting.seed)
        train = self.view(train)
        self._task = self.new_task(train) if fitting.start is None else self._pretrained_task(fitting.start, train)
        lora.add(self._task.network)
        start = fitting.start and file_hash(fitting.start / WEIGHTS)
        key = key_of(self.name, self.settings.model_dump(mode="json"), start, self._task.encoding)
        self.fitted = fit_task(self._task, train, None if dev is None else self.view(dev), fitting, key=key)
        lora.merge()

    def task_from(self, folder: Path, state: Mapping[str, Any], train: Questions) -> Task:
        """The task of a saved reader that continues on other questions, its weights not yet loaded."""
        return self.saved_task(folder, state)

    def _pretrained_task(self, folder: Path, train: Questions) -> Task:
        """The task with the weights of a saved reader."""
        description = saved.read(folder, self.name)
        with saved.described(folder):
            task = self.task_from(folder, description["state"], train)
        load_weights(task.network, folder / WEIGHTS)
        return task

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """A prediction for each question, in order; see :func:`kgqa.training.predicting.predict_task`."""
        assert self._task is not None, "fit or load comes first"
        return predict_task(self._task, self.view(questions), progress, self._training)

    def save(self, folder: Path) -> None:
        """Write weights as safetensors, everything else as JSON."""
        assert self._task is not None, "fit or load comes first"
        self.save_beside(folder)
        save_weights(self._task.network, folder / WEIGHTS)
        saved.write(folder, self.name, settings=self.settings.model_dump(mode="json"), state=dict(self.state()))

    def load(self, folder: Path) -> None:
        """Load what :meth:`save` wrote. Raises InputError."""
        description = saved.read(folder, self.name)
        with saved.described(folder):
            self.settings = type(self.settings).model_validate(description["settings"])
            self._task = self.saved_task(folder, description["state"])
        load_weights(self._task.network, folder / WEIGHTS)
