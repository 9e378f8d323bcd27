"""HotpotQA's JSON, distractor and fullwiki: a list of records with titled paragraphs in sentences (Yang et al. 2018).

A supporting fact is a title and the number of a sentence. In fullwiki the paragraphs were retrieved, so that a fact's title may not be
among them; such facts are noted, as are those that name a sentence which their paragraph has not, some of which official files have. Where
two paragraphs have the same title, a fact means the first of them that has such a sentence. Records without paragraphs, which the official
scorer takes as gold, are read too. Where the answer is not there, or is empty beside an empty list of facts, as in test files, it is
hidden, and nothing is known of support.

2WikiMultihopQA has the same fields and more. Each of the two formats writes what the other noted: type, level, facts that are not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats.annotators import check_one_part
from kgqa.formats.faults import CHARACTERS, Fault, note_faults
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import write_list
from kgqa.formats.provenance import note, noted
from kgqa.records import Instance, Paragraph

PURPOSE = "HotpotQA's JSON: ten titled paragraphs in sentences, with supporting facts"
SUFFIX = ".json"
NAME = "hotpotqa"
BOOLEAN = ("yes", "no")
Fact = tuple[str, int]
Facts = list[Annotated[Fact, Strict(False)]]
"""Supporting facts as JSON has them, lists of two."""


class Record(Open):
    """One question of an official file; test files have neither answer nor supporting facts."""

    _id: str
    question: NotRequired[str]
    context: NotRequired[list[Annotated[tuple[str, list[str]], Strict(False)]]]
    answer: NotRequired[str]
    supporting_facts: NotRequired[Facts]


class Notes(Open):
    """What is noted: unknown fields, and what the normal form has no place for."""

    absent_facts: NotRequired[Facts]
    """Facts about titles or sentences that are not there."""
    given_facts: NotRequired[Facts]
    """All facts in the order of the record, where that is not the paragraphs'."""
    absent_fields: NotRequired[list[str]]
    """Which of ``question`` and ``context`` the record has not, and without paragraphs, of which no fact is known, ``supporting_facts``."""
    empty_fields: NotRequired[dict[str, Any]]
    """Of a record whose answer is hidden, the fields of gold that are there and empty."""


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(Notes)
HELD = frozenset(Record.__annotations__) | frozenset(Notes.__annotations__)
"""Fields that are not noted as they are."""
OF_TWOWIKI = ("entity_ids", "evidences", "evidences_id", "empty_fields")
"""What 2WikiMultihopQA notes and HotpotQA has not."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are HotpotQA's, gold without paragraphs included, and not those of 2WikiMultihopQA, which has more."""
    return "_id" in record and _is_question(record) and not {"evidences", "entity_ids"} & record.keys()


def _is_question(record: Mapping[str, Any]) -> bool:
    return {"question", "context"} <= record.keys() or {"answer", "supporting_facts"} <= record.keys()


def check_whole(record: Mapping[str, Any], where: str) -> None:
    """MissingInput where there is neither a question with paragraphs nor gold, which is answer and facts."""
    if not _is_question(record):
        field = "context" if "question" in record else "question"
        raise MissingInput(f"{where}: the field {field!r} is missing; every such record has it, or 'answer' and 'supporting_facts'.")


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file; memory: one record, and all ids."""
    ids = Ids()
    for where, record in stream.records(path, RECORD):
        check_whole(record, where)
        ids.add(record["_id"], where)
        yield from_record(record)


def from_record(record: Record) -> Instance:
    """The Instance of an official record."""
    hidden = hides_gold(record)
    paragraphs, supports = paragraphs_of(record.get("context", ()), None if hidden else record.get("supporting_facts"))
    answer = None if hidden else record.get("answer")
    extra = {key: value for key, value in record.items() if key not in HELD}
    extra |= supports.named("absent_facts")
    if empty := {field: record.get(field) for field in ("answer", "supporting_facts") if hidden and field in record}:
        extra["empty_fields"] = empty
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


def absent_fields(record: Mapping[str, Any], written: Sequence[str]) -> dict[str, list[str]]:
    """The note of those fields that are ``written`` of such a question, and that the record has not."""
    absent = [field for field in written if field not in record]
    return {"absent_fields": absent} if absent else {}


def without_absent(record: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """``record`` without those of the fields that were absent which are empty still."""
    absent = notes.get("absent_fields", ())
    return {field: value for field, value in record.items() if value or field not in absent}


class Supports(NamedTuple):
    """What a record's supporting facts say beyond the marks of its paragraphs."""

    absent: Sequence[Fact]
    """Those whose paragraph or sentence is not there."""
    given: Sequence[Fact]
    """All of them, where they are not in the order in which :func:`facts_of` finds them; else none."""
    faults: Sequence[Fault]

    def named(self, absent: str) -> dict[str, list[Fact]]:
        """What is to be noted, and under which names: ``absent`` is that of the first."""
        notes = {absent: list(self.absent)} if self.absent else {}
        return notes | {"given_facts": list(self.given)} if self.given else notes


