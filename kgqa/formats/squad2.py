"""SQuAD 2.0's JSON: as SQuAD 1.1's, with questions that their paragraph does not answer (Rajpurkar et al. 2018).

Such a question has ``is_impossible`` and no answers. Its ``plausible_answers``, which only look right, are noted; its paragraph supports
nothing. If ``is_impossible`` contradicts the answers, the answers count, as in the official script. Answers are hidden in the same cases as
in SQuAD 1.1; ``is_impossible`` may then be missing.
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
    File,
    SquadAnswer,
    answers_field,
    answers_with_offsets,
    entries,
    first_question,
    has_noted_answers,
    instance_of,
    notes_of,
    write_file,
)
from kgqa.records import Instance

PURPOSE = "SQuAD 2.0's JSON: as SQuAD 1.1's, with questions that their paragraph does not answer"
SUFFIX = ".json"
NAME = "squad2"
VERSION = "v2.0"


class Squad2Question(Open):
    """A question of SQuAD 2.0."""

    id: str
    question: str
    is_impossible: NotRequired[bool]
    answers: NotRequired[list[SquadAnswer]]
    plausible_answers: NotRequired[list[SquadAnswer]]


FILE = TypeAdapter(File[Squad2Question])


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the file has articles under ``data``, and its first question has ``is_impossible``."""
    return "is_impossible" in (first_question(record) or {})


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: the whole file. Raises InputError with the question and field."""
    for entry in entries(path, FILE):
        if not entry.hidden and "is_impossible" not in entry.question:
            raise MissingInput(f"{entry.where}: the field 'is_impossible' is missing; every question with a field for answers has it.")
        yield instance_of(entry, NAME, Squad2Question, faults=() if entry.hidden else _contradiction(entry.question))


def _contradiction(question: Mapping[str, Any]) -> Iterator[Fault]:
    if question["is_impossible"] == bool(question["answers"]):
        value, answers = ("true", "answers") if question["answers"] else ("false", "no answers")
        yield Fault(kind="contradiction", place="is_impossible", detail=f"this is {value}, but there are {answers}")


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file. Raises BrokenInput for an answer of several spans. Memory: one article."""
    write_file(instances, path, to_question, version=VERSION)


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question, without hidden answers. Raises BrokenInput for an answer of several spans."""
    check_one_part(instance, "SQuAD")
    notes = notes_of(instance)
    if instance.hidden:
        optional: dict[str, Any] = {name: value for name, value in notes.items() if name in {"is_impossible", "plausible_answers"}}
        fields = {"id": instance.id, "question": instance.question}
        return {**notes.get("question", {}), **fields, **optional, **answers_field(instance, notes)}
    is_unchanged = has_noted_answers(instance, notes)
    impossible = notes.get("is_impossible", not instance.answerable) if is_unchanged else not instance.answerable
    record = {**notes.get("question", {}), "id": instance.id, "question": instance.question, "is_impossible": impossible}
    record["answers"] = answers_with_offsets(instance, notes) if instance.answerable else []
    if "plausible_answers" in notes and (is_unchanged or not instance.answerable):
        record["plausible_answers"] = notes["plausible_answers"]
    return record
