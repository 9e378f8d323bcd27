"""What the authors of a set got wrong in the content of a record: it is kept as it is, noted, counted, and written back unchanged.

What breaks the form (no JSON, a value of another type, no id) is refused by the readers. A fault that only the reader of a format can see,
since the normal form has no place for it, is noted in the provenance under ``NAME``; one that any Instance shows is not noted but seen.
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
"""Under which readers note them: place in the record → kind and what is wrong, in words."""
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
BEARABLE = frozenset({"absent-question", "other-type", "absent-text", "empty-question", "empty-answer", "empty-title", "equal-paragraphs"})
"""What breaks no promise of a format, so that ``--strict`` lets it pass."""
OF_ANSWERABLE = frozenset({"absent-answer", "absent-paragraph", "unlisted-answer"})
"""What is no fault where the paragraphs do not answer the question."""
SHOWN = 3
"""Kinds of faults, and ids, that the summary names."""
CHARACTERS = 60
"""Of an id, or a text of the record, that a sentence shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of one record."""

    kind: str
    """A key of ``FAULTS``."""
    place: str
    """The field in the record, as ``supporting_facts.2``; of what any Instance shows, its part, as ``paragraphs.2``."""
    detail: str
    """What is wrong there, in words."""


def note_faults(faults: Iterable[Fault], *, beside: str | None) -> str | None:
    """Provenance with the ``faults`` of a record added to what ``beside`` holds already."""
    values = {fault.place: [fault.kind, fault.detail] for fault in faults}
    if not values:
        return beside
    if beside is None or f'"{NAME}"' in beside:
        return note(NAME, _told(beside) | values, beside=beside)
    # Written behind what is there, which need not be parsed for it.
    before = beside.rstrip()[:-1].rstrip()
    return f'{before}{"" if before == "{" else ", "}"{NAME}": {ENCODER.encode(values)}}}'


def _told(provenance: str | None) -> dict[str, Any]:
    """Faults that another reader noted."""
    told = json.loads(provenance or "{}").get(NAME)
    return told if isinstance(told, dict) else {}


def without_faults(instance: Instance, places: tuple[str, ...]) -> Instance:
    """``instance`` without the noted faults whose places begin with one of ``places``."""
    told = noted_places(instance)
    left = {place: value for place, value in told.items() if not place.startswith(places)}
    if left == told:
        return instance
    others = {name: values for name, values in everything(instance).items() if name != NAME}
    found = others | ({NAME: left} if left else {})
    return replace(instance, provenance=json.dumps(found, ensure_ascii=False) if found else None)


def of_unanswerable(notes: Mapping[str, Any]) -> dict[str, Any]:
    """A whole provenance without the faults that a question which was made unanswerable cannot have."""
    told = notes.get(NAME)
    if not isinstance(told, dict):
        return dict(notes)
    left = {place: value for place, value in told.items() if not (isinstance(value, list) and value and value[0] in OF_ANSWERABLE)}
    return {name: left if name == NAME else values for name, values in notes.items() if left or name != NAME}


def faults_of(instance: Instance) -> tuple[Fault, ...]:
    """The faults of an Instance, those that its reader noted first; BrokenInput where the note is none."""
    seen = tuple(_seen(instance)) if _is_suspect(instance) else ()
    if f'"{MARK}"' in (instance.provenance or ""):
        seen = (*seen, *_of_other_types(json.loads(instance.provenance or "{}")))
    return (*_noted(instance), *seen) if f'"{NAME}"' in (instance.provenance or "") else seen


def _of_other_types(notes: Any, place: str = "") -> Iterator[Fault]:
    """The fields of which a reader noted that they came with another type, wherever in the ``notes`` that stands."""
    if isinstance(notes, list):
        for number, each in enumerate(notes):
            yield from _of_other_types(each, f"{place}{number}.")
    elif isinstance(notes, dict):
        marked = notes.get(MARK)
        for name, given in marked.items() if isinstance(marked, dict) else ():
            yield Fault(kind="other-type", place=f"{place}{name}", detail=f"the file has {str(given)[:CHARACTERS]!r}")
        for name, each in notes.items():
            if name != MARK:
                yield from _of_other_types(each, f"{place}{name}.")


def noted_places(instance: Instance) -> dict[str, Any]:
    """Place → what its reader noted there."""
    # Most have none, and looking for the word is far cheaper than parsing what else is noted.
    return noted(instance, NAME) if instance.provenance is not None and f'"{NAME}"' in instance.provenance else {}


def _noted(instance: Instance) -> Iterator[Fault]:
    for place, value in noted_places(instance).items():
        kind, detail = value if isinstance(value, list) and len(value) == 2 else (None, None)
        if not (isinstance(kind, str) and isinstance(detail, str) and kind in FAULTS):
            raise BrokenInput(f"instance {instance.id}, provenance, '{NAME}.{place}': expected a kind of fault and words; set it to null.")
        yield Fault(kind=kind, place=place, detail=detail)


def _is_suspect(instance: Instance) -> bool:
    """Whether a closer look may find something: this is asked of every question, most of which are sound, and must cost next to nothing."""
    paragraphs, answers = instance.paragraphs, instance.answers
    if instance.candidates is not None or (paragraphs and not instance.question.strip()) or not all(map(str.strip, answers)):
        return True
    # Equal texts are of equal length, which is known without reading them.
    if len(paragraphs) > 1 and len({len(paragraph.text) for paragraph in paragraphs}) < len(paragraphs):
        return True
    if not all(map(str.strip, [paragraph.title for paragraph in paragraphs if paragraph.title is not None])):
        return True
    placed = [paragraph for paragraph in paragraphs if paragraph.mentions or paragraph.sentences or paragraph.supporting_sentences]
    return bool(placed) and any(map(_may_be_outside, placed))


def _may_be_outside(paragraph: Paragraph) -> bool:
    sentences, marks = paragraph.sentences or (), paragraph.supporting_sentences or ()
    if sentences and (max(sentences) > len(paragraph.text) or min(sentences) < 0):
        return True
    return bool(paragraph.mentions) or bool(marks and not (sentences and max(marks) < len(sentences) and min(marks) >= 0))


def _seen(instance: Instance) -> Iterator[Fault]:
    # Gold that is there to score by alone may say neither the question nor its paragraphs.
    if instance.paragraphs and not instance.question.strip():
        yield Fault(kind="empty-question", place="question", detail="it holds no visible character")
    for number, answer in enumerate(instance.answers):
        if not answer.strip():
            yield Fault(kind="empty-answer", place=f"answers.{number}", detail="it holds no visible character")
    first: dict[tuple[str | None, str], int] = {}
    for number, paragraph in enumerate(instance.paragraphs):
        if paragraph.title is not None and not paragraph.title.strip():
            yield Fault(kind="empty-title", place=f"paragraphs.{number}.title", detail="it holds no visible character")
        same = first.setdefault((paragraph.title, paragraph.text), number)
        if same != number:
            yield Fault(kind="equal-paragraphs", place=f"paragraphs.{number}", detail=f"title and text are those of paragraphs.{same}")
        if paragraph.mentions or paragraph.sentences or paragraph.supporting_sentences:
            yield from _misplaced(paragraph, f"paragraphs.{number}")
    if instance.candidates is not None:
        yield from _miscounted(instance, instance.candidates)


def _misplaced(paragraph: Paragraph, where: str) -> Iterator[Fault]:
    """Mentions, sentences and marks that are not in the text."""
    length, sentences = len(paragraph.text), paragraph.sentences or ()
    for number, mention in enumerate(paragraph.mentions or ()):
        if not 0 <= mention.start <= mention.end <= length:
            detail = f"from {mention.start} to {mention.end} in a text of {length} characters"
            yield Fault(kind="wrong-place", place=f"{where}.mentions.{number}", detail=detail)
    if sentences and not (min(sentences) >= 0 and max(sentences) <= length):
        number = next(number for number, start in enumerate(sentences) if not 0 <= start <= length)
        detail = f"it begins at {sentences[number]} in a text of {length} characters"
        yield Fault(kind="wrong-place", place=f"{where}.sentences.{number}", detail=detail)
    for number, mark in enumerate(paragraph.supporting_sentences or ()):
        if not 0 <= mark < len(sentences):
            detail = f"sentence {mark} of a paragraph with {len(sentences)}"
            yield Fault(kind="wrong-place", place=f"{where}.supporting_sentences.{number}", detail=detail)


def _miscounted(instance: Instance, candidates: Sequence[Candidate]) -> Iterator[Fault]:
    """A chosen answer that cannot be chosen, and candidates that cannot be told apart."""
    texts = {candidate.text for candidate in candidates}
    chosen = instance.answers[:1] if instance.answer_type == "candidate" else ()
    for answer in chosen:
        if answer not in texts and instance.answer_id not in {candidate.id for candidate in candidates}:
            yield Fault(kind="unlisted-answer", place="answer", detail=f"{answer[:CHARACTERS]!r} is not among the candidates")
    first: dict[str, int] = {}
    for number, candidate in enumerate(candidates if len(texts) < len(candidates) else ()):
        if first.setdefault(candidate.text, number) != number:
            detail = f"{candidate.text[:CHARACTERS]!r} is candidates.{first[candidate.text]} already"
            yield Fault(kind="equal-candidates", place=f"candidates.{number}", detail=detail)


@dataclass(slots=True)
class FaultCounts:
    """The faults in some questions, counted."""

    questions: int = 0
    imperfect: int = 0
    """Questions with at least one fault."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Kind of a fault → questions that have one of it."""
    first: list[str] = field(default_factory=list)
    """The ids of the first imperfect questions."""
    hidden: int = 0
    """Questions whose answer is hidden, which is no fault."""

    def add(self, instance: Instance) -> tuple[Fault, ...]:
        """Count one question; its faults."""
        self.questions += 1
        self.hidden += instance.hidden
        faults = faults_of(instance)
        if faults:
            self.imperfect += 1
            for kind in {fault.kind for fault in faults}:
                self.kinds[kind] += 1
            if len(self.first) < SHOWN:
                self.first.append(instance.id[:CHARACTERS])
        return faults

    def __iadd__(self, other: FaultCounts) -> FaultCounts:
        """Those of other questions too."""
        self.questions += other.questions
        self.imperfect += other.imperfect
        self.hidden += other.hidden
        self.kinds += other.kinds
        self.first = [*self.first, *other.first][:SHOWN]
        return self

    def record(self) -> dict[str, object]:
        """All counts, for JSON."""
        return {"questions": self.questions, "imperfect": self.imperfect, "kinds": dict(sorted(self.kinds.items()))}

    @property
    def sentence(self) -> str:
        """One line that counts them; empty where there are none."""
        if not self.imperfect:
            return ""
        listed = sorted(self.kinds.items(), key=lambda item: (-item[1], item[0]))
        kinds = "; ".join(f"{FAULTS[kind]} ({count:,})" for kind, count in listed[:SHOWN])
        more = len(listed) - SHOWN
        others = f"; and {more} more {'kind' if more == 1 else 'kinds'}" if more > 0 else ""
        ids = ", ".join(self.first) + (", …" if self.imperfect > len(self.first) else "")
        have, are = ("has", "It is") if self.imperfect == 1 else ("have", "They are")
        return (
            f"{self.imperfect:,} of {self.questions:,} questions {have} faults of content, kept as they are: {kinds}{others}. {are} {ids}."
        )


def counted(instances: Iterable[Instance], counts: FaultCounts, *, where: str, strict: bool) -> Iterator[Instance]:
    """The ``instances``, whose faults are added to ``counts``; if ``strict``, BrokenInput at the first that is not ``BEARABLE``."""
    for instance in instances:
        found = counts.add(instance)
        fault = next((fault for fault in found if fault.kind not in BEARABLE), None) if strict and found else None
        if fault is not None:
            raise BrokenInput(
                f"{where}, question {instance.id}, field {fault.place!r}: {FAULTS[fault.kind]}: {fault.detail}; "
                "fix or drop the record, or leave out --strict."
            )
        yield instance
