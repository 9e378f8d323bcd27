"""A reader and its settings, from a name or a TOML file and the options of a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from kgqa.errors import MissingInput, SettingsError, storage_errors
from kgqa.readers.registry import Kind, find_reader
from kgqa.settings.base import Settings
from kgqa.settings.small_files import read_toml
from kgqa.settings.training import TrainingSettings
from kgqa.training.reader import Reader

SECTIONS = ("settings", "training")
Model = TypeVar("Model", bound=Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """A reader's name with all its settings."""

    name: str
    settings: Settings
    training: TrainingSettings

    @property
    def steps(self) -> bool:
        """Whether it is trained in steps, by a network that needs torch; otherwise it counts."""
        return self.kind.training is not None

    @property
    def kind(self) -> Kind:
        """The registry's entry for this reader. Raises SettingsError for an unknown name."""
        return find_reader(self.name, named=True)  # whether it may be imported was decided when this was made

    def make(self) -> Reader:
        """A reader with these settings, not yet trained."""
        return self.kind.make(self.name, self.settings, self.training)

    def record(self) -> dict[str, Any]:
        """The reader's name and all settings that change a prediction, as JSON-able data."""
        settings, training = self.settings.model_dump(mode="json", exclude=set(self.kind.incidental)), self.training.model_dump(mode="json")
        return {"reader": self.name, "settings": settings, "training": training}


def specification(
    reader: str, *, settings: Mapping[str, Any], training: Mapping[str, Any], named: bool = False, may_ask: bool = False
) -> Specification:
    """The reader of a name or TOML file ``reader``; entries of ``settings`` and ``training`` that are not None override the file.

    A file has ``reader = "ee"`` and may have the sections ``[settings]`` and ``[training]``. ``named``: as in
    :func:`~kgqa.readers.registry.find_reader`. ``may_ask``: whether a reader that asks an endpoint is of use. Raises SettingsError,
    MissingInput.
    """
    values: Mapping[str, Any] = {"reader": reader}
    source = f"reader {reader}"
    if reader.endswith(".toml"):
        values, source = _read_toml(Path(reader)), reader
    kind = find_reader(values["reader"], named=named)
    if kind.asks and not may_ask:
        raise SettingsError(f"the reader {values['reader']} is not trained; run: kgqa predict llm SET --model NAME --out FILE")
    training_names = [*values.get("training", {}), *(name for name, value in training.items() if value is not None)]
    if kind.training is None and training_names:
        raise SettingsError(
            f"{source}: the reader {values['reader']} only counts, without steps and without a GPU; leave out {training_names[0]}."
        )
    return Specification(
        name=values["reader"],
        settings=_validated(kind.settings, source, {}, values.get("settings", {}), settings),
        training=_validated(TrainingSettings, source, kind.training or {}, values.get("training", {}), training),
    )


def settings_of(reader: str, name: str, model: type[Model], changes: Mapping[str, Any]) -> Model:
    """The settings of the reader ``name``, which is not trained; ``reader`` is its name or a TOML file, which ``changes`` override.

    Raises SettingsError, MissingInput.
    """
    values: Mapping[str, Any] = _read_toml(Path(reader)) if reader.endswith(".toml") else {"reader": reader}
    if values["reader"] != name or "training" in values:
        raise SettingsError(f'{reader}: reader = "{name}" and [settings] are needed here; for other readers give the folder of a run.')
    return _validated(model, f"reader {name}" if reader == name else reader, values.get("settings", {}), changes)


def _read_toml(path: Path) -> Mapping[str, Any]:
    with storage_errors(path):
        if not path.is_file():
            raise MissingInput(f"{path}: there is no such file; give the name of a reader, or its TOML file.")
        values = read_toml(path)
    if not isinstance(values.get("reader"), str):
        raise SettingsError(f'{path}: it does not say which reader this is; begin with reader = "ee", or another name.')
    for name, value in values.items():
        if name != "reader" and (name not in SECTIONS or not isinstance(value, dict)):
            raise SettingsError(f"{path}: {name!r} is not known; the keys are reader, [settings] and [training].")
    return values


def _validated(model: type[Model], where: str, *layers: Mapping[str, Any]) -> Model:
    """The validated settings; later ``layers`` override earlier ones. Raises SettingsError with the first invalid one."""
    values = {name: value for layer in layers for name, value in layer.items() if value is not None}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            known_names = ", ".join(sorted(model.model_fields)) or "none"
            raise SettingsError(f"{where}: the setting {name!r} is not known; choose one of {known_names}.") from None
        raise SettingsError(f"{where}: {name} = {first['input']!r}: {first['msg'].removeprefix('Value error, ')}.") from None
