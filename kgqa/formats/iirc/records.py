"""The records of IIRC's official files, and what their fields mean together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.formats.faults import CHARACTERS, Fault
from kgqa.formats.iirc.articles import MAIN
from kgqa.formats.iirc.outputs import BOOLEAN
from kgqa.formats.json.validate import Open


class Link(Open):
    """A link in the paragraph."""

    target: str
    indices: Annotated[tuple[int, int], Strict(False)]


class Span(Open):
    """A span of an answer; official ones say where it stands."""

    text: str


class Answer(Open):
    """An answer; a value has a unit too."""

    type: Literal["span", "value", "binary", "none"]
    answer_spans: NotRequired[list[Span] | None]
    answer_value: NotRequired[str | None]


class Evidence(Open):
    """What the answerer marked as needed; official evidence says where it stands."""

    text: str
    passage: str


class Question(Open):
    """A question of the official file."""

    qid: str
    question: str
    answer: Answer
    context: NotRequired[list[Evidence]]
    question_links: NotRequired[list[str]]
    paragraphs: NotRequired[list[str]]
    context_covers: NotRequired[Literal["links"]]


class Record(Open):
    """One paragraph with its questions."""

    text: str
    title: NotRequired[str | None]
    links: NotRequired[list[Link]]
    questions: list[Question]


class Notes(Open):
    """What is noted of a question.

    ``articles`` are the titles of which the whole text was shown; ``absent_articles``, of passages with marked sentences, those whose text
    was looked for and not there. ``unplaced_links`` are no mentions; ``unplaced_at`` is where they stand among all links, if not last.
    """

    answer: NotRequired[Answer]
    context: NotRequired[list[Evidence]]
    question_links: NotRequired[list[str]]
    articles: NotRequired[list[str]]
    absent_articles: NotRequired[list[str]]
    unplaced_links: NotRequired[list[Link]]
    unplaced_at: NotRequired[list[int]]
    record: NotRequired[dict[str, Any]]
    question: NotRequired[dict[str, Any]]


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(Notes)


def titles_of(question: Mapping[str, Any]) -> list[str]:
    """What a question's paragraphs are called, each once, in order; an article's title may be there in another case."""
    passages = (entry["passage"] for entry in question.get("context", ()))
    titles = question.get("paragraphs", [MAIN, *question.get("question_links", ()), *passages])
    found: dict[str, str] = {}
    for title in titles if MAIN in titles else [MAIN, *titles]:
        found.setdefault(key_of(title), title)
    return list(found.values())


def key_of(title: str) -> str:
    """What two titles of one article have in common; the article Main is not the main paragraph."""
    return title if title == MAIN else f"{title.lower()}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What an answer is in the normal form."""

    answers: tuple[str, ...]
    """Those that the official script compares with: none where it takes the span "none" for the answer."""
    type: str
    fault: Fault | None = None


def answers_of(answer: Mapping[str, Any]) -> Answers:
    """What an official answer says, and whether it is what its type promises.

    As in the authors' conversion for their script (``make_drop_style.py``), an answer without spans or value is the one that there is none;
    but a blank value is one that nothing agrees with, and a binary answer is a span whatever it says.
    """
    kind, value = answer["type"], answer.get("answer_value")
    if kind == "none":
        return Answers(answers=(), type="none")
    if kind == "span":
        spans = tuple(span["text"] for span in answer.get("answer_spans") or ())
        return Answers(answers=spans, type="span" if len(spans) == 1 else "spans") if spans else _absent(kind, "answer.answer_spans")
    if value is None or not value.strip():
        return _absent(kind, "answer.answer_value", blank=bool(value) or (value is not None and kind == "binary"))
    if kind == "value":
        return Answers(answers=(value.strip(),), type="number")
    if value.strip().lower() in BOOLEAN:
        return Answers(answers=(value.strip().lower(),), type="boolean")
    detail = f"the type is binary, and the value {value[:CHARACTERS]!r} is neither yes nor no"
    return Answers(answers=(value,), type="span", fault=Fault(kind="contradiction", place="answer.answer_value", detail=detail))


def _absent(kind: str, place: str, *, blank: bool = False) -> Answers:
    fault = Fault(kind="absent-answer", place=place, detail=f"an answer of the type {kind} needs one, and there is none")
    return Answers(answers=("",), type="span", fault=fault) if blank else Answers(answers=(), type="none", fault=fault)
