"""DROP's JSON: one object of passages, and questions whose answer is a number, a date or spans (Dua et al. 2019).

A question has one paragraph, whose id is the passage's. An answer is its number, its spans, of which there may be several that are right
together only, or its date as text. Beside the canonical answer the validated ones are right as well: those of one part stand in
``answers`` where the canonical answer has one part too, all others in ``alternatives``. How they stand in the file is noted, with what is
a number or a date; as are ``wiki_url`` and unknown fields of passage and question.

A question of a test file has no ``answer``. One that is there and empty in all parts is what the IIRC baseline writes for a question that
its paragraphs do not answer (``make_drop_style.py``); DROP has no meaning for it, so that it is noted as a fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput
from kgqa.formats.annotators import Answers, of_annotators
from kgqa.formats.faults import Fault, note_faults
from kgqa.formats.identifiers import unused
from kgqa.formats.json import stream
from kgqa.formats.json.types import encoded
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.provenance import note, noted, unknown_fields
from kgqa.records import Instance, Paragraph

PURPOSE = "DROP's JSON: passages, and questions answered by a number, a date or spans"
SUFFIX = ".json"
NAME = "drop"
BETWEEN = "\n\n"
"""Between the texts of a question with several paragraphs, which this format has no place for."""


class Date(Open):
    """A date; what is not known is empty or left out."""

    day: NotRequired[str]
    month: NotRequired[str]
    year: NotRequired[str]


class Answer(Open):
    """One annotator's answer; what it is not is empty or left out."""

    number: NotRequired[str]
    date: NotRequired[Date]
    spans: NotRequired[list[str]]


class Question(Open):
    """One question; test files have no answer."""

    query_id: str
    question: str
    answer: NotRequired[Answer]
    validated_answers: NotRequired[list[Answer]]


class Passage(Open):
    """A passage with its questions."""

    passage: str
    qa_pairs: list[Question]


class Notes(Open):
    """What is noted of a question."""

    answer: NotRequired[Answer]
    validated_answers: NotRequired[list[Answer]]
    passage: NotRequired[dict[str, Any]]
    question: NotRequired[dict[str, Any]]


FILE = TypeAdapter(dict[str, Passage])
NOTES = TypeAdapter(Notes)
EMPTY = Fault(kind="absent-answer", place="answer", detail="number, spans and date are empty, which only IIRC's scorer takes for an answer")


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the file is an object of passages with questions."""
    first = next(iter(record.values()), None)
    return isinstance(first, dict) and {"passage", "qa_pairs"} <= first.keys()


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file, of which all is in memory. Raises InputError with passage, question and field."""
    ids = Ids()
    empty = True
    for passage_id, passage in stream.document(path, FILE).items():
        for number, question in enumerate(passage["qa_pairs"]):
            empty = False
            ids.add(question["query_id"], f"{path.name}, {passage_id}.qa_pairs.{number}")
            yield instance_of(question, passage_id, passage)
    if empty:
        raise BrokenInput(f"{path.name}: the file holds no question; give one that does.")


def instance_of(question: Question, passage_id: str, passage: Passage) -> Instance:
    """The Instance of one question about a passage."""
    answer: Mapping[str, Any] = question.get("answer", {})
    answers, alternatives = _fields_of(question)
    canonical = spans_of(answer)
    empty = "answer" in question and not canonical
    notes: dict[str, Any] = {name: value for name, value in question.items() if name in {"answer", "validated_answers"}}
    rest = {"passage": unknown_fields(passage, Passage), "question": unknown_fields(question, Question)}
    return Instance(
        id=question["query_id"],
        question=question["question"],
        paragraphs=(Paragraph(id=passage_id, title=None, text=passage["passage"], supporting=True if canonical else None),),
        answers=answers,
        alternatives=alternatives,
        answer_type="number" if answer.get("number") else ("none", "span", "spans")[min(len(canonical), 2)],
        answerable=not empty,
        group=question["query_id"],
        provenance=note_faults(
            [EMPTY] if empty else (), beside=note(NAME, {**notes, **{name: fields for name, fields in rest.items() if fields}})
        ),
    )


def _fields_of(question: Mapping[str, Any]) -> Answers:
    """The answers of a question, or of what was noted of one."""
    return of_annotators([spans_of(question.get("answer", {})), *map(spans_of, question.get("validated_answers", ()))])


def spans_of(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """The number, the spans or the date of an answer, the first of these that is not empty, as the official script has it.

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

    Where they were read from DROP and are what they were, each is there as often as people gave it, and empty where they left it so.
    """
    given = _noted_answers(instance)
    if "answer" in given:
        return tuple(map(spans_of, [given["answer"], *given.get("validated_answers", ())]))
    return instance.whole_answers or (() if instance.answerable else ((),))


def _notes(instance: Instance) -> Notes:
    return validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance, {NAME!r}")


def _noted_answers(instance: Instance) -> dict[str, Any]:
    """``answer`` and ``validated_answers`` as noted, where they still are what the Instance says; else nothing."""
    notes = _notes(instance)
    if _fields_of(notes) != (instance.answers, instance.alternatives):
        return {}
    return {name: value for name, value in notes.items() if name in {"answer", "validated_answers"}}


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file; BrokenInput for a question that its paragraphs do not answer, unless its answer was an empty one in such a file.

    Neighbours with the same paragraph form one passage. Where other questions had its id already, ``#2`` or more is added to it. Memory:
    one passage and all ids.
    """
    used: set[str] = set()
    with path.open("w", encoding="utf-8") as file:
        file.write("{")
        for (passage_id, text, rest), group in groupby(instances, _passage):
            name = unused(passage_id, used)
            passage = {**rest, "passage": text, "qa_pairs": [to_question(instance) for instance in group]}
            entry = f"{json.dumps(name, ensure_ascii=False)}: {encoded(passage)}"
            file.write((",\n" if len(used) > 1 else "\n") + entry)
        file.write("\n}\n")


def _passage(instance: Instance) -> tuple[str, str, dict[str, Any]]:
    """The id, text and unknown fields of a question's passage; several paragraphs are joined under the question's id."""
    single = len(instance.paragraphs) == 1
    text = BETWEEN.join(paragraph.text for paragraph in instance.paragraphs)
    return instance.paragraphs[0].id if single else instance.id, text, _notes(instance).get("passage", {})


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question; without an answer where it is not known, BrokenInput where the paragraphs do not give one.

    An answer that was empty in such a file is so again.
    """
    given = _noted_answers(instance)
    if not instance.answerable and (instance.answers or "answer" not in given):
        raise BrokenInput(
            f"instance {instance.id}: its paragraphs do not answer it, which DROP does not know; leave it out, or write squad2 or iirc."
        )
    answers = given or _plain_answers(instance)
    return {**_notes(instance).get("question", {}), "query_id": instance.id, "question": instance.question, **answers}


def _plain_answers(instance: Instance) -> dict[str, Any]:
    """The answers in official form: the canonical one, and all others as validated answers."""
    if not instance.answers:
        return {}
    answer, *validated = instance.whole_answers
    number = instance.answer_type == "number"
    found: dict[str, Any] = {"answer": _plain(answer, number=number)}
    if validated:
        found["validated_answers"] = [_plain(parts, number=number) for parts in validated]
    return found


def _plain(spans: tuple[str, ...], *, number: bool) -> dict[str, Any]:
    empty = {"day": "", "month": "", "year": ""}
    is_number = number and len(spans) == 1 and bool(spans[0])
    return {"number": spans[0] if is_number else "", "date": empty, "spans": [] if is_number else list(spans)}
