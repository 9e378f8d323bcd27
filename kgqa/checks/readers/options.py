"""Options of an audit with readers: a level, and a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from kgqa.errors import MissingInput, SettingsError, storage_errors, suggestion
from kgqa.settings.judging import LEVELS, JudgingSettings


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
        try:
            values = tomllib.loads(path.read_text("utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path}: this is not TOML ({error}); fix it.") from None
    try:
        return JudgingSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise SettingsError(
                f"{path}: the setting {name!r} is not known; known are {', '.join(JudgingSettings.model_fields)}."
            ) from None
        raise SettingsError(f"{path}: {name} = {first['input']!r}: {first['msg'].removeprefix('Value error, ')}.") from None
