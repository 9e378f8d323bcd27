"""2WikiMultihopQA's JSON: HotpotQA's fields, and the Wikidata triples that lead to the answer (Ho et al. 2020).

Sentences are joined by a space, which HotpotQA's carry themselves. ``type``, ``entity_ids``, ``evidences`` and ``evidences_id`` are noted
as they are. Some records of the official files have no paragraphs, and some supporting facts no sentence; these facts are noted. The
aliases of answers, which version 1.1 of the official scorer takes, are in a file of their own that belongs to scoring. What HotpotQA
noted of a question is written too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats import hotpotqa
from kgqa.formats.annotators import check_one_part
from kgqa.formats.faults import note_faults
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import write_list
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


class Notes(Open):
    """What is noted: all fields that are not ``HELD``, and what else the normal form has no place for."""

    supporting_facts: NotRequired[hotpotqa.Facts]
    """Those whose paragraph or sentence is not there."""
    given_facts: NotRequired[hotpotqa.Facts]
    """All of them in the order of the record, where that is not the paragraphs'."""
    absent_fields: NotRequired[list[str]]
    """Which of those that are written otherwise the record has not."""
    empty_fields: NotRequired[dict[str, Any]]
    """Those that are there and empty, with what stands there, where they are not written otherwise."""


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(Notes)
HELD = ("_id", "question", "context", "supporting_facts", "answer", "answer_id")
"""Fields that the normal form has a place for."""
OURS = ("given_facts", "absent_fields", "empty_fields")
"""Notes that are no fields of a record."""
NOT_NOTED = frozenset({*HELD, *OURS})
MAY_BE_EMPTY = ("context", "supporting_facts", "evidences", "answer", "answer_id")


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether there are HotpotQA's fields and triples, or the ids of the entities that the question is about."""
    return "_id" in record and ("evidences" in record or "entity_ids" in record)


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file; memory: one record, and all ids."""
    ids = Ids()
    for where, record in stream.records(path, RECORD):
        if not recognises(record):
            raise MissingInput(f"{where}: the field 'evidences' is missing; every such record has it, or 'entity_ids'.")
        if "question" not in record and not {"answer", "supporting_facts"} <= record.keys():
            raise MissingInput(f"{where}: the field 'question' is missing; every such record has it, or 'answer' and 'supporting_facts'.")
        ids.add(record["_id"], where)
        yield from_record(record)


def from_record(record: Record) -> Instance:
    """The Instance of an official record."""
    facts = None if hotpotqa.hides_gold(record) else record.get("supporting_facts")
    paragraphs, supports = hotpotqa.paragraphs_of(record.get("context", ()), facts, between=BETWEEN)
    # Where a test file has a place for the answer, it is empty.
    answer = record.get("answer") or None
    notes = {key: value for key, value in record.items() if key not in NOT_NOTED and (key != "evidences" or value)}
    notes |= supports.named("supporting_facts")
    written = ["question"] + (["supporting_facts"] if not record.get("context") else []) + (["answer_id"] if answer else [])
    empty = _empty(record)
    notes |= hotpotqa.absent_fields(record, written) | ({"empty_fields": empty} if empty else {})
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


def _empty(record: Record) -> dict[str, Any]:
    """As in ``Notes``; a list of facts is written otherwise, and the list of triples by which a record is known."""
    if all(map(record.get, MAY_BE_EMPTY)):
        return {}
    written: dict[str, Any] = {} if hotpotqa.hides_gold(record) and record.get("context") else {"supporting_facts": []}
    if "entity_ids" not in record:
        written["evidences"] = []
    if record.get("answer"):
        written["answer_id"] = None
    found = {field: record.get(field) for field in MAY_BE_EMPTY if field in record and not record.get(field)}
    return {field: value for field, value in found.items() if field not in written or value != written[field]}


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record; without triples or entity ids it has an empty list of triples, by which it is known."""
    known_notes = validated(_notes_of(instance), NOTES, f"instance {instance.id}, provenance")
    notes = {key: value for key, value in known_notes.items() if key not in NOT_NOTED}
    if "entity_ids" not in notes:
        notes.setdefault("evidences", [])
    check_one_part(instance, "2WikiMultihopQA")
    record: dict[str, Any] = {"_id": instance.id, "question": instance.question}
    if instance.paragraphs:
        record["context"] = [[paragraph.title or "", sentences_of(paragraph)] for paragraph in instance.paragraphs]
    if all(paragraph.supporting is not None for paragraph in instance.paragraphs):
        absent, given = known_notes.get("supporting_facts", []), known_notes.get("given_facts", [])
        record["supporting_facts"] = hotpotqa.all_facts(instance, absent, given)
    if instance.answers:
        record["answer"] = instance.answers[0]
    if instance.answer_id is not None or instance.answers:
        record["answer_id"] = instance.answer_id
    record = hotpotqa.without_absent(record, known_notes)
    empty = known_notes.get("empty_fields", {})
    record |= {field: empty[field] for field in MAY_BE_EMPTY if field in empty and not (record.get(field) or notes.get(field))}
    known = [field for field in Record.__annotations__ if field in record or field in notes]
    return {field: record.get(field, notes.get(field)) for field in known} | {k: v for k, v in notes.items() if k not in known}


def _notes_of(instance: Instance) -> dict[str, Any]:
    """This format's own notes, else HotpotQA's; there, a field that is one of this format's may hold anything."""
    if own := noted(instance, NAME):
        return own
    theirs = dict(noted(instance, hotpotqa.NAME))
    absent = {"supporting_facts": theirs.pop("absent_facts")} if "absent_facts" in theirs else {}
    odd = {"type"} if not isinstance(theirs.get("type"), str) else set()
    unfit = odd | {*hotpotqa.OF_TWOWIKI, "answer_id"}
    return {field: value for field, value in theirs.items() if field not in unfit} | absent


def sentences_of(paragraph: Paragraph) -> list[str]:
    """The sentences without the one space that joins them, whichever of the two it was counted with."""
    sentences = hotpotqa.sentences_of(paragraph)
    for place in range(len(sentences) - 1):
        if sentences[place].endswith(BETWEEN):
            sentences[place] = sentences[place].removesuffix(BETWEEN)
        else:
            sentences[place + 1] = sentences[place + 1].removeprefix(BETWEEN)
    return sentences


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record."""
    write_list((to_record(instance) for instance in instances), path)
