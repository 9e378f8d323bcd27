"""Hidden temporary folders next to an output: files are written there and moved when they are complete.

A killed process cannot clean up. It therefore locks a file in its folder, and the system releases the lock when the process ends. The next
process that writes there removes every folder whose lock is free. A process id would not do: ids are reused, and differ between containers
and machines that share a disk. On a file system without locks the folder has no lock file, and other processes leave it alone.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

TEMPORARY = ".partial"
"""Suffix of the names of incomplete files and folders."""
MARK = ".kgqa.scratch"
CLAIM = b"kgqa writes in this folder; as long as it does, it holds a lock on this file.\n"
_NAME = re.compile(rf"\..+\.[a-z0-9_]+{re.escape(TEMPORARY)}", re.DOTALL)


@contextmanager
def scratch(path: Path) -> Iterator[Path]:
    """A new temporary folder next to ``path``, deleted when the context ends; removes those of killed processes first. Raises OSError."""
    sweep(path.parent)
    # The name is unique, so the clean-up can be registered before the folder exists: a signal may arrive between any two steps.
    folder = path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY}")
    with ExitStack() as lock, ExitStack() as content:
        content.callback(_clear, folder)
        folder.mkdir(mode=0o700)
        _mark(folder, lock)
        yield folder


def _mark(folder: Path, stack: ExitStack) -> None:
    """Hold the lock until the ``stack`` ends. The claim is written after locking, so a folder with a claim is or was locked."""
    mark = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    stack.callback(os.close, mark)
    try:
        fcntl.flock(mark, fcntl.LOCK_EX)
    except OSError:  # this file system has no locks
        (folder / MARK).unlink()
        return
    os.write(mark, CLAIM)


def sweep(folder: Path) -> None:
    """Remove the temporary folders of killed processes from ``folder``; folders in use and other people's folders stay."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [entry for entry in entries if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]:
            with suppress(OSError), ExitStack() as stack:
                if _is_abandoned(Path(entry.path), stack):
                    _clear(Path(entry.path))


def is_scratch(path: Path) -> bool:
    """Whether ``path`` is a temporary folder of kgqa, in use or not."""
    return path.is_dir() and not path.is_symlink() and (path / MARK).is_file()


def _is_abandoned(folder: Path, stack: ExitStack) -> bool:
    """Whether ``folder`` is claimed and its lock is free; holds the lock until the ``stack`` ends. Raises OSError if it is in use.

    No link is followed.
    """
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    stack.callback(os.close, place)
    mark = os.open(MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    stack.callback(os.close, mark)
    fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return os.read(mark, len(CLAIM) + 1) == CLAIM


def _clear(folder: Path) -> None:
    """Delete a scratch folder if it exists, its mark last: if the process is killed here, the next one still recognises the folder."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        if path.name != MARK:
            remove(path)
    remove(folder)


def remove(path: Path) -> None:
    """Delete a file or folder if it exists; of a link, only the link itself."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
