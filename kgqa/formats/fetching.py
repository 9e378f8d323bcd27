"""Question sets that are given by the URL of an object store: a copy on this machine is read."""

from __future__ import annotations

from pathlib import Path

from kgqa.errors import BrokenInput, MissingInput
from kgqa.formats import native
from kgqa.object_store.address import url_of
from kgqa.object_store.mirror import local_copy
from kgqa.progress import Progress
from kgqa.runs.files import known_hash
from kgqa.runs.manifest import MANIFEST

TWINS = (native.MASKED, "full")
"""Folders of a dataset that are sets of their own."""


def fetched(place: str | Path, *, progress: Progress | None = None) -> Path:
    """The path of a question set, or of a copy of what an ``s3://`` or ``gs://`` URL names (:func:`kgqa.object_store.mirror.local_copy`).

    Raises what ``local_copy`` raises, and BrokenInput for a dataset of kgqa with other files than its manifest says, or without a manifest:
    it is uploaded last, so the others may not be all. The manifest of a twin, ``masked`` or ``full``, is one level up.
    """
    path, url = local_copy(place, progress=progress), url_of(place)
    if url and path.is_dir() and native.is_folder(path):
        if native.manifest_of(path):
            _check_files(path, url)
        elif not _is_whole_twin(path, url):
            raise BrokenInput(
                f"{place}: this dataset has no manifest.json, so its upload did not end; publish it again, or give one file of it."
            )
    return path


def _check_files(path: Path, url: str) -> None:
    """Raise BrokenInput for a file in the copy that is not what the manifest says, as after two uploads at the same time."""
    files = native.manifest_of(path).get("files")
    for name, digest in files.items() if isinstance(files, dict) else ():
        if (path / name).is_file() and known_hash(path / name) != digest:
            raise BrokenInput(f"{url}/{name}: this file is not what manifest.json says; publish or generate the dataset again.")


def _is_whole_twin(path: Path, url: str) -> bool:
    """Whether the copy at ``path`` has the files of a twin, as the manifest above ``url`` names them."""
    above, _, twin = url.rpartition("/")
    if twin not in TWINS:
        return False
    try:
        files = native.manifest_of(local_copy(f"{above}/{MANIFEST}").parent).get("files", {})
    except MissingInput:
        return False
    hashes = {name: digest for name, digest in files.items() if name.startswith(f"{twin}/")}
    return bool(hashes) and all((file := path.parent / name).is_file() and known_hash(file) == digest for name, digest in hashes.items())
