"""Known answers: the files of gold items and of the qualification."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from kgqa.collection.project import Project
from kgqa.errors import BrokenInput, DuplicateId, EmptyResult, MissingInput, storage_errors
from kgqa.settings.small_files import read_small


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """A known answer and the line that gives it."""

    answer: dict[str, Any]
    place: str
    """File and line, for messages."""


def known_answers(project: Project) -> tuple[dict[str, KnownAnswer], dict[str, KnownAnswer]]:
    """Item → known answer, of the gold items and of the qualification.

    Raises MissingInput, BrokenInput, EmptyResult and DuplicateId with file and line.
    """
    settings = project.settings
    gold = {} if settings.gold is None else _read(project, settings.gold.file)
    qualification = {} if settings.qualification is None else _read(project, settings.qualification.file)
    if item_id := next((item for item in qualification if item in gold), None):
        raise DuplicateId(f"{qualification[item_id].place}: the item {item_id!r} is a gold item too; leave it out of one of the files.")
    return gold, qualification


def _read(project: Project, name: str) -> dict[str, KnownAnswer]:
    path = project.folder / name
    if not path.is_file():
        raise MissingInput(f"{path}: there is no such file with known answers; fix the path in {project.path}.")
    with storage_errors(path):
        data = read_small(path)
    answers: dict[str, KnownAnswer] = {}
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1):
        place = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise BrokenInput(f"{place}: this is not JSON; write one object per line.") from None
        if not isinstance(row, dict) or not isinstance(row.get("item"), str):
            raise BrokenInput(f'{place}: the line has no item; write {{"item": ID, "answer": {{…}}}}.')
        if not isinstance(row.get("answer"), dict) or not row["answer"]:
            raise BrokenInput(f"{place}: the item {row['item']!r} has no answer; add what people should answer.")
        if unknown := next((key for key in row if key not in {"item", "answer"}), None):
            raise BrokenInput(f"{place}: {unknown!r} is not part of a known answer; a line has item and answer.")
        if row["item"] in answers:
            raise DuplicateId(f"{place}: the item {row['item']!r} occurs twice; leave out one line.")
        answers[row["item"]] = KnownAnswer(answer=row["answer"], place=place)
    if not answers:
        raise EmptyResult(f"{path}: this has no known answer; write one JSON object per line, or leave the file out of {project.path}.")
    return answers
