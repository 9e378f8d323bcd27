"""The records of Label Studio's JSON, and what is noted of them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter

from kgqa.formats.carried import Carried
from kgqa.formats.json.validate import Closed, Open
from kgqa.formats.label_studio.answers import Annotation


class Shown(Open):
    """A paragraph as the page shows it."""

    id: NotRequired[str]
    title: NotRequired[str | None]
    text: str


class Option(Open):
    """A candidate; ``alias`` is what an annotation says instead of ``value``."""

    value: str
    alias: NotRequired[str]


class Data(Open):
    """What a task shows; either paragraphs or one text."""

    id: NotRequired[str]
    question: str
    paragraphs: NotRequired[list[Shown]]
    text: NotRequired[str]
    answers: NotRequired[list[str]]
    candidates: NotRequired[list[Option]]
    kgqa: NotRequired[Carried]


class Task(Open):
    """A task: the question's data, annotations and predictions."""

    id: NotRequired[int]
    data: Data
    annotations: NotRequired[list[Annotation]]
    predictions: NotRequired[list[Annotation]]


class Before(Closed):
    """An answer, as provenance notes it."""

    answers: list[str]
    answer_id: str | None
    answer_type: Literal["candidate", "span", "spans", "number", "boolean", "none"]
    answerable: bool
    alternatives: NotRequired[list[list[str]] | None]


class Notes(Closed, total=False):
    """What provenance says of a question under ``NAME``."""

    task: dict[str, Any]
    """Other fields of the task, its number among them."""
    data: dict[str, Any]
    """Other fields of its data."""
    paragraphs: dict[str, dict[str, Any]]
    """Other fields of its paragraphs, by their ids."""
    candidates: dict[str, dict[str, Any]]
    """Other fields of its candidates, by their ids."""
    unnamed: bool
    """Its data have no id, so that the task's number is the question's id."""
    text: bool
    """It shows one text, not paragraphs."""
    annotations: list[Annotation]
    annotators: int
    annotated_answers: list[list[str]]
    """What each of them answered."""
    before: Before | None
    """The answer before the annotators'; null where the data said nothing of it."""
    predictions: list[Annotation]


RECORD, NOTES = TypeAdapter(Task), TypeAdapter(Notes)
