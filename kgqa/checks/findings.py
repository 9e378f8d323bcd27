"""Finding of a check: a figure with its interval, its parts, and the ten worst examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

EXAMPLES = 10
MARGIN = 0.05
"""A shortcut is called one from here on above what blind guessing gets; below, every set has some."""
FAMILIES = {
    "leakage": "Questions and facts that one split repeats from another: whoever remembers training answers them. Ought to be zero.",
    "overlap": "Answers, texts and entities that splits have in common. Most sets have some on purpose; how much is worth knowing.",
    "shortcut": "How often the answer, or where it is, can be guessed without following the question. Compare with blind guessing.",
    "reader": "How far a trained reader gets that is kept from reasoning. Compare with the full reader, and with a random one.",
    "fault": "Records that are broken, or that no reader can answer as they are. Ought to be zero.",
}
"""Family of checks → the sentence that reports show."""
STATES = {
    "found": "there is something to look at",
    "counted": "for the reader to judge",
    "none": "nothing to look at",
    "does not apply": "the set has not what this check looks at",
}
"""State of a finding → what it means; reports show them in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One question that a check points at."""

    split: str
    id: str
    what: str
    """In plain text; whoever shows it as HTML escapes it."""
    number: int = -1
    """The question's place in its split, for checks that read their examples again; not shown."""
    counterpart: tuple[str, int] | None = None
    """The side and place of the question that this one is compared with; not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The figure of one part: a split, a pair of splits, a position, an answer."""

    name: str
    count: float
    total: int

    @property
    def share(self) -> float:
        """``count`` of ``total``; 0 of nothing."""
        return self.count / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check; without a figure it does not apply, and ``reason`` says why."""

    check: str
    family: str
    title: str
    meaning: str
    remedy: str
    unit: str
    figure: float | None = None
    """A share between 0 and 1: ``count`` of ``total`` units; ``low`` and ``high`` bound its 95% bootstrap interval."""
    low: float | None = None
    high: float | None = None
    count: float | None = None
    total: int | None = None
    chance: float | None = None
    """Score of a blind guess; None if unknown."""
    parts: tuple[Part, ...] = ()
    parts_are: str = ""
    """Kind of the parts, as "by split"."""
    examples: tuple[Example, ...] = ()
    note: str = ""
    reason: str = ""

    @property
    def applies(self) -> bool:
        """Whether there is a figure."""
        return self.figure is not None

    @property
    def bounds(self) -> tuple[float, float, float]:
        """The figure and its interval, of a finding that applies."""
        assert self.figure is not None
        assert self.low is not None
        assert self.high is not None
        return self.figure, self.low, self.high

    @property
    def excess(self) -> float:
        """Excess of the figure over a blind guess, as a share of the maximum excess; -1 without a figure."""
        if self.figure is None:
            return -1.0
        chance = self.chance or 0.0
        return max(0.0, (self.figure - chance) / (1 - chance)) if chance < 1 else 0.0

    @property
    def state(self) -> str:
        """The finding's state, a key of ``STATES``: whether it applies, and whether something was found."""
        if self.figure is None or self.low is None:
            return "does not apply"
        if self.family == "overlap":
            return "counted" if self.figure else "none"
        if self.family in {"shortcut", "reader"}:
            return "found" if self.low > (self.chance or 0.0) + MARGIN else "none"
        return "found" if self.figure > 0 else "none"


class Worst:
    """The ten examples with the highest badness; of equally bad ones those that come first by split and id."""

    def __init__(self) -> None:
        """Start without an example."""
        self._kept: list[tuple[float, str, str, Example]] = []

    def add(self, badness: float, split: str, question_id: str, what: Callable[[], str], *, number: int = -1) -> None:
        """Keep the example if it is among the worst; ``what`` is only called then."""
        place = (-badness, split, question_id)
        if len(self._kept) == EXAMPLES and place >= self._kept[-1][:3]:
            return
        self._kept.append((*place, Example(split=split, id=question_id, what=what(), number=number)))
        self._kept.sort(key=lambda example: example[:3])
        del self._kept[EXAMPLES:]

    def examples(self) -> tuple[Example, ...]:
        """The kept examples, worst first."""
        return tuple(example[3] for example in self._kept)
