"""SQuAD 1.1's JSON: one object of articles, their paragraphs, and questions that a span of the paragraph answers (Rajpurkar et al. 2016).

A question has one paragraph, whose id is ``<article>/<paragraph>``, counted from 0 among those that have questions. Its answers are the
texts of all annotators, each once, any of which is right; what each annotator marked, with its place, is noted, as are unknown fields of
file, article, paragraph and question. ``answer_start`` may be null: a file that was put together again does not always know the place. A
place where the paragraph has something else, and a question without answers, are kept as they are and noted as faults. The answers are
hidden, as in test files, where a question has no field for them, or where no question of the file has any and none says that it is
impossible. A file that is the list of articles alone is read too.
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
from kgqa.formats.json.types import encoded
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.provenance import everything, note, noted, unknown_fields
from kgqa.records import Instance, Paragraph

PURPOSE = "SQuAD 1.1's JSON: articles, paragraphs, and questions that a span of the paragraph answers"
SUFFIX = ".json"
NAME = "squad"
NAMES = (NAME, "squad2", "quoref")
"""Under which of them a note is; each of these formats writes what another noted."""
VERSION = "1.1"
BETWEEN = "\n\n"
"""Between the texts of a question with several paragraphs, which this format has no place for."""
PLACE = re.compile(r"([0-9]+)/[0-9]+")
"""A paragraph's id in this format."""
AnyQuestion = TypeVar("AnyQuestion")


class Answer(Open):
    """What one annotator marked."""

    text: str
    answer_start: int | None


class Question(Open):
    """A question of SQuAD 1.1."""

    id: str
    question: str
    answers: NotRequired[list[Answer]]


class Context(Open, Generic[AnyQuestion]):
    """One paragraph, with questions as this format or SQuAD 2.0 has them."""

    context: str
    qas: list[AnyQuestion]


class Article(Open, Generic[AnyQuestion]):
    """The paragraphs of one article."""

    title: NotRequired[str | None]
    paragraphs: list[Context[AnyQuestion]]


class File(Open, Generic[AnyQuestion]):
    """A whole file; official ones have a version."""

    data: list[Article[AnyQuestion]]


class Notes(Open):
    """What is noted of a question; ``plausible_answers`` in SQuAD 2.0 only, ``is_impossible`` where the answers contradict it."""

    answers: NotRequired[list[Answer]]
    plausible_answers: NotRequired[list[Answer]]
    is_impossible: NotRequired[bool]
    file: NotRequired[dict[str, Any]]
    article: NotRequired[dict[str, Any]]
    paragraph: NotRequired[dict[str, Any]]
    question: NotRequired[dict[str, Any]]


