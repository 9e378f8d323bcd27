"""What turns a network with something to learn into a reader: draw, fit, read, save."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.runs.files import file_hash, key_of
from kgqa.settings.base import Settings
from kgqa.settings.training import TrainingSettings
from kgqa.training.checkpoints import load_weights, save_weights
from kgqa.training.loop import Fitted, fit_task
from kgqa.training.predicting import predict_task
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction
from kgqa.training.task import Task

WEIGHTS = "model.safetensors"


class NeuralReader:
    """One network. A subclass makes its task from training questions, and again from what was saved."""

    def __init__(self, name: str, settings: Settings, training: TrainingSettings) -> None:
        """Nothing is learned yet; of ``training``, reading looks at device and precision."""
        self.name, self.settings, self._training = name, settings, training
        self._task: Task | None = None
        self.fitted: Fitted | None = None

    def new_task(self, train: Questions) -> Task:
        """The task with a new network, drawn from torch's random state."""
        raise NotImplementedError

    def state(self) -> Mapping[str, Any]:
        """What :meth:`saved_task` needs beside the settings and the files of :meth:`save_beside`; JSON-able."""
        return {}

    def save_beside(self, folder: Path) -> None:
        """Files that the network needs beside its weights."""

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task as it was saved, its weights still to be loaded."""
        raise NotImplementedError

    def seen(self, questions: Questions) -> Questions:
        """As this reader sees questions, in training and after."""
        return questions

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Learn; see ``kgqa.training.loop``."""
        import torch

        torch.manual_seed(fitting.seed)
        train = self.seen(train)
        self._task = self.new_task(train) if fitting.start is None else self._started(fitting.start, train)
        key = key_of(self.name, self.settings.model_dump(mode="json"), fitting.start and file_hash(fitting.start / WEIGHTS))
        self.fitted = fit_task(self._task, train, None if dev is None else self.seen(dev), fitting, key=key)

    def task_from(self, folder: Path, state: Mapping[str, Any], train: Questions) -> Task:
        """The task of a saved reader that is to learn from other questions; its weights are still to be loaded."""
        return self.saved_task(folder, state)

    def _started(self, folder: Path, train: Questions) -> Task:
        """With the weights of a saved reader."""
        found = saved.read(folder, self.name)
        with saved.described(folder):
            task = self.task_from(folder, found["state"], train)
        load_weights(task.network, folder / WEIGHTS)
        return task

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """See ``kgqa.training.predicting``."""
        assert self._task is not None, "fit or load comes first"
        return predict_task(self._task, self.seen(questions), progress, self._training)

    def save(self, folder: Path) -> None:
        """Weights as safetensors, everything else as JSON."""
        assert self._task is not None, "fit or load comes first"
        self.save_beside(folder)
        save_weights(self._task.network, folder / WEIGHTS)
        saved.write(folder, self.name, settings=self.settings.model_dump(mode="json"), state=dict(self.state()))

    def load(self, folder: Path) -> None:
        """As saved."""
        found = saved.read(folder, self.name)
        with saved.described(folder):
            self.settings = type(self.settings).model_validate(found["settings"])
            self._task = self.saved_task(folder, found["state"])
        load_weights(self._task.network, folder / WEIGHTS)
