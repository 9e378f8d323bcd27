"""Performing a recipe: stage by stage, resuming where a run was cut off, and the dataset with its manifest last."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, InterruptedRun, WorkspaceError, storage_errors
from kgqa.records import SPLITS
from kgqa.runs.files import file_hash, file_hashes, key_of
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.manifest import MANIFEST, run_record, write_manifest
from kgqa.runs.recipe import Recipe
from kgqa.runs.stage import Run, Stage
from kgqa.runs.watch import Watch
from kgqa.runs.workspace import StageRecord, Workspace
from kgqa.settings.defaults import RECIPE
from kgqa.settings.small_files import read_small

WRITING = "write_dataset"
"""Name of the last step, after all stages, in reports."""


@dataclass(slots=True, kw_only=True)
class Runner:
    """A recipe on its way."""

    recipe: Recipe
    run: Run
    inputs: dict[str, str]
    """Input file → SHA-256 of its bytes."""
    watches: Mapping[str, Watch] = field(default_factory=dict)
    """Stage → the files outside of the workspace that it reads, as they were before they were hashed."""
    changed: list[str] = field(default_factory=list)
    """Input files that are other ones than those of the last run in the workspace."""
    remarks: list[FunnelRow] = field(default_factory=list)
    """What the funnel says first: why the settings are what they are."""
    _given: dict[str, object] = field(default_factory=dict)
    """Stage → what of settings and seed its output depends on."""
    records: list[StageRecord] = field(default_factory=list)
    """Funnel rows of the finished stages."""
    reused: list[str] = field(default_factory=list)
    """Stages that were finished before."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Per stage; of the run that did it, where it was finished before."""

    @property
    def folder(self) -> Path:
        """Path of the finished dataset."""
        return self.run.workspace.path / "datasets" / self.run.domain.settings.dataset

    @property
    def funnel(self) -> list[FunnelRow]:
        """Rejected items of all finished stages, and remarks."""
        return [*self.remarks, *(FunnelRow(**row) for record in self.records for row in record.report["funnel"])]

    @property
    def baselines(self) -> dict[str, list[dict[str, Any]]]:
        """Shortcut baselines that a stage measured; empty without any."""
        return next((record.report["baselines"] for record in self.records if "baselines" in record.report), {})

    def stage_keys(self) -> Iterator[tuple[Stage, str]]:
        """Each stage with the hash of everything that its output depends on."""
        recipe = self.run.domain.settings.recipe
        # Another recipe may have stages of the same name; the first one's keys are those of workspaces from when there was no other.
        key = key_of("inputs", self.inputs, *([] if recipe == RECIPE else [recipe]))
        for stage in self.recipe.stages:
            self._given[stage.name] = stage.depends_on(self.run)
            key = key_of(stage.name, stage.version, self._given[stage.name], key)
            yield stage, key

    def finished(self, stage: Stage, key: str) -> StageRecord | None:
        """What the stage left behind where it need not be done again, be it that an earlier one made the same as before of another input.

        To be asked after those before it, whose records are there.
        """
        # Other settings make anew all that comes after them, whatever it comes to; other input only what comes to something else.
        record = self.run.workspace.finished(stage.name, key, made_from=self._made_from(stage) if self.changed else "")
        return None if record is None or stage.outside(self.run) else record

    def _made_from(self, stage: Stage) -> str:
        """Hash of all that the stage is given: its settings, what the stages before it made, and of the first one the input files.

        Empty where a stage before it is still to do, so that nobody knows.
        """
        earlier = list(takewhile(lambda each: each.name != stage.name, self.recipe.stages))
        if [record.stage for record in self.records] != [each.name for each in earlier]:
            return ""
        aside = {f"tables/{name}.parquet" for each in earlier for name in each.aside}
        made = [{name: digest for name, digest in record.outputs.items() if name not in aside} for record in self.records]
        before = made or [self.inputs]
        return key_of(self.run.domain.settings.recipe, stage.name, stage.version, self._given[stage.name], before)

    def perform(self, *, last: str | None = None) -> None:
        """Do all stages that are not finished, or those up to ``last``, in a workspace that is held. Raises KgqaError."""
        for stage, key in self.stage_keys():
            record = self.finished(stage, key)
            if record:
                self.reused.append(stage.name)
                if record.key != key:
                    record = replace(record, key=key)
                    self.run.workspace.record(record)
            self.records.append(record or self._perform(stage, key))
            if stage.name == last:
                break
        self.seconds = {record.stage: record.seconds for record in self.records}

    def _perform(self, stage: Stage, key: str) -> StageRecord:
        place = self.run.workspace
        begin = time.perf_counter()
        place.forget(stage.name)
        output = stage.run(self.run)
        if stage.name in self.watches:
            self.watches[stage.name].check()
        with ThreadPoolExecutor(self.run.workers) as pool:
            files = [*pool.map(place.write_table, output.tables, output.tables.values()), *output.files]
        record = StageRecord(
            stage=stage.name,
            key=key,
            outputs={name: file_hash(place.path / name) for name in files},
            report=output.as_report(),
            seconds=round(time.perf_counter() - begin, 3),
            made_from=self._made_from(stage),
        )
        place.record(record)
        self.run.progress.finish(output.note)
        return record

    def dataset_key(self, last: StageRecord) -> str:
        """Hash of everything that the dataset depends on; ``last`` is what the last stage left, whose key need not tell all of it."""
        domain = self.run.domain
        remarks = [row.reason for row in self.remarks]
        made_with = [self.recipe.version, domain.settings.resolved(), self.run.seed, domain.is_seed, last.key, last.outputs]
        return key_of(*made_with, *([remarks] if remarks else []))

    def written(self, key: str) -> dict[str, Any] | None:
        """The manifest of the dataset that is there if it was made with this key and its files are as they were written."""
        try:
            manifest: dict[str, Any] = json.loads(read_small(self.folder / MANIFEST))
            whole = manifest["key"] == key and all(file_hash(self.folder / name) == digest for name, digest in manifest["files"].items())
            whole = whole and isinstance(manifest["seconds"][WRITING], float) and set(manifest["counts"]) == set(SPLITS)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, BrokenInput):
            return None
        return manifest if whole else None

    def write(self, passed: dict[str, Any]) -> tuple[dict[str, int], bool]:
        """Write the dataset, unless the very same one is there; the samples of each split, and whether another one was replaced."""
        key = self.dataset_key(self.records[-1])
        if manifest := self.written(key):
            self.reused.append(WRITING)
            self.seconds[WRITING] = manifest["seconds"][WRITING]
            return {split: manifest["counts"][split] for split in SPLITS}, False
        replaced = self.folder.exists()
        counts: dict[str, int] = {}
        self.run.workspace.replace(self.folder, lambda partial: counts.update(self._write(partial, key, passed)))
        self.run.progress.finish(", ".join(f"{split} {count:,}" for split, count in counts.items()))
        return counts, replaced

    def _write(self, partial: Path, key: str, passed: dict[str, Any]) -> dict[str, int]:
        begin = time.perf_counter()
        partial.mkdir()
        settings = self.run.domain.settings
        manifest = run_record(passed=passed, resolved=settings.resolved(), inputs=self.inputs)
        manifest.update(self.recipe.write(partial, self.run, funnel=self.funnel, baselines=self.baselines))
        self.seconds[WRITING] = round(time.perf_counter() - begin, 3)
        manifest |= {
            "key": key,
            "dataset": settings.dataset,
            "seed": self.run.seed,
            "files": file_hashes(partial, known=manifest.get("files", {})),
            "funnel": [asdict(row) for row in self.funnel],
            "baselines": self.baselines,
            "seconds": self.seconds,
        }
        write_manifest(manifest, partial)
        counts: dict[str, int] = manifest["counts"]
        assert counts.keys() == set(SPLITS), "a recipe counts the samples of every split"
        assert manifest["files"].keys() <= self.recipe.files, "a recipe writes what it says that it may write"
        return counts

    def refuse_strangers(self) -> None:
        """Raise WorkspaceError where the dataset's folder holds a file that kgqa did not write: replacing the dataset would delete it."""
        if self.folder.is_symlink():
            raise WorkspaceError(f"{self.folder}: this is a link, and a new dataset would take its place; choose another --workspace.")
        for path in sorted(self.folder.rglob("*")):
            if not path.is_dir() and path.relative_to(self.folder).as_posix() not in {*self.recipe.files, MANIFEST}:
                raise WorkspaceError(f"{path}: kgqa did not write this, and a new dataset would take its place; move it elsewhere.")


@contextmanager
def held(workspace: Workspace) -> Iterator[None]:
    """The workspace, locked and cleaned; errors that can interrupt a run become one sentence."""
    with workspace, storage_errors(workspace.path):
        try:
            workspace.sweep()
            yield
        except KeyboardInterrupt:
            raise InterruptedRun(f"{workspace.path}: stopped; run the same command again to go on from the last finished stage.") from None
        except MemoryError:
            raise WorkspaceError(f"{workspace.path}: there is not enough memory; close other programs, or use --limit.") from None
