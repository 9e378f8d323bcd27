"""Where files are written until they are whole: a hidden folder beside their place, which goes with the process, or with the next one.

A process that is killed clears nothing up. So it holds a lock on a file in its folder, which the system takes from it whatever happens,
and whoever writes beside the folder next removes it if nobody holds the lock. A process id would prove nothing: it is given again, and is
another one in a container or on a machine that shares the disk. Where a file system has no locks the folder is not marked, and is left.
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
"""How the name of what is not yet whole ends."""
MARK = ".kgqa.scratch"
CLAIM = b"kgqa writes in this folder; as long as it does, it holds a lock on this file.\n"
_NAME = re.compile(rf"\..+\.[a-z0-9_]+{re.escape(TEMPORARY)}", re.DOTALL)


@contextmanager
def scratch(path: Path) -> Iterator[Path]:
    """A new folder beside ``path``, gone with all that is in it when the context ends; those that killed processes left there go first.

    Raises OSError.
    """
    sweep(path.parent)
    # A name that nobody else has, so that what clears it is in place before it is there: a signal may come between any two steps.
    folder = path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY}")
    with ExitStack() as lock, ExitStack() as content:
        content.callback(_clear, folder)
        folder.mkdir(mode=0o700)
        _mark(folder, lock)
        yield folder


def _mark(folder: Path, stack: ExitStack) -> None:
    """Hold the lock until the ``stack`` ends; the claim is written after, so that a folder that has one is or was locked."""
    mark = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    stack.callback(os.close, mark)
    try:
        fcntl.flock(mark, fcntl.LOCK_EX)
    except OSError:  # this file system has no locks
        (folder / MARK).unlink()
        return
    os.write(mark, CLAIM)


def sweep(folder: Path) -> None:
    """Remove what killed processes left in ``folder``; what is in use, is somebody else's or is no such folder stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [entry for entry in entries if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]:
            with suppress(OSError), ExitStack() as stack:
                if _is_abandoned(Path(entry.path), stack):
                    _clear(Path(entry.path))


def is_scratch(path: Path) -> bool:
    """Whether ``path`` is a temporary folder of kgqa, in use or not."""
    return path.is_dir() and not path.is_symlink() and (path / MARK).is_file()


def _is_abandoned(folder: Path, stack: ExitStack) -> bool:
    """Whether ``folder`` is claimed and its lock can be had, which is then held until the ``stack`` ends; OSError where it cannot.

    No link is followed.
    """
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    stack.callback(os.close, place)
    mark = os.open(MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    stack.callback(os.close, mark)
    fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return os.read(mark, len(CLAIM) + 1) == CLAIM


def _clear(folder: Path) -> None:
    """Delete a scratch folder, its mark last: what a run that is killed here leaves is found again. It may not have been made."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        if path.name != MARK:
            remove(path)
    remove(folder)


def remove(path: Path) -> None:
    """Delete a file or folder, if it is there; of a link only the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
