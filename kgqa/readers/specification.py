"""A reader and its settings, from a name or a TOML file and the options of a command."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from kgqa.errors import MissingInput, SettingsError, storage_errors
from kgqa.readers.registry import Kind, find_reader
from kgqa.settings.base import Settings, plain_fault, setting_fault
from kgqa.settings.kinds import toml
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
    reader: str, *, settings: Mapping[str, Any], training: Mapping[str, Any], named: bool = False, may_ask: bool = False,
    file: str = "", sections: tuple[str, str] = SECTIONS, options: Collection[str] = (),
) -> Specification:  # fmt: skip
    """The reader of a name or TOML file ``reader``; entries of ``settings`` and ``training`` that are not None override the file.

    A file has ``reader = "ee"`` and may have the sections ``[settings]`` and ``[training]``. ``named``: as in
    :func:`~kgqa.readers.registry.find_reader`. ``may_ask``: whether a reader that asks an endpoint is of use. For messages: the ``file``
    and its ``sections`` that have the settings and the training settings, and those of them that are ``options`` of the command. Raises
    SettingsError, MissingInput.
    """
    values: Mapping[str, Any] = {"reader": reader}
    if reader.endswith(".toml"):
        values, file = _read_toml(Path(reader)), reader
    name = values["reader"]
    where = file or f"reader {name}"
    try:
        kind = find_reader(name, named=named)
    except SettingsError as error:
        raise SettingsError(f"{file}: {error}" if file else str(error)) from None
    if kind.asks and not may_ask:
        raise SettingsError(f"{file and f'{file}: '}the reader {name} is not trained; run kgqa predict {name} SET --model NAME --out FILE.")
    training_names = [*values.get("training", {}), *(name for name, value in training.items() if value is not None)]
    if kind.training is None and training_names:
        raise SettingsError(f"{where}: the reader {name} only counts, without steps and without a GPU; leave out {training_names[0]}.")
    within = sections if file else ("", "")
    faults: list[str] = []
    checked_settings = _checked(faults, kind.settings, _Place(where, within[0], options), values.get("settings", {}), settings)
    layers = (kind.training or {}, values.get("training", {}), training)
    checked_training = _checked(faults, TrainingSettings, _Place(where, within[1], options), *layers)
    if checked_settings is None or checked_training is None:
        raise SettingsError(" ".join(faults))
    return Specification(name=name, settings=checked_settings, training=checked_training)


def settings_of(reader: str, name: str, model: type[Model], changes: Mapping[str, Any]) -> Model:
    """The settings of the reader ``name``, which is not trained; ``reader`` is its name or a TOML file.

    ``changes`` are options of the command, which override the file. Raises SettingsError, MissingInput.
    """
    values: Mapping[str, Any] = _read_toml(Path(reader)) if reader.endswith(".toml") else {"reader": reader}
    if values["reader"] != name or "training" in values:
        raise SettingsError(f'{reader}: reader = "{name}" and [settings] are needed here; for other readers give the folder of a run.')
    options = [option for option, value in changes.items() if value is not None]
    place = _Place(f"reader {name}", "", options) if reader == name else _Place(reader, "settings", options)
    return _validated(model, place, values.get("settings", {}), changes)


def _read_toml(path: Path) -> Mapping[str, Any]:
    with storage_errors(path):
        if not path.is_file():
            raise MissingInput(f"{path}: there is no such file; give the name of a reader, or its TOML file.")
        values = read_toml(path)
    if not isinstance(values.get("reader"), str):
        raise SettingsError(f'{path}: it does not say which reader this is; begin with reader = "ee", or another name.')
    for name, value in values.items():
        if name in SECTIONS and not isinstance(value, dict):
            raise SettingsError(f"{path}: {name!r} cannot be {toml(value)}: it must be a section, [{name}].")
        if name != "reader" and name not in SECTIONS:
            raise SettingsError(f"{path}: {name!r} is not known; the keys are reader, [settings] and [training].")
    return values


@dataclass(frozen=True, slots=True)
class _Place:
    """Where settings come from, for messages."""

    where: str
    section: str
    """Empty if there is no file."""
    options: Collection[str]
    """Settings that options of the command give."""


def _checked(faults: list[str], model: type[Model], place: _Place, *layers: Mapping[str, Any]) -> Model | None:
    """The validated settings; None if some are invalid, which ``faults`` then say."""
    try:
        return _validated(model, place, *layers)
    except SettingsError as error:
        faults.append(str(error))
        return None


def _validated(model: type[Model], place: _Place, *layers: Mapping[str, Any]) -> Model:
    """The validated settings; later ``layers`` override earlier ones. Raises SettingsError with all invalid options, else the first
    invalid setting.
    """
    values = {name: value for layer in layers for name, value in layer.items() if value is not None}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        of_options = [fault for fault in faults if fault["loc"] and fault["loc"][0] in place.options]
        if not of_options:
            raise SettingsError(f"{place.where}: {setting_fault(faults[0], model, *filter(None, [place.section]))}") from None
        raise SettingsError(" ".join(_option_fault(fault, place.where) for fault in of_options)) from None


def _option_fault(fault: Mapping[str, Any], where: str) -> str:
    option = str(fault["loc"][0]).replace("_", "-")
    if fault["type"] == "extra_forbidden":
        return f"--{option}: {where} has no such setting; leave it out."
    return f"--{option} {toml(fault['input'])}: {plain_fault(fault)}; choose another value."
