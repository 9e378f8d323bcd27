"""SQuAD 1.1's JSON: one object of articles, their paragraphs, and questions that a span of the paragraph answers (Rajpurkar et al. 2016).

A question has one paragraph with the id ``<article>/<paragraph>``, counted from 0 among those with questions. Its answers are the distinct
texts of all annotators, each of them right. The answers with their offsets are noted, as are unknown fields of file, article, paragraph and
question. ``answer_start`` may be null, since other programs do not always know the offset. An answer that is not at its offset, and a
question without answers, are kept and noted as faults. Answers are hidden, as in test files, if a question lacks the field, or if no
question of the file has an answer or is marked as impossible. The parser also accepts a bare list of articles.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Generic, NotRequired, TypeVar

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput
from kgqa.formats.annotators import check_one_part
from kgqa.formats.faults import CHARACTERS, Fault, note_faults, noted_places
from kgqa.formats.json import stream
from kgqa.formats.json.types import encode
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.provenance import everything, note, noted, unknown_fields
from kgqa.records import Instance, Paragraph

PURPOSE = "SQuAD 1.1's JSON: articles, paragraphs, and questions that a span of the paragraph answers"
SUFFIX = ".json"
NAME = "squad"
NAMES = (NAME, "squad2", "quoref")
"""The names of notes that these formats share: each writes the others' notes."""
VERSION = "1.1"
BETWEEN = "\n\n"
"""Joins the texts of a question with several paragraphs, as the format holds only one."""
PARAGRAPH_ID = re.compile(r"([0-9]+)/[0-9]+")
"""Matches a paragraph's id in this format."""
AnyQuestion = TypeVar("AnyQuestion")


class SquadAnswer(Open):
    """An annotator's answer: its text and its first character in the context."""

    text: str
    answer_start: int | None


class SquadQuestion(Open):
    """A question of SQuAD 1.1."""

    id: str
    question: str
    answers: NotRequired[list[SquadAnswer]]


class Context(Open, Generic[AnyQuestion]):
    """One paragraph, with questions of SQuAD 1.1 or 2.0."""

    context: str
    qas: list[AnyQuestion]


class Article(Open, Generic[AnyQuestion]):
    """The paragraphs of one article."""

    title: NotRequired[str | None]
    paragraphs: list[Context[AnyQuestion]]


class File(Open, Generic[AnyQuestion]):
    """A whole file; official ones have a version."""

    data: list[Article[AnyQuestion]]


class SquadNotes(Open):
    """A question's note: its answers, and unknown fields of file, article, paragraph and question."""

    answers: NotRequired[list[SquadAnswer]]
    plausible_answers: NotRequired[list[SquadAnswer]]
    """In SQuAD 2.0 only."""
    is_impossible: NotRequired[bool]
    """Noted only if the answers contradict it."""
    file: NotRequired[dict[str, Any]]
    article: NotRequired[dict[str, Any]]
    paragraph: NotRequired[dict[str, Any]]
    question: NotRequired[dict[str, Any]]


