"""2WikiMultihopQA's JSON: HotpotQA's fields, and the Wikidata triples that lead to the answer (Ho et al. 2020).

Sentences are joined by a space, which HotpotQA's carry themselves. ``type``, ``entity_ids``, ``evidences`` and ``evidences_id`` are noted
as they are. Some records of the official files have no paragraphs, and some supporting facts no sentence; these facts are noted. The
aliases of answers, which version 1.1 of the official scorer takes, are in a file of their own that belongs to scoring.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Strict, TypeAdapter
from typing_extensions import TypedDict

from kgqa.errors import MissingInput
from kgqa.formats import hotpotqa, reading
from kgqa.formats.faults import note_faults
from kgqa.formats.provenance import note, noted
from kgqa.formats.writing import write_list
from kgqa.records import Instance, Paragraph

PURPOSE = "2WikiMultihopQA's JSON: HotpotQA's fields, and the Wikidata triples that lead to the answer"
SUFFIX = ".json"
NAME = "twowiki"
BETWEEN = " "
Triples = list[Annotated[tuple[str, str, str], Strict(False)]]


class Record(TypedDict):
    """One question of an official file; test files have no answer, supporting facts and triples."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]

    _id: str
    type: NotRequired[str]
    question: NotRequired[str]
    context: NotRequired[list[Annotated[tuple[str, list[str]], Strict(False)]]]
    entity_ids: NotRequired[str]
    supporting_facts: NotRequired[list[Annotated[hotpotqa.Fact, Strict(False)]] | None]
    evidences: NotRequired[Triples | None]
    answer: NotRequired[str | None]
    evidences_id: NotRequired[Triples | None]
    answer_id: NotRequired[str | None]


class Notes(TypedDict):
    """What is noted: all fields that are not ``HELD``, and of supporting facts what HotpotQA's notes have.

    ``supporting_facts`` are those whose paragraph or sentence is not there.
    """

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]

    supporting_facts: NotRequired[list[Annotated[hotpotqa.Fact, Strict(False)]]]
    given_facts: NotRequired[list[Annotated[hotpotqa.Fact, Strict(False)]]]


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(Notes)
HELD = ("_id", "question", "context", "supporting_facts", "answer", "answer_id")
"""Fields that the normal form has a place for."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether there are HotpotQA's fields and triples, or the ids of the entities that the question is about."""
    return "_id" in record and ("evidences" in record or "entity_ids" in record)


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file; memory: one record, and all ids."""
    ids = reading.Ids()
    for where, record in reading.records(path, RECORD):
        if not recognises(record):
            raise MissingInput(f"{where}: the field 'evidences' is missing; every such record has it, or 'entity_ids'.")
        ids.add(record["_id"], where)
        yield from_record(record)


def from_record(record: Record) -> Instance:
    """The Instance of an official record."""
    paragraphs, supports = hotpotqa.paragraphs_of(record.get("context", ()), record.get("supporting_facts"), between=BETWEEN)
    # Where a test file has a place for the answer, it is empty.
    answer = record.get("answer") or None
    notes = {key: value for key, value in record.items() if key not in HELD and not (key == "evidences" and not value)}
    notes |= {name: list(facts) for name, facts in (("supporting_facts", supports.absent), ("given_facts", supports.given)) if facts}
    return Instance(
        id=record["_id"],
        question=record.get("question", ""),
        paragraphs=paragraphs,
        answers=() if answer is None else (answer,),
        answer_id=record.get("answer_id"),
        answer_type="none" if answer is None else "boolean" if answer in hotpotqa.BOOLEAN else "span",
        candidates=None,
        chains=None,
        decomposition=None,
        answerable=True,
        group=record["_id"],
        provenance=note_faults(supports.faults, beside=note(NAME, notes)),
    )


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record; without triples or entity ids it has an empty list of triples, by which it is known."""
    known_notes = reading.validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")
    notes = {key: value for key, value in known_notes.items() if key not in (*HELD, "given_facts")}
    if "entity_ids" not in notes:
        notes.setdefault("evidences", [])
    record: dict[str, Any] = {"_id": instance.id}
    if instance.question or instance.paragraphs:
        record["question"] = instance.question
    if instance.paragraphs:
        record["context"] = [[paragraph.title or "", sentences_of(paragraph)] for paragraph in instance.paragraphs]
    if all(paragraph.supporting is not None for paragraph in instance.paragraphs):
        absent, given = known_notes.get("supporting_facts", []), known_notes.get("given_facts", [])
        record["supporting_facts"] = hotpotqa.all_facts(instance, absent, given)
    if instance.answers:
        record["answer"] = instance.answers[0]
    if instance.answer_id is not None or instance.answers:
        record["answer_id"] = instance.answer_id
    known = [field for field in Record.__annotations__ if field in record or field in notes]
    return {field: record.get(field, notes.get(field)) for field in known} | {k: v for k, v in notes.items() if k not in known}


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
