"""StrategyQA's automatic checks of questions and decompositions (Geva et al. 2021, section 3.4), for people's questions and generated ones.

A question ends with a question mark and has one verb only, as far as words that begin another clause tell. The steps of a decomposition
form a directed acyclic graph with the last step as its only end: references point back, and a later step refers to each step but the last.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kgqa.arrays.words import words
from kgqa.records import REFERENCE

FAULTS = {
    "mark": 'the question does not end with "?"',
    "explicit": "the question spells out a step in a clause of its own",
    "few": "the decomposition has fewer than two steps",
    "empty": "the step is empty",
    "reference": "the step refers to itself, to a later step or to none",
    "unused": "no later step uses the answer of this one",
}
"""Kind of fault → the sentence in reports."""
MARKS = ("?", "？", "؟")
"""The question marks of all scripts."""
FEWEST_STEPS = 2
_CLAUSE_WORDS = Path(__file__).with_name("clause-words.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyFault:
    """A fault of a question or of one step."""

    kind: str
    """A key of ``FAULTS``."""
    step: int | None = None
    """Index of the step, from 0; None: the whole question or decomposition."""
    sentence: str
    """What is wrong, for the one who wrote it, with a capital and a full stop."""


def question_faults(question: str, *, language: str = "en") -> list[StrategyFault]:
    """The faults of a strategy question. In a ``language`` without a list of clause words, only the question mark is checked.

    >>> [fault.kind for fault in question_faults("Did Aristotle live when the laptop was invented?")]
    ['explicit']
    >>> question_faults("Did Aristotle use a laptop?")
    []
    """
    faults = []
    if not question.rstrip().endswith(MARKS):
        faults.append(StrategyFault(kind="mark", sentence='The question must end with "?".'))
    opener = next((word for word in words(question)[1:] if word in clause_words(language)), "")
    if opener:
        sentence = f'"{opener}" begins a clause that spells out a step of the reasoning; ask so that the step is implied.'
        faults.append(StrategyFault(kind="explicit", sentence=sentence))
    return faults


def decomposition_faults(steps: Sequence[str]) -> list[StrategyFault]:
    """The faults of a decomposition, given the questions of its steps, in the order of the steps.

    >>> [(fault.kind, fault.step) for fault in decomposition_faults(["Who built Weir?", "Is it old?"])]
    [('unused', 0)]
    >>> decomposition_faults(["When was Weir built?", "Is #1 before 1900?"])
    []
    """
    faults = []
    if len(steps) < FEWEST_STEPS:
        faults.append(StrategyFault(kind="few", sentence="A strategy question needs two steps at least."))
    references_so_far: set[int] = set()
    for place, step in enumerate(steps):
        if not step.strip():
            faults.append(StrategyFault(kind="empty", step=place, sentence=f"Step {place + 1} is empty."))
        numbers = references(step)
        wrong = next((number for number in numbers if not 1 <= number <= place), None)
        if wrong is not None:
            earlier = (
                f"only #1 to #{place} come before it" if place > 1 else "only #1 comes before it" if place else "no step comes before it"
            )
            sentence = f"Step {place + 1} refers to #{wrong}, but {earlier}."
            faults.append(StrategyFault(kind="reference", step=place, sentence=sentence))
        references_so_far.update(number - 1 for number in numbers if 1 <= number <= place)
    faults += [
        StrategyFault(kind="unused", step=place, sentence=f"No later step uses #{place + 1}; refer to it, or leave step {place + 1} out.")
        for place in range(len(steps) - 1)
        if place not in references_so_far
    ]
    return sorted(faults, key=lambda fault: -1 if fault.step is None else fault.step)


def references(step: str) -> list[int]:
    """The numbers of the steps whose answers a step's question names as ``#k``, ascending and each once."""
    return sorted({int(number) for number in REFERENCE.findall(step)})


@lru_cache(maxsize=8)
def clause_words(language: str) -> frozenset[str]:
    """Words of a ``language`` that begin a clause with a verb of its own; empty for a language without a list."""
    return frozenset(tomllib.loads(_CLAUSE_WORDS.read_text("utf-8")).get(language, ()))
