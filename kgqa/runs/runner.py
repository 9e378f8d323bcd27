"""Runs a recipe stage by stage, resumes an interrupted run, and writes the dataset with its manifest last."""

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
from kgqa.runs.card import with_section
from kgqa.runs.files import Watch, file_hashes, key_of, known_hash
from kgqa.runs.funnel import FunnelRow, count_list
from kgqa.runs.manifest import MANIFEST, run_record, write_manifest
from kgqa.runs.memory import give_back, returned_memory
from kgqa.runs.recipe import Recipe
from kgqa.runs.stage import Run, Stage
from kgqa.runs.verdict import VERSION, Examiner, Verdict
from kgqa.runs.workspace import StageRecord, Workspace
from kgqa.settings.defaults import RECIPE
from kgqa.settings.small_files import read_small

WRITING = "write_dataset"
"""Name of the last step, after all stages, in reports; the verdict is part of it."""
CARD = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run tells of its dataset."""

    dataset: Path
    """Folder of the finished dataset."""
    place: str
    """Where the dataset lies, as users name it: its URL in a workspace in an object store, else the folder."""
    counts: dict[str, int]
    """Split → number of samples."""
    funnel: list[FunnelRow]
    verdict: Verdict
    """Best shortcut, findings of the checks, uneven splits, and the rule that limits the size."""
    seconds: dict[str, float]
    """Seconds per stage; for a stage that was finished before, of the run that did it."""
    reused: list[str]
    """Stages that were finished before."""
    is_seed: bool
    """Whether kgqa's seed domain was used."""
    replaced: bool
    """Whether a dataset of other settings or input was replaced."""
    changed: list[str]
    """Input files that changed since the last run in the workspace; those of question sets have the set's number in front."""


