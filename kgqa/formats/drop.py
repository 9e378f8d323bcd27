"""DROP's JSON: one object of passages, and questions whose answer is a number, a date or spans (Dua et al. 2019).

A question has one paragraph, with the passage's id. An answer is a number, a date as text, or one or more spans, all of which form the
answer. The validated answers are right as well as the canonical one: if the canonical answer and a validated one both have one part, it
becomes one of ``answers``, else one of ``alternatives``. The note keeps the answers as the file has them, with their numbers and dates, and
unknown fields of passage and question such as ``wiki_url``.

Questions of a test file have no ``answer``. The IIRC baseline writes an ``answer`` whose parts are all empty for a question that its
paragraphs do not answer (``make_drop_style.py``). DROP does not define such an answer, so it is noted as a fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput
from kgqa.formats.annotators import AnswerFields, answer_fields
from kgqa.formats.faults import Fault, note_faults
from kgqa.formats.identifiers import free_name
from kgqa.formats.json import stream
from kgqa.formats.json.types import encode
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.provenance import note, noted, unknown_fields
from kgqa.records import Instance, Paragraph

PURPOSE = "DROP's JSON: passages, and questions answered by a number, a date or spans"
SUFFIX = ".json"
NAME = "drop"
BETWEEN = "\n\n"
"""Joins the texts of a question with several paragraphs, as the format holds only one."""


class Date(Open):
    """A date; unknown parts are empty or left out."""

    day: NotRequired[str]
    month: NotRequired[str]
    year: NotRequired[str]


class DropAnswer(Open):
    """One annotator's answer: a number, a date or spans; the other two are empty or left out."""

    number: NotRequired[str]
    date: NotRequired[Date]
    spans: NotRequired[list[str]]


class DropQuestion(Open):
    """One question; test files have no answer."""

    query_id: str
    question: str
    answer: NotRequired[DropAnswer]
    validated_answers: NotRequired[list[DropAnswer]]


class Passage(Open):
    """A passage with its questions."""

    passage: str
    qa_pairs: list[DropQuestion]


class DropNotes(Open):
    """A question's note: the answers as in the file, and unknown fields of passage and question."""

    answer: NotRequired[DropAnswer]
    validated_answers: NotRequired[list[DropAnswer]]
    passage: NotRequired[dict[str, Any]]
    question: NotRequired[dict[str, Any]]


FILE = TypeAdapter(dict[str, Passage])
NOTES = TypeAdapter(DropNotes)
EMPTY = Fault(kind="absent-answer", place="answer", detail="number, spans and date are empty, which only IIRC's scorer takes for an answer")


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the file is one object of passages with questions."""
    first_passage = next(iter(record.values()), None)
    return isinstance(first_passage, dict) and {"passage", "qa_pairs"} <= first_passage.keys()


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: the whole file. Raises InputError with passage, question and field."""
    ids = Ids()
    is_empty = True
    for passage_id, passage in stream.document(path, FILE).items():
        for number, question in enumerate(passage["qa_pairs"]):
            is_empty = False
            ids.add(question["query_id"], f"{path.name}, {passage_id}.qa_pairs.{number}")
            yield instance_of(question, passage_id, passage)
    if is_empty:
        raise BrokenInput(f"{path.name}: the file has no questions; choose one that has.")


def instance_of(question: DropQuestion, passage_id: str, passage: Passage) -> Instance:
    """The Instance of one question about a passage."""
    answer: Mapping[str, Any] = question.get("answer", {})
    answers, alternatives = _answer_fields(question)
    canonical = spans_of(answer)
    has_empty_answer = "answer" in question and not canonical
    notes: dict[str, Any] = {name: value for name, value in question.items() if name in {"answer", "validated_answers"}}
    unknown_keys = {"passage": unknown_fields(passage, Passage), "question": unknown_fields(question, DropQuestion)}
    return Instance(
        id=question["query_id"],
        question=question["question"],
        paragraphs=(Paragraph(id=passage_id, title=None, text=passage["passage"], supporting=True if canonical else None),),
        answers=answers,
        alternatives=alternatives,
        answer_type="number" if answer.get("number") else ("none", "span", "spans")[min(len(canonical), 2)],
        answerable=not has_empty_answer,
        group=question["query_id"],
        provenance=note_faults(
            [EMPTY] if has_empty_answer else (),
            beside=note(NAME, {**notes, **{name: fields for name, fields in unknown_keys.items() if fields}}),
        ),
    )


