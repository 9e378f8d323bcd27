"""Quoref's JSON: SQuAD 1.1's form, in which several answers of a question are the parts of one (Dasigi et al. 2019).

Nothing in a file says so but its answers. Where annotators gave alternatives, as in SQuAD's dev set, these are mostly equal, one holds the
other, or they overlap: of SQuAD 1.1's 10,567 questions with several answers those of 37 do not. Parts are different texts at different
places. A file is Quoref's where that holds for more than half of the questions with several answers; whoever knows better names ``squad``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.formats import squad
from kgqa.formats.squad import FILE, Question, absent_answer, entries, instance_of
from kgqa.records import Instance

PURPOSE = "Quoref's JSON: SQuAD 1.1's form, where several answers of a question are one answer together"
SUFFIX = ".json"
NAME = "quoref"
VERSION = "1.0"
PARTS = 0.5
"""More than this share of the questions with several answers must have parts."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the file is SQuAD 1.1's by its fields, and most of its lists of answers are parts."""
    return squad.recognises(record) and has_parts(squad.questions_in(record))


def has_parts(questions: Iterable[Mapping[str, Any]]) -> bool:
    """Whether most of those that have several answers have parts of one."""
    lists = [answers for question in questions if len(answers := _answers(question)) > 1]
    return sum(map(_are_parts, lists)) > PARTS * len(lists)


def _answers(question: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    """Text and place of each answer, as far as these are what they must be."""
    answers = question.get("answers")
    found = [answer for answer in answers if isinstance(answer, dict)] if isinstance(answers, list) else []
    places = [place if isinstance(place := answer.get("answer_start"), int) else None for answer in found]
    return [(answer["text"].casefold(), at) for answer, at in zip(found, places, strict=True) if isinstance(answer.get("text"), str)]


def _are_parts(answers: Sequence[tuple[str, int | None]]) -> bool:
    return not any(_say_the_same(*pair) for pair in combinations(answers, 2))


def _say_the_same(one: tuple[str, int | None], other: tuple[str, int | None]) -> bool:
    """Whether one text holds the other, or they overlap; where a place is not known, whether they share a word."""
    (text, start), (second, at) = one, other
    if text in second or second in text:
        return True
    if start is None or at is None:
        return bool({*text.split()} & {*second.split()})
    return start < at + len(second) and at < start + len(text)


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file, of which all is in memory. Raises InputError with the question and field."""
    for entry in entries(path, FILE):
        yield instance_of(entry, NAME, Question, faults=absent_answer(entry), parts=True)


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file; BrokenInput for a question without an answer that had one in this format. Memory: one article."""
    squad.write_file(instances, path, to_question, version=VERSION)


def to_question(instance: Instance) -> dict[str, Any]:
    """The official question with the parts of its answer, of alternatives the first; BrokenInput where it has none."""
    notes = squad.notes_of(instance)
    if not instance.answerable and notes.get("answers") != []:
        raise BrokenInput(
            f"instance {instance.id}: it has no answer, and Quoref holds answered questions only; leave it out, or write squad2."
        )
    parts = instance.answers if instance.answer_type == "spans" else instance.answers[:1]
    written = squad.answers_field(instance if parts == instance.answers else replace(instance, answers=parts), notes)
    return {**notes.get("question", {}), "id": instance.id, "question": instance.question, **written}
