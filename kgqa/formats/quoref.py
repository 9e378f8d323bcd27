"""Quoref's JSON: SQuAD 1.1's form, but several answers of a question are parts of one answer (Dasigi et al. 2019).

Only its answers tell such a file from SQuAD's. Alternatives of several annotators, as in SQuAD's dev set, are mostly equal, or one contains
or overlaps the other; among SQuAD 1.1's 10,567 questions with several answers only 37 are exceptions. Parts are different texts at
different offsets. A file is recognised as Quoref's if more than half of its questions with several answers have parts; a user may name
``squad`` instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.formats import squad
from kgqa.formats.squad import FILE, SquadQuestion, absent_answer, entries, instance_of
from kgqa.records import Instance

PURPOSE = "Quoref's JSON: SQuAD 1.1's form, where several answers of a question are one answer together"
SUFFIX = ".json"
NAME = "quoref"
VERSION = "1.0"
PARTS = 0.5
"""The share of questions with several answers that must be exceeded by those with parts."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the file has SQuAD 1.1's fields, and most of its lists of answers are parts."""
    return squad.recognises(record) and has_parts(squad.questions_in(record))


def has_parts(questions: Iterable[Mapping[str, Any]]) -> bool:
    """Whether most questions with several answers have parts of one answer."""
    lists = [answers for question in questions if len(answers := _answers(question)) > 1]
    return sum(map(_are_parts, lists)) > PARTS * len(lists)


def _answers(question: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    """Text and offset (None if unknown) of each answer that has a text."""
    values = question.get("answers")
    answers = [answer for answer in values if isinstance(answer, dict)] if isinstance(values, list) else []
    offsets = [offset if isinstance(offset := answer.get("answer_start"), int) else None for answer in answers]
    return [(answer["text"].casefold(), at) for answer, at in zip(answers, offsets, strict=True) if isinstance(answer.get("text"), str)]


def _are_parts(answers: Sequence[tuple[str, int | None]]) -> bool:
    return not any(_overlap(*pair) for pair in combinations(answers, 2))


def _overlap(first: tuple[str, int | None], second: tuple[str, int | None]) -> bool:
    """Whether one text contains the other, or they overlap; with an unknown offset, whether they share a word."""
    (text, start), (other_text, other_start) = first, second
    if text in other_text or other_text in text:
        return True
    if start is None or other_start is None:
        return bool({*text.split()} & {*other_text.split()})
    return start < other_start + len(other_text) and other_start < start + len(text)


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: the whole file. Raises InputError with the question and field."""
    for entry in entries(path, FILE):
        yield instance_of(entry, NAME, SquadQuestion, faults=absent_answer(entry), parts=True)


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file. Raises BrokenInput for an unanswerable question from another format. Memory: one article."""
    squad.write_file(instances, path, to_question, version=VERSION)


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question with the parts of its first answer. Raises BrokenInput for an unanswerable question."""
    notes = squad.notes_of(instance)
    if not instance.answerable and notes.get("answers") != []:
        raise BrokenInput(
            f"instance {instance.id}: it has no answer, and Quoref holds answered questions only; leave it out, or write squad2."
        )
    parts = instance.answers if instance.answer_type == "spans" else instance.answers[:1]
    answers = squad.answers_field(instance if parts == instance.answers else replace(instance, answers=parts), notes)
    return {**notes.get("question", {}), "id": instance.id, "question": instance.question, **answers}
