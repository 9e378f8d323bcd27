"""HotpotQA's JSON, distractor and fullwiki: a list of records with titled paragraphs in sentences (Yang et al. 2018).

A supporting fact is a title and the number of a sentence. In fullwiki the paragraphs were retrieved, so a fact's title may be missing; in
both settings, some facts of official files name a sentence that their paragraph lacks. Both kinds of fact are noted. If two paragraphs have
the same title, a fact refers to the first one with such a sentence. Records without paragraphs, which the official scorer accepts as gold,
are read too. If the answer is missing, or empty together with an empty list of facts, as in test files, the answer is hidden and support is
unknown.

2WikiMultihopQA has the same fields and more. Each of the two formats writes the other's note: type, level, and facts that are not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats.annotators import check_one_part
from kgqa.formats.faults import CHARACTERS, Fault, note_faults
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import list_writer
from kgqa.formats.provenance import note, noted
from kgqa.records import Instance, Paragraph

PURPOSE = "HotpotQA's JSON: ten titled paragraphs in sentences, with supporting facts"
SUFFIX = ".json"
NAME = "hotpotqa"
REPEATED_IDS = "these are probes of DiRe's", "dire"
"""If an id is repeated: a possible explanation, and the format to name then. DiRe's probes have the same fields."""
BOOLEAN = ("yes", "no")
Fact = tuple[str, int]
Facts = list[Annotated[Fact, Strict(False)]]
"""Supporting facts in JSON: lists of a title and a number."""


class Record(Open):
    """One question of an official file; test files have neither answer nor supporting facts."""

    _id: str
    question: NotRequired[str]
    context: NotRequired[list[Annotated[tuple[str, list[str]], Strict(False)]]]
    answer: NotRequired[str]
    supporting_facts: NotRequired[Facts]


class HotpotqaNotes(Open):
    """A question's note: unknown fields of its record, and everything else that the normal form lacks."""

    absent_facts: NotRequired[Facts]
    """Facts about missing titles or sentences."""
    given_facts: NotRequired[Facts]
    """All facts in the record's order, if it differs from the order of the paragraphs."""
    absent_fields: NotRequired[list[str]]
    """Fields that the record lacks: ``question``, ``context``, and ``supporting_facts`` in a record without paragraphs."""
    empty_fields: NotRequired[dict[str, Any]]
    """The empty gold fields of a record whose answer is hidden."""


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(HotpotqaNotes)
KNOWN_FIELDS = frozenset(Record.__annotations__) | frozenset(HotpotqaNotes.__annotations__)
"""Fields of a record that are not copied into the note."""
OF_TWOWIKI = ("entity_ids", "evidences", "evidences_id", "empty_fields")
"""Fields of 2WikiMultihopQA's note that HotpotQA lacks."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are HotpotQA's, gold without paragraphs included, without the further ones of 2WikiMultihopQA."""
    return "_id" in record and _is_question(record) and not {"evidences", "entity_ids"} & record.keys()


def _is_question(record: Mapping[str, Any]) -> bool:
    return {"question", "context"} <= record.keys() or {"answer", "supporting_facts"} <= record.keys()


