"""MuSiQue's JSON lines, Ans and Full: paragraphs with an ``idx``, and a decomposition into single-hop questions (Trivedi et al. 2022).

In Full, each id has two records: an answerable question and its unanswerable twin, which lacks a paragraph that it needs. The twin's
Instance has the id ``<id>#unanswerable`` and the official id as its group; the answer that it would have is noted. A step depends on the
steps that its question refers to, as ``#1``. Files without paragraphs are read too; their steps then name paragraphs of another file. A
step of an unanswerable question may name the removed paragraph; in an answerable question a missing paragraph is a fault. A record without
an answer, as in test files, has a hidden answer: nobody knows whether it is answerable, so ``answerable`` is not written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import DuplicateId, MissingInput
from kgqa.formats.annotators import check_one_part
from kgqa.formats.decomposition import dependencies
from kgqa.formats.faults import Fault, note_faults
from kgqa.formats.identifiers import Identifier, looks_like_number, number_or_text, numbers_of
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Open, unique, validated
from kgqa.formats.json.write import lines_writer
from kgqa.formats.provenance import note, noted, unknown_fields
from kgqa.records import Instance, Paragraph, Step

PURPOSE = "MuSiQue's JSON lines (Ans and Full): twenty paragraphs and a decomposition into single-hop questions"
SUFFIX = ".jsonl"
NAME = "musique"
TWIN = "#unanswerable"
"""The end of an unanswerable Instance's id."""


class Passage(Open):
    """One paragraph; test files lack ``is_supporting``."""

    idx: int
    title: str
    paragraph_text: str
    is_supporting: NotRequired[bool]


class Hop(Open):
    """One step of the decomposition; in an unanswerable question a step's paragraph may be null."""

    id: Identifier
    question: str
    answer: NotRequired[str | None]
    paragraph_support_idx: NotRequired[int | None]


class Record(Open):
    """One line of an official file; test files have neither answer nor decomposition."""

    id: str
    paragraphs: NotRequired[list[Passage]]
    question: str
    question_decomposition: NotRequired[list[Hop]]
    answer: NotRequired[str | None]
    answer_aliases: NotRequired[list[str]]
    answerable: NotRequired[bool]


class HopNotes(Open):
    """A step's note: unknown fields, and the two below as in ``MusiqueNotes``."""

    absent_fields: NotRequired[list[str]]
    null_fields: NotRequired[list[str]]


