"""A decomposition as one line of text, ``first question ; second one with #1``, which a network can learn to write."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgqa.formats.decomposition import dependencies, wrong_references
from kgqa.records import Step

BETWEEN = " ; "
MOST = 16
"""Steps; a text with more is broken."""
_SEPARATOR = re.compile(r"\s*;\s*")


def printed(steps: Sequence[Step]) -> str:
    """The questions of ``steps`` in one line; a semicolon within one becomes a comma."""
    return BETWEEN.join(_SEPARATOR.sub(", ", step.question.strip()) for step in steps)


def parsed(text: str, question: str) -> tuple[Step, ...]:
    """The steps of a line, numbered from 1. A broken line, one with an empty step, or with a reference to the step itself or to a later
    one, stands for the ``question`` as it is.

    >>> [step.question for step in parsed("Green >> performer ; #1 >> spouse", "Who is the spouse of the Green performer?")]
    ['Green >> performer', '#1 >> spouse']
    """
    questions = [each.strip() for each in text.strip().split(BETWEEN.strip())]
    if not all(questions) or len(questions) > MOST or wrong_references(questions):
        questions = [question]
    ids = [str(number) for number in range(1, len(questions) + 1)]
    return tuple(
        Step(id=name, question=each, answer=None, paragraph_id=None, depends_on=earlier)
        for name, each, earlier in zip(ids, questions, dependencies(questions, ids), strict=True)
    )
