"""The workspace, which is the folder of a run: tables, the records of finished stages, a lock, and datasets.

Files are written under a temporary name and renamed, and a stage's record is written after its files. So every visible file is complete,
and a run after a kill continues from the last stage with a record.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, WorkspaceBusy, WorkspaceError, WorkspaceMismatch, storage_errors
from kgqa.runs.files import check_is_local, discard, key_of, known_hash, read_parquet, write_parquet
from kgqa.runs.scratch import TEMPORARY, is_scratch, remove, sweep
from kgqa.settings.small_files import read_small

FORMAT = 1
"""Format of workspaces; raised whenever kgqa can no longer continue an older one."""
ASIDE = f".old{TEMPORARY}"
LOCK = ".kgqa.lock"
OWNER = "workspace.json"
"""File with the domain and the inputs of the last run."""
CODED = dict.fromkeys(("occurrences", "title_occurrences"), ("document", "entity"))
"""Long tables → columns with few distinct values, which are read as dictionaries to save seven eighths of the memory."""
CODED_ON_REQUEST = {**dict.fromkeys(("mentions", "links"), ("document", "entity")), "edges": ("direction", "document", "entity")}
"""The same for tables that some stages read into data frames, which need texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord:
    """The record of a finished stage."""

    stage: str
    key: str
    """Hash of everything that the outputs depend on."""
    outputs: dict[str, str]
    """File, relative to the workspace → SHA-256 of its bytes."""
    report: dict[str, Any]
    """Counts for the funnel."""
    seconds: float
    made_from: str = ""
    """Hash of the stage's input. While it is the same, the outputs stay valid even if ``key`` differs."""
    check: str = ""
    """:meth:`checksum` of the other fields; kgqa ignores a record that was edited by hand."""

    def checksum(self) -> str:
        """Hash of all fields but ``check``."""
        values = {name: value for name, value in asdict(self).items() if name != "check"}
        if not self.made_from:  # so that records of older versions, which lack this field, stay valid
            del values["made_from"]
        return key_of(values)

    @classmethod
    def read(cls, text: str | bytes) -> StageRecord | None:
        """The record that a file holds; None if it is damaged or was edited."""
        try:
            record = cls(**json.loads(text))
            return record if record.check == record.checksum() else None
        except (ValueError, TypeError, RecursionError):
            return None

    def is_for(self, key: str | None, made_from: str = "") -> bool:
        """Whether the outputs are those of ``key`` (None: any key), or of the same input."""
        return key in (self.key, None) or bool(made_from and self.made_from == made_from)


