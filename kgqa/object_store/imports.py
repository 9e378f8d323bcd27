"""An import in an object store: made in a folder of this machine, then uploaded, ``import.json`` last.

A store has no transaction over several objects. The old ``import.json`` is deleted before its tables are replaced, so that nobody reads a
mixture: without it, a prefix is no import. The rows that further files are merged with stay on this machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from kgqa.errors import MissingInput, ObjectStoreError, storage_errors
from kgqa.object_store.address import ObjectAddress
from kgqa.object_store.mirror import folder
from kgqa.object_store.service import Service, endpoint
from kgqa.object_store.upload import chunks
from kgqa.progress import Progress
from kgqa.runs.files import alone, key_of, write_whole
from kgqa.sources.imported import FILES, MANIFEST, PARTS

T = TypeVar("T")
UPLOADED = "uploaded.json"
"""The ``import.json`` that this machine has put into the store; missing while an upload is not whole."""


def import_to(address: ObjectAddress, run: Callable[[Path], T], progress: Progress) -> T:
    """Let ``run`` import into a folder of this machine, and bring the prefix at ``address`` to what is there then.

    Only changed tables are uploaded. Disk: the import with its parts, in ``KGQA_OBJECTS``. Raises what ``run`` raises, and
    ObjectStoreError; the same call then goes on.
    """
    service = Service.of(address)
    root = folder() / f"import-{key_of(endpoint() if address.scheme == 's3' else '', str(address))[:16]}"
    place = root / address.path.rpartition("/")[2]
    with storage_errors(root):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with alone(root / UPLOADED, lambda holder: progress.start(f"Waiting for the import of {holder} into {address}")):
            _check_is_ours(service, root, place)
            result = run(place)
            _check_is_ours(service, root, place)
            _upload(service, root, place, progress)
    return result


def _check_is_ours(service: Service, root: Path, place: Path) -> None:
    """Raise ObjectStoreError unless the prefix is free, or has what this machine has put there."""
    address = service.address
    if service.is_object():
        raise ObjectStoreError(f"{address}: this is an object; give a prefix for the tables of the import.")
    sizes: dict[str, int] = {}
    with suppress(MissingInput):
        sizes = service.sizes(deep=True)
    if strangers := sorted(sizes.keys() - set(FILES)):
        raise ObjectStoreError(f"{address}: there are objects that are no import, such as {strangers[0]}; choose another prefix.")
    is_ours = b"".join(service.read(MANIFEST)) == _content(root / UPLOADED) if MANIFEST in sizes else (place / PARTS).is_dir()
    if sizes and not is_ours:
        raise ObjectStoreError(
            f"{address}: there is an import of another machine, and what it read is not here, so nothing can be added; choose another "
            "prefix, or delete the objects."
        )


def _upload(service: Service, root: Path, place: Path, progress: Progress) -> None:
    manifest, before = _content(place / MANIFEST), _content(root / UPLOADED)
    hashes, old_hashes = (json.loads(text or b"{}").get("sha256", {}) for text in (manifest, before))
    sizes: dict[str, int] = {}
    with suppress(MissingInput):
        sizes = service.sizes(deep=False)
    if manifest == before and MANIFEST in sizes:
        return
    changed = [name for name, digest in hashes.items() if old_hashes.get(name) != digest or name not in sizes]
    files = [*changed, MANIFEST]
    progress.start(f"Uploading {len(files)} files", sum((place / name).stat().st_size for name in files), "bytes")
    (root / UPLOADED).unlink(missing_ok=True)
    if MANIFEST in sizes:
        service.delete(MANIFEST)
    for name in files:
        service.write(name, chunks(place / name, progress))
    write_whole(root / UPLOADED, manifest.decode("utf-8"))
    progress.finish(str(service.address))


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
