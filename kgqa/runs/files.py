"""Files and folders that appear whole or not at all, Parquet with the same bytes for the same table, and hashes."""

from __future__ import annotations

import errno
import fcntl
import filecmp
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import StorageError, storage_errors
from kgqa.runs.scratch import TEMPORARY, remove, scratch

TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
"""Error numbers of a rename to an existing path."""


@contextmanager
def new_folder(path: Path, *, again: bool = False) -> Iterator[Path]:
    """The name of a folder in a hidden one beside ``path``; what is written there becomes ``path`` if all goes well, else nothing does.

    ``path`` may be an empty folder; StorageError where it is anything else, be it that another run made it meanwhile. With ``again`` it may
    also hold the same files with the same bytes, as after a run that was killed when its work was done.
    """
    with storage_errors(path):
        path = Path(os.path.abspath(path))  # so that "." and "x/.." have a name too
        check_new_folder(path, again=again)
        with parents_of(path), scratch(path) as folder:
            partial = folder / path.name
            yield partial
            try:
                partial.rename(path)
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
                if not (again and _is_same_folder(path, partial)):
                    raise already_there(path) from None


def _is_same_folder(path: Path, other: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and file_hashes(path) == file_hashes(other)


def real_path(path: Path) -> Path:
    """Path without links; OSError for circular links, which ``Path.resolve`` ignores or reports as a bug."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
    return Path(os.path.realpath(path))


@contextmanager
def parents_of(path: Path) -> Iterator[None]:
    """The folders that ``path`` lies in are made; those that were not there go again where what follows fails."""
    folder = Path(os.path.abspath(path.parent))
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in made:
            with suppress(OSError):  # it was not made, or somebody else has put something there
                parent.rmdir()
        raise


def lies_within(path: Path, folder: Path) -> bool:
    """Whether ``path`` is ``folder`` or below it, whatever links lead there; neither need be there."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_new_folder(path: Path, *, again: bool = False) -> None:
    """Raise StorageError where :func:`new_folder` will, before anything is computed that it would hold.

    With ``again`` what a folder holds is for later, as it may be the same.
    """
    with storage_errors(path):
        path = Path(os.path.abspath(path))
        if not path.name:
            raise StorageError(f"{path}: this is the root of the file system; choose another --out.")
        if os.path.ismount(path):
            raise StorageError(f"{path}: this is a mount point, in whose place no folder can be put; choose a folder inside it as --out.")
        if path.is_symlink() or (path.exists() and (not path.is_dir() or (not again and any(path.iterdir())))):
            raise already_there(path)


def check_new_file(path: Path, *, again: bool = False) -> None:
    """Raise StorageError where a new file cannot be put, before anything is computed that it would hold.

    With ``again`` what a file holds is for later, as it may be the same.
    """
    with storage_errors(path):
        if os.path.lexists(path) and not (again and path.is_file() and not path.is_symlink()):
            raise already_there(path)
        folder = Path(os.path.abspath(path)).parent
        if folder.is_file():
            raise StorageError(f"{path}: {folder} is a file, not a folder; choose another --out.")
        if not folder.is_dir():
            raise StorageError(f"{path}: there is no folder {folder}; make it, or choose another --out.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise StorageError(f"{path}: nothing can be written into {folder}; choose another --out.")


def already_there(path: Path) -> StorageError:
    """Error message for an existing output path."""
    return StorageError(f"{path}: this is already there; choose another --out, or remove it.")


def put_all(places: Mapping[Path, Path]) -> None:
    """Rename each file to its place, where nothing may be but a file of the same bytes: a run that was killed left it.

    None of them where one cannot be. Raises StorageError.
    """
    there = {path for path, place in places.items() if os.path.lexists(place)}
    for path in there:
        place = places[path]
        if place.is_symlink() or not place.is_file() or not filecmp.cmp(path, place, shallow=False):
            raise already_there(place)
    rename_all({path: place for path, place in places.items() if path not in there})


def rename_all(places: Mapping[Path, Path]) -> None:
    """Rename each file to its place; none of them where one cannot be."""
    done: list[Path] = []
    try:
        for path, place in places.items():
            path.rename(place)
            done.append(place)
    except BaseException:
        for place in done:
            place.unlink(missing_ok=True)
        raise


def discard(partial: Path) -> None:
    """Delete a temporary file or folder with its companions, as the engine's ``.wal`` and ``.shadow``."""
    for path in partial.parent.glob(f"{partial.name}*"):
        remove(path)


def write_parquet(table: pa.Table, path: Path) -> None:
    """Parquet with the same bytes for the same table, whoever writes it."""
    pq.write_table(table.combine_chunks(), path, compression="zstd", compression_level=1, row_group_size=1 << 16, store_schema=True)


def write_whole(path: Path, text: str) -> None:
    """Put a text file at ``path``, in place of what is there; whatever happens, one of the two is there whole. Raises StorageError.

    What is not UTF-8, as part of a folder's name may be, is written as an escape.
    """
    with storage_errors(path):
        place = real_path(path)
        if place.exists() and not place.is_file() and not place.is_dir():
            raise StorageError(f"{place}: a pipe or device stands where a file must go; remove it or choose another path.")
        if place.exists():
            place.open("ab").close()  # a file that may not be written is not replaced either
        partial = place.with_name(f".{place.name}{TEMPORARY}")
        try:
            with partial.open("wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, place)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else who asks for this changes what lies in the folder of ``path``, be it a thread or a process; one waits for the other.

    What is read in between and written with :func:`write_whole` loses nothing that was said meanwhile. The lock is on the folder, since
    the file is replaced and a file of locks would stay behind; it goes with the process. Raises StorageError where the folder is away.
    """
    with storage_errors(path):
        folder = os.open(real_path(path).parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # this file system has no locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashes_of(paths: Iterable[Path]) -> dict[str, str]:
    """Name → SHA-256 of each of the ``paths`` that is a file."""
    return {path.name: file_hash(path) for path in paths if path.is_file()}


def file_hashes(folder: Path, known: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """File below ``folder``, by its name there → SHA-256 of its bytes, where it is not ``known``; in the order of their paths."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: known.get(name) or file_hash(path) for name, path in paths.items()}


def key_of(*parts: object) -> str:
    """Hash of JSON-able ``parts``."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
