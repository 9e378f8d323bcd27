"""Writing JSON files of records, one record at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write_list(records: Iterable[Any], path: Path) -> None:
    """One JSON list, a record a line."""
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, record in enumerate(records):
            file.write((",\n" if number else "\n") + json.dumps(record, ensure_ascii=False))
        file.write("\n]\n")


def write_lines(records: Iterable[Any], path: Path) -> None:
    """JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
