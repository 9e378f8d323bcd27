"""An Instance as a JSON object with the field names of the normal form, for formats that let other data travel along."""

from __future__ import annotations

from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId
from kgqa.formats import native
from kgqa.formats.json.validate import Closed, validated
from kgqa.records import Instance


class MentionRow(Closed):
    """A ``Mention`` as JSON."""

    entity: str
    start: int
    end: int


class ParagraphRow(Closed):
    """A ``Paragraph`` as JSON."""

    id: str
    title: str | None
    text: str
    supporting: bool | None
    mentions: list[MentionRow] | None
    sentences: list[int] | None
    supporting_sentences: list[int] | None


class CandidateRow(Closed):
    """A ``Candidate`` as JSON."""

    id: str
    text: str


class GradeRow(Closed):
    """A ``Grade`` as JSON."""

    confidence: float
    path: str
    text: str


class StepRow(Closed):
    """A ``Step`` as JSON."""

    id: str
    question: str
    answer: str | None
    paragraph_id: str | None
    depends_on: list[str]


class Row(Closed):
    """An ``Instance`` as JSON."""

    id: str
    question: str
    paragraphs: list[ParagraphRow]
    answers: list[str]
    alternatives: NotRequired[list[list[str]] | None]
    answer_id: str | None
    answer_type: Literal["candidate", "span", "spans", "number", "boolean", "none"]
    candidates: list[CandidateRow] | None
    chains: list[list[list[str]]] | None
    grades: NotRequired[list[GradeRow | None] | None]
    decomposition: list[StepRow] | None
    answerable: bool
    group: str
    provenance: str | None


ROW = TypeAdapter(Row)
UNSAID = MappingProxyType(
    {
        "alternatives": None,
        "answer_id": None,
        "answer_type": "none",
        "candidates": None,
        "chains": None,
        "decomposition": None,
        "answerable": True,
    }
)
"""The fields of a row that say nothing."""


def to_row(instance: Instance) -> dict[str, Any]:
    """All of an Instance; tuples, which JSON writes as lists."""
    return asdict(instance)


def from_row(value: object, where: str) -> Instance:
    """The Instance in a row; raises BrokenInput, MissingInput or DuplicateId with the field that is not an Instance's."""
    row = validated(value, ROW, where)
    found = native.instance(dict(row))
    if found.grades is not None and len(found.grades) != len(found.candidates or ()):
        raise BrokenInput(f"{where}, field 'grades': expected one for each candidate; fix or drop the record.")
    if not all(0 <= grade.confidence <= 1 for grade in found.grades or () if grade):
        raise BrokenInput(f"{where}, field 'grades.confidence': expected a number from 0 to 1; fix or drop the record.")
    ids = [paragraph.id for paragraph in found.paragraphs]
    if len(set(ids)) < len(ids):
        twice = next(id for id in ids if ids.count(id) > 1)  # noqa: A001 - what the field is called
        raise DuplicateId(f"{where}: two paragraphs have the id {twice}; give one of them another.")
    return found
