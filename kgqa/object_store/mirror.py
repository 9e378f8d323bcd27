"""Copies of objects on this machine: what kgqa reads, hashes and watches is a file, whichever store it came from.

A copy is made object by object, each under a temporary name that is changed when the object is whole, and noted in a journal with what the
store said of it. The next use asks the store again; an object that is the same, and whose copy has the noted hash, is not read again. So a
copy that was stopped goes on with whole files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from kgqa.errors import BrokenInput, InputChanged, MissingInput, ObjectStoreError, StorageError, storage_errors
from kgqa.object_store.address import ObjectAddress, place_of
from kgqa.object_store.service import Service, State, endpoint
from kgqa.progress import Progress, Silent
from kgqa.resources import user_cache
from kgqa.runs.files import alone, key_of, known_hash, write_whole
from kgqa.runs.manifest import MANIFEST
from kgqa.runs.scratch import TEMPORARY
from kgqa.sources.imported import MANIFEST as IMPORT_MANIFEST

FOLDER = "KGQA_OBJECTS"
"""Environment variable: the folder of all copies."""
JOURNAL = "objects.jsonl"
NAMING = {MANIFEST: "files", IMPORT_MANIFEST: "sha256"}
"""Manifest of a dataset or an import → the field whose keys are the names of its files."""


@dataclass(frozen=True, slots=True)
class _Copied:
    """A line of the journal."""

    name: str
    state: State
    sha256: str


def local_copy(place: str | Path, *, deep: bool = True, progress: Progress | None = None) -> Path:
    """The file or folder that ``place`` names: itself on this machine, a copy of what an ``s3://`` or ``gs://`` URL names.

    ``deep`` also copies objects with slashes in their names below the prefix; names that begin with a dot never are. The copy has exactly
    what the store lists. Disk: the size of the objects, in ``KGQA_OBJECTS``, by default the user's cache folder. Raises SettingsError,
    ObjectStoreError, MissingInput, InputChanged if an object changes while it is read, and StorageError.
    """
    address = place_of(place)
    return address if isinstance(address, Path) else _mirrored(address, deep=deep, progress=progress or Silent())


def folder() -> Path:
    """The folder of all copies. Raises StorageError without a home folder."""
    if named := os.environ.get(FOLDER):
        return Path(os.path.abspath(named))
    try:
        return user_cache("objects")
    except RuntimeError:
        raise StorageError(f"there is no home folder for copies of objects; set {FOLDER} to a folder.") from None


def _mirrored(address: ObjectAddress, *, deep: bool, progress: Progress) -> Path:
    service = Service.of(address)
    single = service.is_object()
    sizes = {"": 0} if single else {name: size for name, size in service.sizes(deep=deep).items() if not _is_hidden(name)}
    if not sizes:
        below = "below" if deep else "directly below"
        raise MissingInput(f"{address}: the store has no object {below} this prefix whose name does not begin with a dot; check the URL.")
    _check_names(address, sizes)
    # Another endpoint may have a bucket of the same name.
    root = folder() / key_of(endpoint() if address.scheme == "s3" else "", str(address), deep)[:16]
    place = root / address.path
    with storage_errors(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with alone(root / JOURNAL):
            journal = _journal(root)
            (place.parent if single else place).mkdir(parents=True, exist_ok=True)
            _remove_others(place, sizes)
            states = {name: service.state(name) for name in sizes}
            stale = {
                name: state for name, state in states.items() if not _is_same(journal.get(name), state, place / name if name else place)
            }
            progress.start("Copying objects", sum(_size(state) for state in stale.values()), "bytes")
            for name, state in stale.items():
                copied = _Copied(name, state, _copy(service, name, state, place / name if name else place, progress))
                journal[name] = copied
                with (root / JOURNAL).open("a", encoding="utf-8") as file:
                    file.write(_line(copied))
            progress.finish(f"{len(stale)} of {len(sizes)} objects; the others were copied before" if len(stale) < len(sizes) else "")
            write_whole(root / JOURNAL, "".join(_line(journal[name]) for name in sorted(sizes)))
    if not single:
        _check_listed(service, place, sizes)
    return place


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") and part not in {".", ".."} for part in PurePosixPath(name).parts)


def _check_names(address: ObjectAddress, names: Mapping[str, Any]) -> None:
    """Raise BrokenInput for keys that are no names of files, or where one is the folder of another."""
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    for name in [address.path, *names]:
        if name and (set(name.split("/")) & {"", ".", ".."} or not name.isprintable() or (name in names and name in folders)):
            raise BrokenInput(f"{address}: the key {name!r} cannot be the name of a file here; rename the object, or give another prefix.")


def _journal(root: Path) -> dict[str, _Copied]:
    """Name → its last line; a line that a kill cut counts for nothing."""
    journal: dict[str, _Copied] = {}
    try:
        lines = (root / JOURNAL).read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return {}
    for line in lines:
        try:
            copied = _Copied(**json.loads(line))
        except (ValueError, TypeError):
            continue
        journal[copied.name] = copied
    return journal


def _line(copied: _Copied) -> str:
    return json.dumps(asdict(copied), ensure_ascii=True) + "\n"


def _remove_others(place: Path, names: Mapping[str, Any]) -> None:
    """Remove copies of objects that are gone, and what a killed run left."""
    if place.is_dir():
        for path in sorted(place.rglob("*"), reverse=True):
            if path.is_dir():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path.relative_to(place).as_posix() not in names:
                path.unlink()


def _is_same(copied: _Copied | None, state: State, path: Path) -> bool:
    return copied is not None and copied.state == state and path.is_file() and known_hash(path) == copied.sha256


def _size(state: State) -> int:
    return int(state.get("content-length") or state.get("size") or 0)


def _copy(service: Service, name: str, state: State, path: Path, progress: Progress) -> str:
    """Copy one object; returns the SHA-256 of its bytes. Raises InputChanged if it changes meanwhile, ObjectStoreError if it is cut."""
    partial = path.with_name(f".{path.name}{TEMPORARY}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        digest, size = download(service, name, partial, progress)
        if service.state(name) != state:
            raise InputChanged(f"{service.url(name)}: the object was changed while it was read; run the same command again.")
        if size != _size(state):
            raise ObjectStoreError(f"{service.url(name)}: the store sent {size:,} of {_size(state):,} bytes; run the same command again.")
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return digest


def download(service: Service, name: str, path: Path, progress: Progress) -> tuple[str, int]:
    """Write the bytes of an object to ``path``; returns their SHA-256 and their number. After an error the file may be there in part."""
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        for chunk in service.read(name):
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            progress.advance(len(chunk))
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest(), size


def _check_listed(service: Service, place: Path, names: Mapping[str, Any]) -> None:
    """Raise MissingInput for a file that a manifest below the prefix names and the store did not list."""
    for manifest, field in NAMING.items():
        if manifest not in names:
            continue
        try:
            named = json.loads((place / manifest).read_text("utf-8"))[field]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # whoever reads the manifest says what is wrong with it
        missing = sorted(name for name in named if name not in names) if isinstance(named, dict) else []
        if missing:
            raise ObjectStoreError(
                f"{service.url(missing[0])}: {manifest} names this object, but the store does not list it; wait a while and run the same "
                "command again, or upload the object again."
            )
