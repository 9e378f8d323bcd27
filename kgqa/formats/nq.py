"""Single-hop questions over one paragraph as JSON lines: Natural Questions as QED has them, and plain records.

QED (Lamm et al. 2021) gives the answers of each annotator with their places, where the sentences begin and which of them explains the
answer. The spans of one annotator are one answer together, those of several annotators are alternatives. A plain record, as MuSiQue's seed
questions are, is ``id, question, answer, title, context``, and ``answers`` where there are several alternatives. A seed question may come
in several wordings under one id; the second one's Instance is ``<id>#2``, and its group the id. An Instance that was a QED record, and
whose answers and text are what they were, is written as one, any other as a plain record, which has no place for several spans together.
Spans that the paragraph has not where they say, and beginnings of sentences that do not rise within it, are noted as faults. Such
beginnings are no sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId, InputError
from kgqa.formats.annotators import check_one_part, of_annotators
from kgqa.formats.faults import CHARACTERS, Fault, note_faults, noted_places
from kgqa.formats.identifiers import Identifier, looks_like_number, number_or_text
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import write_lines
from kgqa.formats.provenance import note, noted
from kgqa.records import Instance, Paragraph

PURPOSE = (
    "single-hop questions over one paragraph as JSON lines: QED's records of Natural Questions, or id, question, answer, title, context"
)
SUFFIX = ".jsonl"
NAME = "nq"
STARTS = "sentence_starts"
SELECTED = "annotation.selected_sentence"


class Span(Open):
    """A place in the paragraph and what stands there."""

    start: int
    end: int
    string: str


class Annotation(Open):
    """QED's explanation of the answer; of its parts only the selected sentence has a place in the normal form."""

    selected_sentence: NotRequired[Span | None]


class QedRecord(Open):
    """One line of QED."""

    example_id: Identifier
    title_text: NotRequired[str]
    question_text: str
    paragraph_text: str
    sentence_starts: NotRequired[list[int]]
    original_nq_answers: list[list[Span]]
    annotation: NotRequired[Annotation | None]


class PlainRecord(Open):
    """One line with one answer or several."""

    id: Identifier
    question: str
    answer: NotRequired[str | None]
    answers: NotRequired[list[str]]
    title: NotRequired[str | None]
    context: str


RECORD = TypeAdapter(dict[str, Any])
QED = TypeAdapter(QedRecord)
PLAIN = TypeAdapter(PlainRecord)


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the fields are QED's, or those of a plain record, whose answers are texts."""
    return _is_qed(record) or (
        {"id", "question", "title", "context"} <= record.keys()
        and isinstance(record["context"], str)
        and isinstance(answers := record.get("answers", []), list)
        and not any(isinstance(answer, dict) for answer in answers)
    )


def _is_qed(record: Mapping[str, Any]) -> bool:
    return "original_nq_answers" in record or "question_text" in record


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file; memory: one record, all ids and questions.

    DuplicateId where an id is there twice with the same question.
    """
    wordings, ids = Wordings(), Ids()
    for where, record in stream.records(path, RECORD):
        instance = from_record(record, where)
        number = wordings.add(instance.id, instance.question)
        if number is None:
            raise DuplicateId(f"{where}: id {instance.id} was already used with the same question; drop one of them.")
        if number > 1:
            instance = replace(instance, id=f"{instance.id}#{number}")
        ids.add(instance.id, where)
        yield instance


class Wordings:
    """The questions that were seen under each id."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._seen: dict[str, list[str]] = {}

    def add(self, id: str, question: str) -> int | None:  # noqa: A002 - what the field is called
        """The number of this wording under ``id``, from 1; None where it was there already."""
        seen = self._seen.setdefault(id, [])
        if question in seen:
            return None
        seen.append(question)
        return len(seen)

    def name(self, instance: Instance) -> str:
        """What a file calls ``instance`` so that :func:`read` finds its id again; the wording is then seen."""
        base, _, number = instance.id.rpartition("#")
        seen = self._seen.get(base, [])
        name = base if base == instance.group and number == str(len(seen) + 1) and seen and instance.question not in seen else instance.id
        self.add(name, instance.question)
        return name


def from_record(record: Mapping[str, Any], where: str) -> Instance:
    """The Instance of a record of either kind; InputError where a field is not what it must be."""
    if _is_qed(record):
        return _from_qed(validated(record, QED, where), where)
    plain = validated(record, PLAIN, where)
    answer = plain.get("answer")
    given = [[text] for text in ([] if answer is None else [answer]) + plain.get("answers", [])]
    notes = _notes(plain, PlainRecord, "id")
    title, text = plain.get("title"), plain["context"]
    return _instance(plain["id"], plain["question"], given, _paragraph(title, text), notes)


def _from_qed(record: QedRecord, where: str) -> Instance:
    text, starts = record["paragraph_text"], record.get("sentence_starts")
    answers = record["original_nq_answers"]
    annotation = record.get("annotation")
    selected = annotation.get("selected_sentence") if annotation else None
    faults = list(_faults(answers, selected, text, starts))
    wrong = {fault.place for fault in faults}
    sound = None if STARTS in wrong else starts
    paragraph = _paragraph(record.get("title_text"), text, sound, None if SELECTED in wrong else selected)
    notes = {**_notes(record, QedRecord, "example_id"), "original_nq_answers": answers}
    if "annotation" in record:
        notes["annotation"] = record["annotation"]
    if sound is None and starts is not None:
        notes[STARTS] = starts
    given = [list(dict.fromkeys(span["string"] for span in spans)) for spans in answers if spans]
    return _instance(record["example_id"], record["question_text"], given, paragraph, notes, faults=faults)


