"""A project of annotation: its TOML file, and what of it may change while people work."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from kgqa.collection.events import MODEL
from kgqa.errors import MissingInput, SettingsError, storage_errors, suggestion
from kgqa.settings.base import Positive, Settings, Share, setting_fault
from kgqa.settings.small_files import read_toml

TASKS = {
    "validate": "kgqa.collection.tasks.validate",
    "answer": "kgqa.collection.tasks.answer",
    "compose": "kgqa.collection.tasks.compose",
    "iirc-questions": "kgqa.collection.tasks.iirc_questions",
    "iirc-answers": "kgqa.collection.tasks.iirc_answers",
    "strategyqa": "kgqa.collection.tasks.strategyqa",
}
"""Name → the module with the class ``TASK``."""
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Gold(Settings):
    """Items with known answers, mixed in to see whether a person's answers drift."""

    file: str
    """JSON lines: ``item`` (id) and ``answer``."""
    every: Positive = 10
    """One of this many items of a person is a gold item."""


class Qualification(Settings):
    """Items with known answers that a person answers before the others."""

    file: str
    """JSON lines: ``item`` (id) and ``answer``."""
    needed: Share = 0.8
    """Share of the items that must be right, that is, have all labels of the known answer."""
    tries: Positive = 2


class Solvers(Settings):
    """Readers that try each new question; questions that they can answer are refused (StrategyQA, section 2.2)."""

    fixed: tuple[str, ...] = ()
    """Folders of trained readers."""
    refuse_fixed: Positive = 4
    """A question is refused if at least this many fixed readers are right."""
    trained: int = Field(default=0, ge=0, le=10)
    """Readers trained anew on the questions so far; a question is refused if all of them are right."""
    reader: str = "question-only"
    """Reader that is trained anew, a name of ``kgqa train --list`` or a TOML file beside the project file."""
    every: Positive = 1000
    """New questions between two trainings."""


class ProjectSettings(Settings):
    """The content of a project file."""

    name: Name
    task: str
    data: str
    """Dataset, workspace or file that the task reads; relative to the project file."""
    split: str = "all"
    sample: Positive = 100
    """Items to draw at most."""
    seed: int = Field(default=0, ge=0)
    people: tuple[Name, ...] = Field(min_length=1)
    leads: tuple[Name, ...] = ()
    """People who settle disagreements; by default nobody in particular may."""
    per_item: Positive = 1
    """People who answer each item."""
    agreement: Share = 0.5
    """Share of the people that must give a label; more people than for any other label."""
    minutes: Positive = 30
    """An item that is not submitted for so long goes to somebody else."""
    gold: Gold | None = None
    qualification: Qualification | None = None
    solvers: Solvers | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    """Settings of the task."""

    @field_validator("task")
    @classmethod
    def _known_task(cls, task: str) -> str:
        if task not in TASKS:
            raise ValueError(f"task {task!r} is not known; {suggestion(task, TASKS)}")
        return task

    @field_validator("name")
    @classmethod
    def _names_a_file(cls, name: str) -> str:
        # The journal and what lies beside it are named after the project.
        if name != name.strip() or not name.isprintable() or name.startswith(".") or set(name) & set("/\\:"):
            raise ValueError(f"{name!r} is not a valid project name; write it without slashes, colons, spaces around it and a dot in front")
        return name

    @model_validator(mode="after")
    def _people_differ(self) -> ProjectSettings:
        names = [*self.people, *self.leads]
        for name in names:
            if name != name.strip() or not name.isprintable():
                raise ValueError(f"{name!r} is not a valid name; write it without spaces around it and control characters")
            if name.startswith(MODEL):
                raise ValueError(f"{name!r} is the name of a model, which gets no link; add models with kgqa annotate seat")
        lower_names = [name.casefold() for name in names]
        if twice := next((name for name in names if lower_names.count(name.casefold()) > 1), None):
            raise ValueError(f"{twice!r} is listed twice; list each person once, under people or under leads")
        if self.per_item > len(self.people):
            raise ValueError(f"per_item is {self.per_item}, but there are {len(self.people)} people; list more people or lower it")
        return self


FILES = ("gold", "qualification")
"""Known answers, whose items are fixed when a project begins; the other settings of these tables may change."""
CHANGEABLE = ("people", "leads", "minutes", "agreement", "gold", "qualification", "solvers")
"""What may change while a project runs; people may be added, and removed ones lose access but keep their answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project file and its content."""

    path: Path
    settings: ProjectSettings

    @property
    def folder(self) -> Path:
        """The folder that relative paths count from."""
        return self.path.parent

    @property
    def data(self) -> Path:
        """The dataset, workspace or file that the task reads."""
        return self.folder / self.settings.data

    @property
    def fixed(self) -> dict[str, Any]:
        """The settings that cannot change while the project runs."""
        return fixed_settings(self.settings.model_dump(mode="json"))

    @property
    def identity(self) -> str:
        """Hash of the fixed settings: the journal belongs to the project with this one."""
        return hashlib.sha256(json.dumps(self.fixed, sort_keys=True).encode()).hexdigest()[:32]


def fixed_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Of a project's settings as JSON those that cannot change while it runs."""
    fixed = {name: value for name, value in settings.items() if name not in CHANGEABLE}
    return fixed | {f"{name}.file": (settings.get(name) or {}).get("file") for name in FILES}


def read_project(path: str | Path) -> Project:
    """The project in a TOML file. Raises SettingsError that names the file and key, MissingInput and StorageError."""
    file = Path(path)
    if not file.exists():
        raise MissingInput(f"{file}: there is no such project file; give the path of a TOML file.")
    with storage_errors(file):
        content = read_toml(file)
    try:
        return Project(path=file, settings=ProjectSettings.model_validate(content))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            key = str(first["loc"][0])
            raise SettingsError(f"{file}: {key} is not a project setting; {suggestion(key, ProjectSettings.model_fields)}") from None
        raise SettingsError(f"{file}: {setting_fault(first, ProjectSettings)}") from None
