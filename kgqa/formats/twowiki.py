"""2WikiMultihopQA's JSON: HotpotQA's fields, and the Wikidata triples that lead to the answer (Ho et al. 2020).

Sentences are joined by a space; HotpotQA's sentences begin with it instead. ``type``, ``entity_ids``, ``evidences`` and ``evidences_id``
are noted. Some records of the official files have no paragraphs, and some supporting facts have no sentence; such facts are noted. The
aliases of answers, which version 1.1 of the official scorer uses, are in a separate file that belongs to scoring. HotpotQA's note of a
question is written too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats import hotpotqa
from kgqa.formats.annotators import check_one_part
from kgqa.formats.faults import note_faults
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import list_writer
from kgqa.formats.provenance import note, noted
from kgqa.records import Instance, Paragraph

PURPOSE = "2WikiMultihopQA's JSON: HotpotQA's fields, and the Wikidata triples that lead to the answer"
SUFFIX = ".json"
NAME = "twowiki"
BETWEEN = " "
Triples = list[Annotated[tuple[str, str, str], Strict(False)]]


class Record(Open):
    """One question of an official file; test files have no answer, supporting facts and triples."""

    _id: str
    type: NotRequired[str]
    question: NotRequired[str]
    context: NotRequired[list[Annotated[tuple[str, list[str]], Strict(False)]]]
    entity_ids: NotRequired[str]
    supporting_facts: NotRequired[hotpotqa.Facts | None]
    evidences: NotRequired[Triples | None]
    answer: NotRequired[str | None]
    evidences_id: NotRequired[Triples | None]
    answer_id: NotRequired[str | None]


class TwowikiNotes(Open):
    """A question's note: all fields outside ``INSTANCE_FIELDS``, and the form of the record."""

    supporting_facts: NotRequired[hotpotqa.Facts]
    """Facts whose paragraph or sentence is missing."""
    given_facts: NotRequired[hotpotqa.Facts]
    """All facts in the record's order, if it differs from the order of the paragraphs."""
    absent_fields: NotRequired[list[str]]
    """Fields that the record lacks and :func:`to_record` would write."""
    empty_fields: NotRequired[dict[str, Any]]
    """Empty fields with their values, if :func:`to_record` would leave them out or write another empty value."""


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(TwowikiNotes)
INSTANCE_FIELDS = ("_id", "question", "context", "supporting_facts", "answer", "answer_id")
"""Fields that an Instance holds."""
FORM_NOTES = ("given_facts", "absent_fields", "empty_fields")
"""Fields of a note that are not fields of a record."""
NOT_COPIED = frozenset({*INSTANCE_FIELDS, *FORM_NOTES})
MAY_BE_EMPTY = ("context", "supporting_facts", "evidences", "answer", "answer_id")


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the record has HotpotQA's ``_id``, and triples or the ids of the question's entities."""
    return "_id" in record and ("evidences" in record or "entity_ids" in record)


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: one record and all ids."""
    ids = Ids()
    for location, record in stream.records(path, RECORD):
        if not recognises(record):
            raise MissingInput(f"{location}: the field 'evidences' is missing; every such record has it, or 'entity_ids'.")
        if "question" not in record and not {"answer", "supporting_facts"} <= record.keys():
            raise MissingInput(
                f"{location}: the field 'question' is missing; every such record has it, or 'answer' and 'supporting_facts'."
            )
        ids.add(record["_id"], location)
        yield from_record(record)


def from_record(record: Record) -> Instance:
    """The Instance of an official record."""
    facts = None if hotpotqa.hides_gold(record) else record.get("supporting_facts")
    paragraphs, supports = hotpotqa.paragraphs_of(record.get("context", ()), facts, separator=BETWEEN)
    # Test files with an answer field leave it empty.
    answer = record.get("answer") or None
    notes = {key: value for key, value in record.items() if key not in NOT_COPIED and (key != "evidences" or value)}
    notes |= supports.notes("supporting_facts")
    fields = ["question"] + (["supporting_facts"] if not record.get("context") else []) + (["answer_id"] if answer else [])
    empty_fields = _empty_fields(record)
    notes |= hotpotqa.absent_fields(record, fields) | ({"empty_fields": empty_fields} if empty_fields else {})
    return Instance(
        id=record["_id"],
        question=record.get("question", ""),
        paragraphs=paragraphs,
        answers=() if answer is None else (answer,),
        answer_id=record.get("answer_id"),
        answer_type="none" if answer is None else "boolean" if answer in hotpotqa.BOOLEAN else "span",
        answerable=True,
        group=record["_id"],
        provenance=note_faults(supports.faults, beside=note(NAME, notes)),
    )


