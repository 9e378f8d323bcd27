"""The options of a task, in the section ``options`` of a project file."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from kgqa.collection.project import Project
from kgqa.errors import SettingsError
from kgqa.settings.base import Settings, plain_fault

Options = TypeVar("Options", bound=Settings)


def read_options(project: Project, kind: type[Options]) -> Options:
    """The options of ``project`` as ``kind``. Raises SettingsError with the file and the key."""
    try:
        return kind.model_validate(project.settings.options)
    except ValidationError as error:
        fault = error.errors()[0]
        raise SettingsError(f"{project.path}: options.{'.'.join(map(str, fault['loc']))}: {plain_fault(fault)}.") from None