class MusiqueNotes(Open):
    """A question's note: unknown fields, those of paragraphs and steps by id, and the answer of an unanswerable question's twin.

    A step's note also has its id, if that was text that looks like a number, and the idx of a missing paragraph.
    """

    paragraphs: NotRequired[dict[str, dict[str, Any]]]
    question_decomposition: NotRequired[dict[str, HopNotes]]
    answer: NotRequired[str]
    answer_aliases: NotRequired[list[str]]
    answerable: NotRequired[bool]
    """The field of a record whose answer is hidden."""
    absent_fields: NotRequired[list[str]]
    """Fields that the record lacks and :func:`to_record` would write."""
    null_fields: NotRequired[list[str]]
    """Fields that are null in the record."""
    empty_fields: NotRequired[list[str]]
    """Fields with an empty list that :func:`to_record` would leave out."""


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(MusiqueNotes)
FORM_NOTES = ("absent_fields", "null_fields", "empty_fields")
"""Fields of notes that are not fields of a record or step."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the record has a decomposition or MuSiQue's paragraphs."""
    paragraphs = record.get("paragraphs")
    first_paragraph = paragraphs[0] if isinstance(paragraphs, list) and paragraphs else None
    return {"id", "question"} <= record.keys() and (
        "question_decomposition" in record or (isinstance(first_paragraph, dict) and {"idx", "paragraph_text"} <= first_paragraph.keys())
    )


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: one record and all ids."""
    return unique((location, from_record(record, location)) for location, record in stream.records(path, RECORD))


def from_record(record: Record, location: str) -> Instance:
    """The Instance of an official record. Raises InputError for a repeated idx or step id."""
    if "paragraphs" not in record and "question_decomposition" not in record:
        raise MissingInput(f"{location}: the field 'paragraphs' is missing; every such record has it, or 'question_decomposition'.")
    answerable = record.get("answerable", True)
    answers = _answers(record)
    steps = record.get("question_decomposition")
    paragraphs = tuple(map(_paragraph, record.get("paragraphs", ())))
    _check_unique([paragraph.id for paragraph in paragraphs], "paragraphs", "idx", location)
    return Instance(
        id=record["id"] + ("" if answerable else TWIN),
        question=record["question"],
        paragraphs=paragraphs,
        answers=answers if answerable else (),
        answer_type="span" if answers and answerable else "none",
        decomposition=None if steps is None else _steps(steps, location),
        answerable=answerable,
        group=record["id"],
        provenance=note_faults(_faults(record) if answerable else (), beside=note(NAME, _notes(record, answers, answerable))),
    )


def _answers(record: Record) -> tuple[str, ...]:
    """The answer and its aliases; the aliases alone if the answer is missing."""
    answer, aliases = record.get("answer"), record.get("answer_aliases", [])
    return tuple(aliases) if answer is None else (answer, *aliases)


def _faults(record: Record) -> list[Fault]:
    """The faults of an answerable question."""
    faults = []
    if record.get("answer") is None and record.get("answer_aliases"):
        faults.append(Fault(kind="absent-answer", place="answer", detail="there are only aliases of it"))
    indices = {passage["idx"] for passage in record.get("paragraphs", ())}
    for place, hop in enumerate(record.get("question_decomposition", ()) if indices else ()):
        idx = hop.get("paragraph_support_idx")
        if idx not in indices:
            detail = "the step has none" if idx is None else f"no paragraph has the idx {idx}"
            faults.append(Fault(kind="absent-paragraph", place=f"question_decomposition.{place}.paragraph_support_idx", detail=detail))
    return faults


def _paragraph(passage: Passage) -> Paragraph:
    return Paragraph(
        id=str(passage["idx"]), title=passage["title"], text=passage["paragraph_text"], supporting=passage.get("is_supporting")
    )


def _steps(hops: Sequence[Hop], location: str) -> tuple[Step, ...]:
    ids = [str(hop["id"]) for hop in hops]
    _check_unique(ids, "question_decomposition", "id", location)
    depends_on = dependencies([hop["question"] for hop in hops], ids)
    return tuple(_step(hop, earlier) for hop, earlier in zip(hops, depends_on, strict=True))


def _step(hop: Hop, depends_on: tuple[str, ...]) -> Step:
    idx = hop.get("paragraph_support_idx")
    paragraph = None if idx is None else str(idx)
    return Step(id=str(hop["id"]), question=hop["question"], answer=hop.get("answer"), paragraph_id=paragraph, depends_on=depends_on)


def _check_unique(ids: Sequence[str], field: str, name: str, location: str) -> None:
    if len(set(ids)) < len(ids):
        duplicate = next(value for value in ids if ids.count(value) > 1)
        raise DuplicateId(f"{location}, field {field!r}: the {name} {duplicate} occurs twice; fix or drop the record.")


def _notes(record: Record, answers: Sequence[str], answerable: bool) -> dict[str, Any]:
    """A question's note, with the fields of ``MusiqueNotes``."""
    notes = _unknown(record, Record)
    passages = record.get("paragraphs", ())
    fields_by_idx = {str(passage["idx"]): fields for passage in passages if (fields := unknown_fields(passage, Passage))}
    ids = {str(passage["idx"]) for passage in passages}
    hops = {str(hop["id"]): values for hop in record.get("question_decomposition", ()) if (values := _hop_notes(hop, ids))}
    notes |= {field: values for field, values in (("paragraphs", fields_by_idx), ("question_decomposition", hops)) if values}
    answer = record.get("answer")
    if answers and answer is None:
        notes["answer_aliases"] = list(answers)
    elif answers and not answerable:
        notes["answer"], notes["answer_aliases"] = answers[0], list(answers[1:])
    if answerable and not answers and "answerable" in record:
        notes["answerable"] = True
    absent = [field for field in ("answer_aliases", "answerable") if field not in record and answers]
    if "answer" in record and answer is None:
        notes["null_fields"] = ["answer"]
    left_out = {"paragraphs": "question_decomposition" in record, "answer_aliases": not answers}
    empty_fields = [field for field, is_left_out in left_out.items() if is_left_out and record.get(field) == []]
    return notes | ({"absent_fields": absent} if absent else {}) | ({"empty_fields": empty_fields} if empty_fields else {})


