"""Which reader is meant and how it is set: a name, or a TOML file, and what is said beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from kgqa.errors import MissingInput, SettingsError, storage_errors
from kgqa.readers.registry import find_reader
from kgqa.settings.base import Settings
from kgqa.settings.small_files import read_toml
from kgqa.settings.training import TrainingSettings
from kgqa.training.reader import Reader

SECTIONS = ("settings", "training")
Model = TypeVar("Model", bound=Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """A reader with all that it is told."""

    name: str
    settings: Settings
    training: TrainingSettings

    @property
    def steps(self) -> bool:
        """Whether it is trained in steps, by a network that needs torch; else it counts."""
        return find_reader(self.name).training is not None

    def make(self) -> Reader:
        """The reader, which has learned nothing yet."""
        return find_reader(self.name).make(self.name, self.settings, self.training)

    def record(self) -> dict[str, Any]:
        """The reader's name and all settings as JSON-able data."""
        settings, training = self.settings.model_dump(mode="json"), self.training.model_dump(mode="json")
        return {"reader": self.name, "settings": settings, "training": training}


def specification(reader: str, *, settings: Mapping[str, Any], training: Mapping[str, Any]) -> Specification:
    """What the name or TOML file ``reader`` says, with what is not None of the ``settings`` and ``training`` in its place.

    A file has ``reader = "ee"`` and may have the sections ``[settings]`` and ``[training]``. Raises SettingsError, MissingInput.
    """
    said: Mapping[str, Any] = {"reader": reader}
    where = f"reader {reader}"
    if reader.endswith(".toml"):
        said, where = _read(Path(reader)), reader
    kind = find_reader(said["reader"])
    steered = [*said.get("training", {}), *(name for name, value in training.items() if value is not None)]
    if kind.training is None and steered:
        raise SettingsError(f"{where}: the reader {said['reader']} counts, in no steps and on no GPU; leave out {steered[0]}.")
    return Specification(
        name=said["reader"],
        settings=_checked(kind.settings, where, {}, said.get("settings", {}), settings),
        training=_checked(TrainingSettings, where, kind.training or {}, said.get("training", {}), training),
    )


def _read(path: Path) -> Mapping[str, Any]:
    with storage_errors(path):
        if not path.is_file():
            raise MissingInput(f"{path}: there is no such file; give the name of a reader, or its TOML file.")
        found = read_toml(path)
    if not isinstance(found.get("reader"), str):
        raise SettingsError(f'{path}: it does not say which reader this is; begin with reader = "ee", or another name.')
    for name, value in found.items():
        if name != "reader" and (name not in SECTIONS or not isinstance(value, dict)):
            raise SettingsError(f"{path}: {name!r} is not known; known are reader, [settings] and [training].")
    return found


def _checked(model: type[Model], where: str, *said: Mapping[str, Any]) -> Model:
    """The settings that are said, later ones first. Raises SettingsError with the first that cannot be so."""
    merged = {name: value for each in said for name, value in each.items() if value is not None}
    try:
        return model.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            known = ", ".join(sorted(model.model_fields)) or "none"
            raise SettingsError(f"{where}: the setting {name!r} is not known; known are {known}.") from None
        raise SettingsError(f"{where}: {name} = {first['input']!r}: {first['msg'].removeprefix('Value error, ')}.") from None
