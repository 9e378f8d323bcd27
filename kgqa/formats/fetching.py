"""Question sets that are given by the URL of an object store: a copy on this machine is read."""

from __future__ import annotations

from pathlib import Path

from kgqa.errors import BrokenInput
from kgqa.formats import native
from kgqa.object_store.address import url_of
from kgqa.object_store.mirror import local_copy
from kgqa.progress import Progress


def fetched(place: str | Path, *, progress: Progress | None = None) -> Path:
    """The path of a question set, or of a copy of what an ``s3://`` or ``gs://`` URL names (:func:`kgqa.object_store.mirror.local_copy`).

    Raises what ``local_copy`` raises, and BrokenInput for a dataset of kgqa without a manifest there: the manifest is uploaded last, so the
    others may not be all.
    """
    path = local_copy(place, progress=progress)
    if url_of(place) and path.is_dir() and native.is_folder(path) and not native.manifest_of(path):
        raise BrokenInput(
            f"{place}: this dataset has no manifest.json, so its upload did not end; publish it again, or give one file of it."
        )
    return path
