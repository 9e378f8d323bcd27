"""Single-hop questions over one paragraph as JSON lines: QED's records of Natural Questions, and plain records.

QED (Lamm et al. 2021) gives the answers of each annotator with their offsets, the offsets of sentences, and the sentence that explains the
answer. All spans of one annotator form one answer; those of several annotators are alternatives. A plain record, such as MuSiQue's seed
questions, has the fields ``id, question, answer, title, context``, and ``answers`` for several alternatives. A seed question may have
several wordings under one id; the second wording becomes Instance ``<id>#2`` in the group ``<id>``. An Instance from a QED record with
unchanged answers and text is written as such a record, any other as a plain record, which cannot hold an answer of several spans. Spans
that are not at their offsets, and offsets of sentences that do not ascend within the paragraph, are noted as faults; such offsets are
ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId, InputError
from kgqa.formats.annotators import answer_fields, check_one_part
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
    """Offsets in the paragraph, and the text between them."""

    start: int
    end: int
    string: str


class Annotation(Open):
    """QED's explanation of the answer; the normal form has a field for the selected sentence only."""

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
    """One line with one or more answers."""

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
    """Whether the fields are QED's, or those of a plain record with texts as answers."""
    return _is_qed(record) or (
        {"id", "question", "title", "context"} <= record.keys()
        and isinstance(record["context"], str)
        and isinstance(answers := record.get("answers", []), list)
        and not any(isinstance(answer, dict) for answer in answers)
    )


