"""Readers that are not part of kgqa: classes named as ``module:Class``, or installed under the entry-point group ``kgqa.readers``."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import zip_longest
from pathlib import Path
from typing import Any

from kgqa.errors import SettingsError, shortened
from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.records import Instance
from kgqa.settings.base import Settings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction, Reader

GROUP = "kgqa.readers"
PAGE = "docs/own-reader.md"
METHODS: Mapping[str, tuple[str, ...]] = {
    "fit": ("train", "dev", "fitting"),
    "predict": ("questions", "progress"),
    "save": ("folder",),
    "load": ("folder",),
}
"""Method of the protocol → its arguments."""
_CLASS_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_class_path(name: str) -> bool:
    """Whether a reader's name is ``module:Class``.

    >>> is_class_path("package.module:Overlap"), is_class_path("ee")
    (True, False)
    """
    return _CLASS_PATH.fullmatch(name) is not None


def installed_readers() -> dict[str, str]:
    """Name of each installed reader → the package and class behind it. Imports none of them."""
    return {point.name: f"of the package {package_of(point)}: {point.value}" for point in sorted(entry_points(group=GROUP))}


def installed(name: str) -> EntryPoint | None:
    """The entry point of this name. Raises SettingsError if several packages have one."""
    points = sorted(entry_points(group=GROUP, name=name), key=package_of)
    if len(points) > 1:
        packages = " and ".join(map(package_of, points))
        raise SettingsError(f"reader {name!r} is in several packages, {packages}; uninstall all but one, or give module:Class.")
    return points[0] if points else None


def package_of(point: EntryPoint) -> str:
    """The name of the package that has the entry point."""
    return point.dist.name if point.dist is not None else "?"


def own_class(name: str) -> type[Any]:
    """The class of ``module:Class`` or of an installed reader; **this imports its module, which runs its code**.

    The working directory is searched after everything that is installed. Raises SettingsError if the class cannot be imported, or does not
    keep the protocol :class:`~kgqa.training.reader.Reader`.
    """
    point = None if is_class_path(name) else installed(name)
    assert point is not None or is_class_path(name), name
    path = name if point is None else point.value
    where = f"reader {path}" if point is None else f"reader {name!r} of the package {package_of(point)} ({path})"
    if not is_class_path(path):
        raise SettingsError(f"{where}: its entry point is not module:Class; correct it in the package's pyproject.toml.")
    module_name, _, class_name = path.partition(":")
    reader_class = getattr(_module(module_name, where), class_name, None)
    if not isinstance(reader_class, type):
        is_there = "has no class" if reader_class is None else "has something else than a class under the name"
        raise SettingsError(f"{where}: the module {module_name} {is_there} {class_name}; give module:Class.")
    _check_class(reader_class, where)
    return reader_class


def own_settings(reader: type[Any]) -> type[Settings]:
    """The class ``Settings`` in the reader's class; without one it has no settings."""
    return getattr(reader, "Settings", Settings)


def own_training(reader: type[Any]) -> Mapping[str, Any] | None:
    """The reader's deviations from the default training settings; None, the default, if it is not trained in steps."""
    return getattr(reader, "training", None)


def own_reader(name: str, settings: Settings, training: TrainingSettings) -> Reader:
    """An untrained reader of this name. Raises SettingsError as :func:`own_class` does."""
    return OwnReader(name, own_class(name), settings, training)


class OwnReader:
    """Somebody's reader; kgqa saves which one it is and its settings, and checks that each question has its prediction."""

    def __init__(self, name: str, reader: type[Any], settings: Settings, training: TrainingSettings) -> None:
        """``reader`` is called with the three other arguments."""
        self._name, self._class, self._settings, self._training = name, reader, settings, training
        self._reader: Reader = reader(name, settings, training)

    @property
    def fitted(self) -> Any:
        """The reader's own ``fitted``, a :class:`~kgqa.training.loop.FitResult`, as :class:`~kgqa.readers.neural.NeuralReader` has it."""
        return getattr(self._reader, "fitted", None)

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Train the user's reader; its errors are raised as they are."""
        self._reader.fit(train, dev, fitting)

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """Its predictions. Raises SettingsError unless they are one for each question, in order."""
        predictions = self._reader.predict(questions, progress)
        if not hasattr(predictions, "__iter__"):
            raise SettingsError(f"{self._name}: predict gives a {type(predictions).__name__}, not one kgqa.Prediction for each question.")
        for question, prediction in zip_longest(questions, predictions):
            yield self._checked(question, prediction)

    def save(self, folder: Path) -> None:
        """Let it write its files, and put its name and settings beside them."""
        self._reader.save(folder)
        if not (folder / saved.FILE).exists():
            saved.write(folder, self._name, settings=self._settings.model_dump(mode="json"))

    def load(self, folder: Path) -> None:
        """Make it anew with its saved settings, and let it read its files. Raises InputError."""
        description = saved.read(folder, self._name)
        with saved.described(folder):
            self._settings = type(self._settings).model_validate(description["settings"])
        self._reader = self._class(self._name, self._settings, self._training)
        self._reader.load(folder)

    def _checked(self, question: Instance | None, prediction: object) -> Prediction:
        if isinstance(prediction, Prediction) and question is not None and prediction.id == question.id:
            return prediction
        if question is None:
            fault = "gives more predictions than there are questions"
        elif prediction is None:
            fault = f"gives no prediction for the question {question.id}"
        elif isinstance(prediction, Prediction):
            fault = f"gives a prediction for {prediction.id} where the question is {question.id}"
        else:
            fault = f"gives a {type(prediction).__name__} for the question {question.id}, not a kgqa.Prediction"
        raise SettingsError(f"{self._name}: predict {fault}; it must give one for each question, in their order.")


def _module(name: str, where: str) -> Any:
    """The imported module. Whatever it raises, also SystemExit, is a SettingsError."""
    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)  # for good, as the module may import others from there later
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise SettingsError(
                f"{where}: there is no module {error.name} in the working directory or among the installed ones; "
                "change to its folder, or install it."
            ) from error
        raise SettingsError(f"{where}: {name} imports {error.name}, which is not installed; install it.") from error
    except (Exception, SystemExit) as error:
        reason = shortened(" ".join(str(error).split()), 300)
        raise SettingsError(f"{where}: importing {name} raises {type(error).__name__}: {reason or 'no message'}; correct it.") from error


def _check_class(reader: type[Any], where: str) -> None:
    """Raise SettingsError for the first part of the protocol that the class lacks."""
    for method, arguments in METHODS.items():
        if not callable(getattr(reader, method, None)):
            raise SettingsError(f"{where}: the class has no method {method}; a reader has {', '.join(METHODS)} ({PAGE}).")
        if not _takes(getattr(reader, method), None, *arguments):
            raise SettingsError(f"{where}: its method {method} must take {', '.join(arguments)} and nothing else ({PAGE}).")
    if not _takes(reader, "name", "settings", "training"):
        raise SettingsError(f"{where}: its __init__ must take name, settings, training and nothing else ({PAGE}).")
    settings, training = own_settings(reader), own_training(reader)
    if not (isinstance(settings, type) and issubclass(settings, Settings)):
        raise SettingsError(f"{where}: its Settings is not a subclass of kgqa.Settings; derive it from that ({PAGE}).")
    if not isinstance(training, Mapping | None):
        raise SettingsError(f"{where}: its training is neither None nor a dictionary of training settings ({PAGE}).")


def _takes(function: Any, *arguments: object) -> bool:
    """Whether it can be called with these positional arguments; so it seems for what tells no signature."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True