def _empty_fields(record: Record) -> dict[str, Any]:
    """The empty fields of a record that :func:`to_record` would not write with the same value."""
    if all(map(record.get, MAY_BE_EMPTY)):
        return {}
    defaults: dict[str, Any] = {} if hotpotqa.hides_gold(record) and record.get("context") else {"supporting_facts": []}
    if "entity_ids" not in record:
        defaults["evidences"] = []
    if record.get("answer"):
        defaults["answer_id"] = None
    fields = {field: record.get(field) for field in MAY_BE_EMPTY if field in record and not record.get(field)}
    return {field: value for field, value in fields.items() if field not in defaults or value != defaults[field]}


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record. Without triples or entity ids it gets an empty list of triples, which marks the format."""
    notes = validated(_notes_of(instance), NOTES, f"instance {instance.id}, provenance")
    record_fields = {key: value for key, value in notes.items() if key not in NOT_COPIED}
    if "entity_ids" not in record_fields:
        record_fields.setdefault("evidences", [])
    check_one_part(instance, "2WikiMultihopQA")
    record: dict[str, Any] = {"_id": instance.id, "question": instance.question}
    if instance.paragraphs:
        record["context"] = [[paragraph.title or "", sentences_of(paragraph)] for paragraph in instance.paragraphs]
    if all(paragraph.supporting is not None for paragraph in instance.paragraphs):
        absent, in_record_order = notes.get("supporting_facts", []), notes.get("given_facts", [])
        record["supporting_facts"] = hotpotqa.all_facts(instance, absent, in_record_order)
    if instance.answers:
        record["answer"] = instance.answers[0]
    if instance.answer_id is not None or instance.answers:
        record["answer_id"] = instance.answer_id
    record = hotpotqa.without_absent(record, notes)
    empty_fields = notes.get("empty_fields", {})
    record |= {
        field: empty_fields[field]
        for field in MAY_BE_EMPTY
        if field in empty_fields and not (record.get(field) or record_fields.get(field))
    }
    # Official order first, then unknown fields.
    order = [field for field in Record.__annotations__ if field in record or field in record_fields]
    official = {field: record.get(field, record_fields.get(field)) for field in order}
    return official | {field: value for field, value in record_fields.items() if field not in order}


def _notes_of(instance: Instance) -> dict[str, Any]:
    """This format's note, else HotpotQA's without fields of this format, which may have any value there."""
    if note_of_twowiki := noted(instance, NAME):
        return note_of_twowiki
    note_of_hotpotqa = dict(noted(instance, hotpotqa.NAME))
    absent = {"supporting_facts": note_of_hotpotqa.pop("absent_facts")} if "absent_facts" in note_of_hotpotqa else {}
    wrong_type = {"type"} if not isinstance(note_of_hotpotqa.get("type"), str) else set()
    unusable = wrong_type | {*hotpotqa.OF_TWOWIKI, "answer_id"}
    return {field: value for field, value in note_of_hotpotqa.items() if field not in unusable} | absent


def sentences_of(paragraph: Paragraph) -> list[str]:
    """The sentences without the space that joins two of them, whether it ends the first or begins the second."""
    sentences = hotpotqa.sentences_of(paragraph)
    for place in range(len(sentences) - 1):
        if sentences[place].endswith(BETWEEN):
            sentences[place] = sentences[place].removesuffix(BETWEEN)
        else:
            sentences[place + 1] = sentences[place + 1].removeprefix(BETWEEN)
    return sentences


write = list_writer(to_record)
"""Write one official file, record by record."""