def _answer_fields(question: Mapping[str, Any]) -> AnswerFields:
    """The answers of a question, or of its note."""
    return answer_fields([spans_of(question.get("answer", {})), *map(spans_of, question.get("validated_answers", ()))])


def spans_of(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """The number, the spans or the date of an answer: the first that is not empty, as in the official script.

    >>> spans_of({"number": "", "spans": [], "date": {"day": "", "month": "May", "year": "1990"}})
    ('May 1990',)
    """
    if number := answer.get("number"):
        return (number,)
    if spans := answer.get("spans"):
        return tuple(spans)
    date = answer.get("date", {})
    parts = [part for part in (date.get("day"), date.get("month"), date.get("year")) if part]
    return (" ".join(parts),) if parts else ()


def gold_answers(instance: Instance) -> tuple[tuple[str, ...], ...]:
    """All answers that the scorer compares with, each a list of spans, the canonical one first.

    Answers read from DROP and not changed since are repeated as often as annotators gave them, and may be empty.
    """
    fields = _noted_answers(instance)
    if "answer" in fields:
        return tuple(map(spans_of, [fields["answer"], *fields.get("validated_answers", ())]))
    return instance.whole_answers or (() if instance.answerable else ((),))


def _notes(instance: Instance) -> DropNotes:
    return validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance, {NAME!r}")


def _noted_answers(instance: Instance) -> dict[str, Any]:
    """``answer`` and ``validated_answers`` from the note if they still agree with the Instance, else no fields."""
    notes = _notes(instance)
    if _answer_fields(notes) != (instance.answers, instance.alternatives):
        return {}
    return {name: value for name, value in notes.items() if name in {"answer", "validated_answers"}}


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file. Raises BrokenInput for an unanswerable question, unless a file of this kind gave it an empty answer.

    Consecutive questions with the same paragraph form one passage; a repeated passage id gets ``#2`` and so on. Memory: one passage and all
    ids.
    """
    ids: set[str] = set()
    with path.open("w", encoding="utf-8") as file:
        file.write("{")
        for (passage_id, text, fields), group in groupby(instances, _passage):
            name = free_name(passage_id, ids)
            passage = {**fields, "passage": text, "qa_pairs": [to_question(instance) for instance in group]}
            entry = f"{json.dumps(name, ensure_ascii=False)}: {encode(passage)}"
            file.write((",\n" if len(ids) > 1 else "\n") + entry)
        file.write("\n}\n")


def _passage(instance: Instance) -> tuple[str, str, dict[str, Any]]:
    """Id, text and unknown fields of a question's passage; several paragraphs become one text with the question's id."""
    single = len(instance.paragraphs) == 1
    text = BETWEEN.join(paragraph.text for paragraph in instance.paragraphs)
    return instance.paragraphs[0].id if single else instance.id, text, _notes(instance).get("passage", {})


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question, without ``answer`` if that is unknown; an empty answer from a file of this kind stays empty.

    Raises BrokenInput for any other unanswerable question.
    """
    fields = _noted_answers(instance)
    if not instance.answerable and (instance.answers or "answer" not in fields):
        raise BrokenInput(
            f"instance {instance.id}: its paragraphs do not answer it, which DROP does not know; leave it out, or write squad2 or iirc."
        )
    answers = fields or _plain_answers(instance)
    return {**_notes(instance).get("question", {}), "query_id": instance.id, "question": instance.question, **answers}


def _plain_answers(instance: Instance) -> dict[str, Any]:
    """The answers in official form: the canonical one, and all others as validated answers."""
    if not instance.answers:
        return {}
    canonical, *alternatives = instance.whole_answers
    number = instance.answer_type == "number"
    fields: dict[str, Any] = {"answer": _plain(canonical, number=number)}
    if alternatives:
        fields["validated_answers"] = [_plain(spans, number=number) for spans in alternatives]
    return fields


def _plain(spans: tuple[str, ...], *, number: bool) -> dict[str, Any]:
    no_date = {"day": "", "month": "", "year": ""}
    is_number = number and len(spans) == 1 and bool(spans[0])
    return {"number": spans[0] if is_number else "", "date": no_date, "spans": [] if is_number else list(spans)}
