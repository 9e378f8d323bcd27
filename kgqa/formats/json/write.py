"""Writing JSON files of records, one record at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from kgqa.formats.json.types import encode
from kgqa.records import Instance

Writer: TypeAlias = Callable[[Iterable[Instance], Path], None]


def list_writer(to_record: Callable[[Instance], Any]) -> Writer:
    """The function ``write`` of a format: one official file with a JSON list, record by record."""
    return lambda instances, path: write_list(map(to_record, instances), path)


def lines_writer(to_record: Callable[[Instance], Any]) -> Writer:
    """The function ``write`` of a format: one official file of JSON lines, line by line."""
    return lambda instances, path: write_lines(map(to_record, instances), path)


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
