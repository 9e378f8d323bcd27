"""What one stage of a reader found for the next one, on disk, so that a resumed fit goes on with the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from kgqa.errors import BrokenInput, storage_errors
from kgqa.runs.files import write_whole
from kgqa.training.processes import first_alone

Lists = dict[str, list[str]]
"""Question id → ids."""


def kept(path: Path, find: Callable[[], Lists]) -> Lists:
    """The lists in ``path``; if there is no such file, those of ``find``, which are written to it. Raises BrokenInput, StorageError."""
    with first_alone():
        if not path.is_file():
            write_whole(path, json.dumps(find()))
    try:
        with storage_errors(path):
            lists: Lists = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise BrokenInput(f"{path}: this is not what an earlier stage wrote; remove it, and kgqa writes it again.") from None
    return lists
