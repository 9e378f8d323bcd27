"""What was dropped on the way and why, as rows that the console, the card and the manifest show alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HEADER = ("stage", "what", "reason", "removed", "left")
"""Column names of :attr:`FunnelRow.cells`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelRow:
    """One rule and how much it took away."""

    stage: str
    """The stage of the run that applied it."""
    what: str
    """What is counted: rows, names, places, documents, facts, samples."""
    reason: str
    """The rule as a sentence; or what is left, where ``removed`` is None; or how a rule was bent, where ``left`` is None too."""
    removed: int | None
    left: int | None
    setting: str = ""
    """The setting that governs the rule, if there is one."""

    @property
    def is_remark(self) -> bool:
        """Whether it says that a rule was bent, or has nothing to go by."""
        return self.removed is None and self.left is None

    @property
    def cells(self) -> list[str]:
        """The row of a table."""
        numbers = ("" if number is None else f"{number:,}" for number in (self.removed, self.left))
        return [self.stage, self.what, self.reason, *numbers]


def reasons_of(rows: Iterable[FunnelRow], *, none: str = "there is none") -> str:
    """What took something away, and how much, for a message; ``none`` where nothing did, as nothing was there."""
    return "; ".join(f"{row.reason} ({row.removed:,})" for row in rows if row.removed) or none
