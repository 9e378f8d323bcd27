"""The file that identifies the reader in a folder, with its version."""

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
"""Version of the folder's layout."""


def write(folder: Path, reader: str, **state: Any) -> None:
    """Record that ``folder`` holds a ``reader``; ``state`` is JSON-able."""
    text = json.dumps({"reader": reader, "version": VERSION, **state}, indent=1, ensure_ascii=False, sort_keys=True)
    with storage_errors(folder):
        (folder / FILE).write_text(text + "\n", "utf-8")


def read(folder: Path, reader: str | None = None) -> Mapping[str, Any]:
    """Read what :func:`write` wrote. Raises MissingInput, and BrokenInput for another ``reader`` or version."""
    path = folder / FILE
    if not path.is_file():
        raise MissingInput(f"{folder}: there is no {FILE} here, so this is not a trained reader; give the folder that kgqa train made.")
    try:
        with storage_errors(path):
            description = json.loads(read_small(path))
    except (ValueError, RecursionError) as error:
        raise BrokenInput(f"{path}: this is not JSON ({error}); train the reader again.") from None
    if not isinstance(description, dict) or not isinstance(description.get("reader"), str):
        raise BrokenInput(f"{path}: it does not say which reader it is; train the reader again.")
    if description.get("version") != VERSION:
        raise BrokenInput(
            f"{path}: this reader was saved as version {description.get('version')}, and this kgqa reads {VERSION}; train it again."
        )
    if reader is not None and description["reader"] != reader:
        raise BrokenInput(f"{path}: this is the reader {description['reader']}, not {reader}; give the folder of one.")
    return description


@contextmanager
def described(folder: Path) -> Iterator[None]:
    """Raise BrokenInput if the block finds that the file lacks something."""
    try:
        yield
    except (KeyError, TypeError, ValidationError) as error:
        raise BrokenInput(f"{folder / FILE}: it does not describe this reader any more; train the reader again.") from error
