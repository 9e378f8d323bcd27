"""The gold of a question, part by part: the fields that scorers compare with, so that a conversion that loses one is noticed.

Two Instances with equal parts get equal scores for any predictions. Fields that no scorer reads (offsets of answers, a file's own fields)
are not gold. Neither are fields without information: the mark of a question's only paragraph, and names of an answer chosen from
candidates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.formats import qangaroo
from kgqa.formats.identifiers import numbers_of
from kgqa.records import Instance, Paragraph

Notes = Mapping[str, Any]
Part = Callable[[Instance, Notes], Any]
ABSENT = MappingProxyType({"hotpotqa": "absent_facts", "twowiki": "supporting_facts"})
"""Format → the field of its note with the supporting facts whose paragraph or sentence is not shown."""


def _answers(instance: Instance, _: Notes) -> Any:
    """The canonical answer and the set of all right answers; for a question with candidates, only the right candidate."""
    candidate = _right_candidate(instance)
    answers = instance.whole_answers if candidate is None else ((candidate,),)
    return (answers[0], frozenset(answers)) if answers else None


def _right_candidate(instance: Instance) -> str | None:
    if instance.candidates is None or not instance.answers:
        return None
    try:
        return str(qangaroo.to_record(replace(instance, paragraphs=()))["answer"])
    except BrokenInput:
        return instance.answers[0]


def _answerable(instance: Instance, _: Notes) -> Any:
    return "hidden" if instance.hidden else instance.answerable


def _support(instance: Instance, notes: Notes) -> Any:
    """The supporting sentences by number and title of their paragraph, as the scorers of MuSiQue and HotpotQA name them."""
    paragraphs, absent = instance.paragraphs, _absent_facts(notes)
    single = len(paragraphs) == 1 and not paragraphs[0].supporting_sentences
    if instance.candidates is not None or (not absent and (single or all(paragraph.supporting is None for paragraph in paragraphs))):
        return None
    numbers = numbers_of([paragraph.id for paragraph in paragraphs])
    facts = ((paragraph, sentence) for paragraph in paragraphs if paragraph.supporting for sentence in _sentences(paragraph))
    visible_facts = frozenset((numbers[paragraph.id], paragraph.title or "", sentence) for paragraph, sentence in facts)
    unknown_numbers = tuple(numbers[paragraph.id] for paragraph in paragraphs if paragraph.supporting is None)
    return visible_facts, absent, unknown_numbers


def _sentences(paragraph: Paragraph) -> tuple[int, ...] | range:
    return paragraph.supporting_sentences or range(max(1, len(paragraph.sentences or ())))


def _absent_facts(notes: Notes) -> frozenset[str]:
    return frozenset(_text(fact) for name, field in ABSENT.items() for fact in _as_list(_note(notes, name).get(field)))


def _decomposition(instance: Instance, _: Notes) -> Any:
    """The steps' questions and answers, and the numbers of their paragraphs."""
    steps = instance.decomposition or ()
    numbers = numbers_of([paragraph.id for paragraph in instance.paragraphs])
    return tuple((step.question, step.answer, numbers.get(step.paragraph_id or "", step.paragraph_id)) for step in steps) or None


def _candidates(instance: Instance, _: Notes) -> Any:
    """The candidates as the official file shows them, in any order."""
    return None if instance.candidates is None else tuple(sorted(qangaroo.expressions(instance).values()))


def _note_part(name: str, *fields: str) -> Part:
    """The part made of those ``fields`` of a format's note that are not empty."""

    def part(_: Instance, notes: Notes) -> Any:
        note = _note(notes, name)
        values = {field: note[field] for field in fields if note.get(field)}
        return _text(values) if values else None

    return part


def _note(notes: Notes, name: str) -> Notes:
    note = notes.get(name)
    return note if isinstance(note, dict) else {}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


GOLD: Mapping[str, Part] = MappingProxyType(
    {
        "answers": _answers,
        "whether there is an answer": _answerable,
        "supporting facts": _support,
        "steps of the decomposition": _decomposition,
        "evidence triples": _note_part("twowiki", "evidences", "evidences_id"),
        "annotators' evidence": _note_part("strategyqa", "evidence"),
        "candidates": _candidates,
        "people's verdicts": _note_part("qangaroo", "annotations"),
    }
)
"""Name of a part → a function that takes it from an Instance and its notes, and returns None if the part is unknown."""


def gold_of(instance: Instance, notes: Notes) -> Iterator[int | None]:
    """A hash of each part of ``GOLD``, None for an unknown one; ``notes`` is the decoded provenance. Valid in one process only."""
    for part in GOLD.values():
        value = part(instance, notes)
        yield None if value is None else hash(value)