class Workspace:
    """The workspace of one domain; a context manager that holds its lock."""

    def __init__(self, path: Path) -> None:
        """Nothing is read or written before the context is entered."""
        self.path = path
        self._lock: IO[str] | None = None

    @property
    def place(self) -> str:
        """The place of the workspace, as users name it."""
        return str(self.path)

    def place_of(self, path: Path) -> str:
        """A file or folder of the workspace, as users name it."""
        return str(path)

    @property
    def tables(self) -> Path:
        """The folder of the tables, one Parquet file each."""
        return self.path / "tables"

    @property
    def imported(self) -> Path:
        """Folder of the tables that a domain's ``imports`` make."""
        return self.path / "import"

    @property
    def graph(self) -> Path:
        """Path of the embedded graph."""
        return self.path / "store" / "graph.lbug"

    @property
    def loaded(self) -> Path:
        """Path of the list of loaded datasets; their graph is beside it."""
        return self.path / "store" / "loaded.json"

    @property
    def questions(self) -> Path:
        """Path of the embedded graph of single-hop questions."""
        return self.path / "store" / "questions.lbug"

    def __enter__(self) -> Workspace:
        """Create the folder if it is missing, and lock it; raises WorkspaceBusy, WorkspaceError or StorageError."""
        self.check()
        with storage_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            # The lock file is the first file of a workspace and marks it as ours: after an interrupt right here, the next run accepts it.
            lock = (self.path / LOCK).open("a")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.tables.mkdir(exist_ok=True)
            except OSError as error:
                lock.close()
                if not isinstance(error, BlockingIOError):
                    raise
                busy = f"{self.path}: another run uses this workspace; wait for it to end, or choose another --workspace."
                raise WorkspaceBusy(busy) from None
        self._lock = lock
        return self

    def check(self) -> None:
        """Raise WorkspaceError if the folder is not a workspace and cannot become one; changes nothing."""
        check_is_local(self.path)
        try:
            str(self.path).encode("utf-8")
        except UnicodeEncodeError:
            raise WorkspaceError(f"{self.path!r}: the folder's name is not UTF-8; choose another --workspace.") from None
        with storage_errors(self.path):
            if self.path.is_symlink() and not self.path.exists():
                raise WorkspaceError(f"{self.path}: this symbolic link is broken; choose another --workspace.")
            if self.path.exists() and not self.path.is_dir():
                raise WorkspaceError(f"{self.path}: this is not a folder; choose another --workspace.")
            marked = any((self.path / name).exists() for name in (LOCK, OWNER))
            if self.path.is_dir() and any(self.path.iterdir()) and not marked:
                raise WorkspaceError(f"{self.path}: this folder is not empty and is not a kgqa workspace; choose another --workspace.")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Release the lock; the lock file stays, so that two runs never lock different files of the same name."""
        if self._lock:
            self._lock.close()
        self._lock = None

    def claim(self, *, domain: str, inputs: Mapping[str, str]) -> list[str]:
        """Record that the workspace belongs to ``domain`` and its ``inputs`` (name → SHA-256); raises WorkspaceMismatch if it is another's.

        Returns the names of the input files that are changed, new or missing since the last run.
        """
        changes = self.changes(domain=domain, inputs=inputs)
        if changes or changes is None:
            self.write_json(self.path / OWNER, {"format": FORMAT, "domain": domain, "inputs": dict(inputs)})
        return changes or []

    def changes(self, *, domain: str, inputs: Mapping[str, str]) -> list[str] | None:
        """The names of the input files that are changed, new or missing since the last run; None if no stage has finished yet.

        Raises WorkspaceMismatch if the workspace belongs to another domain.
        """
        try:
            text = self._claim_text()
            if text is None:
                return None
            record = json.loads(text)
            version, owner, files = record["format"], record["domain"], dict(record["inputs"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, BrokenInput):
            raise WorkspaceMismatch(f"{self.place}/{OWNER}: the file is damaged; choose another --workspace, or delete this one.") from None
        advice = f"choose another --workspace, as {self.place}-{domain}, or delete this one"
        if version != FORMAT:
            raise WorkspaceMismatch(
                f"{self.place}: written by another version of kgqa (format {version}, this one has {FORMAT}); {advice}."
            )
        if owner != domain:
            raise WorkspaceMismatch(f"{self.place}: this workspace belongs to the domain {owner}, not {domain}; {advice}.")
        return sorted(name for name in {*files, *inputs} if files.get(name) != inputs.get(name))

    def _claim_text(self) -> str | None:
        """What the last run recorded of its domain and inputs; None if no stage has finished yet."""
        path = self.path / OWNER
        with storage_errors(path):
            if not path.exists() or not (any(self.tables.glob("*.json")) or (self.path / "datasets").exists()):
                return None
        return read_small(path).decode("utf-8")

    def finished(self, stage: str, key: str | None = None, *, made_from: str = "") -> StageRecord | None:
        """The record of ``stage`` if its key is ``key`` (None: any key) and all its files are unchanged, else None.

        If ``made_from`` is given, a record with the same ``made_from`` counts too.
        """
        try:
            record = StageRecord.read(read_small(self.tables / f"{stage}.json"))
        except (OSError, BrokenInput):
            return None
        if record is None or not record.is_for(key, made_from):
            return None
        for name, digest in record.outputs.items():
            path = self.path / name
            if not path.is_file() or known_hash(path) != digest:
                return None
        return record

    def check_tables(self, *stages: str) -> None:
        """Raise WorkspaceError unless the ``stages`` have finished and their files are as they were written.

        Whoever reads tables outside a run calls this first: Parquet itself does not notice every flipped bit.
        """
        self.fetch(*stages)
        with storage_errors(self.path):
            for stage in stages:
                if self.finished(stage) is None:
                    raise WorkspaceError(
                        f"{self.path}: a table of the stage {stage} is damaged or unfinished; run kgqa generate again in this workspace to "
                        "rebuild it."
                    )

    def has_record(self, stage: str) -> bool:
        """Whether ``stage`` has a record; its files may be damaged."""
        return os.path.lexists(self.tables / f"{stage}.json")

    def forget(self, stage: str) -> None:
        """Remove the record of ``stage``, before its files change."""
        (self.tables / f"{stage}.json").unlink(missing_ok=True)

    def record(self, record: StageRecord) -> None:
        """Write the record of a stage; with it the stage counts as finished."""
        self.write_json(self.tables / f"{record.stage}.json", {**asdict(record), "check": record.checksum()})

    def bring(self, records: Sequence[StageRecord]) -> None:
        """Have the outputs of finished stages on this machine; here they are."""

    def keep(self, record: StageRecord) -> None:
        """Have a finished stage where the workspace lies; here it is."""

    def fetch(self, *stages: str) -> None:
        """Before a command reads the outputs of ``stages`` outside a run: have the finished ones on this machine; here they are."""

    def bring_import(self, key: str) -> None:
        """Have the import of ``key`` on this machine, in the place of another; here it is, if it is anywhere."""

    def keep_import(self, key: str) -> None:
        """Have the finished import of ``key`` where the workspace lies; here it is."""

    def has_dataset(self, folder: Path, key: str | None = None) -> bool:
        """Whether there is a dataset, of this ``key`` if one is given, that :meth:`bring_dataset` would put at ``folder``, or any there."""
        return key is None and folder.exists()

    def bring_dataset(self, folder: Path, key: str | None = None) -> None:
        """Have the finished dataset, if it is of this ``key`` (None: any), on this machine; here it is."""

    def bring_datasets(self) -> None:
        """Have all finished datasets on this machine; here they are."""

    def keep_dataset(self, folder: Path, names: Collection[str]) -> None:
        """Have a finished dataset where the workspace lies; here it is. ``names`` are those of all files that it may have."""

    def write_table(self, name: str, table: pa.Table) -> str:
        """Write ``tables/name.parquet``; return its path relative to the workspace."""
        path = self.tables / f"{name}.parquet"
        self.replace(path, lambda partial: write_parquet(table, partial))
        return str(path.relative_to(self.path))

    def read_table(self, name: str, *, columns: Sequence[str] | None = None, coded: bool = False) -> pa.Table:
        """The table ``name``, or some ``columns`` of it.

        The columns in ``CODED`` are read as dictionaries, and if ``coded`` is set also those in ``CODED_ON_REQUEST``.
        """
        with storage_errors(self.path):
            return read_parquet(
                self.tables / f"{name}.parquet", columns=columns, coded=(CODED | CODED_ON_REQUEST if coded else CODED).get(name, ())
            )

    def rows(self, name: str) -> int:
        """Number of rows of a table."""
        with storage_errors(self.path):
            return int(pq.read_metadata(self.tables / f"{name}.parquet").num_rows)

    def write_json(self, path: Path, data: Mapping[str, Any]) -> None:
        """Write ``data``, whole or not at all. The order of keys is kept, so that a resumed run reads the same report."""
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        self.replace(path, lambda partial: partial.write_text(text, "utf-8"))

    def sweep(self) -> None:
        """Remove the temporary files of killed runs; an old dataset comes back if the new one did not replace it yet."""
        folders = [self.path, self.tables, self.graph.parent, self.path / "datasets"]
        for folder in folders:
            sweep(folder)
        for leftover in sorted(path for folder in folders for path in folder.glob(f".*{TEMPORARY}*") if not is_scratch(path)):
            if leftover.name.endswith(ASIDE):
                path = leftover.with_name(leftover.name.removeprefix(".").removesuffix(ASIDE))
                if not path.exists():
                    leftover.rename(path)
                    continue
            remove(leftover)

    def replace(self, path: Path, write: Callable[[Path], object]) -> None:
        """Let ``write`` create a file or folder under a temporary name, then move it to ``path``, replacing an old one."""
        partial = path.with_name(f".{path.name}{TEMPORARY}")
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            discard(partial)
            try:
                write(partial)
            except BaseException:
                discard(partial)
                raise
            if path.is_dir():
                # A folder cannot be replaced in one step. The old one is set aside, and deleted once the new one is in place.
                old = path.with_name(f".{path.name}{ASIDE}")
                remove(old)
                path.rename(old)
                partial.rename(path)
                remove(old)
            else:
                os.replace(partial, path)
