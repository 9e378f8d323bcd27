"""Options of an audit with readers: a level, and a TOML file."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from kgqa.errors import MissingInput, SettingsError, storage_errors, suggestion
from kgqa.settings.base import setting_fault
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
        raise SettingsError(f"{path}: {setting_fault(error.errors(include_url=False)[0], JudgingSettings)}") from None
