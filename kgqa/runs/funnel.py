"""The funnel: how many items each rule removed, in rows for the console, the card and the manifest; and single rejected questions."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType

HEADER = ("stage", "what", "reason", "removed", "left")
"""Column names of :attr:`FunnelRow.cells`."""
LOSES = ("questions", "pairs", "chains", "facts")
"""Kinds of items that could have become questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelRow:
    """A rule and the number of items that it removed.

    >>> row = FunnelRow(stage="read", what="rows", reason="empty id", removed=1234)
    >>> row.cells
    ['read', 'rows', 'empty id', '1,234', '']
    >>> row.is_remark
    False
    """

    stage: str
    """The stage of the run that applied it."""
    what: str
    """Kind of item: rows, names, places, documents, facts, samples."""
    reason: str
    """The rule as a sentence. If ``removed`` is None: the items that are left. If ``left`` is None too: a remark on how kgqa applied or
    relaxed a rule."""
    removed: int | None = None
    left: int | None = None
    setting: str = ""
    """The setting that governs the rule, if any."""

    @property
    def is_remark(self) -> bool:
        """Whether the row is a remark and counts nothing."""
        return self.removed is None and self.left is None

    @property
    def cells(self) -> list[str]:
        """The row as texts, in the order of ``HEADER``."""
        numbers = ("" if number is None else f"{number:,}" for number in (self.removed, self.left))
        return [self.stage, self.what, self.reason, *numbers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why a recipe rejected one question."""

    reason: str
    """A sentence, the same for all questions with this fault."""
    detail: str
    """The evidence in this question, in words."""


def removals(
    stage: str, what: str, counts: Mapping[str, int], *, entering: int, settings: Mapping[str, str] = MappingProxyType({})
) -> list[FunnelRow]:
    """Rows for rules that are applied one after the other. ``counts``: reason → removed; ``settings``: reason → setting."""
    lefts = accumulate(counts.values(), operator.sub, initial=entering)
    next(lefts)
    return [
        FunnelRow(stage=stage, what=what, reason=reason, removed=count, left=left, setting=settings.get(reason, ""))
        for (reason, count), left in zip(counts.items(), lefts, strict=True)
    ]


def reasons_of(rows: Iterable[FunnelRow], *, none: str = "there is none") -> str:
    """The rules that removed items, with counts, for a message; ``none`` if nothing was removed."""
    return "; ".join(f"{row.reason} ({row.removed:,})" for row in rows if row.removed) or none


def count_list(counts: Mapping[str, int]) -> str:
    """Names with their counts, for a line of text.

    >>> count_list({"train": 1200, "dev": 30})
    'train 1,200, dev 30'
    """
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
