"""``kgqa export``: a finished dataset in the papers' own formats, or the graph as files for Neo4j's importer."""

from __future__ import annotations

from pathlib import Path

from kgqa.errors import SettingsError, StorageError, storage_errors, suggestion
from kgqa.formats import musique, native, qangaroo
from kgqa.progress import Progress, Silent
from kgqa.runs.files import lies_within, new_folder, parents_of, rename_all
from kgqa.runs.graph import finished_tables, rows_of
from kgqa.runs.scratch import scratch
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import WORKSPACE
from kgqa.store.neo4j import import_files as neo4j_import
from kgqa.store.neo4j.graph import imported_marker

DATASET_FORMATS = ("qangaroo", "musique")
_NAMES = {"qangaroo": ("{}.json", "{}.masked.json"), "musique": ("musique_ans_{}.jsonl", "musique_full_{}.jsonl")}
"""Format → what the file of a split is called, and that of its twin."""
TWINS = {"qangaroo": "masked", "musique": "full"}
"""Format → the folder of a dataset's twins."""
FORMATS = (*DATASET_FORMATS, "neo4j-import")


def export(
    dataset: str | Path | None = None,
    *,
    to: str,
    out: str | Path,
    workspace: str | Path | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write ``dataset`` (a folder of ours), or the graph of ``workspace``, in format ``to`` into the folder ``out``; return the files.

    For ``qangaroo``: ``train.json``, ``dev.json``, ``test.json`` and a ``.masked.json`` twin of each; for ``musique``:
    ``musique_ans_train.jsonl`` and so on, and ``musique_full_train.jsonl`` with the unanswerable twins. For ``neo4j-import``, which takes
    no dataset: header and data files for ``neo4j-admin database import`` and a ``README.txt`` that says how. Existing files are never
    replaced. Raises KgqaError; nothing is left behind where it does.
    """
    if to not in FORMATS:
        raise SettingsError(f"format {to!r} is not known; {suggestion(to, FORMATS)}")
    if to in DATASET_FORMATS:
        if dataset is None:
            raise SettingsError(f"the format {to} is one for datasets; give the folder of one, as kgqa-workspace/datasets/wikihop.")
        if workspace is not None:
            raise SettingsError(f"the format {to} is one for datasets, which need no --workspace; leave it out.")
        return _export_dataset(Path(dataset), Path(out), to)
    if dataset is not None:
        raise SettingsError(f"the format {to} holds the graph of a workspace; give --workspace instead of a dataset.")
    return _export_graph(Workspace(Path(workspace or WORKSPACE)), Path(out), progress or Silent())


def _export_dataset(dataset: Path, out: Path, to: str) -> list[Path]:
    jobs = [(path, out / _NAMES[to][0].format(split)) for split, path in native.split_files(dataset).items()]
    twin = dataset / TWINS[to]
    if twin.is_dir():
        jobs += [(path, out / _NAMES[to][1].format(split)) for split, path in native.split_files(twin).items()]
    native.check_whole(dataset)
    if lies_within(out, dataset):
        raise StorageError(f"{out}: this lies in the dataset's folder, where a new dataset would take its place; choose another --out.")
    for _, target in jobs:
        if target.exists():
            raise StorageError(f"{target}: this file is already there; choose another --out, or remove it.")
    write = {"qangaroo": qangaroo.write, "musique": musique.write}[to]
    with storage_errors(out), parents_of(jobs[0][1]), scratch(jobs[0][1]) as folder:
        for source, target in jobs:
            write(native.read(source), folder / target.name)
        rename_all({folder / target.name: target for _, target in jobs})
    return [target for _, target in jobs]


def _export_graph(workspace: Workspace, out: Path, progress: Progress) -> list[Path]:
    with finished_tables(workspace) as tables, new_folder(out) as partial:
        progress.start("Reading the graph", None, "rows")
        rows = rows_of(workspace)
        progress.start("Writing the graph for Neo4j", sum(table.num_rows for table in rows.values()), "rows")
        neo4j_import.write(partial, rows, markers=[imported_marker(tables, rows)], advance=progress.advance)
        progress.finish(f"{sum(path.stat().st_size for path in partial.iterdir()) / 1e6:,.0f} MB")
    return sorted(out.iterdir())
