"""SQuAD 2.0's JSON: as SQuAD 1.1's, with questions that their paragraph does not answer (Rajpurkar et al. 2018).

Such a question has ``is_impossible`` and no answers. Its ``plausible_answers``, which only look right, are noted; its paragraph supports
nothing. Where ``is_impossible`` and the answers contradict each other, the answers count, as in the official script. Answers are hidden
where they are in SQuAD 1.1; ``is_impossible`` need not be there then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats.annotators import check_one_part
from kgqa.formats.faults import Fault
from kgqa.formats.json.validate import Open
from kgqa.formats.squad import (
    Answer,
    File,
    answers_field,
    entries,
    first_question,
    has_noted_answers,
    instance_of,
    marked,
    notes_of,
    write_file,
)
from kgqa.records import Instance

PURPOSE = "SQuAD 2.0's JSON: as SQuAD 1.1's, with questions that their paragraph does not answer"
SUFFIX = ".json"
NAME = "squad2"
VERSION = "v2.0"


class Question(Open):
    """A question of SQuAD 2.0."""

    id: str
    question: str
    is_impossible: NotRequired[bool]
    answers: NotRequired[list[Answer]]
    plausible_answers: NotRequired[list[Answer]]


FILE = TypeAdapter(File[Question])


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the file is a list of articles under ``data`` and its first question says whether it has an answer."""
    return "is_impossible" in (first_question(record) or {})


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file, of which all is in memory. Raises InputError with the question and field."""
    for entry in entries(path, FILE):
        if not entry.hidden and "is_impossible" not in entry.question:
            raise MissingInput(f"{entry.where}: the field 'is_impossible' is missing; every question with a field for answers has it.")
        yield instance_of(entry, NAME, Question, faults=() if entry.hidden else _contradiction(entry.question))


def _contradiction(question: Mapping[str, Any]) -> Iterator[Fault]:
    if question["is_impossible"] == bool(question["answers"]):
        said, found = ("true", "answers") if question["answers"] else ("false", "no answers")
        yield Fault(kind="contradiction", place="is_impossible", detail=f"this is {said}, but there are {found}")


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file; BrokenInput for a question whose answer is several spans together. Memory: one article."""
    write_file(instances, path, to_question, version=VERSION)


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question, which says nothing of answers that are hidden; BrokenInput where the answer is several spans together."""
    check_one_part(instance, "SQuAD")
    notes = notes_of(instance)
    if instance.hidden:
        said: dict[str, Any] = {name: value for name, value in notes.items() if name in {"is_impossible", "plausible_answers"}}
        shown = {"id": instance.id, "question": instance.question}
        return {**notes.get("question", {}), **shown, **said, **answers_field(instance, notes)}
    same = has_noted_answers(instance, notes)
    impossible = notes.get("is_impossible", not instance.answerable) if same else not instance.answerable
    record = {**notes.get("question", {}), "id": instance.id, "question": instance.question, "is_impossible": impossible}
    record["answers"] = marked(instance, notes) if instance.answerable else []
    if "plausible_answers" in notes and (same or not instance.answerable):
        record["plausible_answers"] = notes["plausible_answers"]
    return record
