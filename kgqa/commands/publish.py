"""``kgqa publish``: a finished dataset on the Hugging Face hub, in an object store, or as a folder that can be put anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import SettingsError, StorageError, require_packages
from kgqa.formats.fetching import fetched
from kgqa.formats.huggingface import upload
from kgqa.formats.huggingface.publication import PublishedFile, left_out, publication
from kgqa.formats.huggingface.upload import PREFIX, OnHub
from kgqa.object_store import upload as object_upload
from kgqa.object_store.address import ObjectAddress, place_of
from kgqa.progress import Progress, Silent
from kgqa.runs.files import check_new_folder, lies_within, new_folder
from kgqa.runs.manifest import MANIFEST

NEW, CHANGED, SAME = "new", "changed", "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Result of :func:`publish`: the files, and what happens with each."""

    place: str
    """The address of the dataset's page on the hub, the URL in an object store, or the folder."""
    files: dict[str, int]
    """Name → bytes."""
    changes: dict[str, str]
    """Name → ``new``, ``changed`` or ``unchanged``, against what was there before."""
    kept: list[str]
    """Files that are there and do not belong to the dataset; they stay."""
    left_out: list[str]
    """Files in the dataset's folder that kgqa did not write; they are not published."""
    repository: str | None
    """``OWNER/NAME`` on the hub, else None."""
    is_new: bool
    """Whether there was nothing under this name."""
    is_private: bool
    """Whether only its owner sees it; True if it is not on the hub."""
    is_dry: bool
    """Whether nothing was written."""


def publish(
    dataset: str | Path,
    *,
    to: str | Path,
    public: bool = False,
    replace: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Publication:
    """Publish ``dataset``, a finished dataset, ``to`` a new folder, to ``hub:OWNER/NAME``, or to ``s3://BUCKET/PREFIX`` or ``gs://…``.

    Published are the data that the manifest names and hashes, the card, a Croissant description, and the manifest with the names of files
    in place of their paths. On the hub everything arrives in one commit; the token is ``HF_TOKEN`` of the environment, the hub that of
    ``HF_ENDPOINT``. A new dataset is private, unless ``public``; a private one becomes public with it. In an object store the manifest
    arrives last, and a dataset of kgqa that is there is changed only with ``replace``. With ``dry_run`` nothing is written. Raises
    KgqaError, among them HubError and ObjectStoreError where the other side refuses or the connection breaks.
    """
    require_packages("kgqa publish", "huggingface", "huggingface_hub")
    folder = fetched(dataset, progress=progress)
    on_hub = isinstance(to, str) and to.startswith(PREFIX)
    place = None if on_hub else place_of(to)
    if replace and not isinstance(place, ObjectAddress):
        raise SettingsError("--replace is for s3:// and gs://; leave it out.")
    if place is None:
        assert isinstance(to, str)
        return _to_hub(folder, upload.repository_of(to), public=public, dry_run=dry_run, progress=progress or Silent())
    if public:
        raise SettingsError("--public is for the hub, but --to is another place; leave it out, or give --to hub:OWNER/NAME.")
    if isinstance(place, ObjectAddress):
        return _to_store(folder, place, replace=replace, dry_run=dry_run, progress=progress or Silent())
    return _to_folder(folder, place, dry_run=dry_run)


def _to_hub(folder: Path, repository: str, *, public: bool, dry_run: bool, progress: Progress) -> Publication:
    hub, page = upload.client(), upload.page_of(repository)
    files = publication(folder, repository=repository, page=page)
    place = upload.look(hub, repository, public=public)
    if place.exists and not place.is_private and not public:
        raise SettingsError(f"{PREFIX}{repository}: this dataset is public already; give --public, or publish under another name.")
    if not dry_run:
        upload.upload(hub, place, files, public=public, progress=progress)
    return Publication(
        place=page, files=_sizes(files), changes={name: _change(place, name, file) for name, file in files.items()},
        kept=[name for name in place.files if name not in files and name != ".gitattributes"], left_out=left_out(folder, files),
        repository=repository, is_new=not place.exists, is_private=not public, is_dry=dry_run,
    )  # fmt: skip


def _to_folder(folder: Path, out: Path, *, dry_run: bool) -> Publication:
    files = publication(folder)
    if lies_within(out, folder):
        raise StorageError(f"{out}: this is inside the dataset; choose another folder.")
    check_new_folder(out, again=True, option="--to")
    if not dry_run:
        with new_folder(out, again=True, option="--to") as partial:
            for name, file in files.items():
                file.write(partial / name)
    return Publication(
        place=str(out), files=_sizes(files), changes=dict.fromkeys(files, NEW), kept=[], left_out=left_out(folder, files), repository=None,
        is_new=True, is_private=True, is_dry=dry_run,
    )  # fmt: skip


def _to_store(folder: Path, address: ObjectAddress, *, replace: bool, dry_run: bool, progress: Progress) -> Publication:
    files = publication(folder)
    place = object_upload.look(address)
    changes = {name: _change_in_store(place, name, file) for name, file in files.items()}
    is_same = set(changes.values()) == {SAME}
    if not is_same:
        object_upload.check_free(place, files, replace=replace)
    if not dry_run and not is_same:
        object_upload.upload(place, {name: (file.content, file.size, file.sha256) for name, file in files.items()}, progress)
    return Publication(
        place=str(address), files=_sizes(files), changes=changes,
        kept=[name for name in place.sizes if name not in {*files, *place.hashes}], left_out=left_out(folder, files), repository=None,
        is_new=not place.sizes, is_private=True, is_dry=dry_run,
    )  # fmt: skip


def _change_in_store(place: object_upload.InStore, name: str, file: PublishedFile) -> str:
    if name not in place.sizes:
        return NEW
    is_same = place.manifest == file.content if name == MANIFEST else place.has(name, file.size, file.sha256)
    return SAME if is_same else CHANGED


def _sizes(files: Mapping[str, PublishedFile]) -> dict[str, int]:
    return {name: file.size for name, file in files.items()}


def _change(place: OnHub, name: str, file: PublishedFile) -> str:
    if name not in place.files:
        return NEW
    return SAME if place.has(name, file) else CHANGED