def check_whole(record: Mapping[str, Any], location: str) -> None:
    """Raise MissingInput for a record that has neither question and paragraphs nor gold, that is answer and facts."""
    if not _is_question(record):
        field = "context" if "question" in record else "question"
        raise MissingInput(f"{location}: the field {field!r} is missing; every such record has it, or 'answer' and 'supporting_facts'.")


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: one record and all ids."""
    ids = Ids()
    for location, record in stream.records(path, RECORD):
        check_whole(record, location)
        ids.add(record["_id"], location)
        yield from_record(record)


def from_record(record: Record) -> Instance:
    """The Instance of an official record."""
    is_hidden = hides_gold(record)
    paragraphs, supports = paragraphs_of(record.get("context", ()), None if is_hidden else record.get("supporting_facts"))
    answer = None if is_hidden else record.get("answer")
    extra = {key: value for key, value in record.items() if key not in KNOWN_FIELDS}
    extra |= supports.notes("absent_facts")
    if empty_fields := {field: record.get(field) for field in ("answer", "supporting_facts") if is_hidden and field in record}:
        extra["empty_fields"] = empty_fields
    extra |= absent_fields(record, ("question",) if record.get("context") else ("question", "context", "supporting_facts"))
    return Instance(
        id=record["_id"],
        question=record.get("question", ""),
        paragraphs=paragraphs,
        answers=() if answer is None else (answer,),
        answer_type="none" if answer is None else "boolean" if answer in BOOLEAN else "span",
        answerable=True,
        group=record["_id"],
        provenance=note_faults(supports.faults, beside=note(NAME, extra)),
    )


def hides_gold(record: Mapping[str, Any]) -> bool:
    """Whether a record has no answer and no supporting fact."""
    return not record.get("answer") and not record.get("supporting_facts")


def absent_fields(record: Mapping[str, Any], written_fields: Sequence[str]) -> dict[str, list[str]]:
    """The note of the fields that :func:`to_record` writes for such a question (``written_fields``) and the record lacks."""
    absent = [field for field in written_fields if field not in record]
    return {"absent_fields": absent} if absent else {}


def without_absent(record: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """``record`` without the fields that the original record lacked and that are still empty."""
    absent = notes.get("absent_fields", ())
    return {field: value for field, value in record.items() if value or field not in absent}


class Supports(NamedTuple):
    """Supporting facts of a record that the marks of its paragraphs do not express."""

    absent: Sequence[Fact]
    """Facts whose paragraph or sentence is missing."""
    in_record_order: Sequence[Fact]
    """All facts, if they are not in the order of :func:`facts_of`; else empty."""
    faults: Sequence[Fault]

    def notes(self, absent: str) -> dict[str, list[Fact]]:
        """The fields to note; ``absent`` is the name of the field for absent facts."""
        notes = {absent: list(self.absent)} if self.absent else {}
        return notes | {"given_facts": list(self.in_record_order)} if self.in_record_order else notes


def paragraphs_of(
    context: Sequence[tuple[str, Sequence[str]]], facts: Sequence[Fact] | None, *, separator: str = ""
) -> tuple[tuple[Paragraph, ...], Supports]:
    """The paragraphs with their supporting sentences marked, and the rest of the facts; ``facts`` None: support is unknown.

    ``separator`` joins sentences; in HotpotQA each sentence but the first begins with its space.
    """
    support: dict[int, set[int]] = {}
    absent, faults = [], []
    by_title: dict[str, list[int]] = {}
    for number, (title, _) in enumerate(context):
        by_title.setdefault(title, []).append(number)
    for place, (title, sentence) in enumerate(facts or ()):
        numbers = by_title.get(title, [])
        owner = next((number for number in numbers if 0 <= sentence < len(context[number][1])), None)
        if owner is not None:
            support.setdefault(owner, set()).add(sentence)
            continue
        absent.append((title, sentence))
        if numbers:
            count = len(context[numbers[0]][1])
            detail = f"the paragraph {title[:CHARACTERS]!r} has {count} sentences and none with the number {sentence}"
            faults.append(Fault(kind="absent-support", place=f"supporting_facts.{place}", detail=detail))
    marks = [None if facts is None else tuple(sorted(support.get(number, ()))) for number in range(len(context))]
    in_order = [(context[number][0], sentence) for number in sorted(support) for sentence in sorted(support[number])]
    in_record_order = () if facts is None or [*in_order, *absent] == list(facts) else facts
    paragraphs = tuple(_paragraph(number, *entry, marks[number], separator) for number, entry in enumerate(context))
    return paragraphs, Supports(absent=absent, in_record_order=in_record_order, faults=faults)


def _paragraph(number: int, title: str, sentences: Sequence[str], marks: tuple[int, ...] | None, separator: str) -> Paragraph:
    starts, at = [], 0
    for sentence in sentences:
        starts.append(at)
        at += len(sentence) + len(separator)
    return Paragraph(
        id=str(number),
        title=title,
        text=separator.join(sentences),
        supporting=None if marks is None else bool(marks),
        sentences=tuple(starts),
        supporting_sentences=marks,
    )


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record. A paragraph without sentences becomes one sentence, which is a supporting fact if the paragraph supports."""
    notes = validated(_notes_of(instance), NOTES, f"instance {instance.id}, provenance")
    check_one_part(instance, "HotpotQA")
    record: dict[str, Any] = {"_id": instance.id}
    if instance.answers:
        record["answer"] = instance.answers[0]
    record["question"] = instance.question
    if all(paragraph.supporting is not None for paragraph in instance.paragraphs):
        record["supporting_facts"] = all_facts(instance, notes.get("absent_facts", []), notes.get("given_facts", []))
    record["context"] = [[paragraph.title or "", sentences_of(paragraph)] for paragraph in instance.paragraphs]
    if not instance.answers:
        record = {**notes.get("empty_fields", {}), **record}
    return without_absent(record, notes) | {key: value for key, value in notes.items() if key not in HotpotqaNotes.__annotations__}


def _notes_of(instance: Instance) -> dict[str, Any]:
    """HotpotQA's note, else the part of 2WikiMultihopQA's note that fits HotpotQA."""
    if note_of_hotpotqa := noted(instance, NAME):
        return note_of_hotpotqa
    note_of_twowiki = noted(instance, "twowiki")
    absent = {"absent_facts": note_of_twowiki["supporting_facts"]} if "supporting_facts" in note_of_twowiki else {}
    return {field: value for field, value in note_of_twowiki.items() if field not in {*OF_TWOWIKI, "supporting_facts"}} | absent


def all_facts(instance: Instance, absent: Sequence[Fact], in_record_order: Sequence[Fact]) -> list[list[Any]]:
    """The marked and the ``absent`` facts; ``in_record_order`` if that holds the same facts."""
    facts = [*facts_of(instance), *map(list, absent)]
    return list(map(list, in_record_order)) if {tuple(fact) for fact in facts} == set(in_record_order) else facts


def facts_of(instance: Instance) -> list[list[Any]]:
    """The supporting facts as pairs of title and sentence number; all sentences of a supporting paragraph without marked ones."""
    return [
        [paragraph.title or "", sentence]
        for paragraph in instance.paragraphs
        if paragraph.supporting
        for sentence in paragraph.supporting_sentences or range(max(1, len(paragraph.sentences or ())))
    ]


def sentences_of(paragraph: Paragraph) -> list[str]:
    """The sentences of a paragraph; the whole text as one sentence if their offsets do not ascend within it."""
    starts = [0, *paragraph.sentences[1:]] if paragraph.sentences else []
    if paragraph.sentences is None or any(start > end for start, end in pairwise([*starts, len(paragraph.text)])):
        return [paragraph.text]
    ends = [*starts[1:], len(paragraph.text)]
    return [paragraph.text[start:end] for start, end in zip(starts, ends, strict=bool(starts))]


write = list_writer(to_record)
"""Write one official file, record by record."""
