"""Places of the files that travel with kgqa: next to the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """The folder ``cypher`` or ``seeds``."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def user_cache(name: str) -> Path:
    """The folder ``name`` of kgqa in the user's cache folder; it need not exist. Raises RuntimeError without a home folder."""
    if sys.platform == "darwin":
        return Path("~/Library/Caches/kgqa").expanduser() / name
    caches = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(caches) if os.path.isabs(caches) else Path("~/.cache").expanduser()) / "kgqa" / name


def word_lists(path: Path) -> dict[str, list[str]]:
    """The lists of a file of words: ``name: word word …``, an indented line goes on with the list before it, ``#`` begins a comment."""
    lists: dict[str, list[str]] = {}
    words: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, colon, rest = line.rpartition(":")
            words = lists.setdefault(name, []) if colon else words
            words += rest.split()
    return lists
