"""Output files and folders that appear whole or not at all, reproducible Parquet, hashes, and a check that input files do not change."""

from __future__ import annotations

import errno
import fcntl
import filecmp
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import InputChanged, StorageError, storage_errors
from kgqa.runs.memory import give_back
from kgqa.runs.scratch import TEMPORARY, remove, scratch

TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
"""Error numbers of a rename to an existing path."""
URL = re.compile(r"(?:^|/)(?:s3|gs|hf|file|https?):/", re.IGNORECASE)
"""A URL, also one whose slashes a path has made one."""
Stamp = tuple[int, ...]
"""Device, inode, size, and the times of the last change of content and of metadata, in nanoseconds."""
TICK = 20_000_000
"""Nanoseconds for which the clock of a file system may stand still: two changes within them have the same times."""


@contextmanager
def new_folder(path: Path, *, again: bool = False, option: str = "--out") -> Iterator[Path]:
    """A folder to write to; it becomes ``path`` if the context ends without an error, and is deleted otherwise.

    ``path`` may be missing or an empty folder. StorageError if it is anything else, also if another run created it in the meantime. With
    ``again`` it may also hold the same files with the same bytes, as after a run that was killed just after its work was done. ``option``
    names the folder, for messages.
    """
    with storage_errors(path):
        path = Path(os.path.abspath(path))  # so that "." and "x/.." have a name too
        check_new_folder(path, again=again, option=option)
        with parents_of(path), scratch(path) as folder:
            partial = folder / path.name
            yield partial
            try:
                partial.rename(path)
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
                if not (again and _is_same_folder(path, partial)):
                    raise already_there(path, option) from None


def _is_same_folder(first: Path, second: Path) -> bool:
    return first.is_dir() and not first.is_symlink() and file_hashes(first) == file_hashes(second)


def real_path(path: Path) -> Path:
    """The path without links; OSError for circular links, which ``Path.resolve`` ignores or reports as RuntimeError."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
    return Path(os.path.realpath(path))


@contextmanager
def parents_of(path: Path) -> Iterator[None]:
    """Create the folders that ``path`` lies in; delete the new ones if the context ends with an error."""
    folder = Path(os.path.abspath(path.parent))
    created = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in created:
            with suppress(OSError):  # it was not created, or is no longer empty
                parent.rmdir()
        raise


def lies_within(path: Path, folder: Path) -> bool:
    """Whether ``path`` is ``folder`` or below it after links are resolved; neither has to exist."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_is_local(path: Path) -> None:
    """Raise StorageError for the URL of another place, which as a path would be a folder of that name here."""
    if match := URL.search(str(path)):
        url = re.sub(r":/+", "://", str(path)[match.start() :].lstrip("/"), count=1)  # a path has made two slashes one
        raise StorageError(f"{url}: kgqa writes on this machine; give a folder, and upload a finished dataset with kgqa publish --to.")


def check_new_folder(path: Path, *, again: bool = False, option: str = "--out") -> None:
    """Raise StorageError if :func:`new_folder` would, before any work is done.

    With ``again``, the contents of an existing folder are not checked yet, because they may turn out to be the same.
    """
    check_is_local(path)
    with storage_errors(path):
        path = Path(os.path.abspath(path))
        if not path.name:
            raise StorageError(f"{path}: this is the root of the file system; choose another {option}.")
        if os.path.ismount(path):
            raise StorageError(
                f"{path}: this is a mount point, which cannot be replaced with a folder; choose a folder inside it as {option}."
            )
        if path.is_symlink() or (path.exists() and (not path.is_dir() or (not again and any(path.iterdir())))):
            raise already_there(path, option)


