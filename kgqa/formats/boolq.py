"""BoolQ's JSON lines of yes/no questions over a passage (Clark et al. 2019), and the file of its contrast set (Gardner et al. 2020).

BoolQ has no ids: a question's id is the field ``id``, else its number in the file, from 0. The contrast set gives, below a line of
headings, each original question with its perturbed questions. Their ids are ``<number of the original>.<number>``; they belong to the group
of the original, which is written as ``perturbs``. Both kinds of file are written as JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput
from kgqa.formats.faults import CHARACTERS, Fault, note_faults
from kgqa.formats.identifiers import Identifier
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Open, unique, validated
from kgqa.formats.json.write import lines_writer
from kgqa.formats.provenance import note, noted, unknown_fields
from kgqa.formats.strategyqa.format import ANSWERS
from kgqa.records import Instance, Paragraph

PURPOSE = "BoolQ's JSON lines of yes/no questions over a passage; its contrast set is read too"
SUFFIX = ".jsonl"
NAME = "boolq"
CONTRAST_ANSWERS = {"TRUE": True, "FALSE": False, "": None}
"""The contrast set's answers; a few are empty."""
ANSWER_VALUES = {text: value for value, text in ANSWERS.items()}
UNLISTED = "unlisted_answer"
"""The field of a line that keeps any other answer of the contrast set."""
HEADINGS = "Gold Answer"
"""The answer in the contrast set's line of headings."""


class Record(Open):
    """One line; the test file has no answers. SuperGLUE calls ``id`` and ``answer`` ``idx`` and ``label``."""

    question: str
    passage: str
    title: NotRequired[str | None]
    answer: NotRequired[bool | None]
    id: NotRequired[Identifier]
    label: NotRequired[bool | None]
    idx: NotRequired[Identifier]
    perturbs: NotRequired[str]


class Perturbed(Open):
    """A question of the contrast set."""

    perturbed_q: str
    answer: str


class Original(Open):
    """A question of BoolQ with its perturbed questions."""

    title: str
    paragraph: str
    question: str
    answer: str
    perturbed_questions: list[Perturbed]


class ContrastSet(Open):
    """The contrast set's file: one object with a list of entries."""

    data: list[Any]


RECORD = TypeAdapter(Record)
ORIGINAL = TypeAdapter(Original)
CONTRAST_SET = TypeAdapter(ContrastSet)


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are those of a line with a boolean answer, or the file is a contrast set."""
    if not {"question", "passage"} <= record.keys():
        return _is_contrast_set(record)
    return not {"answers", "answers_spans"} & record.keys() and record.get("answer") in (None, True, False)


def _is_contrast_set(record: Mapping[str, Any]) -> bool:
    data = record.get("data")
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and "perturbed_questions" in data[0]


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: one record and all ids; a contrast set is read whole."""
    if _is_contrast_set(stream.head(path)):
        records = _contrast_set(path)
    else:
        records = ((str(number), location, record) for number, (location, record) in enumerate(stream.records(path, RECORD)))
    yield from unique((location, from_record(record, number)) for number, location, record in records)


def _contrast_set(path: Path) -> Iterator[tuple[str, str, Record]]:
    """Number, place and record of each question in a contrast set, as if it were a file of lines."""
    document = stream.document(path, CONTRAST_SET)
    file_notes = _as_field("file", unknown_fields(document, ContrastSet))
    for number, value in enumerate(document["data"]):
        location = f"{path.name}, entry {number + 1}"
        original = validated(value, ORIGINAL, location)
        if number == 0 and original["answer"] == HEADINGS:
            continue
        passage = {"title": original["title"], "passage": original["paragraph"], **file_notes}
        extra = _as_field("entry", unknown_fields(original, Original))
        yield str(number), location, _line({**passage, **extra}, original["question"], original["answer"], location)
        passage["perturbs"] = str(number)
        for place, variant in enumerate(original["perturbed_questions"], start=1):
            variant_location = f"{location}, perturbed question {place}"
            extra = _as_field("entry", unknown_fields(variant, Perturbed))
            yield (
                f"{number}.{place}",
                variant_location,
                _line({**passage, **extra}, variant["perturbed_q"], variant["answer"], variant_location),
            )


def _as_field(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Unknown fields as one field ``name`` of a line, so that none overwrites a field of the line itself."""
    return {name: fields} if fields else {}


def _line(fields: dict[str, Any], question: str, answer: str, location: str) -> Record:
    unlisted_answer = {} if answer in CONTRAST_ANSWERS else {UNLISTED: answer}
    return validated({**fields, "question": question, "answer": CONTRAST_ANSWERS.get(answer), **unlisted_answer}, RECORD, location)


def from_record(record: Record, number: str) -> Instance:
    """The Instance of a line; ``number`` is the id of a line without one."""
    name, answer = str(record.get("id", record.get("idx", number))), record.get("answer", record.get("label"))
    notes = unknown_fields(record, Record)
    odd = notes.get(UNLISTED) if answer is None else None
    detail = f"{odd[:CHARACTERS]!r} is none of TRUE, FALSE and nothing" if isinstance(odd, str) else ""
    paragraph = Paragraph(id="0", title=record.get("title"), text=record["passage"], supporting=None if answer is None else True)
    return Instance(
        id=name,
        question=record["question"],
        paragraphs=(paragraph,),
        answers=() if answer is None else (ANSWERS[answer],),
        answer_type="none" if answer is None else "boolean",
        answerable=True,
        group=record.get("perturbs", name),
        provenance=note_faults([Fault(kind="unlisted-answer", place="answer", detail=detail)] if detail else (), beside=note(NAME, notes)),
    )


def to_record(instance: Instance) -> dict[str, Any]:
    """The line of a question over one paragraph whose answer is yes, no or unknown; BrokenInput for any other question."""
    if len(instance.paragraphs) != 1:
        raise BrokenInput(
            f"instance {instance.id}: BoolQ's questions have one passage, and this one has {len(instance.paragraphs)}; "
            "leave it out, or write another format."
        )
    if instance.answers and instance.answers[0] not in ANSWER_VALUES:
        raise BrokenInput(f"instance {instance.id}: BoolQ's answers are yes and no; leave this question out, or write another format.")
    (paragraph,) = instance.paragraphs
    record: dict[str, Any] = {"id": instance.id, "question": instance.question}
    if paragraph.title is not None:
        record["title"] = paragraph.title
    if instance.answers:
        record["answer"] = ANSWER_VALUES[instance.answers[0]]
    record["passage"] = paragraph.text
    if instance.group != instance.id:
        record["perturbs"] = instance.group
    own_keys = {*Record.__annotations__, UNLISTED} if instance.answers else Record.__annotations__.keys()
    return record | {key: value for key, value in noted(instance, NAME).items() if key not in own_keys}


write = lines_writer(to_record)
"""Write one file, line by line."""
