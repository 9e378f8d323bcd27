"""The records of IIRC's official files, and the meaning of their links, titles and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress, zip_longest
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.formats.faults import CHARACTERS, Fault
from kgqa.formats.iirc.articles import MAIN
from kgqa.formats.iirc.outputs import BOOLEAN
from kgqa.formats.json.validate import Open
from kgqa.records import Mention

SHOWN_DIGITS = 20
"""Maximum number of digits of an offset in a message."""


class Link(Open):
    """A link in the paragraph."""

    target: str
    indices: Annotated[tuple[int, int], Strict(False)]


class Span(Open):
    """A span of an answer; official spans have offsets too."""

    text: str


class IircAnswer(Open):
    """An answer; a value also has a unit."""

    type: Literal["span", "value", "binary", "none"]
    answer_spans: NotRequired[list[Span] | None]
    answer_value: NotRequired[str | None]


class Evidence(Open):
    """A sentence that the annotator marked as needed; official evidence has offsets too."""

    text: str
    passage: str


class IircQuestion(Open):
    """A question of the official file."""

    qid: str
    question: str
    answer: IircAnswer
    context: NotRequired[list[Evidence]]
    question_links: NotRequired[list[str]]
    paragraphs: NotRequired[list[str]]
    context_covers: NotRequired[Literal["links"]]


class Record(Open):
    """One paragraph with its questions."""

    text: str
    title: NotRequired[str | None]
    links: NotRequired[list[Link]]
    questions: list[IircQuestion]


class IircNotes(Open):
    """A question's note: fields of its record and question that the normal form lacks."""

    answer: NotRequired[IircAnswer]
    context: NotRequired[list[Evidence]]
    question_links: NotRequired[list[str]]
    articles: NotRequired[list[str]]
    """Titles of the articles that were shown whole."""
    absent_articles: NotRequired[list[str]]
    """Titles with marked sentences that the file of articles lacked."""
    unplaced_links: NotRequired[list[Link]]
    """Links that are not mentions."""
    unplaced_at: NotRequired[list[int]]
    """The positions of these links among all links, if they are not the last ones."""
    record: NotRequired[dict[str, Any]]
    question: NotRequired[dict[str, Any]]


RECORD = TypeAdapter(Record)
NOTES = TypeAdapter(IircNotes)


def titles_of(question: Mapping[str, Any]) -> list[str]:
    """The titles of a question's paragraphs, in order; titles that differ in case only count once."""
    passages = (entry["passage"] for entry in question.get("context", ()))
    titles = question.get("paragraphs", [MAIN, *question.get("question_links", ()), *passages])
    by_key: dict[str, str] = {}
    for title in titles if MAIN in titles else [MAIN, *titles]:
        by_key.setdefault(key_of(title), title)
    return list(by_key.values())


def key_of(title: str) -> str:
    """A key that all titles of one article share; the article Main and the main paragraph have different keys."""
    return title if title == MAIN else f"{title.lower()}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalAnswer:
    """An official answer in the fields of the normal form."""

    answers: tuple[str, ...]
    """The answers that the official script compares with; empty if it expects the span "none"."""
    type: str
    fault: Fault | None = None


def answer_of(answer: Mapping[str, Any]) -> NormalAnswer:
    """An official answer in the normal form, with a fault if it contradicts its type.

    As in the authors' conversion for their script (``make_drop_style.py``), an answer without spans or value means that the question is
    unanswerable. A blank value is an answer that no prediction matches, and a binary answer is a span whatever its text.

    >>> answer_of({"type": "value", "answer_value": " 12 "}).answers, answer_of({"type": "binary", "answer_value": "Yes"}).type
    (('12',), 'boolean')
    """
    kind, value = answer["type"], answer.get("answer_value")
    if kind == "none":
        return NormalAnswer(answers=(), type="none")
    if kind == "span":
        spans = tuple(span["text"] for span in answer.get("answer_spans") or ())
        return NormalAnswer(answers=spans, type="span" if len(spans) == 1 else "spans") if spans else _absent(kind, "answer.answer_spans")
    if value is None or not value.strip():
        return _absent(kind, "answer.answer_value", blank=bool(value) or (value is not None and kind == "binary"))
    if kind == "value":
        return NormalAnswer(answers=(value.strip(),), type="number")
    if value.strip().lower() in BOOLEAN:
        return NormalAnswer(answers=(value.strip().lower(),), type="boolean")
    detail = f"the type is binary, and the value {value[:CHARACTERS]!r} is neither yes nor no"
    return NormalAnswer(answers=(value,), type="span", fault=Fault(kind="contradiction", place="answer.answer_value", detail=detail))


def _absent(kind: str, place: str, *, blank: bool = False) -> NormalAnswer:
    fault = Fault(kind="absent-answer", place=place, detail=f"an answer of the type {kind} needs one, and there is none")
    return NormalAnswer(answers=("",), type="span", fault=fault) if blank else NormalAnswer(answers=(), type="none", fault=fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The links of a record, divided into mentions and the rest."""

    mentions: tuple[Mention, ...] | None
    """None if the record has no list of links."""
    notes: Mapping[str, Any]
    """The links that cannot be mentions, with the fields of ``IircNotes``."""
    faults: tuple[Fault, ...]
    """Links outside the paragraph."""


def links_of(record: Mapping[str, Any]) -> Links:
    """The links of an official record. A link with further fields is not turned into a mention, which would lose them."""
    links, size = record.get("links") or [], len(record["text"])
    is_outside = [not 0 <= link["indices"][0] <= link["indices"][1] <= size for link in links]
    is_mention = [not outside and link.keys() == Link.__annotations__.keys() for outside, link in zip(is_outside, links, strict=True)]
    plain_numbers = [number for number, mention in enumerate(is_mention) if not mention]
    are_last = plain_numbers == list(range(len(links) - len(plain_numbers), len(links)))
    mentions = (Mention(entity=link["target"], start=link["indices"][0], end=link["indices"][1]) for link in compress(links, is_mention))
    return Links(
        mentions=None if record.get("links") is None else tuple(mentions),
        notes={
            "unplaced_links": [links[number] for number in plain_numbers],
            "unplaced_at": [] if are_last else plain_numbers,
        },
        faults=tuple(_outside_fault(number, links[number], size) for number in plain_numbers if is_outside[number]),
    )


def _outside_fault(number: int, link: Mapping[str, Any], size: int) -> Fault:
    start, end = (str(place)[:SHOWN_DIGITS] for place in link["indices"])
    detail = f"the paragraph has {size:,} characters, and the link stands at {start} to {end}"
    return Fault(kind="wrong-place", place=f"links.{number}.indices", detail=detail)


def to_links(mentions: tuple[Mention, ...], notes: IircNotes) -> list[Mapping[str, Any]]:
    """The official links: the mentions, and the noted links at their old positions."""
    links: list[Mapping[str, Any]] = [{"target": mention.entity, "indices": [mention.start, mention.end]} for mention in mentions]
    for at, link in zip_longest(notes.get("unplaced_at", ()), notes.get("unplaced_links", ())):
        if link is not None:
            links.insert(len(links) if at is None else at, link)
    return links
