"""Faults of content in the records of a set: kept as they are, noted, counted, and written back unchanged.

Parsers refuse broken form (invalid JSON, a value of another type, a missing id). A fault that only the parser of a format can see is noted
in the provenance under ``NAME``; a fault that is visible in the Instance is found when the Instance is inspected (:func:`faults_of`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.formats.json.types import MARK
from kgqa.formats.provenance import ENCODER, everything, note, noted
from kgqa.records import Candidate, Instance, Paragraph

NAME = "faults"
"""The name of the note with faults: place in the record → kind of the fault, and a description."""
FAULTS = MappingProxyType(
    {
        "absent-support": "a supporting fact names a paragraph or sentence that is not there",
        "absent-paragraph": "a step has no paragraph, or one that is not there",
        "wrong-place": "a text is not where its place says",
        "absent-text": "a paragraph that the evidence names has no text",
        "absent-question": "a judgement is about a question that is not there",
        "absent-answer": "there is no answer where there must be one",
        "unlisted-answer": "the answer is none of those that are listed",
        "contradiction": "two fields contradict each other",
        "wrong-reference": "a step refers to one that does not come before it",
        "empty-question": "the question is empty",
        "empty-answer": "an answer is empty",
        "empty-title": "a title is empty",
        "equal-paragraphs": "two paragraphs are equal",
        "equal-candidates": "two candidates are equal",
        "other-type": "a field has another type than the format's, and can only mean one thing",
    }
)
"""Kind of a fault → the sentence that reports show."""
TOLERABLE = frozenset({"absent-question", "other-type", "absent-text", "empty-question", "empty-answer", "empty-title", "equal-paragraphs"})
"""Faults that break no promise of a format, so that ``--strict`` accepts them."""
OF_ANSWERABLE = frozenset({"absent-answer", "absent-paragraph", "unlisted-answer"})
"""Faults that only an answerable question can have."""
SUMMARY_SIZE = 3
"""Maximum numbers of kinds of faults, and of ids, in the summary."""
CHARACTERS = 60
"""Maximum number of characters of an id or a text in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of one record."""

    kind: str
    """A key of ``FAULTS``."""
    place: str
    """The field in the record, as ``supporting_facts.2``, or the part of the Instance, as ``paragraphs.2``."""
    detail: str
    """A description, in words."""


def note_faults(faults: Iterable[Fault], *, beside: str | None) -> str | None:
    """The provenance ``beside`` with the ``faults`` of a record added."""
    values = {fault.place: [fault.kind, fault.detail] for fault in faults}
    if not values:
        return beside
    if beside is None or f'"{NAME}"' in beside:
        return note(NAME, _faults_in(beside) | values, beside=beside)
    # Appended as text, since parsing a long provenance would take far longer.
    prefix = beside.rstrip()[:-1].rstrip()
    return f'{prefix}{"" if prefix == "{" else ", "}"{NAME}": {ENCODER.encode(values)}}}'


def _faults_in(provenance: str | None) -> dict[str, Any]:
    """The note of faults in a provenance; empty if it has none."""
    faults = json.loads(provenance or "{}").get(NAME)
    return faults if isinstance(faults, dict) else {}


def without_faults(instance: Instance, places: tuple[str, ...]) -> Instance:
    """``instance`` without the noted faults whose places begin with one of ``places``."""
    faults = noted_places(instance)
    result = {place: value for place, value in faults.items() if not place.startswith(places)}
    if result == faults:
        return instance
    notes = {name: values for name, values in everything(instance).items() if name != NAME}
    notes |= {NAME: result} if result else {}
    return replace(instance, provenance=json.dumps(notes, ensure_ascii=False) if notes else None)


def without_faults_of_answerable(notes: Mapping[str, Any]) -> dict[str, Any]:
    """A whole provenance without the faults that only an answerable question can have (``OF_ANSWERABLE``)."""
    faults = notes.get(NAME)
    if not isinstance(faults, dict):
        return dict(notes)
    result = {place: value for place, value in faults.items() if not (isinstance(value, list) and value and value[0] in OF_ANSWERABLE)}
    return {name: result if name == NAME else values for name, values in notes.items() if result or name != NAME}


def faults_of(instance: Instance) -> tuple[Fault, ...]:
    """The faults of an Instance, noted ones first. Raises BrokenInput for a damaged note."""
    visible = tuple(_visible_faults(instance)) if _is_suspect(instance) else ()
    if f'"{MARK}"' in (instance.provenance or ""):
        visible = (*visible, *_type_faults(json.loads(instance.provenance or "{}")))
    return (*_noted_faults(instance), *visible) if f'"{NAME}"' in (instance.provenance or "") else visible


def _type_faults(notes: Any, place: str = "") -> Iterator[Fault]:
    """A fault for each field that came with another type: each entry of a ``MARK``, at any depth of ``notes``."""
    if isinstance(notes, list):
        for number, entry in enumerate(notes):
            yield from _type_faults(entry, f"{place}{number}.")
    elif isinstance(notes, dict):
        originals = notes.get(MARK)
        for name, value in originals.items() if isinstance(originals, dict) else ():
            yield Fault(kind="other-type", place=f"{place}{name}", detail=f"the file has {str(value)[:CHARACTERS]!r}")
        for name, entry in notes.items():
            if name != MARK:
                yield from _type_faults(entry, f"{place}{name}.")


def noted_places(instance: Instance) -> dict[str, Any]:
    """Place → kind and description of each noted fault."""
    # Most Instances have no faults, and a search for the word is far cheaper than parsing all notes.
    return noted(instance, NAME) if instance.provenance is not None and f'"{NAME}"' in instance.provenance else {}


def _noted_faults(instance: Instance) -> Iterator[Fault]:
    for place, value in noted_places(instance).items():
        kind, detail = value if isinstance(value, list) and len(value) == 2 else (None, None)
        if not (isinstance(kind, str) and isinstance(detail, str) and kind in FAULTS):
            raise BrokenInput(f"instance {instance.id}, provenance, '{NAME}.{place}': expected a kind of fault and words; set it to null.")
        yield Fault(kind=kind, place=place, detail=detail)


def _is_suspect(instance: Instance) -> bool:
    """Whether a closer look may find a fault. Every question is tested, and most are sound, so this must cost next to nothing."""
    paragraphs, answers = instance.paragraphs, instance.answers
    if instance.candidates is not None or (paragraphs and not instance.question.strip()) or not all(map(str.strip, answers)):
        return True
    # Equal texts are of equal length, which is known without reading them.
    if len(paragraphs) > 1 and len({len(paragraph.text) for paragraph in paragraphs}) < len(paragraphs):
        return True
    if not all(map(str.strip, [paragraph.title for paragraph in paragraphs if paragraph.title is not None])):
        return True
    annotated_paragraphs = [
        paragraph for paragraph in paragraphs if paragraph.mentions or paragraph.sentences or paragraph.supporting_sentences
    ]
    return any(map(_may_be_outside, annotated_paragraphs))


def _may_be_outside(paragraph: Paragraph) -> bool:
    sentences, marks = paragraph.sentences or (), paragraph.supporting_sentences or ()
    if sentences and (max(sentences) > len(paragraph.text) or min(sentences) < 0):
        return True
    return bool(paragraph.mentions) or bool(marks and not (sentences and max(marks) < len(sentences) and min(marks) >= 0))


def _visible_faults(instance: Instance) -> Iterator[Fault]:
    # Gold files for scoring may have neither question nor paragraphs.
    if instance.paragraphs and not instance.question.strip():
        yield Fault(kind="empty-question", place="question", detail="it holds no visible character")
    for number, answer in enumerate(instance.answers):
        if not answer.strip():
            yield Fault(kind="empty-answer", place=f"answers.{number}", detail="it holds no visible character")
    first_places: dict[tuple[str | None, str], int] = {}
    for number, paragraph in enumerate(instance.paragraphs):
        if paragraph.title is not None and not paragraph.title.strip():
            yield Fault(kind="empty-title", place=f"paragraphs.{number}.title", detail="it holds no visible character")
        earlier = first_places.setdefault((paragraph.title, paragraph.text), number)
        if earlier != number:
            yield Fault(kind="equal-paragraphs", place=f"paragraphs.{number}", detail=f"title and text are those of paragraphs.{earlier}")
        if paragraph.mentions or paragraph.sentences or paragraph.supporting_sentences:
            yield from _offset_faults(paragraph, f"paragraphs.{number}")
    if instance.candidates is not None:
        yield from _candidate_faults(instance, instance.candidates)


def _offset_faults(paragraph: Paragraph, location: str) -> Iterator[Fault]:
    """Mentions and sentence offsets outside the text, and marks of sentences that do not exist."""
    length, sentences = len(paragraph.text), paragraph.sentences or ()
    for number, mention in enumerate(paragraph.mentions or ()):
        if not 0 <= mention.start <= mention.end <= length:
            detail = f"from {mention.start} to {mention.end} in a text of {length} characters"
            yield Fault(kind="wrong-place", place=f"{location}.mentions.{number}", detail=detail)
    if sentences and not (min(sentences) >= 0 and max(sentences) <= length):
        number = next(number for number, start in enumerate(sentences) if not 0 <= start <= length)
        detail = f"it begins at {sentences[number]} in a text of {length} characters"
        yield Fault(kind="wrong-place", place=f"{location}.sentences.{number}", detail=detail)
    for number, mark in enumerate(paragraph.supporting_sentences or ()):
        if not 0 <= mark < len(sentences):
            detail = f"sentence {mark} of a paragraph with {len(sentences)}"
            yield Fault(kind="wrong-place", place=f"{location}.supporting_sentences.{number}", detail=detail)


def _candidate_faults(instance: Instance, candidates: Sequence[Candidate]) -> Iterator[Fault]:
    """An answer that is not among the candidates, and candidates with equal texts."""
    texts = {candidate.text for candidate in candidates}
    for answer in instance.answers[:1] if instance.answer_type == "candidate" else ():
        if answer not in texts and instance.answer_id not in {candidate.id for candidate in candidates}:
            yield Fault(kind="unlisted-answer", place="answer", detail=f"{answer[:CHARACTERS]!r} is not among the candidates")
    first_places: dict[str, int] = {}
    for number, candidate in enumerate(candidates if len(texts) < len(candidates) else ()):
        if first_places.setdefault(candidate.text, number) != number:
            detail = f"{candidate.text[:CHARACTERS]!r} is candidates.{first_places[candidate.text]} already"
            yield Fault(kind="equal-candidates", place=f"candidates.{number}", detail=detail)


@dataclass(slots=True)
class FaultCounts:
    """Counts of the faults in a number of questions."""

    questions: int = 0
    imperfect: int = 0
    """Questions with at least one fault."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Kind of a fault → questions with at least one fault of this kind."""
    first: list[str] = field(default_factory=list)
    """The ids of the first imperfect questions."""
    hidden: int = 0
    """Questions whose answer is hidden, which does not count as a fault."""

    def add(self, instance: Instance) -> tuple[Fault, ...]:
        """Count one question, and return its faults."""
        self.questions += 1
        self.hidden += instance.hidden
        faults = faults_of(instance)
        if faults:
            self.imperfect += 1
            for kind in {fault.kind for fault in faults}:
                self.kinds[kind] += 1
            if len(self.first) < SUMMARY_SIZE:
                self.first.append(instance.id[:CHARACTERS])
        return faults

    def __iadd__(self, other: FaultCounts) -> FaultCounts:
        """Add the counts of other questions."""
        self.questions += other.questions
        self.imperfect += other.imperfect
        self.hidden += other.hidden
        self.kinds += other.kinds
        self.first = [*self.first, *other.first][:SUMMARY_SIZE]
        return self

    def record(self) -> dict[str, object]:
        """The counts as a JSON object."""
        return {"questions": self.questions, "imperfect": self.imperfect, "kinds": dict(sorted(self.kinds.items()))}

    @property
    def sentence(self) -> str:
        """One line of summary; empty if no question has a fault."""
        if not self.imperfect:
            return ""
        ranking = sorted(self.kinds.items(), key=lambda item: (-item[1], item[0]))
        kinds = "; ".join(f"{FAULTS[kind]} ({count:,})" for kind, count in ranking[:SUMMARY_SIZE])
        excess = len(ranking) - SUMMARY_SIZE
        suffix = f"; and {excess} more {'kind' if excess == 1 else 'kinds'}" if excess > 0 else ""
        ids = ", ".join(self.first) + (", …" if self.imperfect > len(self.first) else "")
        have, are = ("has", "It is") if self.imperfect == 1 else ("have", "They are")
        return (
            f"{self.imperfect:,} of {self.questions:,} questions {have} faults of content, kept as they are: {kinds}{suffix}. {are} {ids}."
        )


def count_faults(instances: Iterable[Instance], counts: FaultCounts, *, location: str, strict: bool) -> Iterator[Instance]:
    """Pass the ``instances`` through and add their faults to ``counts``; if ``strict``, BrokenInput at the first not ``TOLERABLE``."""
    for instance in instances:
        faults = counts.add(instance)
        fault = next((fault for fault in faults if fault.kind not in TOLERABLE), None) if strict and faults else None
        if fault is not None:
            raise BrokenInput(
                f"{location}, question {instance.id}, field {fault.place!r}: {FAULTS[fault.kind]}: {fault.detail}; "
                "fix or drop the record, or leave out --strict."
            )
        yield instance
