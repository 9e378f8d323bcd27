"""A journal of the small task of colours, on SQLite and on a PostgreSQL server where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.collection.journal import Journal
from kgqa.collection.project import TASKS, read_project
from kgqa.database import database_at

MakeJournal = Callable[..., Journal]


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def colours_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small task is registered, as a package of one's own would do it."""
    monkeypatch.setitem(TASKS, "colours", "tests.collection.colours")


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


def write_project(folder: Path, **settings: Any) -> Path:
    """A project file of the task of colours."""
    values = {"name": "shades", "task": "colours", "data": ".", "people": ["ana", "ben", "cem"], "options": {"things": 3}, **settings}
    path = folder / "shades.toml"
    path.write_text("\n".join(f"{key} = {_toml(value)}" for key, value in values.items()) + "\n", encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.fixture
def make_journal(tmp_path: Path, clock: Clock) -> Iterator[MakeJournal]:
    """Opens the journal of a project with these settings."""
    journals = []

    def make(*, at: str | Path | None = None, **settings: Any) -> Journal:
        project = read_project(write_project(tmp_path, **settings))
        database = database_at(at or tmp_path / "journal.sqlite", option="--journal", file="journal.sqlite")
        journals.append(Journal(database, project, clock=clock))
        return journals[-1]

    yield make
    for journal in journals:
        journal.close()
