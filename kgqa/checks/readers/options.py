"""Options of an audit with readers: a level, and a TOML file."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from kgqa.errors import MissingInput, SettingsError, storage_errors, suggestion
from kgqa.settings.judging import LEVELS, JudgingSettings
from kgqa.settings.small_files import read_toml


def check_level(level: str) -> str:
    """One of ``LEVELS``; SettingsError for anything else."""
    if level not in LEVELS:
        raise SettingsError(f"--readers {level}: there is no such level; {suggestion(level, tuple(LEVELS))}")
    return level


def judging_settings(path: str | Path | None) -> JudgingSettings:
    """Settings from the file, or the defaults. Raises MissingInput, SettingsError."""
    if path is None:
        return JudgingSettings()
    path = Path(path)
    with storage_errors(path):
        if not path.is_file():
            raise MissingInput(f"{path}: there is no such file; give a TOML file with settings of readers.")
        values = read_toml(path)
    try:
        return JudgingSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise SettingsError(
                f"{path}: the setting {name!r} is not known; choose one of {', '.join(JudgingSettings.model_fields)}."
            ) from None
        raise SettingsError(f"{path}: {name} = {first['input']!r}: {first['msg'].removeprefix('Value error, ')}.") from None
