"""A workspace in an object store: stages run on a copy on this machine, and the outputs of each are put there before the next begins.

::

    workspace.json         domain and inputs of the last run
    run.json               the last run that began here; a run that finds another one there ends
    tables/STAGE.json      record of a finished stage: its outputs and their SHA-256
    files/SHA256.parquet   an output of a stage, by its content
    datasets/NAME/…        a finished dataset, its manifest written last

An output never has the name of another, and records and manifests name outputs by their SHA-256. So whichever writes of several runs
arrive, a record names its own outputs, and nothing depends on a list of the store.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath
from typing import Any

from kgqa.errors import MissingInput, ObjectStoreError, WorkspaceBusy, storage_errors
from kgqa.object_store import upload
from kgqa.object_store.address import ObjectAddress, place_of
from kgqa.object_store.mirror import download, folder
from kgqa.object_store.service import Service, endpoint
from kgqa.progress import Progress, Silent
from kgqa.runs.files import key_of, known_hash
from kgqa.runs.manifest import MANIFEST
from kgqa.runs.scratch import TEMPORARY, remove
from kgqa.runs.workspace import OWNER, StageRecord, Workspace
from kgqa.sources.imported import MANIFEST as IMPORT_MANIFEST, PARTS

RUN = "run.json"
FILES = "files"
IMPORT = "import"
"""The stage that a record calls the import of a domain's files."""


def workspace_at(place: str | Path, progress: Progress | None = None) -> Workspace:
    """The workspace in a folder of this machine, or at an ``s3://`` or ``gs://`` URL. Raises SettingsError and StorageError."""
    address = place_of(place)
    return Workspace(address) if isinstance(address, Path) else StoredWorkspace(address, progress or Silent())


