"""An Instance as a JSON object with the field names of the normal form, whole or in part, for formats that accept further fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId
from kgqa.formats import native
from kgqa.formats.json.validate import Closed, Open, validated
from kgqa.formats.provenance import everything
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
UNKNOWN_FIELDS = MappingProxyType(
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
"""The values of fields about which nothing is known."""
KEY = "kgqa"
"""The key under which other formats hold an Instance's further fields."""


class FurtherParagraphFields(Open):
    """Fields of a paragraph that a format lacks."""

    id: NotRequired[str]


class FurtherFields(Open):
    """Fields of an Instance that a format lacks, and those of its paragraphs by the format's name for them."""

    paragraphs: NotRequired[dict[str, FurtherParagraphFields]]
    provenance: NotRequired[str | None]


def to_row(instance: Instance) -> dict[str, Any]:
    """All fields of an Instance; tuples, which JSON writes as lists."""
    return asdict(instance)


def from_row(value: object, location: str) -> Instance:
    """The Instance in a row. Raises BrokenInput, MissingInput or DuplicateId with the wrong field."""
    row = validated(value, ROW, location)
    instance = native.instance(dict(row))
    if instance.grades is not None and len(instance.grades) != len(instance.candidates or ()):
        raise BrokenInput(f"{location}, field 'grades': expected one for each candidate; fix or drop the record.")
    if not all(0 <= grade.confidence <= 1 for grade in instance.grades or () if grade):
        raise BrokenInput(f"{location}, field 'grades.confidence': expected a number from 0 to 1; fix or drop the record.")
    ids = [paragraph.id for paragraph in instance.paragraphs]
    if len(set(ids)) < len(ids):
        duplicate = next(name for name in ids if ids.count(name) > 1)
        raise DuplicateId(f"{location}: two paragraphs have the id {duplicate}; give one of them another.")
    return instance


def provenance_of(fields: Mapping[str, Any], location: str) -> str | None:
    """The provenance among further ``fields``. Raises BrokenInput unless it is a JSON object."""
    text: str | None = fields.get("provenance")
    try:
        is_object = text is None or isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise BrokenInput(f"{location}, field {f'{KEY}.provenance'!r}: expected a JSON object as text; fix it, or set it to null.")
    return text


def further_fields(instance: Instance, original: Instance, names: Sequence[str], note_name: str) -> dict[str, Any]:
    """The fields in which ``instance`` differs from ``original``, which is what a format's own fields give.

    ``names`` are the format's names of the paragraphs, in order. Its own note, ``note_name``, is left out of the provenance: reading the
    format's fields makes it again.
    """
    row, plain_row = to_row(instance), to_row(original)
    fields = {field: row[field] for field in row if row[field] != plain_row[field] and field not in {"paragraphs", "provenance"}}
    paragraphs = {
        name: {field: values[field] for field in values if values[field] != plain_values[field]}
        for name, values, plain_values in zip(names, row["paragraphs"], plain_row["paragraphs"], strict=True)
        if values != plain_values
    }
    if paragraphs:
        fields["paragraphs"] = paragraphs
    notes = everything(instance)
    other_notes = {name: value for name, value in notes.items() if name != note_name}
    if other_notes:
        fields["provenance"] = instance.provenance if other_notes == notes else json.dumps(other_notes, ensure_ascii=False)
    return fields