def _faults(answers: list[list[Span]], selected: Span | None, text: str, starts: list[int] | None) -> Iterator[Fault]:
    """Spans that ``text`` has not where they say, and sentences that do not begin one after the other within it."""
    spans = [(span, f"original_nq_answers.{number}.{place}") for number, given in enumerate(answers) for place, span in enumerate(given)]
    for span, place in spans if selected is None else [*spans, (selected, SELECTED)]:
        start, end, string = span["start"], span["end"], span["string"]
        if not 0 <= start <= end <= len(text) or text[start:end] != string:
            detail = f"the paragraph does not have {string[:CHARACTERS]!r} at {str(start)[:CHARACTERS]} to {str(end)[:CHARACTERS]}"
            yield Fault(kind="wrong-place", place=place, detail=detail)
    if starts is not None and (any(not 0 <= start < len(text) for start in starts) or sorted(set(starts)) != starts):
        yield Fault(kind="wrong-place", place=STARTS, detail="the beginnings of the sentences do not rise within the paragraph")


def _paragraph(title: str | None, text: str, starts: list[int] | None = None, selected: Span | None = None) -> Paragraph:
    marked = None
    if starts is not None and selected is not None:
        ends = [*starts[1:], len(text)]
        marked = tuple(n for n, start in enumerate(starts) if start < selected["end"] and ends[n] > selected["start"])
    return Paragraph(
        id="0", title=title, text=text, supporting=None, sentences=None if starts is None else tuple(starts), supporting_sentences=marked
    )


def _notes(record: Mapping[str, Any], kind: type, name: str) -> dict[str, Any]:
    """Unknown fields, and the id where it is text that looks like a number."""
    notes = {key: value for key, value in record.items() if key not in kind.__annotations__}
    ambiguous = isinstance(record[name], str) and looks_like_number(record[name])
    return notes | ({name: record[name]} if ambiguous else {})


def _instance(
    identifier: int | str,
    question: str,
    given: Sequence[Sequence[str]],
    paragraph: Paragraph,
    notes: dict[str, Any],
    *,
    faults: Sequence[Fault] = (),
) -> Instance:
    """Who gives an answer, which may be several spans together, says that the paragraph supports it."""
    answers, alternatives = of_annotators(given)
    return Instance(
        id=str(identifier),
        question=question,
        paragraphs=(replace(paragraph, supporting=True) if answers else paragraph,),
        answers=answers,
        alternatives=alternatives,
        answer_type=("none", "span", "spans")[min(len(given[0]), 2)] if given else "none",
        answerable=True,
        group=str(identifier),
        provenance=note_faults(faults, beside=note(NAME, notes)),
    )


def to_record(instance: Instance, name: str | None = None) -> dict[str, Any]:
    """The record of a question over one paragraph, with the id ``name``; BrokenInput where there are more paragraphs, or none."""
    if len(instance.paragraphs) != 1:
        raise BrokenInput(
            f"instance {instance.id}: a single-hop record holds one paragraph, and this question has {len(instance.paragraphs)}; "
            "leave it out, or write another format."
        )
    name = instance.id if name is None else name
    notes = noted(instance, NAME)
    return _qed(instance, notes, name) or _plain(instance, notes, name)


def _qed(instance: Instance, notes: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """QED's record, or None where it was none or its notes do not fit the question any more."""
    if "original_nq_answers" not in notes:
        return None
    (paragraph,) = instance.paragraphs
    record: dict[str, Any] = {"example_id": name if notes.get("example_id") == name else number_or_text(name)}
    if paragraph.title is not None:
        record["title_text"] = paragraph.title
    record |= {"question_text": instance.question, "paragraph_text": paragraph.text}
    record |= {key: value for key, value in notes.items() if key != "example_id"}
    if paragraph.sentences is not None:
        record[STARTS] = list(paragraph.sentences)
    try:
        again = from_record(record, f"instance {instance.id}")
    except InputError:
        return None
    same = (again.answers, again.alternatives) == (instance.answers, instance.alternatives) and again.paragraphs[
        0
    ].supporting_sentences == paragraph.supporting_sentences
    # A place that never held does not hold now; one that no longer holds does not fit.
    return record if same and noted_places(again) == noted_places(instance) else None


def _plain(instance: Instance, notes: Mapping[str, Any], name: str) -> dict[str, Any]:
    check_one_part(instance, "a plain record")
    (paragraph,) = instance.paragraphs
    record: dict[str, Any] = {"id": name if notes.get("id") == name else number_or_text(name), "question": instance.question}
    if instance.answers:
        record["answer"] = instance.answers[0]
    if len(instance.answers) > 1:
        record["answers"] = list(instance.answers)
    record |= {"title": paragraph.title, "context": paragraph.text}
    held = {*PlainRecord.__annotations__, *QedRecord.__annotations__}
    return record | {key: value for key, value in notes.items() if key not in held}


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file, line by line; memory: all ids and questions."""
    wordings = Wordings()
    write_lines((to_record(instance, wordings.name(instance)) for instance in instances), path)
