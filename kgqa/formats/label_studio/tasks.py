"""The records of Label Studio's JSON, a question's note, and the labelling configuration that shows the tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NotRequired
from xml.etree import ElementTree

from pydantic import TypeAdapter

from kgqa.formats.instance_json import FurtherFields
from kgqa.formats.json.validate import Closed, Open
from kgqa.formats.label_studio.answers import ANSWER, VERDICTS, Annotation

SPAN, PARAGRAPHS = "answer_span", "paragraphs"


class TaskParagraph(Open):
    """A paragraph of a task."""

    id: NotRequired[str]
    title: NotRequired[str | None]
    text: str


class Option(Open):
    """A candidate; annotations contain ``alias`` instead of ``value``."""

    value: str
    alias: NotRequired[str]


class Data(Open):
    """The content of a task, with either paragraphs or one text."""

    id: NotRequired[str]
    question: str
    paragraphs: NotRequired[list[TaskParagraph]]
    text: NotRequired[str]
    answers: NotRequired[list[str]]
    candidates: NotRequired[list[Option]]
    kgqa: NotRequired[FurtherFields]


class Task(Open):
    """A task: the question's data, annotations and predictions."""

    id: NotRequired[int]
    data: Data
    annotations: NotRequired[list[Annotation]]
    predictions: NotRequired[list[Annotation]]


class EarlierAnswer(Closed):
    """The noted answer of a question before annotation."""

    answers: list[str]
    answer_id: str | None
    answer_type: Literal["candidate", "span", "spans", "number", "boolean", "none"]
    answerable: bool
    alternatives: NotRequired[list[list[str]] | None]


class TaskNotes(Closed, total=False):
    """The part of a task that the provenance of its question keeps, so that it can be written again."""

    task: dict[str, Any]
    """Unknown fields of the task, including its number."""
    data: dict[str, Any]
    """Unknown fields of its data."""
    paragraphs: dict[str, dict[str, Any]]
    """Unknown fields of its paragraphs, by their ids."""
    candidates: dict[str, dict[str, Any]]
    """Unknown fields of its candidates, by their ids."""
    unnamed: bool
    """Whether its data have no id, so that the task's number is the question's id."""
    text: bool
    """Whether it has one text instead of paragraphs."""
    annotations: list[Annotation]
    annotators: int
    """The number of annotators."""
    annotated_answers: list[list[str]]
    """The answer of each annotator."""
    before: EarlierAnswer | None
    """The answer before annotation; null if the data had no answers."""
    predictions: list[Annotation]


RECORD, NOTES = TypeAdapter(Task), TypeAdapter(TaskNotes)


def write_config(path: Path, *, paragraphs: bool, text: bool, candidates: bool) -> None:
    """Write the labelling configuration, with a control for each kind of content that some task has; it holds no text of a question."""
    view = ElementTree.Element("View")
    _add(view, "Text", name="question", value="$question")
    if paragraphs:
        _add(view, "Paragraphs", name=PARAGRAPHS, value="$paragraphs", nameKey="title", textKey="text")
        _add(_add(view, "ParagraphLabels", name=SPAN, toName=PARAGRAPHS), "Label", value=ANSWER)
    if text:
        _add(view, "Text", name="text", value="$text")
        _add(_add(view, "Labels", name="text_span", toName="text"), "Label", value=ANSWER)
    if candidates:
        _add(view, "Choices", name="candidate", toName="question", choice="single", value="$candidates")
    verdict = _add(view, "Choices", name="verdict", toName="question", choice="single", showInline="true")
    for value in VERDICTS:
        _add(verdict, "Choice", value=value)
    _add(view, "TextArea", name="answer", toName="question", placeholder="The answer, if it cannot be marked or chosen")
    ElementTree.indent(view)
    path.write_text(ElementTree.tostring(view, encoding="unicode") + "\n", "utf-8")


def _add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)