def _is_qed(record: Mapping[str, Any]) -> bool:
    return "original_nq_answers" in record or "question_text" in record


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: one record, all ids and questions.

    Raises DuplicateId for an id that is repeated with the same question.
    """
    wordings, ids = Wordings(), Ids()
    for location, record in stream.records(path, RECORD):
        instance = from_record(record, location)
        number = wordings.add(instance.id, instance.question)
        if number is None:
            raise DuplicateId(f"{location}: id {instance.id} was already used with the same question; drop one of them.")
        if number > 1:
            instance = replace(instance, id=f"{instance.id}#{number}")
        ids.add(instance.id, location)
        yield instance


class Wordings:
    """The wordings of each question, by id."""

    def __init__(self) -> None:
        """Wordings are added with :meth:`add`."""
        self._wordings: dict[str, list[str]] = {}

    def add(self, name: str, question: str) -> int | None:
        """Add a wording under the id ``name``, and return its number from 1; None for a repeated wording."""
        wordings = self._wordings.setdefault(name, [])
        if question in wordings:
            return None
        wordings.append(question)
        return len(wordings)

    def name(self, instance: Instance) -> str:
        """Add ``instance``, and return the id in the file from which :func:`read` makes its id again."""
        base, _, number = instance.id.rpartition("#")
        wordings = self._wordings.get(base, [])
        is_next = base == instance.group and number == str(len(wordings) + 1)
        name = base if is_next and wordings and instance.question not in wordings else instance.id
        self.add(name, instance.question)
        return name


def from_record(record: Mapping[str, Any], location: str) -> Instance:
    """The Instance of a record of either kind. Raises InputError for a wrong field."""
    if _is_qed(record):
        return _from_qed(validated(record, QED, location), location)
    plain_record = validated(record, PLAIN, location)
    answer = plain_record.get("answer")
    answers = [[text] for text in ([] if answer is None else [answer]) + plain_record.get("answers", [])]
    notes = _notes(plain_record, PlainRecord, "id")
    title, text = plain_record.get("title"), plain_record["context"]
    return _instance(plain_record["id"], plain_record["question"], answers, _paragraph(title, text), notes)


def _from_qed(record: QedRecord, location: str) -> Instance:
    text, starts = record["paragraph_text"], record.get("sentence_starts")
    answers = record["original_nq_answers"]
    annotation = record.get("annotation")
    selected_span = annotation.get("selected_sentence") if annotation else None
    faults = list(_faults(answers, selected_span, text, starts))
    places = {fault.place for fault in faults}
    valid_starts = None if STARTS in places else starts
    paragraph = _paragraph(record.get("title_text"), text, valid_starts, None if SELECTED in places else selected_span)
    notes = {**_notes(record, QedRecord, "example_id"), "original_nq_answers": answers}
    if "annotation" in record:
        notes["annotation"] = record["annotation"]
    if valid_starts is None and starts is not None:
        notes[STARTS] = starts
    texts = [list(dict.fromkeys(span["string"] for span in spans)) for spans in answers if spans]
    return _instance(record["example_id"], record["question_text"], texts, paragraph, notes, faults=faults)


def _faults(answers: list[list[Span]], selected_span: Span | None, text: str, starts: list[int] | None) -> Iterator[Fault]:
    """Spans that are not at their offsets in ``text``, and offsets of sentences that do not ascend within it."""
    spans = [(span, f"original_nq_answers.{number}.{place}") for number, answer in enumerate(answers) for place, span in enumerate(answer)]
    for span, place in spans if selected_span is None else [*spans, (selected_span, SELECTED)]:
        start, end, string = span["start"], span["end"], span["string"]
        if not 0 <= start <= end <= len(text) or text[start:end] != string:
            detail = f"the paragraph does not have {string[:CHARACTERS]!r} at {str(start)[:CHARACTERS]} to {str(end)[:CHARACTERS]}"
            yield Fault(kind="wrong-place", place=place, detail=detail)
    if starts is not None and (any(not 0 <= start < len(text) for start in starts) or sorted(set(starts)) != starts):
        yield Fault(kind="wrong-place", place=STARTS, detail="the beginnings of the sentences do not rise within the paragraph")


def _paragraph(title: str | None, text: str, starts: list[int] | None = None, selected_span: Span | None = None) -> Paragraph:
    marks = None
    if starts is not None and selected_span is not None:
        ends = [*starts[1:], len(text)]
        marks = tuple(n for n, start in enumerate(starts) if start < selected_span["end"] and ends[n] > selected_span["start"])
    return Paragraph(
        id="0", title=title, text=text, supporting=None, sentences=None if starts is None else tuple(starts), supporting_sentences=marks
    )


def _notes(record: Mapping[str, Any], kind: type, name: str) -> dict[str, Any]:
    """Unknown fields, and the id if it is text that looks like a number."""
    notes = {key: value for key, value in record.items() if key not in kind.__annotations__}
    ambiguous = isinstance(record[name], str) and looks_like_number(record[name])
    return notes | ({name: record[name]} if ambiguous else {})


def _instance(
    identifier: int | str,
    question: str,
    annotations: Sequence[Sequence[str]],
    paragraph: Paragraph,
    notes: dict[str, Any],
    *,
    faults: Sequence[Fault] = (),
) -> Instance:
    """The Instance of a question with the answers of all annotators; its paragraph supports any answer."""
    answers, alternatives = answer_fields(annotations)
    return Instance(
        id=str(identifier),
        question=question,
        paragraphs=(replace(paragraph, supporting=True) if answers else paragraph,),
        answers=answers,
        alternatives=alternatives,
        answer_type=("none", "span", "spans")[min(len(annotations[0]), 2)] if annotations else "none",
        answerable=True,
        group=str(identifier),
        provenance=note_faults(faults, beside=note(NAME, notes)),
    )


def to_record(instance: Instance, name: str | None = None) -> dict[str, Any]:
    """The record of a question over one paragraph, with the id ``name``. Raises BrokenInput for any other number of paragraphs."""
    if len(instance.paragraphs) != 1:
        raise BrokenInput(
            f"instance {instance.id}: a single-hop record holds one paragraph, and this question has {len(instance.paragraphs)}; "
            "leave it out, or write another format."
        )
    name = instance.id if name is None else name
    notes = noted(instance, NAME)
    return _qed(instance, notes, name) or _plain(instance, notes, name)


def _qed(instance: Instance, notes: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """QED's record, or None if the question comes from elsewhere or its note does not fit it any more."""
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
        round_trip = from_record(record, f"instance {instance.id}")
    except InputError:
        return None
    has_same_answers = (round_trip.answers, round_trip.alternatives) == (instance.answers, instance.alternatives)
    has_same_marks = round_trip.paragraphs[0].supporting_sentences == paragraph.supporting_sentences
    # Offsets that were wrong from the start may stay wrong; newly wrong ones show that the text has changed.
    return record if has_same_answers and has_same_marks and noted_places(round_trip) == noted_places(instance) else None


def _plain(instance: Instance, notes: Mapping[str, Any], name: str) -> dict[str, Any]:
    check_one_part(instance, "a plain record")
    (paragraph,) = instance.paragraphs
    record: dict[str, Any] = {"id": name if notes.get("id") == name else number_or_text(name), "question": instance.question}
    if instance.answers:
        record["answer"] = instance.answers[0]
    if len(instance.answers) > 1:
        record["answers"] = list(instance.answers)
    record |= {"title": paragraph.title, "context": paragraph.text}
    known_fields = {*PlainRecord.__annotations__, *QedRecord.__annotations__}
    return record | {key: value for key, value in notes.items() if key not in known_fields}


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file, line by line. Memory: all ids and questions."""
    wordings = Wordings()
    write_lines((to_record(instance, wordings.name(instance)) for instance in instances), path)
