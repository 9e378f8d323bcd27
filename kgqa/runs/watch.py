"""Input files must not change between hashing and reading; otherwise a result would have the hash of another file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from kgqa.errors import InputChanged

Stamp = tuple[int, ...]
"""Device, inode, size, and the times of the last change of content and of name or rights, in nanoseconds."""


class Watch:
    """State of files at one time. A replaced file counts as changed, even with the same content."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """From now on; folders are not watched, but their files can be. A file that is away has to stay away."""
        self._stamps: dict[str, Stamp | None] = {}
        self.add(paths)

    def add(self, paths: Iterable[Path]) -> None:
        """Watch these files as well, from now on."""
        for path in paths:
            place = os.path.abspath(path)
            self._stamps.setdefault(place, _stamp(place))

    def check(self) -> None:
        """Raise InputChanged where one is not what it was; to be called when all is hashed and read."""
        for place, before in self._stamps.items():
            if _stamp(place) != before:
                raise InputChanged(f"{place}: the file was changed or replaced while it was read; run the same command again.")


def files_below(folder: Path) -> list[Path]:
    """All files of a folder, in the order of their paths; none where there is no folder."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _stamp(place: str) -> Stamp | None:
    try:
        status = os.stat(place)
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):  # its times change with every file in it
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