FILE = TypeAdapter(File[SquadQuestion])
NOTES = TypeAdapter(SquadNotes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A question of a file with its paragraph."""

    where: str
    question: Mapping[str, Any]
    title: str | None
    paragraph_id: str
    text: str
    notes: dict[str, Any]
    """Unknown fields of its file, article and paragraph."""
    hidden: bool = False
    """Whether the answers are held back."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the file has articles under ``data``, and its first question lacks SQuAD 2.0's ``is_impossible``."""
    question = first_question(record)
    return question is not None and "is_impossible" not in question


def first_question(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first question, empty in a file without questions; None for a file in another format."""
    return next(iter(questions_in(record)), {}) if isinstance(record.get("data"), list) else None


def whole_file(path: Path, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """``record``, the first of the file at ``path``; if it is the first article of a bare list, the list as a whole file."""
    contexts = record.get("paragraphs") if isinstance(record, Mapping) else None
    if isinstance(contexts, list) and contexts and isinstance(contexts[0], dict) and "qas" in contexts[0] and stream.is_list(path):
        return {"data": [article for _, article in stream.values(path)]}
    return record


def questions_in(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All questions of a possible file; parts with another form are skipped."""
    values: list[Any] = [record]
    for field in ("data", "paragraphs", "qas"):
        lists = [value.get(field) for value in values if isinstance(value, dict)]
        values = [entry for entries in lists if isinstance(entries, list) for entry in entries]
    return [question for question in values if isinstance(question, dict)]


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: the whole file. Raises InputError with the question and field."""
    for entry in entries(path, FILE):
        yield instance_of(entry, NAME, SquadQuestion, faults=absent_answer(entry))


def absent_answer(entry: Entry) -> Iterator[Fault]:
    """A fault if the question has neither an answer nor a hidden one."""
    if not entry.hidden and not entry.question["answers"]:
        yield Fault(kind="absent-answer", place="answers", detail="the question has none, which only SQuAD 2.0 allows")


def entries(path: Path, kind: TypeAdapter[Any]) -> Iterator[Entry]:
    """The questions of a file of SQuAD 1.1 or 2.0. Raises InputError for a repeated id or a file without questions."""
    if stream.is_list(path):  # a bare list of articles
        file = validated({"data": [article for _, article in stream.values(path)]}, kind, path.name)
    else:
        file = stream.document(path, kind)
    ids = Ids()
    is_hidden = _all_hidden(file)
    number = -1
    for place, article in enumerate(file["data"]):
        contexts = [(at, context) for at, context in enumerate(article["paragraphs"]) if context["qas"]]
        number += bool(contexts)
        for count, (at, context) in enumerate(contexts):
            unknown_keys = {
                "file": unknown_fields(file, File),
                "article": unknown_fields(article, Article),
                "paragraph": unknown_fields(context, Context),
            }
            for order, question in enumerate(context["qas"]):
                ids.add(question["id"], f"{path.name}, data.{place}.paragraphs.{at}.qas.{order}")
                yield Entry(
                    where=f"{path.name}, question {question['id']}",
                    question=question,
                    title=article.get("title"),
                    paragraph_id=f"{number}/{count}",
                    text=context["context"],
                    notes={name: fields for name, fields in unknown_keys.items() if fields},
                    hidden=is_hidden or "answers" not in question,
                )
    if number < 0:
        raise BrokenInput(f"{path.name}: the file has no questions; choose one that has.")


def _all_hidden(file: Mapping[str, Any]) -> bool:
    """Whether no question of a file has an answer or is marked as impossible."""
    questions = (question for article in file["data"] for context in article["paragraphs"] for question in context["qas"])
    return not any(question.get("answers") or question.get("is_impossible") for question in questions)


def instance_of(entry: Entry, name: str, kind: type, faults: Iterable[Fault] = (), *, parts: bool = False) -> Instance:
    """The Instance of a question of ``kind`` with its ``faults``; its note gets the name ``name``.

    ``parts``: several answers are parts of one answer.
    """
    question, answers = entry.question, entry.question.get("answers", [])
    has_answers = bool(answers)
    notes = {"answers": question.get("answers"), **entry.notes, "question": unknown_fields(question, kind)}
    if "plausible_answers" in kind.__annotations__:
        notes["plausible_answers"] = question.get("plausible_answers")
    if "is_impossible" in kind.__annotations__ and question.get("is_impossible") == has_answers:
        notes["is_impossible"] = question["is_impossible"]
    texts = answer_texts(answers)
    return Instance(
        id=question["id"],
        question=question["question"],
        paragraphs=(
            Paragraph(id=entry.paragraph_id, title=entry.title, text=entry.text, supporting=None if entry.hidden else has_answers),
        ),
        answers=texts,
        answer_type="spans" if parts and len(texts) > 1 else "span" if has_answers else "none",
        answerable=has_answers or entry.hidden,
        group=question["id"],
        # An empty list of answers is kept, since it distinguishes such a question from one of another format.
        provenance=note_faults(
            [*faults, *_offset_faults(answers, entry.text)],
            beside=note(name, {key: value for key, value in notes.items() if value or isinstance(value, list | bool)}),
        ),
    )


def _offset_faults(answers: Sequence[SquadAnswer], text: str) -> Iterator[Fault]:
    for number, answer in enumerate(answers):
        if not is_at_offset(answer, text):
            detail = f"the paragraph does not have {answer['text'][:CHARACTERS]!r} from character {str(answer['answer_start'])[:20]}"
            yield Fault(kind="wrong-place", place=f"answers.{number}.answer_start", detail=detail)


def answer_texts(answers: Sequence[SquadAnswer]) -> tuple[str, ...]:
    """The distinct texts of the annotators, in order."""
    return tuple(dict.fromkeys(answer["text"] for answer in answers))


def is_at_offset(answer: SquadAnswer, text: str) -> bool:
    """Whether ``text`` has the answer at its offset; True for an answer without an offset.

    >>> is_at_offset({"text": "mills", "answer_start": 13}, "Skarn has 12 mills.")
    True
    """
    start = answer["answer_start"]
    return start is None or (0 <= start <= len(text) and text.startswith(answer["text"], start))


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file. Raises BrokenInput for an unanswerable question from another format. Memory: one article."""
    write_file(instances, path, to_question, version=VERSION)


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question, without the field ``answers`` if these are hidden.

    Raises BrokenInput for a question without answers, unless it comes from such a file, and for an answer of several spans.
    """
    had_none = not instance.answers and noted(instance, NAME).get("answers") == []
    if not had_none and not instance.answerable:
        raise BrokenInput(
            f"instance {instance.id}: it has no answer, and SQuAD 1.1 holds answered questions only; leave it out, or write squad2."
        )
    check_one_part(instance, "SQuAD")
    notes = notes_of(instance)
    return {**notes.get("question", {}), "id": instance.id, "question": instance.question, **answers_field(instance, notes)}


def answers_field(instance: Instance, notes: SquadNotes) -> dict[str, Any]:
    """The field ``answers`` of a question; a question with hidden answers has it only if the original had it, empty."""
    return {} if instance.hidden and "answers" not in notes else {"answers": answers_with_offsets(instance, notes)}


def notes_of(instance: Instance) -> SquadNotes:
    """The note of one of the formats that share notes (``NAMES``)."""
    notes = everything(instance)
    name = next((name for name in NAMES if notes.get(name)), NAME)
    return validated(notes.get(name, {}), NOTES, f"instance {instance.id}, provenance, {name!r}")


def answers_with_offsets(instance: Instance, notes: SquadNotes) -> list[dict[str, Any]]:
    """The answers with offsets: the noted ones if they are still right or were wrong from the start, else searched in the text.

    An answer that does not occur in the text exactly once gets a null offset.
    """
    text = shown_text(instance)
    if not has_noted_answers(instance, notes):
        return [_with_offset(answer, text) for answer in instance.answers]
    wrong_from_start = noted_places(instance)
    return [
        dict(answer)
        if is_at_offset(answer, text) or f"answers.{number}.answer_start" in wrong_from_start
        else _with_offset(answer["text"], text)
        for number, answer in enumerate(notes.get("answers", []))
    ]


def has_noted_answers(instance: Instance, notes: SquadNotes) -> bool:
    """Whether the answers are still the noted ones."""
    return answer_texts(notes.get("answers", [])) == instance.answers


def _with_offset(answer: str, text: str) -> dict[str, Any]:
    start = text.find(answer)
    return {"text": answer, "answer_start": None if start < 0 or text.find(answer, start + 1) >= 0 else start}


def shown_text(instance: Instance) -> str:
    """The text of the paragraph, or the joined texts of all paragraphs."""
    return BETWEEN.join(paragraph.text for paragraph in instance.paragraphs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A question in official form, with the fields of its article and paragraph."""

    question: dict[str, Any]
    notes: SquadNotes
    title: str | None
    text: str
    paragraph_id: str | None
    """The paragraph's id if it has this format's form."""

    def article(self) -> tuple[str | None, dict[str, Any], str]:
        """A key: consecutive questions with equal keys belong to one article."""
        return self.title, self.notes.get("article", {}), (self.paragraph_id or "").partition("/")[0]

    def paragraph(self) -> tuple[str, dict[str, Any], str | None]:
        """A key: consecutive questions with equal keys belong to one paragraph."""
        return self.text, self.notes.get("paragraph", {}), self.paragraph_id


def write_file(instances: Iterable[Instance], path: Path, form: Callable[[Instance], dict[str, Any]], *, version: str) -> None:
    """Write one file; ``form`` makes the official question, and ``version`` is for Instances from other formats."""
    rows = (_row(instance, form) for instance in instances)
    first_row = next(rows, None)
    fields = {"version": version} if first_row is None or not first_row.notes else unknown_fields(first_row.notes.get("file", {}), File)
    with path.open("w", encoding="utf-8") as file:
        file.write("{" + "".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}, " for key, value in fields.items()))
        file.write('"data": [')
        for number, (_, group) in enumerate(groupby(chain([first_row] if first_row else [], rows), _Row.article)):
            file.write((",\n" if number else "\n") + encode(_article(list(group))))
        file.write("\n]}\n")


def _row(instance: Instance, form: Callable[[Instance], dict[str, Any]]) -> _Row:
    titles = {paragraph.title for paragraph in instance.paragraphs}
    paragraph_id = instance.paragraphs[0].id if len(instance.paragraphs) == 1 else ""
    return _Row(
        question=form(instance),
        notes=notes_of(instance),
        title=titles.pop() if len(titles) == 1 else None,
        text=shown_text(instance),
        paragraph_id=paragraph_id if PARAGRAPH_ID.fullmatch(paragraph_id) else None,
    )


def _article(rows: list[_Row]) -> dict[str, Any]:
    contexts = []
    for _, group in groupby(rows, _Row.paragraph):
        members = list(group)
        contexts.append({**members[0].notes.get("paragraph", {}), "context": members[0].text, "qas": [row.question for row in members]})
    return {**rows[0].notes.get("article", {}), "title": rows[0].title, "paragraphs": contexts}
