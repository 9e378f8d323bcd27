"""References between the steps of a decomposition: ``#2`` in a step's question means the answer of the second step."""

from __future__ import annotations

from collections.abc import Sequence

from kgqa.formats.faults import Fault
from kgqa.records import REFERENCE


def dependencies(questions: Sequence[str], ids: Sequence[str]) -> list[tuple[str, ...]]:
    """For each question, the ids of the earlier steps that it refers to, in order; any other ``#k`` is text, as in "a #1 hit".

    >>> dependencies(["Who built Weir?", "Where was #1 born?", "a #7 hit"], ["a", "b", "c"])
    [(), ('a',), ()]
    """
    return [
        tuple(ids[number - 1] for number in sorted(set(map(int, REFERENCE.findall(question)))) if 1 <= number <= place)
        for place, question in enumerate(questions)
    ]


def wrong_references(questions: Sequence[str]) -> list[Fault]:
    """A fault for each step with a reference to itself, a later step or no step; each fault names the first such reference."""
    faults = []
    for place, question in enumerate(questions):
        bad_number = next((number for number in map(int, REFERENCE.findall(question)) if not 1 <= number <= place), None)
        if bad_number is not None:
            steps = f"only #1 to #{place} come before it" if place else "nothing comes before the first step"
            faults.append(Fault(kind="wrong-reference", place=f"decomposition.{place}", detail=f"it refers to #{bad_number}, but {steps}"))
    return faults
