"""Writing JSON files of records, one record at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kgqa.formats.json.types import encode


def write_list(records: Iterable[Any], path: Path) -> None:
    """Write one JSON list with a record per line."""
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, record in enumerate(records):
            file.write((",\n" if number else "\n") + encode(record))
        file.write("\n]\n")


def write_lines(records: Iterable[Any], path: Path) -> None:
    """Write one record per line."""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(encode(record) + "\n")