def _unknown(fields: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {field: value for field, value in unknown_fields(fields, kind).items() if field not in FORM_NOTES}


def _hop_notes(hop: Hop, indices: Collection[str]) -> dict[str, Any]:
    notes = _unknown(hop, Hop)
    if "paragraph_support_idx" not in hop:
        notes["absent_fields"] = ["paragraph_support_idx"]
    if "answer" in hop and hop["answer"] is None:
        notes["null_fields"] = ["answer"]
    if isinstance(hop["id"], str) and looks_like_number(hop["id"]):
        notes["id"] = hop["id"]
    idx = hop.get("paragraph_support_idx")
    if indices and idx is not None and str(idx) not in indices:
        notes["paragraph_support_idx"] = idx
    return notes


def to_record(instance: Instance) -> dict[str, Any]:
    """The official record; paragraphs are numbered in order unless all their ids are numbers.

    A step loses a paragraph that is not shown, unless the official record lacked it too or the question has no paragraphs at all.
    """
    notes = validated(noted(instance, NAME), NOTES, f"instance {instance.id}, provenance")
    numbers = numbers_of([paragraph.id for paragraph in instance.paragraphs])
    record: dict[str, Any] = {"id": instance.id if instance.answerable else instance.id.removesuffix(TWIN)}
    empty_fields = notes.get("empty_fields", ())
    if instance.paragraphs or instance.decomposition is None or "paragraphs" in empty_fields:
        passage_notes = notes.get("paragraphs", {})
        record["paragraphs"] = [_passage(paragraph, numbers[paragraph.id], passage_notes) for paragraph in instance.paragraphs]
    record["question"] = instance.question
    if instance.decomposition is not None:
        step_notes = notes.get("question_decomposition", {})
        record["question_decomposition"] = [_hop(step, numbers, step_notes) for step in instance.decomposition]
    check_one_part(instance, "MuSiQue")
    record |= _answer_fields(instance, notes)
    if not instance.hidden or "answerable" in notes:
        record["answerable"] = instance.answerable
    if "answer_aliases" in empty_fields:
        record.setdefault("answer_aliases", [])
    for field in notes.get("absent_fields", ()):
        if field in {"answer_aliases", "answerable"} and record.get(field) in ([], True):
            del record[field]
    return record | _unknown(notes, Record)


def _answer_fields(instance: Instance, notes: MusiqueNotes) -> dict[str, Any]:
    """The fields of the answer and its aliases; the noted ones for an unanswerable question."""
    answers, aliases = instance.answers, notes.get("answer_aliases", [])
    if not answers and not instance.answerable and "answer" in notes:
        answers = (notes["answer"], *aliases)
    fields: dict[str, Any] = {"answer": None} if "answer" in notes.get("null_fields", ()) else {}
    has_aliases_only = aliases and "answer" not in notes and list(answers) == (aliases if instance.answerable else [])
    if has_aliases_only:
        return {**fields, "answer_aliases": aliases}
    return {"answer": answers[0], "answer_aliases": list(answers[1:])} if answers else fields


def _passage(paragraph: Paragraph, idx: int, notes: Mapping[str, Any]) -> dict[str, Any]:
    passage = {"idx": idx, "title": paragraph.title or "", "paragraph_text": paragraph.text}
    if paragraph.supporting is not None:
        passage["is_supporting"] = paragraph.supporting
    return {**passage, **notes.get(paragraph.id, {})}


def _hop(step: Step, numbers: Mapping[str, int], notes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    paragraph_id, step_notes = step.paragraph_id or "", notes.get(step.id, {})
    hop: dict[str, Any] = {"id": number_or_text(step.id), "question": step.question}
    if step.answer is not None or "answer" in step_notes.get("null_fields", ()):
        hop["answer"] = step.answer
    is_elsewhere = not numbers or str(step_notes.get("paragraph_support_idx")) == paragraph_id
    elsewhere = int(paragraph_id) if is_elsewhere and looks_like_number(paragraph_id) else None
    hop |= {**unknown_fields(step_notes, HopNotes), "paragraph_support_idx": numbers.get(paragraph_id, elsewhere)}
    if hop["paragraph_support_idx"] is None and "paragraph_support_idx" in step_notes.get("absent_fields", ()):
        del hop["paragraph_support_idx"]
    return hop


write = lines_writer(to_record)
"""Write one official file, line by line."""