def paragraphs_of(
    context: Sequence[tuple[str, Sequence[str]]], facts: Sequence[Fact] | None, *, between: str = ""
) -> tuple[tuple[Paragraph, ...], Supports]:
    """The paragraphs with their supporting sentences, and what else the facts say.

    ``between`` joins sentences, which in HotpotQA carry the space before them.
    """
    supporting: dict[int, set[int]] = {}
    absent, faults = [], []
    by_title: dict[str, list[int]] = {}
    for number, (title, _) in enumerate(context):
        by_title.setdefault(title, []).append(number)
    for place, (title, sentence) in enumerate(facts or ()):
        numbers = by_title.get(title, [])
        holding = next((number for number in numbers if 0 <= sentence < len(context[number][1])), None)
        if holding is not None:
            supporting.setdefault(holding, set()).add(sentence)
            continue
        absent.append((title, sentence))
        if numbers:
            shown = f"the paragraph {title[:CHARACTERS]!r}"
            detail = f"{shown} has {len(context[numbers[0]][1])} sentences and none with the number {sentence}"
            faults.append(Fault(kind="absent-support", place=f"supporting_facts.{place}", detail=detail))
    marks = [None if facts is None else tuple(sorted(supporting.get(number, ()))) for number in range(len(context))]
    found = [(context[number][0], sentence) for number in sorted(supporting) for sentence in sorted(supporting[number])]
    given = () if facts is None or [*found, *absent] == list(facts) else facts
    paragraphs = tuple(_paragraph(number, *entry, marks[number], between) for number, entry in enumerate(context))
    return paragraphs, Supports(absent=absent, given=given, faults=faults)


def _paragraph(number: int, title: str, sentences: Sequence[str], marked: tuple[int, ...] | None, between: str) -> Paragraph:
    starts, at = [], 0
    for sentence in sentences:
        starts.append(at)
        at += len(sentence) + len(between)
    return Paragraph(
        id=str(number),
        title=title,
        text=between.join(sentences),
        supporting=None if marked is None else bool(marked),
        sentences=tuple(starts),
        supporting_sentences=marked,
    )


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record; a paragraph without sentences becomes one sentence, and if it supports the answer, that is the fact."""
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
    return without_absent(record, notes) | {key: value for key, value in notes.items() if key not in Notes.__annotations__}


def _notes_of(instance: Instance) -> dict[str, Any]:
    """This format's own notes, else what 2WikiMultihopQA noted and HotpotQA has a place for."""
    if own := noted(instance, NAME):
        return own
    theirs = noted(instance, "twowiki")
    absent = {"absent_facts": theirs["supporting_facts"]} if "supporting_facts" in theirs else {}
    return {field: value for field, value in theirs.items() if field not in {*OF_TWOWIKI, "supporting_facts"}} | absent


def all_facts(instance: Instance, absent: Sequence[Fact], given: Sequence[Fact]) -> list[list[Any]]:
    """The marked facts and the ``absent`` ones; as they were ``given``, where those are the same facts."""
    found = [*facts_of(instance), *map(list, absent)]
    return list(map(list, given)) if {tuple(fact) for fact in found} == set(given) else found


def facts_of(instance: Instance) -> list[list[Any]]:
    """The supporting facts, as title and number of the sentence; all sentences of a supporting paragraph where none is marked."""
    return [
        [paragraph.title or "", sentence]
        for paragraph in instance.paragraphs
        if paragraph.supporting
        for sentence in paragraph.supporting_sentences or range(max(1, len(paragraph.sentences or ())))
    ]


def sentences_of(paragraph: Paragraph) -> list[str]:
    """The sentences, of which the first begins with the text; all of it where their places are not in it, one behind the other."""
    starts = [0, *paragraph.sentences[1:]] if paragraph.sentences else []
    if paragraph.sentences is None or any(before > after for before, after in pairwise([*starts, len(paragraph.text)])):
        return [paragraph.text]
    ends = [*starts[1:], len(paragraph.text)]
    return [paragraph.text[start:end] for start, end in zip(starts, ends, strict=bool(starts))]


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one official file, record by record."""
    write_list((to_record(instance) for instance in instances), path)