FILE = TypeAdapter(File[Question])
NOTES = TypeAdapter(Notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A question and where it stands."""

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
    """Whether the file is a list of articles under ``data`` whose first question does not say whether it has an answer, as in SQuAD 2.0."""
    question = first_question(record)
    return question is not None and "is_impossible" not in question


def first_question(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first question, empty where there is none; None where the file is no SQuAD."""
    return next(iter(questions_in(record)), {}) if isinstance(record.get("data"), list) else None


def articles(path: Path, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """``record``, the first of the file, or a whole file where it is the first article of a list of them."""
    contexts = record.get("paragraphs") if isinstance(record, Mapping) else None
    if isinstance(contexts, list) and contexts and isinstance(contexts[0], dict) and "qas" in contexts[0] and stream.is_list(path):
        return {"data": [article for _, article in stream.values(path)]}
    return record


def questions_in(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All questions of what may be a file, as far as its form is one's."""
    found: list[Any] = [record]
    for field in ("data", "paragraphs", "qas"):
        found = [entry for value in found if isinstance(value, dict) for entry in _listed(value.get(field))]
    return [question for question in found if isinstance(question, dict)]


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file, of which all is in memory. Raises InputError with the question and field."""
    for entry in entries(path, FILE):
        yield instance_of(entry, NAME, Question, faults=absent_answer(entry))


def absent_answer(entry: Entry) -> Iterator[Fault]:
    """The fault of a question that has no answer in a file whose answers are not hidden."""
    if not entry.hidden and not entry.question["answers"]:
        yield Fault(kind="absent-answer", place="answers", detail="the question has none, which only SQuAD 2.0 allows")


def entries(path: Path, kind: TypeAdapter[Any]) -> Iterator[Entry]:
    """The questions of a file of either format; InputError where an id is there twice or the file has none."""
    if stream.is_list(path):  # of the articles alone
        file = validated({"data": [article for _, article in stream.values(path)]}, kind, path.name)
    else:
        file = stream.document(path, kind)
    ids = Ids()
    hidden = _all_hidden(file)
    number = -1
    for place, article in enumerate(file["data"]):
        contexts = [(at, context) for at, context in enumerate(article["paragraphs"]) if context["qas"]]
        number += bool(contexts)
        for count, (at, context) in enumerate(contexts):
            unknown = {
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
                    notes={name: fields for name, fields in unknown.items() if fields},
                    hidden=hidden or "answers" not in question,
                )
    if number < 0:
        raise BrokenInput(f"{path.name}: the file holds no question; give one that does.")


def _all_hidden(file: Mapping[str, Any]) -> bool:
    """Whether no question of a file has an answer, or says that there is none."""
    questions = (question for article in file["data"] for context in article["paragraphs"] for question in context["qas"])
    return not any(question.get("answers") or question.get("is_impossible") for question in questions)


def instance_of(entry: Entry, name: str, kind: type, faults: Iterable[Fault] = (), *, parts: bool = False) -> Instance:
    """The Instance of a question of ``kind``, noted under ``name`` with its ``faults``; without answers, it has none in the paragraph.

    ``parts``: several answers are one together.
    """
    question, answers = entry.question, entry.question.get("answers", [])
    answered = bool(answers)
    notes = {"answers": question.get("answers"), **entry.notes, "question": unknown_fields(question, kind)}
    if "plausible_answers" in kind.__annotations__:
        notes["plausible_answers"] = question.get("plausible_answers")
    if "is_impossible" in kind.__annotations__ and question.get("is_impossible") == answered:
        notes["is_impossible"] = question["is_impossible"]
    several = parts and len(texts(answers)) > 1
    return Instance(
        id=question["id"],
        question=question["question"],
        paragraphs=(Paragraph(id=entry.paragraph_id, title=entry.title, text=entry.text, supporting=None if entry.hidden else answered),),
        answers=texts(answers),
        answer_type="spans" if several else "span" if answered else "none",
        answerable=answered or entry.hidden,
        group=question["id"],
        # An empty list of answers stays, so that a note is there.
        provenance=note_faults(
            [*faults, *_misplaced(answers, entry.text)],
            beside=note(name, {key: value for key, value in notes.items() if value or isinstance(value, list | bool)}),
        ),
    )


def _misplaced(answers: Sequence[Answer], text: str) -> Iterator[Fault]:
    for number, answer in enumerate(answers):
        if not stands(answer, text):
            detail = f"the paragraph does not have {answer['text'][:CHARACTERS]!r} from character {str(answer['answer_start'])[:20]}"
            yield Fault(kind="wrong-place", place=f"answers.{number}.answer_start", detail=detail)


def texts(answers: Sequence[Answer]) -> tuple[str, ...]:
    """What the annotators marked, each text once, in order."""
    return tuple(dict.fromkeys(answer["text"] for answer in answers))


def stands(answer: Answer, text: str) -> bool:
    """Whether ``text`` has the answer where it says, if it says so."""
    start = answer["answer_start"]
    return start is None or (0 <= start <= len(text) and text.startswith(answer["text"], start))


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file; BrokenInput for a question without an answer that had one in this format. Memory: one article."""
    write_file(instances, path, to_question, version=VERSION)


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question, without answers where these are hidden; BrokenInput where it has none, unless that was so in such a file, and
    where its answer is several spans together."""
    had_none = not instance.answers and noted(instance, NAME).get("answers") == []
    if not had_none and not instance.answerable:
        raise BrokenInput(
            f"instance {instance.id}: it has no answer, and SQuAD 1.1 holds answered questions only; leave it out, or write squad2."
        )
    check_one_part(instance, "SQuAD")
    notes = notes_of(instance)
    return {**notes.get("question", {}), "id": instance.id, "question": instance.question, **answers_field(instance, notes)}


def answers_field(instance: Instance, notes: Notes) -> dict[str, Any]:
    """``answers`` of a question, which one with hidden answers has only where it was there, and empty."""
    return {} if instance.hidden and "answers" not in notes else {"answers": marked(instance, notes)}


def notes_of(instance: Instance) -> Notes:
    """What either of the two formats noted."""
    known = everything(instance)
    name = next((name for name in NAMES if known.get(name)), NAME)
    return validated(known.get(name, {}), NOTES, f"instance {instance.id}, provenance, {name!r}")


def marked(instance: Instance, notes: Notes) -> list[dict[str, Any]]:
    """The answers with their places: as noted where they still hold or never did; else where the text has them exactly once, or null."""
    text = shown_text(instance)
    if not has_noted_answers(instance, notes):
        return [_placed(answer, text) for answer in instance.answers]
    never = noted_places(instance)
    return [
        dict(answer) if stands(answer, text) or f"answers.{number}.answer_start" in never else _placed(answer["text"], text)
        for number, answer in enumerate(notes.get("answers", []))
    ]


def has_noted_answers(instance: Instance, notes: Notes) -> bool:
    """Whether the answers are those that were noted."""
    return texts(notes.get("answers", [])) == instance.answers


def _placed(answer: str, text: str) -> dict[str, Any]:
    start = text.find(answer)
    return {"text": answer, "answer_start": None if start < 0 or text.find(answer, start + 1) >= 0 else start}


def shown_text(instance: Instance) -> str:
    """The text of the paragraph, or of all of them."""
    return BETWEEN.join(paragraph.text for paragraph in instance.paragraphs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A question in official form, and what it shares with its neighbours."""

    question: dict[str, Any]
    notes: Notes
    title: str | None
    text: str
    place: str | None
    """The paragraph's id where it is one of this format."""

    def article(self) -> tuple[str | None, dict[str, Any], str]:
        """Neighbours with the same are of one article."""
        return self.title, self.notes.get("article", {}), (self.place or "").partition("/")[0]

    def paragraph(self) -> tuple[str, dict[str, Any], str | None]:
        """Neighbours with the same are of one paragraph."""
        return self.text, self.notes.get("paragraph", {}), self.place


def write_file(instances: Iterable[Instance], path: Path, form: Callable[[Instance], dict[str, Any]], *, version: str) -> None:
    """Write one file of questions in the ``form`` of either format; ``version`` is for Instances of other formats."""
    rows = (_row(instance, form) for instance in instances)
    first = next(rows, None)
    fields = {"version": version} if first is None or not first.notes else unknown_fields(first.notes.get("file", {}), File)
    with path.open("w", encoding="utf-8") as file:
        file.write("{" + "".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}, " for key, value in fields.items()))
        file.write('"data": [')
        for number, (_, group) in enumerate(groupby(chain([first] if first else [], rows), _Row.article)):
            file.write((",\n" if number else "\n") + encoded(_article(list(group))))
        file.write("\n]}\n")


def _row(instance: Instance, form: Callable[[Instance], dict[str, Any]]) -> _Row:
    titles = {paragraph.title for paragraph in instance.paragraphs}
    place = instance.paragraphs[0].id if len(instance.paragraphs) == 1 else ""
    return _Row(
        question=form(instance),
        notes=notes_of(instance),
        title=titles.pop() if len(titles) == 1 else None,
        text=shown_text(instance),
        place=place if PLACE.fullmatch(place) else None,
    )


def _article(rows: list[_Row]) -> dict[str, Any]:
    contexts = []
    for _, group in groupby(rows, _Row.paragraph):
        same = list(group)
        contexts.append({**same[0].notes.get("paragraph", {}), "context": same[0].text, "qas": [row.question for row in same]})
    return {**rows[0].notes.get("article", {}), "title": rows[0].title, "paragraphs": contexts}
