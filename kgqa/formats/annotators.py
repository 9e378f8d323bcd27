"""The answers of several annotators in the fields of an Instance, and a check for formats that cannot hold an answer of several spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgqa.errors import BrokenInput
from kgqa.records import Instance


class AnswerFields(NamedTuple):
    """The two fields of an Instance that hold answers."""

    answers: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...] | None


def answer_fields(annotations: Iterable[Sequence[str]]) -> AnswerFields:
    """The fields for the answers of all annotators, each a list of spans; the first annotator's answer is canonical, empty ones count for
    nothing.

    >>> answer_fields([["Mia Falk"], ["Falk"], ["Mia Falk"], ["Mia", "Falk"]])
    AnswerFields(answers=('Mia Falk', 'Falk'), alternatives=(('Mia', 'Falk'),))
    >>> answer_fields([["Mia Falk", "Jon Reith"], ["Jon Reith"]])
    AnswerFields(answers=('Mia Falk', 'Jon Reith'), alternatives=(('Jon Reith',),))
    """
    answers = [tuple(spans) for spans in annotations]
    canonical = answers[0] if answers else ()
    alternatives = [spans for spans in dict.fromkeys(answers[1:]) if spans and spans != canonical]
    if len(canonical) != 1:
        return AnswerFields(canonical, tuple(alternatives) or None)
    single = (spans[0] for spans in alternatives if len(spans) == 1)
    return AnswerFields((*canonical, *single), tuple(spans for spans in alternatives if len(spans) > 1) or None)


def check_one_part(instance: Instance, name: str) -> None:
    """Raise BrokenInput for an answer of several spans, which the format called ``name`` cannot hold: it lists alternatives only."""
    if instance.answer_type == "spans" and len(instance.answers) > 1:
        raise BrokenInput(
            f"instance {instance.id}: its answer is {len(instance.answers)} spans together, and {name} lists alternatives only; "
            "leave it out, or write drop, quoref, iirc or native."
        )
