"""The events of a journal: appended, never changed. All tables and figures are recomputed from them.

=============  ==================================================================================================================
open           a project starts: ``settings``; once
change         settings that may change were changed: ``settings``
item           an item enters the project: ``step, shown, hidden, seats, gold, authors``, and ``purpose`` (work, gold, qualification)
reserve        a person gets an item: ``until``
release        a reservation ran out, or the person gave the item back
submit         a person's answer: ``answer, seconds`` (time at the item), ``labels``, ``warnings``
undo           a person takes back their last answer: ``event``, the number of the ``submit``
skip           a person passes on an item: ``reason``
flag           a person reports a problem with an item, with or without an answer: ``reason``
decide         the seats are filled: ``labels`` of the majority, or ``disputed``
adjudicate     a lead settles a disagreement: ``answer``, ``labels``
refuse         an item is left out of the results: ``reason`` (a solver answers the question; flagged as bad)
solve          what solvers said of a question: ``solvers``, list of ``name, run, answer, right``
qualify        a person finished a try of the qualification: ``right, of, passed, attempt``
withdraw       a person's answers are left out from now on: ``reason``
=============  ==================================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KINDS = (
    "open", "change", "item", "reserve", "release", "submit", "undo", "skip", "flag", "decide", "adjudicate", "refuse", "solve", "qualify",
    "withdraw",
)  # fmt: skip
PURPOSES = ("work", "gold", "qualification")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of a journal."""

    number: int
    """From 1, without gaps per database; the order of everything."""
    time: float
    """Seconds since 1970, UTC; never before the event before it, even if the clock was set back."""
    kind: str
    """One of ``KINDS``."""
    person: str = ""
    """The annotator or lead; empty for what the server does."""
    item: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
