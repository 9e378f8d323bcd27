"""The events of a journal: appended, never changed. All tables and figures are recomputed from them.

=============  ==================================================================================================================
open           a project starts: ``settings``; once
change         settings that may change were changed: ``settings``
item           an item enters the project, or takes the place of the item with its id: ``step, purpose`` (work, gold, qualification),
               ``shown, hidden, seats, gold, authors``, and ``gold_labels``, the labels of the known answer ``gold``
reserve        a person gets an item: ``until``; ``attempt`` for items of the qualification, from 1
release        a reservation ran out
submit         a person's answer: ``answer``, ``labels``, ``warnings``, ``seconds`` (time at the item), ``attempt``
undo           a person takes back an answer of theirs: ``event``, the number of the ``submit``
skip           a person passes on an item, and does not get it again: ``reason``
flag           a person reports a problem with an item, with or without an answer: ``reason``
decide         an item changes its state: ``state`` is ``decided`` (the seats are filled and the majority agrees on ``labels``),
               ``disputed`` (it does not agree), or ``open`` (an answer was taken back). The last ``decide`` or
               ``adjudicate`` of an item counts.
adjudicate     a lead settles a disagreement: ``answer``, ``labels``
refuse         an item is left out of the results: ``reason``; an ``item`` event with its id brings it back
solve          what readers answered to a question: ``solvers``, a list of ``name, run, answer, right``
qualify        a person finished an attempt of the qualification: ``right, of, passed, attempt``
withdraw       a person's answers are left out from now on: ``reason``
=============  ==================================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MODEL = "model:"
"""The beginning of the name under which a model fills a seat. No person's name begins so, and models are not counted as people."""
KINDS = (
    "open", "change", "item", "reserve", "release", "submit", "undo", "skip", "flag", "decide", "adjudicate", "refuse", "solve", "qualify",
    "withdraw",
)  # fmt: skip


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
