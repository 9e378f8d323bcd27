"""The limits of a user's query, and its answer."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kgqa.errors import QueryError, QueryMemory, QueryTimeout
from kgqa.settings.defaults import QUERY_BYTES, QUERY_MEMORY, QUERY_ROWS, QUERY_SECONDS
from kgqa.store.values import holds_json

MIB = 1 << 20
LEAST_MEMORY = 32 * MIB
MOST_BYTES = 1 << 42
BESIDE = 1.0
"""Seconds that the work before a query may take on top of the query's limit. More than that is subtracted from the limit."""
MOST_ROWS = 10_000_000
UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": MIB, "gib": 1 << 30, "kb": 1000, "mb": 1000**2, "gb": 1000**3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The budget of one query. Raises QueryError for one that cannot be kept."""

    seconds: float = QUERY_SECONDS
    memory: int = QUERY_MEMORY
    """Bytes on top of the opened graph's. A server has a limit of its own (``db.memory.transaction.max``)."""
    rows: int | None = QUERY_ROWS
    """Maximum number of rows; None: no limit."""
    bytes: int = QUERY_BYTES
    """Maximum bytes of the rows as they are sent; further rows are cut off."""

    def __post_init__(self) -> None:
        """Check that each can be kept."""
        check_seconds(self.seconds)
        if self.rows is not None and not 1 <= self.rows <= MOST_ROWS:
            raise QueryError(f"rows {self.rows} is not between 1 and {MOST_ROWS:,}; choose another number.")
        if self.memory < LEAST_MEMORY:
            raise QueryError(
                f"{size(self.memory)} of memory is less than the {size(LEAST_MEMORY)} that every query needs; raise the limit."
            )
        if self.bytes < 1:
            raise QueryError(f"{self.bytes} bytes are too few for any row; raise the limit.")
        if max(self.memory, self.bytes) > MOST_BYTES:
            raise QueryError(f"{size(max(self.memory, self.bytes))} is more than the {size(MOST_BYTES)} that can be allowed; give less.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The rows of a query, or the first of them."""

    rows: pa.Table
    cut: str = ""
    """``rows`` or ``bytes``: which limit left out further rows; empty: these are all."""
    nothing: str = ""
    """The reason why a named query returned no rows (:mod:`kgqa.store.empty_results`), or an empty text if none is known."""
    remarks: tuple[str, ...] = ()
    """Sentences about ambiguous names in a named query: which of the bearers was taken."""

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows, with nodes, relationships, paths and maps as dictionaries (:mod:`kgqa.store.values`)."""
        rows: list[dict[str, Any]] = self.rows.to_pylist()
        for name in [field.name for field in self.rows.schema if holds_json(field)]:
            for row in rows:
                row[name] = None if row[name] is None else json.loads(row[name])
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitErrors:
    """The errors of a query that exceeds its limits."""

    subject: str
    """Subject of the sentences: ``the query``, or a named one."""
    options: bool = True
    """Whether ``kgqa query`` can run the query with higher limits."""
    seconds: float | None = None
    """The limit of the whole query, if its parts have smaller ones."""

    def too_long(self, seconds: float) -> QueryTimeout:
        """The error for a query that took more time than these ``seconds``."""
        return QueryTimeout(f"{self.subject} took more than {self.seconds or seconds:g} seconds; narrow it{self._or('--seconds')}.")

    def too_large(self, memory: int) -> QueryMemory:
        """The error for a query that took more memory."""
        return QueryMemory(f"{self.subject} took more than {size(memory)} of memory; narrow it{self._or('--memory')}.")

    def too_much(self, most: int) -> QueryMemory:
        """The error for rows that take too many bytes, where a part of them is of no use."""
        return QueryMemory(f"{self.subject} gives more than {size(most)} of rows; narrow it.")

    def failed(self, status: int, memory: int) -> QueryMemory:
        """The error for a process that exited with ``status``; the engine does so if the system gives it no memory."""
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return QueryMemory(
            f"{self.subject} took more than {size(memory)} of memory, or the graph engine failed for another reason ({how}); "
            f"narrow it{self._or('--memory')}."
        )

    def _or(self, option: str) -> str:
        return f", or allow more (kgqa query {option})" if self.options else ""


def check_seconds(seconds: float | None) -> None:
    """Raise QueryError for an invalid limit of seconds."""
    if seconds is not None and not 0 < seconds <= 86_400:
        raise QueryError(f"{seconds:g} seconds is not more than 0 and at most a day; choose another limit.")


def remaining(seconds: float, begin: float) -> float:
    """Seconds left of a limit of ``seconds`` that started at ``begin`` (monotonic clock). Never zero."""
    over = max(time.monotonic() - begin - BESIDE, 0.0)
    return round(max(seconds - over, min(seconds, BESIDE)), 1) if over else seconds


def read_size(text: str) -> int:
    """``300MiB``, ``1.5 GiB`` or ``1000000`` → bytes. Raises QueryError for other texts."""
    match = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([a-z]*)\s*", text.lower())
    if not match or match[2] not in UNITS:
        raise QueryError(f"{text!r} is not a size; give a number with a unit, such as 300MiB or 2GiB.")
    return int(float(match[1]) * UNITS[match[2]])


def size(number: int) -> str:
    """``314572800`` → ``300 MiB``."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", MIB), ("KiB", 1 << 10)):
        if number >= factor:
            return f"{number / factor:.4g} {unit}"
    return f"{number} bytes"


OWN_LIMITS = Limits(seconds=600.0, rows=None, bytes=2048 * MIB)
"""Limits of a domain's own query. All its rows are needed, so their number has no limit."""
