"""The funnel: rejected items by rule, in rows for the console, the card and the manifest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HEADER = ("stage", "what", "reason", "removed", "left")
"""Column names of :attr:`FunnelRow.cells`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelRow:
    """A rule and the number of items that it removed."""

    stage: str
    """The stage of the run that applied it."""
    what: str
    """Kind of item: rows, names, places, documents, facts, samples."""
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
    """The rules that removed most, with counts, for a message; ``none`` if nothing was removed."""
    return "; ".join(f"{row.reason} ({row.removed:,})" for row in rows if row.removed) or none
