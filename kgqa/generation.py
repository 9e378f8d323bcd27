"""``kgqa generate``: from a domain's files to a finished dataset, stage by stage, resuming where a run was cut off."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.dataset import write_dataset
from kgqa.domains import Domain, load_domain
from kgqa.errors import InterruptedRun, SettingsError, WorkspaceError, check_seed, storage_errors, suggestion
from kgqa.funnel import FunnelRow, rows_from
from kgqa.manifest import run_record
from kgqa.progress import Progress, Silent
from kgqa.records import SPLITS
from kgqa.sources.delimited import find_file
from kgqa.stages import LAYOUTS, STAGES, Run, Stage
from kgqa.store.base import check_runs_on
from kgqa.store.loading import check_can_load
from kgqa.store.neo4j import Neo4jSettings, Neo4jStore
from kgqa.store.opening import check_store
from kgqa.workers import worker_count
from kgqa.workspace import StageRecord, Workspace, file_hash, key_of

TRAVERSALS = ("kernel", "cypher")
DEFAULT_WORKSPACE = Path("kgqa-workspace")
CARD_VERSION = 1
"""Raised when the files of a dataset change for the same samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run made."""

    domain: str
    dataset: Path
    """The finished folder."""
    counts: dict[str, int]
    """Samples per split."""
    funnel: list[FunnelRow]
    baselines: dict[str, list[dict[str, Any]]]
    seconds: dict[str, float]
    """Per stage; of the run that did it, where it was finished before."""
    reused: list[str]
    """Stages that were finished before."""
    is_seed: bool
    """Whether the small domain that kgqa ships was used."""
    replaced: bool
    """Whether a dataset made with other settings was there before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run would do."""

    domain: str
    source: Path
    dataset: Path
    files: dict[str, int]
    """Input file → bytes."""
    stages: list[tuple[str, str]]
    """What each stage does, and "finished before" or "to do"."""
    is_seed: bool
    replaces: bool
    """Whether a dataset made with other settings would go."""


def generate(
    domain: str | Path,
    *,
    source: str | Path | None = None,
    workspace: str | Path = DEFAULT_WORKSPACE,
    seed: int = 0,
    workers: int | None = None,
    limit: int | None = None,
    store: str = "embedded",
    traversal: str = "kernel",
    neo4j: Neo4jSettings | None = None,
    progress: Progress | None = None,
) -> Report:
    """Make a multi-hop dataset from a domain's graph and documents; return what was made.

    ``domain`` is the name of a built-in domain or the path of a TOML file; without ``source`` its shipped seed domain is read. ``limit``
    asks only so many questions. The graph lies in the ``embedded`` store or in a ``neo4j`` server (``neo4j`` says where; by default the
    environment does), and is searched by the compiled ``kernel`` or by ``cypher`` in the store. The same input, settings and seed give the
    same bytes for any ``workers`` (by default all cores), ``store`` and ``traversal``. Raises KgqaError.
    """
    run, inputs = _prepared(
        domain, source=source, workspace=workspace, seed=seed, workers=workers, limit=limit, store=store, traversal=traversal, neo4j=neo4j,
        progress=progress or Silent(),
    )  # fmt: skip
    place = run.workspace
    with place, storage_errors(place.path), _interruptible(place):
        place.claim(domain=run.domain.settings.name, inputs=inputs)
        _refuse_strangers(run)
        records, reused = [], []
        for stage, key in _keys(run, inputs):
            record = None if stage.outside(run) else place.finished(stage.name, key)
            if record:
                reused.append(stage.name)
            records.append(record or _perform(stage, key, run))
        passed = {
            "domain": str(domain),
            "seed": seed,
            "workers": workers,
            "limit": limit,
            "store": store,
            "traversal": traversal,
            "source": None if source is None else Path(source).name,
        }
        return _finish(run, records, reused, inputs, passed)


def plan(
    domain: str | Path,
    *,
    source: str | Path | None = None,
    workspace: str | Path = DEFAULT_WORKSPACE,
    seed: int = 0,
    workers: int | None = None,
    limit: int | None = None,
    store: str = "embedded",
    traversal: str = "kernel",
    neo4j: Neo4jSettings | None = None,
) -> Plan:
    """What :func:`generate` would do with the same arguments; hashes inputs and finished tables, writes nothing.

    Raises KgqaError for all that :func:`generate` refuses before it begins, a server that is away or holds something else among it.
    """
    run, inputs = _prepared(
        domain, source=source, workspace=workspace, seed=seed, workers=workers, limit=limit, store=store, traversal=traversal, neo4j=neo4j,
        progress=Silent(),
    )  # fmt: skip
    loaded, place = run.domain, run.workspace
    place.check()
    with storage_errors(place.path):
        place.belongs_to(domain=loaded.settings.name, inputs=inputs)
        _refuse_strangers(run)
    dataset = place.path / "datasets" / loaded.settings.dataset
    done, last = {}, ""
    for stage, last in _keys(run, inputs):
        done[stage.doing] = not stage.outside(run) and place.finished(stage.name, last) is not None
    done["Writing the dataset"] = _written(dataset, _dataset_key(run, last)) is not None
    stages = [(doing, "finished before" if is_done else "to do") for doing, is_done in done.items()]
    files = {path.name: path.stat().st_size for path in _input_files(loaded)}
    return Plan(
        domain=loaded.settings.name,
        source=loaded.source,
        dataset=dataset,
        files=files,
        stages=stages,
        is_seed=loaded.is_seed,
        replaces=dataset.exists() and not done["Writing the dataset"],
    )


def _prepared(
    domain: str | Path,
    *,
    source: str | Path | None,
    workspace: str | Path,
    seed: int,
    workers: int | None,
    limit: int | None,
    store: str,
    traversal: str,
    neo4j: Neo4jSettings | None,
    progress: Progress,
) -> tuple[Run, dict[str, str]]:
    """The checked arguments of a run, or of its plan, and the hashes of its input files; nothing is written."""
    # What asks for no file comes first, so that a slip of the hand is told before anything is read.
    check_seed(seed)
    threads = worker_count(workers)
    check_store(store)
    if neo4j is not None and store != "neo4j":
        raise SettingsError(f"neo4j says where a server is, but the {store} store needs none; leave it out, or give store='neo4j'.")
    if limit is not None and limit < 1:
        raise SettingsError(f"limit {limit} is not at least 1; leave it out to ask all questions.")
    loaded = load_domain(domain, source=None if source is None else Path(source))
    _check_traversal(loaded, store=store, traversal=traversal)
    if store == "neo4j":
        neo4j = neo4j or Neo4jSettings.from_environment()
        # Before anything is read: a server that is away, or that holds something else, is noticed now.
        with Neo4jStore(neo4j) as server:
            check_can_load(server)
    run = Run(
        domain=loaded, workspace=Workspace(Path(workspace)), seed=seed, workers=threads, limit=limit, progress=progress, store=store,
        traversal=traversal, neo4j=neo4j,
    )  # fmt: skip
    return run, _inputs(loaded)


def _check_traversal(domain: Domain, *, store: str, traversal: str) -> None:
    if traversal not in TRAVERSALS:
        raise SettingsError(f"traversal {traversal!r} is not known; {suggestion(traversal, TRAVERSALS)}")
    settings, most = domain.settings.projection, domain.settings.qangaroo.traversal.max_documents
    there = min(len(settings.candidates), len(settings.chains))
    if traversal == "cypher" and there < most:
        raise SettingsError(
            f"domain {domain.settings.name}: projection.candidates and projection.chains name queries for {there} documents, "
            f"qangaroo.traversal.max_documents is {most}; add queries, lower it, or traverse with the kernel."
        )
    needed = [*settings.document_to_entity, *settings.entity_to_document]
    for name in [*needed, *settings.candidates, *settings.chains] if traversal == "cypher" else needed:
        check_runs_on(domain.queries[name], store)


def _input_files(domain: Domain) -> list[Path]:
    return [find_file(domain.source, name) for name in LAYOUTS[domain.settings.source.layout].FILES]


def _inputs(domain: Domain) -> dict[str, str]:
    """Input file → SHA-256 of its bytes."""
    with storage_errors(domain.source):
        return {path.name: file_hash(path) for path in _input_files(domain)}


def _keys(run: Run, inputs: dict[str, str]) -> Iterator[tuple[Stage, str]]:
    key = key_of("inputs", inputs)
    for stage in STAGES:
        key = key_of(stage.name, stage.version, stage.depends_on(run), key)
        yield stage, key


def _dataset_key(run: Run, last: str) -> str:
    """Hash of everything that the dataset depends on; ``last`` is the key of the last stage."""
    return key_of(CARD_VERSION, run.domain.settings.model_dump(mode="json"), run.seed, run.domain.is_seed, last)


def _perform(stage: Stage, key: str, run: Run) -> StageRecord:
    place = run.workspace
    begin = time.perf_counter()
    place.forget(stage.name)
    output = stage.run(run)
    files = [place.write_table(name, table) for name, table in output.tables.items()] + output.files
    record = StageRecord(
        stage=stage.name,
        key=key,
        outputs={name: file_hash(place.path / name) for name in files},
        report=output.as_report(),
        seconds=round(time.perf_counter() - begin, 3),
    )
    place.record(record)
    run.progress.finish(output.note)
    return record


def _finish(run: Run, records: list[StageRecord], reused: list[str], inputs: dict[str, str], passed: dict[str, Any]) -> Report:
    """Write the dataset, unless the very same one is there."""
    settings = run.domain.settings
    funnel = [row for record in records for row in rows_from(record.report["funnel"])]
    baselines = next(record.report["baselines"] for record in records if "baselines" in record.report)
    seconds = {record.stage: record.seconds for record in records}
    folder = run.workspace.path / "datasets" / settings.dataset
    key = _dataset_key(run, records[-1].key)
    written = _written(folder, key)
    replaced = not written and folder.exists()
    if written:
        reused.append("write_dataset")
        seconds["write_dataset"] = written["seconds"]["write_dataset"]
        counts = {split: written["counts"][split] for split in SPLITS}
    else:
        begin = time.perf_counter()
        manifest = run_record(passed=passed, resolved=settings.model_dump(mode="json"), inputs=inputs)

        def write(partial: Path) -> None:
            write_dataset(partial, run, funnel=funnel, baselines=baselines, manifest=manifest)
            seconds["write_dataset"] = round(time.perf_counter() - begin, 3)
            files = {path.relative_to(partial).as_posix(): file_hash(path) for path in sorted(partial.rglob("*")) if path.is_file()}
            manifest.update(
                {
                    "key": key,
                    "dataset": settings.dataset,
                    "seed": run.seed,
                    "files": files,
                    "funnel": [record for stage in records for record in stage.report["funnel"]],
                    "baselines": baselines,
                    "seconds": seconds,
                }
            )
            text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True)
            # A folder's name need not be UTF-8; what it has instead is written as an escape.
            (partial / "manifest.json").write_text(text + "\n", "utf-8", "backslashreplace")

        run.workspace.replace(folder, write)
        counts = manifest["counts"]
        run.progress.finish(", ".join(f"{split} {count:,}" for split, count in counts.items()))
    return Report(
        domain=settings.name, dataset=folder, counts=counts, funnel=funnel, baselines=baselines, seconds=seconds, reused=reused,
        is_seed=run.domain.is_seed,
        replaced=replaced,
    )  # fmt: skip


def _refuse_strangers(run: Run) -> None:
    """Raise WorkspaceError where the dataset's folder holds a file that kgqa did not write: replacing the dataset would delete it."""
    folder = run.workspace.path / "datasets" / run.domain.settings.dataset
    if folder.is_symlink():
        raise WorkspaceError(f"{folder}: this is a link, and a new dataset would take its place; choose another --workspace.")
    written = {"train.parquet", "dev.parquet", "test.parquet", "rejected.parquet", "README.md", "manifest.json"}
    written |= {f"masked/{split}.parquet" for split in SPLITS}
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and path.relative_to(folder).as_posix() not in written:
            raise WorkspaceError(f"{path}: kgqa did not write this, and a new dataset would take its place; move it elsewhere.")


def _written(folder: Path, key: str) -> dict[str, Any] | None:
    """The manifest of the dataset in ``folder`` if it was made with this key and its files are as they were written."""
    try:
        manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
        whole = manifest["key"] == key and all(file_hash(folder / name) == digest for name, digest in manifest["files"].items())
        whole = whole and isinstance(manifest["seconds"]["write_dataset"], float) and set(manifest["counts"]) == set(SPLITS)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if whole else None


@contextmanager
def _interruptible(workspace: Workspace) -> Iterator[None]:
    try:
        workspace.sweep()
        yield
    except KeyboardInterrupt:
        raise InterruptedRun(f"{workspace.path}: stopped; run the same command again to go on from the last finished stage.") from None
    except MemoryError:
        raise WorkspaceError(f"{workspace.path}: the memory does not suffice; close other programs, or try with --limit.") from None
