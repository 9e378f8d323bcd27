"""Tables of verdicts as earlier versions of kgqa wrote them."""

from __future__ import annotations

from dataclasses import asdict

from kgqa.collection.verdict_tables.table import COLUMNS, TITLE, Judgement, Table

ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def table_text(table: Table) -> str:
    """The file's text."""
    head = [TITLE, *(f"# {name}: {escaped(str(value))}" for name, value in asdict(table.origin).items()), "\t".join(COLUMNS)]
    return "\n".join([*head, *map(line_of, table.judgements)]) + "\n"


def line_of(judgement: Judgement) -> str:
    """A row, without its end."""
    cells = (
        judgement.sample, judgement.reader, judgement.verdict, ",".join(judgement.marks), judgement.candidate, judgement.note,
    )  # fmt: skip
    return "\t".join(map(escaped, cells))


def escaped(text: str) -> str:
    """What would end a cell or a line, escaped."""
    return "".join(ESCAPES.get(character, character) for character in text)
