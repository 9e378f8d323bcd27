"""Texts as files and as pieces."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from kgqa.sources.formats import Parser, Piece
from kgqa.sources.rows import plain_rows
from kgqa.sources.streams import TextFile

Tables = dict[str, list[tuple[Any, ...]]]


def piece(text: str | bytes, head: str = "", *, line: int = 1) -> Piece:
    """A piece from the start of a file."""
    data = text if isinstance(text, bytes) else text.encode()
    return Piece("data", len(head), line, data, head.encode())


def parsed(parser: Parser, text: str | bytes, head: str = "", *, line: int = 1) -> Tables:
    """Rows of one piece."""
    return plain_rows(parser.parse(piece(text, head, line=line)))


def skipped(parser: Parser, text: str | bytes, head: str = "", *, line: int = 1) -> dict[str, tuple[int, str]]:
    """Reason → how many were left out of one piece, and the first."""
    rows = parser.parse(piece(text, head, line=line))
    return {reason: (count, rows.examples[reason]) for reason, count in rows.skipped.items()}


def read(parser: Parser, path: Path) -> tuple[Tables, Counter[str]]:
    """Rows of a file, and what was left out."""
    tables: Tables = {}
    left_out: Counter[str] = Counter()
    for one in parser.pieces(TextFile(path)):
        rows = parser.parse(one)
        left_out += rows.skipped
        for name, table in plain_rows(rows).items():
            tables.setdefault(name, []).extend(table)
    return tables, left_out


def check_mentions(tables: Tables) -> int:
    """Number of mentions; each must lie in a text of its document and mean an entity that is there."""
    texts: dict[str, list[str]] = {}
    for id_, _, _, text, _ in tables["documents"]:
        texts.setdefault(id_, []).append(text)
    entities = {id_ for id_, *_ in tables["entities"]}
    for document, start, end, entity in tables["mentions"]:
        assert 0 <= start < end
        assert any(end <= len(text) and text[start:end].strip() for text in texts[document])
        assert entity in entities
    return len(tables["mentions"])
