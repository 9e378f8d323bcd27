"""Puts the files of a dataset into an object store, the manifest last: a dataset without a manifest is not whole, and is not read as one.

A store has no transaction over several objects. To replace a dataset, its obsolete files and then its manifest are deleted first, so that
nobody reads a mixture: without a file that the manifest names, or without the manifest, nothing is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import MissingInput, ObjectStoreError, storage_errors
from kgqa.object_store.address import ObjectAddress
from kgqa.object_store.service import CHUNK, Service
from kgqa.progress import Progress
from kgqa.runs.manifest import MANIFEST

MOST_MANIFEST = 64 << 20
Content = Path | bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class InStore:
    """What is at an address now."""

    service: Service
    sizes: Mapping[str, int]
    """Name → bytes of each object; empty if there are none."""
    hashes: Mapping[str, str]
    """Name → SHA-256 that the manifest of a whole dataset of kgqa names; empty without one."""
    manifest: bytes = b""
    """That manifest."""

    def has(self, name: str, size: int, sha256: str) -> bool:
        """Whether a whole dataset there has this file."""
        return self.sizes.get(name) == size and self.hashes.get(name) == sha256


def look(address: ObjectAddress) -> InStore:
    """What is at the address. Raises ObjectStoreError."""
    service = Service.of(address)
    if service.is_object():
        raise ObjectStoreError(f"{address}: this is an object; give a prefix for the files of the dataset.")
    try:
        sizes = service.sizes(deep=True)
    except MissingInput:
        return InStore(service=service, sizes={}, hashes={})
    text = b"".join(service.read(MANIFEST)) if sizes.get(MANIFEST, MOST_MANIFEST) < MOST_MANIFEST else b""
    try:
        manifest = json.loads(text)
        hashes = {str(name): str(digest) for name, digest in manifest["files"].items()} if "kgqa" in manifest["versions"] else {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        hashes = {}
    return InStore(service=service, sizes=sizes, hashes=hashes, manifest=text if hashes else b"")


def check_free(place: InStore, names: Mapping[str, object], *, replace: bool) -> None:
    """Raise ObjectStoreError unless files of these ``names`` may be put there.

    With ``replace`` they may be in the place of a dataset of kgqa, or of what an upload that broke has left of these names.
    """
    address = place.service.address
    if not place.sizes:
        return
    if place.hashes:
        others = sorted((place.sizes.keys() & names.keys()) - place.hashes.keys() - {MANIFEST})
    else:  # a manifest that is not kgqa's makes all of them somebody else's
        others = sorted(place.sizes.keys() - (names.keys() - {MANIFEST}))
    if others:
        raise ObjectStoreError(f"{address}: there are objects that kgqa did not put there, such as {others[0]}; choose another prefix.")
    if not replace:
        kind = "a dataset" if place.hashes else "a part of a dataset, which an upload that broke may have left"
        raise ObjectStoreError(
            f"{address}: there is {kind} already; give --replace to put this one in its place, or choose another prefix."
        )


def upload(
    place: InStore,
    files: Mapping[str, tuple[Content, int, str]],
    progress: Progress,
    *,
    again: str = "run the same command again with --replace",
) -> None:  # fmt: skip
    """Bring the address to ``files``: name → content, bytes and SHA-256. Objects there that belong to no dataset stay.

    Raises ObjectStoreError; an upload that broke leaves no manifest, or one that names a file that is gone, and the same call with
    ``replace`` goes on; ``again`` says so in messages.
    """
    service = place.service
    missing = [name for name, (_, size, digest) in files.items() if name != MANIFEST and not place.has(name, size, digest)]
    progress.start(f"Uploading {len(missing) + 1} files", sum(files[name][1] for name in [*missing, MANIFEST]), "bytes")
    # Only the old manifest says that obsolete files are kgqa's. So they go before it, or a second call could not delete them.
    for name in sorted((place.hashes.keys() & place.sizes.keys()) - files.keys()):
        service.delete(name)
    if MANIFEST in place.sizes:
        service.delete(MANIFEST)
    for name in missing:
        service.write(name, chunks(files[name][0], progress))
    _check_arrived(service, {name: size for name, (_, size, _) in files.items() if name != MANIFEST}, again)
    service.write(MANIFEST, chunks(files[MANIFEST][0], progress))
    progress.finish(str(service.address))


def _check_arrived(service: Service, sizes: Mapping[str, int], again: str) -> None:
    found = service.sizes(deep=True)
    for name, size in sizes.items():
        if found.get(name) != size:
            raise ObjectStoreError(
                f"{service.url(name)}: after the upload the store lists {found.get(name, 0):,} of {size:,} bytes; {again}."
            )


def chunks(content: Content, progress: Progress) -> Iterator[bytes]:
    """The content in pieces; ``progress`` is told of each."""
    if isinstance(content, bytes):
        yield content
        progress.advance(len(content))
        return
    with storage_errors(content), content.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
            progress.advance(len(chunk))