def check_new_file(path: Path, *, again: bool = False) -> None:
    """Raise StorageError if no new file can be written at ``path``, before any work is done.

    With ``again``, the contents of an existing file are not checked yet, because they may turn out to be the same.
    """
    check_is_local(path)
    with storage_errors(path):
        if os.path.lexists(path) and not (again and path.is_file() and not path.is_symlink()):
            raise already_there(path)
        folder = Path(os.path.abspath(path)).parent
        if folder.is_file():
            raise StorageError(f"{path}: {folder} is a file, not a folder; choose another --out.")
        if not folder.is_dir():
            raise StorageError(f"{path}: there is no folder {folder}; create it, or choose another --out.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise StorageError(f"{path}: nothing can be written into {folder}; choose another --out.")


def already_there(path: Path, option: str = "--out") -> StorageError:
    """The error for an output path that exists."""
    return StorageError(f"{path}: this is already there; choose another {option}, or remove it.")


def put_all(places: Mapping[Path, Path]) -> None:
    """Rename each file to its place, or none of them. Raises StorageError.

    A place may already hold a file with the same bytes, which a killed run left.
    """
    existing = {path for path, place in places.items() if os.path.lexists(place)}
    for path in existing:
        place = places[path]
        if place.is_symlink() or not place.is_file() or not filecmp.cmp(path, place, shallow=False):
            raise already_there(place)
    rename_all({path: place for path, place in places.items() if path not in existing})


def rename_all(places: Mapping[Path, Path]) -> None:
    """Rename each file to its place; if one fails, undo the others."""
    renamed: list[Path] = []
    try:
        for path, place in places.items():
            path.rename(place)
            renamed.append(place)
    except BaseException:
        for place in renamed:
            place.unlink(missing_ok=True)
        raise


def discard(partial: Path) -> None:
    """Delete a temporary file or folder and its companions, such as the engine's ``.wal`` and ``.shadow`` files."""
    for path in partial.parent.glob(f"{partial.name}*"):
        remove(path)


def read_parquet(path: Path, *, columns: Sequence[str] | None = None, coded: Sequence[str] = ()) -> pa.Table:
    """A table of :func:`write_parquet`, or some ``columns`` of it; those in ``coded`` are read as dictionaries.

    Long texts are in one chunk, so that kernels read them without a copy. Memory: the columns, and a row group while it is decoded.
    """
    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow if columns is None else pa.schema([file.schema_arrow.field(name) for name in columns])
        long = [name for name in schema.names if schema.field(name).type == pa.large_string()]
        texts = {name: _one_chunk(file, name) for name in long}
    others = [name for name in schema.names if name not in texts]
    table = pq.read_table(path, columns=others, read_dictionary=list(coded), memory_map=False)
    for name in long:
        table = table.add_column(schema.get_field_index(name), schema.field(name), texts[name])
    give_back()
    return table


def _one_chunk(file: pq.ParquetFile, name: str) -> pa.ChunkedArray:
    """A column of texts. Its bytes are appended row group by row group, since joining chunks would hold all texts twice."""
    data, ends = bytearray(), [np.zeros(1, np.int64)]
    for group in range(file.num_row_groups):
        column = file.read_row_group(group, columns=[name])[name]
        if column.null_count:
            return file.read(columns=[name])[name]
        for chunk in column.chunks:
            _, buffer, content = chunk.buffers()
            bounds = np.frombuffer(buffer, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
            ends.append(bounds[1:] - bounds[0] + len(data))
            if content is not None:
                data += memoryview(content)[bounds[0] : bounds[-1]]
    offsets = np.concatenate(ends)
    array = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    return pa.chunked_array([array], pa.large_string())


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet; the same table always gives the same bytes."""
    pq.write_table(table.combine_chunks(), path, compression="zstd", compression_level=1, row_group_size=1 << 16, store_schema=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file at ``path``, or replace it; at any time either the old or the new file is there whole. Raises StorageError.

    Text that is not UTF-8, such as part of the name of a folder, is escaped.
    """
    with storage_errors(path):
        place = real_path(path)
        if place.exists() and not place.is_file() and not place.is_dir():
            raise StorageError(f"{place}: a pipe or device is in the place of the file; remove it or choose another path.")
        if place.exists():
            place.open("ab").close()  # fails for a read-only file, which must not be replaced
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
def alone(path: Path, waits: Callable[[str], object] = lambda _: None) -> Iterator[None]:
    """Lock the folder of ``path`` against all other threads and processes that use this lock; wait until it is free.

    Reading a file and replacing it with :func:`write_whole` inside the context therefore loses no other update. The folder is locked and
    not the file, because the file is replaced and a separate lock file would stay behind. The system releases the lock when the process
    ends. ``waits`` is told who has the lock if it is not free. Raises StorageError if the folder is missing.
    """
    with storage_errors(path):
        folder = os.open(real_path(path).parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # this file system has no locks
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waits(_holder(folder))
                fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _holder(lock: int) -> str:
    """Who has the lock on an open file, for messages: a process by its number where the system tells it, as Linux does."""
    inode = os.fstat(lock).st_ino
    with suppress(OSError):
        for line in Path("/proc/locks").read_text("utf-8").splitlines():
            _, kind, _, _, process, place, *_ = line.split()
            if kind == "FLOCK" and place.rpartition(":")[2] == str(inode) and int(process) > 0:
                return f"process {process}"
    return "another process"


def file_hash(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def known_hash(path: Path) -> str:
    """:func:`file_hash` of a file that is asked for again and again; only a file that was changed or replaced is read again."""
    place = os.path.abspath(path)
    return _hash_of_state(place, _stamp(place))


@lru_cache(maxsize=4096)
def _hash_of_state(place: str, stamp: Stamp | None) -> str:
    return file_hash(Path(place))


def hashes_of(paths: Iterable[Path]) -> dict[str, str]:
    """Name → SHA-256 for each of the ``paths`` that is a file."""
    return {path.name: known_hash(path) for path in paths if path.is_file()}


def file_hashes(folder: Path, hashes: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Name of each file below ``folder`` → SHA-256, in the order of their paths. ``hashes`` are those already known."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: hashes.get(name) or file_hash(path) for name, path in paths.items()}


def key_of(*parts: object) -> str:
    """The SHA-256 of JSON-able ``parts``; the order of keys does not matter.

    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1}), key_of("a", "b") == key_of("ab")
    (True, False)
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Watch:
    """Notices when input files change between hashing and reading; a result would otherwise carry the hash of another file.

    A replaced file counts as changed, even with the same content.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Watch ``paths`` from now on: files, not folders. A missing file must stay missing."""
        self._stamps: dict[str, Stamp | None] = {}
        self.add(paths)

    def add(self, paths: Iterable[Path]) -> None:
        """Watch these files too, from now on."""
        for path in paths:
            place = os.path.abspath(path)
            self._stamps.setdefault(place, _stamp(place))

    def check(self) -> None:
        """Raise InputChanged if a file has changed; call this after all files are hashed and read."""
        for place, before in self._stamps.items():
            if _stamp(place) != before:
                raise InputChanged(f"{place}: the file was changed or replaced while it was read; run the same command again.")


def files_below(folder: Path) -> list[Path]:
    """All files below ``folder``, sorted by path; empty if there is no such folder."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _stamp(place: str) -> Stamp | None:
    """The state of a file, which no later change leaves as it is; None without a file."""
    try:
        status = os.stat(place)
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):  # the times of a folder change with every file in it
        return None
    age = time.time_ns() - status.st_ctime_ns
    if 0 <= age < TICK:
        time.sleep((TICK - age) / 1e9)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
