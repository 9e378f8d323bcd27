"""What was dropped on the way and why, as rows that the console, the card and the manifest show alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


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
        """Whether it says that a rule was bent."""
        return self.removed is None and self.left is None


def rows_from(records: Iterable[dict[str, Any]]) -> list[FunnelRow]:
    """Rows that a stage record stored as JSON."""
    return [FunnelRow(**record) for record in records]


def as_records(rows: Iterable[FunnelRow]) -> list[dict[str, Any]]:
    """Rows as JSON-able dictionaries."""
    return [asdict(row) for row in rows]
