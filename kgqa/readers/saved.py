"""The file that says what reader a folder holds, and of which version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.settings.small_files import read_small

FILE = "reader.json"
VERSION = 1
"""Of how readers are saved."""


def write(folder: Path, reader: str, **state: Any) -> None:
    """Say that ``folder`` holds a ``reader``; ``state`` is JSON-able."""
    text = json.dumps({"reader": reader, "version": VERSION, **state}, indent=1, ensure_ascii=False, sort_keys=True)
    with storage_errors(folder):
        (folder / FILE).write_text(text + "\n", "utf-8")


def read(folder: Path, reader: str | None = None) -> Mapping[str, Any]:
    """What :func:`write` wrote. Raises MissingInput, BrokenInput where it is of another ``reader`` or version."""
    path = folder / FILE
    if not path.is_file():
        raise MissingInput(f"{folder}: there is no {FILE} here, so this is no trained reader; give the folder that kgqa train made.")
    try:
        with storage_errors(path):
            found = json.loads(read_small(path))
    except (ValueError, RecursionError) as error:
        raise BrokenInput(f"{path}: this is no JSON ({error}); train the reader again.") from None
    if not isinstance(found, dict) or not isinstance(found.get("reader"), str):
        raise BrokenInput(f"{path}: it does not say which reader this is; train the reader again.")
    if found.get("version") != VERSION:
        raise BrokenInput(
            f"{path}: this reader was saved as version {found.get('version')}, and this kgqa reads {VERSION}; train it again."
        )
    if reader is not None and found["reader"] != reader:
        raise BrokenInput(f"{path}: this is the reader {found['reader']}, not {reader}; give the folder of one.")
    return found


@contextmanager
def described(folder: Path) -> Iterator[None]:
    """BrokenInput where what follows does not find in the file what a reader of this kind needs."""
    try:
        yield
    except (KeyError, TypeError, ValidationError) as error:
        raise BrokenInput(f"{folder / FILE}: it does not describe this reader any more; train the reader again.") from error