@dataclass(slots=True, kw_only=True)
class Runner:
    """The state of one run of a recipe."""

    recipe: Recipe
    run: Run
    inputs: dict[str, str]
    """Input file → SHA-256 of its bytes."""
    examine: Examiner
    """Judges the dataset when it is written."""
    watches: Mapping[str, Watch] = field(default_factory=dict)
    """Stage → the state, taken before hashing, of the files outside the workspace that the stage reads."""
    changed: list[str] = field(default_factory=list)
    """Input files that differ from those of the last run in the workspace."""
    remarks: list[FunnelRow] = field(default_factory=list)
    """First rows of the funnel: why kgqa chose or changed a setting."""
    verdict: Verdict = field(default_factory=Verdict)
    """The verdict on the written dataset."""
    _dependencies: dict[str, object] = field(default_factory=dict)
    """Stage → the part of settings and seed that its output depends on."""
    records: list[StageRecord] = field(default_factory=list)
    """Records of the finished stages, in order."""
    reused: list[str] = field(default_factory=list)
    """Stages whose output an earlier run left."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds per stage; for a reused stage, those of the run that performed it."""

    @property
    def folder(self) -> Path:
        """Path of the finished dataset."""
        return self.run.workspace.path / "datasets" / self.run.domain.settings.dataset

    @property
    def place(self) -> str:
        """The finished dataset, as users name it."""
        return self.run.workspace.place_of(self.folder)

    @property
    def funnel(self) -> list[FunnelRow]:
        """Rejected items of all finished stages, and remarks."""
        return [*self.remarks, *(FunnelRow(**row) for record in self.records for row in record.report["funnel"])]

    @property
    def baselines(self) -> dict[str, list[dict[str, Any]]]:
        """Shortcut baselines that a stage measured; empty without any."""
        return next((record.report["baselines"] for record in self.records if "baselines" in record.report), {})

    def outcome(self, counts: dict[str, int], *, replaced: bool) -> dict[str, Any]:
        """The fields of :class:`Outcome`."""
        return {
            "dataset": self.folder,
            "place": self.place,
            "counts": counts,
            "funnel": self.funnel,
            "verdict": self.verdict,
            "seconds": self.seconds,
            "reused": self.reused,
            "is_seed": self.run.domain.is_seed,
            "replaced": replaced,
            "changed": self.changed,
        }

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Hold the workspace (:func:`locked`) for these input files; ``changed`` then says which differ from those of the last run."""
        place = self.run.workspace
        with locked(place):
            self.changed = place.claim(domain=self.run.domain.settings.name, inputs=self.inputs)
            yield

    def stage_keys(self) -> Iterator[tuple[Stage, str]]:
        """Each stage with the hash of everything that its output depends on."""
        key = key_of("inputs", self.inputs)
        for stage in self.recipe.stages:
            self._dependencies[stage.name] = stage.depends_on(self.run)
            recipe = self._recipe_of(stage)
            # The default recipe adds nothing, so that the keys of old workspaces stay valid.
            key = key_of(stage.name, stage.version, self._dependencies[stage.name], key, *([] if recipe == RECIPE else [recipe]))
            yield stage, key

    def _recipe_of(self, stage: Stage) -> str:
        """The recipe in the keys of the stage: another recipe may have a stage of the same name. Shared stages have the default's."""
        return RECIPE if stage.is_shared else self.run.domain.settings.recipe

    def finished(self, stage: Stage, key: str) -> StageRecord | None:
        """The record of the stage if its output is still valid, else None. Call it in the order of the stages.

        An output also stays valid if input files changed, or another recipe has used the workspace since, but the tables before it are the
        same. A changed setting repeats all later stages, which may read settings of earlier ones.
        """
        record = self.run.workspace.finished(stage.name, key, made_from=self._made_from(stage))
        return None if record is None or stage.outside(self.run) else record

    def _made_from(self, stage: Stage) -> str:
        """Hash of the stage's input: all settings up to it and the tables of the earlier stages, or the input files for the first stage.

        Empty if an earlier stage has not finished, because its outputs are unknown.
        """
        earlier = list(takewhile(lambda earlier_stage: earlier_stage.name != stage.name, self.recipe.stages))
        if [record.stage for record in self.records] != [earlier_stage.name for earlier_stage in earlier]:
            return ""
        before: list[object] = [self.inputs] if not earlier else []
        for earlier_stage, record in zip(earlier, self.records, strict=True):
            before += [earlier_stage.version, self._dependencies[earlier_stage.name], _tables_of(earlier_stage, record)]
        return key_of(self._recipe_of(stage), stage.name, stage.version, self._dependencies[stage.name], before)

    def perform(self, *, last: str | None = None) -> None:
        """Perform the unfinished stages, up to ``last`` if given. The caller holds the workspace. Raises KgqaError."""
        for stage, key in self.stage_keys():
            record = self.finished(stage, key)
            if record:
                self.reused.append(stage.name)
                if record.key != key:
                    record = replace(record, key=key)
                    self.run.workspace.record(record)
            record = record or self._perform(stage, key)
            self.run.workspace.keep(record)
            self.records.append(record)
            if stage.name == last:
                self.run.workspace.bring(self.records)
                break
        self.seconds = {record.stage: record.seconds for record in self.records}

    def _perform(self, stage: Stage, key: str) -> StageRecord:
        """Run one stage, write its tables, and then its record."""
        place = self.run.workspace
        place.bring(self.records)
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
            outputs={name: known_hash(place.path / name) for name in files},
            report=output.as_report(),
            seconds=round(time.perf_counter() - begin, 3),
            made_from=self._made_from(stage),
        )
        place.record(record)
        note = output.note
        del output
        give_back()
        self.run.progress.finish(note)
        return record

    def dataset_key(self, last: StageRecord) -> str:
        """Hash of everything that the dataset depends on.

        ``last`` is the record of the last stage. Its outputs count as well as its key, which does not cover them completely.
        """
        domain = self.run.domain
        remarks = [row.reason for row in self.remarks]
        made_with = [self.recipe.version, domain.settings.resolved(), self.run.seed, domain.is_seed, last.key, last.outputs]
        return key_of(*made_with, *([remarks] if remarks else []))

    def written(self, key: str) -> dict[str, Any] | None:
        """The manifest of the existing dataset if it has this key and its files are unchanged, else None."""
        try:
            manifest: dict[str, Any] = json.loads(read_small(self.folder / MANIFEST))
            whole = manifest["key"] == key and all(known_hash(self.folder / name) == digest for name, digest in manifest["files"].items())
            whole = whole and isinstance(manifest["seconds"][WRITING], float) and set(manifest["counts"]) == set(SPLITS)
            whole = whole and manifest["verdict"]["version"] == VERSION
            Verdict.from_manifest(manifest["verdict"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, BrokenInput):
            return None
        return manifest if whole else None

    def write(self, options: dict[str, Any]) -> tuple[dict[str, int], bool]:
        """Write the dataset unless the same one exists. Returns the samples per split, and whether another dataset was replaced."""
        key = self.dataset_key(self.records[-1])
        place = self.run.workspace
        place.bring_dataset(self.folder, key)
        if manifest := self.written(key):
            self.reused.append(WRITING)
            self.seconds[WRITING] = manifest["seconds"][WRITING]
            self.verdict = Verdict.from_manifest(manifest["verdict"])
            place.keep_dataset(self.folder, self.recipe.files)
            return {split: manifest["counts"][split] for split in SPLITS}, False
        replaced = place.has_dataset(self.folder)
        counts: dict[str, int] = {}
        place.bring(self.records)
        place.replace(self.folder, lambda partial: counts.update(self._write(partial, key, options)))
        place.keep_dataset(self.folder, self.recipe.files)
        return counts, replaced

    def _write(self, partial: Path, key: str, options: dict[str, Any]) -> dict[str, int]:
        """Write the dataset and its manifest into the new folder ``partial``; return the number of samples per split."""
        begin = time.perf_counter()
        partial.mkdir()
        settings = self.run.domain.settings
        manifest = run_record(options=options, resolved=settings.resolved(), inputs=self.inputs)
        manifest.update(self.recipe.write(partial, self.run, funnel=self.funnel, baselines=self.baselines))
        manifest |= {"funnel": [asdict(row) for row in self.funnel], "baselines": self.baselines}
        self._judge(partial, manifest)
        self.seconds[WRITING] = round(time.perf_counter() - begin, 3)
        manifest |= {
            "key": key,
            "dataset": settings.dataset,
            "seed": self.run.seed,
            "files": file_hashes(partial, hashes=manifest.get("files", {})),
            "verdict": self.verdict.as_entry(),
            "seconds": self.seconds,
        }
        write_manifest(manifest, partial)
        counts: dict[str, int] = manifest["counts"]
        assert counts.keys() == set(SPLITS), "a recipe counts the samples of every split"
        assert manifest["files"].keys() <= self.recipe.files, "a recipe writes only the files that it declares"
        return counts

    def _judge(self, partial: Path, manifest: dict[str, Any]) -> None:
        """Judge the dataset in ``partial`` and put the verdict on its card, if the recipe writes one."""
        self.run.progress.finish(count_list(manifest["counts"]))
        self.verdict = self.examine(partial, self.run, manifest)
        card = partial / CARD
        if card.is_file():
            text = card.read_bytes().decode("utf-8")
            card.write_bytes(with_section(text, self.verdict.section).encode("utf-8"))
            manifest.get("files", {}).pop(CARD, None)

    def refuse_strangers(self) -> None:
        """Raise WorkspaceError if the dataset's folder holds a file that kgqa did not write: replacing the dataset would delete it."""
        if self.folder.is_symlink():
            raise WorkspaceError(f"{self.folder}: this is a symbolic link, which a new dataset would replace; choose another --workspace.")
        for path in sorted(self.folder.rglob("*")):
            if not path.is_dir() and path.relative_to(self.folder).as_posix() not in {*self.recipe.files, MANIFEST}:
                raise WorkspaceError(f"{path}: kgqa did not write this, but a new dataset would replace it; move it elsewhere.")


def _tables_of(stage: Stage, record: StageRecord) -> dict[str, str]:
    """The tables of a finished stage that later stages read. The graph does not count: it is made of tables, and its bytes differ each
    time."""
    aside = {f"tables/{name}.parquet" for name in stage.aside}
    return {name: digest for name, digest in record.outputs.items() if name.endswith(".parquet") and name not in aside}


@contextmanager
def locked(workspace: Workspace) -> Iterator[None]:
    """Lock and clean the workspace. An interrupt or a lack of memory becomes a KgqaError with one sentence."""
    with workspace, storage_errors(workspace.path), returned_memory():
        try:
            workspace.sweep()
            yield
        except KeyboardInterrupt:
            raise InterruptedRun(f"{workspace.path}: stopped; run the same command again to go on from the last finished stage.") from None
        except MemoryError:
            raise WorkspaceError(f"{workspace.path}: there is not enough memory; close other programs, or use --limit.") from None