class StoredWorkspace(Workspace):
    """A workspace in an object store, with a copy on this machine."""

    def __init__(self, address: ObjectAddress, progress: Progress) -> None:
        """Nothing is read or written yet. Raises SettingsError, ObjectStoreError and StorageError."""
        root = folder() / key_of("workspace", endpoint() if address.scheme == "s3" else "", str(address))[:16]
        super().__init__(root / address.path)
        self._root, self._address, self._progress = root, address, progress
        self._service = Service.of(address)
        self._run, self._claimed = "", False
        self._fetched: set[str] = set()
        self._records: dict[str, StageRecord | None] = {}

    @property
    def place(self) -> str:
        """The URL."""
        return str(self._address)

    def place_of(self, path: Path) -> str:
        """The URL of what the copy has at ``path``."""
        return f"{self.place}/{path.relative_to(self.path).as_posix()}"

    def __enter__(self) -> Workspace:
        """Lock the copy, so that no other process of this machine changes it."""
        with storage_errors(self._root):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return super().__enter__()
        except WorkspaceBusy:
            raise WorkspaceBusy(
                f"{self.place}: another run on this machine uses this workspace; wait for it to end, or choose another --workspace."
            ) from None

    def claim(self, *, domain: str, inputs: Mapping[str, str]) -> list[str]:
        """As of any workspace; from now on this is the run that goes on here. Notices before any work that the store takes no objects."""
        self.changes(domain=domain, inputs=inputs)
        if (text := self._claim_text()) is not None:  # the copy may be missing, or of an earlier run
            self.replace(self.path / OWNER, lambda partial: partial.write_text(text, "utf-8"))
        changes = super().claim(domain=domain, inputs=inputs)
        self._begin()
        self._claimed = True
        return changes

    def _begin(self) -> None:
        if not self._run:
            self._run = secrets.token_hex(16)
            self._put(RUN, json.dumps({"run": self._run}).encode())

    def _claim_text(self) -> str | None:
        text = self._content(OWNER)
        return None if text is None else text.decode("utf-8")

    def finished(self, stage: str, key: str | None = None, *, made_from: str = "") -> StageRecord | None:
        """As of any workspace; for a ``key`` also a record in the store, whose outputs :meth:`bring` brings here."""
        if (record := super().finished(stage, key, made_from=made_from)) is not None or key is None:
            return record
        record = self._record(stage)
        return record if record is not None and record.is_for(key, made_from) else None

    def bring(self, records: Sequence[StageRecord]) -> None:
        """Copy the outputs that are not here. Raises ObjectStoreError for one that is not what its record says."""
        missing = {record.stage: [name for name in record.outputs if not self._is_here(name, record)] for record in records}
        count = sum(map(len, missing.values()))
        if not count:
            return
        self._progress.start("Copying tables of finished stages", None, "bytes")
        for record in records:
            if missing[record.stage]:
                self.forget(record.stage)
                for name in missing[record.stage]:
                    self._get(self._name(name, record.outputs[name]), record.outputs[name], self.path / name, f"tables/{record.stage}.json")
                self.record(record)
        self._progress.finish(f"{count} files")

    def keep(self, record: StageRecord) -> None:
        """Put the outputs of a finished stage into the store, and then its record."""
        before = self._records[record.stage] if record.stage in self._records else self._record(record.stage)
        if before is not None and (before.key, before.outputs) == (record.key, record.outputs):
            return
        self._check_last()
        missing = {}
        for name, digest in record.outputs.items():
            size = self._service.size(self._name(name, digest))
            if size is None or (self._is_here(name, record) and size != (self.path / name).stat().st_size):
                missing[name] = (self.path / name).stat().st_size
        if missing:
            self._progress.start("Uploading tables", sum(missing.values()), "bytes")
        for name, size in missing.items():
            stored = self._name(name, record.outputs[name])
            self._service.write(stored, upload.chunks(self.path / name, self._progress))
            if self._service.size(stored) != size:
                raise ObjectStoreError(f"{self._service.url(stored)}: the store took this object and lacks a part; run the command again.")
        if missing:
            self._progress.finish(f"{sum(missing.values()) / 1e6:,.1f} MB")
        if self._claimed:
            self._put(OWNER, (self.path / OWNER).read_bytes())
        self._put(f"tables/{record.stage}.json", (self.tables / f"{record.stage}.json").read_bytes())
        self._records[record.stage] = record

    def fetch(self, *stages: str) -> None:
        """Bring the outputs of stages that are finished in the store, once. Raises WorkspaceBusy if a run here changes the copy."""
        new = [stage for stage in stages if stage not in self._fetched]
        records = [record for stage in new if (record := self._record(stage)) is not None]
        if any(super(StoredWorkspace, self).finished(record.stage, record.key) is None for record in records):
            with self._held():
                self.bring(records)
        self._fetched.update(new)

    def _held(self) -> AbstractContextManager[object]:
        """The lock, unless this process has it already."""
        return self if self._lock is None else nullcontext()

    def bring_import(self, key: str) -> None:
        """Copy the import if it is in the store. Without its parts nothing can be added to a copy, so one of another ``key`` is removed."""
        self._begin()
        record = self._record(IMPORT)
        if record is not None and record.key == key:
            remove(self.imported)
            self.bring([record])
        elif (self.imported / IMPORT_MANIFEST).is_file() and not (self.imported / PARTS).is_dir():
            remove(self.imported)

    def keep_import(self, key: str) -> None:
        """Put the tables of an import into the store, as those of a stage; its parts stay here."""
        outputs = {path.relative_to(self.path).as_posix(): known_hash(path) for path in sorted(self.imported.iterdir()) if path.is_file()}
        record = StageRecord(stage=IMPORT, key=key, outputs=outputs, report={}, seconds=0.0)
        self.record(record)
        self.keep(record)

    def has_dataset(self, folder: Path, key: str | None = None) -> bool:
        """Whether there is one in the store or, if any will do, here."""
        manifest = self._manifest(folder)
        return super().has_dataset(folder, key) or (manifest is not None and key in {None, json.loads(manifest).get("key")})

    def bring_dataset(self, folder: Path, key: str | None = None) -> None:
        """Copy the dataset. Raises ObjectStoreError for a file that is not what its manifest says."""
        text = self._manifest(folder)
        if text is None or (manifest := json.loads(text)).get("key") != (key or manifest.get("key")):
            return
        files: dict[str, str] = manifest["files"]
        if all((folder / name).is_file() and known_hash(folder / name) == digest for name, digest in files.items()) and (
            (folder / MANIFEST).is_file() and (folder / MANIFEST).read_bytes() == text
        ):
            return
        self._progress.start("Copying the dataset", None, "bytes")
        with self._held():
            self.replace(folder, lambda partial: self._get_dataset(partial, f"datasets/{folder.name}", files, text))
        self._progress.finish(f"{len(files)} files")

    def bring_datasets(self) -> None:
        """Copy all datasets that the store lists."""
        for name in self._service.names("datasets"):
            self.bring_dataset(self.path / "datasets" / name)

    def _get_dataset(self, partial: Path, prefix: str, files: Mapping[str, str], manifest: bytes) -> None:
        partial.mkdir()
        for name, digest in files.items():
            self._get(f"{prefix}/{name}", digest, partial / name, f"{prefix}/{MANIFEST}")
        (partial / MANIFEST).write_bytes(manifest)

    def keep_dataset(self, folder: Path, names: Collection[str]) -> None:
        """Put a finished dataset into the store in place of an earlier one."""
        manifest = (folder / MANIFEST).read_bytes()
        if self._manifest(folder) == manifest:
            return
        self._check_last()
        contents: dict[str, upload.Content] = {name: folder / name for name in json.loads(manifest)["files"]} | {MANIFEST: manifest}
        files = {
            name: (content, len(content), "") if isinstance(content, bytes) else (content, content.stat().st_size, known_hash(content))
            for name, content in contents.items()
        }
        there = upload.look(ObjectAddress(scheme=self._address.scheme, bucket=self._address.bucket, key=self._key(folder)))
        upload.check_free(there, dict.fromkeys([*names, *files]), replace=True)
        upload.upload(there, files, self._progress, again="run the same command again")

    def _key(self, folder: Path) -> str:
        return f"{self._address.key}/datasets/{folder.name}".lstrip("/")

    def _check_last(self) -> None:
        """Raise WorkspaceBusy if another run has begun here, so that the two do not undo each other's work."""
        self._begin()
        text = self._content(RUN)
        if text is None:
            raise ObjectStoreError(
                f"{self.place}/{RUN}: this run wrote the object, and the store has it no more; run the same command again."
            )
        if self._run.encode() not in text:
            raise WorkspaceBusy(
                f"{self.place}: another run has begun in this workspace since, so this one ends; run it again when the other has ended, or "
                "choose another --workspace."
            )

    def _record(self, stage: str) -> StageRecord | None:
        """The record in the store; None without one, or if it is damaged. It is noted, so that a run asks for it once."""
        text = self._content(f"tables/{stage}.json")
        record = None if text is None else StageRecord.read(text)
        if record is not None and not (record.stage == stage and all(map(_is_inside, record.outputs))):
            record = None
        self._records[stage] = record
        return record

    def _manifest(self, folder: Path) -> bytes | None:
        """The manifest of a dataset in the store; None without one, or if it is damaged."""
        text = self._content(f"datasets/{folder.name}/{MANIFEST}")
        try:
            manifest: Any = None if text is None else json.loads(text)
            return text if manifest is not None and manifest["key"] and all(map(_is_inside, dict(manifest["files"]))) else None
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    @staticmethod
    def _name(output: str, digest: str) -> str:
        return f"{FILES}/{digest}{PurePosixPath(output).suffix}"

    def _is_here(self, name: str, record: StageRecord) -> bool:
        return (self.path / name).is_file() and known_hash(self.path / name) == record.outputs[name]

    def _get(self, stored: str, digest: str, path: Path, named_by: str) -> None:
        """Copy an object, whole or not at all. Raises ObjectStoreError if it is missing or not what ``named_by`` says."""
        url, record = self._service.url(stored), self._service.url(named_by)
        # Without the record or manifest it counts as unfinished.
        again = f"delete {record} and this object, and run the command that made it again."
        partial = path.with_name(f".{path.name}{TEMPORARY}")
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                found, _ = download(self._service, stored, partial, self._progress)
                if found != digest:
                    raise ObjectStoreError(f"{url}: this object is not what {PurePosixPath(named_by).name} says; {again}")
                os.replace(partial, path)
            except MissingInput:
                raise ObjectStoreError(f"{url}: {PurePosixPath(named_by).name} names this object, but it is missing; {again}") from None
            finally:
                partial.unlink(missing_ok=True)

    def _content(self, name: str) -> bytes | None:
        try:
            return b"".join(self._service.read(name))
        except MissingInput:
            return None

    def _put(self, name: str, content: bytes) -> None:
        self._service.write(name, iter([content]))


def _is_inside(name: str) -> bool:
    """Whether a name from the store is one of a file below the folder that it is for."""
    return name.isprintable() and not {"", ".", ".."} & set(name.split("/"))
