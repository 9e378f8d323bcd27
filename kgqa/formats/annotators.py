"""Several people's answers to one question in the fields of an Instance, and questions that a format has no place for because of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgqa.errors import BrokenInput
from kgqa.records import Instance


class Answers(NamedTuple):
    """The two fields of an Instance that hold answers."""

    answers: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...] | None


def of_annotators(given: Iterable[Sequence[str]]) -> Answers:
    """The fields for what each annotator answered, a list of parts; the first one's answer is the canonical one, and an empty one is none.

    >>> of_annotators([["Mia Falk"], ["Falk"], ["Mia Falk"], ["Mia", "Falk"]])
    Answers(answers=('Mia Falk', 'Falk'), alternatives=(('Mia', 'Falk'),))
    >>> of_annotators([["Mia Falk", "Jon Reith"], ["Jon Reith"]])
    Answers(answers=('Mia Falk', 'Jon Reith'), alternatives=(('Jon Reith',),))
    """
    whole = [tuple(parts) for parts in given]
    first = whole[0] if whole else ()
    others = [parts for parts in dict.fromkeys(whole[1:]) if parts and parts != first]
    if len(first) != 1:
        return Answers(first, tuple(others) or None)
    single = (parts[0] for parts in others if len(parts) == 1)
    return Answers((*first, *single), tuple(parts for parts in others if len(parts) > 1) or None)


def check_one_part(instance: Instance, name: str) -> None:
    """BrokenInput where the answer is several spans together and the format that people call ``name`` can list alternatives only."""
    if instance.answer_type == "spans" and len(instance.answers) > 1:
        raise BrokenInput(
            f"instance {instance.id}: its answer is {len(instance.answers)} spans together, and {name} lists alternatives only; "
            "leave it out, or write drop, quoref, iirc or native."
        )
