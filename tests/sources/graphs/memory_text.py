"""A text in memory in place of a file, and all rows that a parser makes of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Parser
from kgqa.sources.rows import plain_rows


@dataclass
class MemoryText:
    """What :class:`kgqa.sources.streams.TextFile` is for a file."""

    name: str
    data: bytes
    chunk: int = 1 << 20
    partial: bool = False
    notes: list[str] = field(default_factory=list)

    def chunks(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), self.chunk):
            yield self.data[start : start + self.chunk]

    def broken(self, sentence: str) -> None:
        if not self.partial:
            raise BrokenInput(f"{self.name}: {sentence}.")
        self.notes.append(sentence)


@dataclass
class Read:
    """Rows of all pieces as sets, and what was skipped."""

    tables: dict[str, set[tuple[Any, ...]]]
    skipped: Counter[str]
    examples: dict[str, str]

    def __getitem__(self, name: str) -> set[tuple[Any, ...]]:
        return self.tables.get(name, set())

    def names(self, source: str) -> dict[str, set[str]]:
        """Entity or relation → its names of one source."""
        found: dict[str, set[str]] = {}
        for entity, name, its_source in self["names"]:
            if its_source == source:
                found.setdefault(entity, set()).add(name)
        return found


def read(parser: Parser, text: MemoryText | bytes | str, name: str = "file.csv") -> Read:
    """All rows of a text."""
    if not isinstance(text, MemoryText):
        text = MemoryText(name, text.encode() if isinstance(text, str) else text)
    result = Read({}, Counter(), {})
    for piece in parser.pieces(text):
        rows = parser.parse(piece)
        for table, some in plain_rows(rows).items():
            result.tables.setdefault(table, set()).update(some)
        result.skipped += rows.skipped
        for reason, where in rows.examples.items():
            result.examples.setdefault(reason, where)
    return result


def check_sentence(error: Exception, name: str) -> None:
    """One sentence that names the file."""
    assert str(error).startswith(name)
    assert str(error).endswith(".")
