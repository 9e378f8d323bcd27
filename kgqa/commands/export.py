"""``kgqa export``: write a dataset in a paper's format, or a graph as GraphML or files for Neo4j's importer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgqa.commands.graph import Part
from kgqa.errors import SettingsError, StorageError, storage_errors, suggestion
from kgqa.formats import musique, native, qangaroo
from kgqa.formats.dataset_on_graph import DatasetOnGraph, dataset_folder
from kgqa.formats.fetching import fetched
from kgqa.formats.round_trip import Changes, WrittenQuestions
from kgqa.object_store.workspace import workspace_at
from kgqa.progress import Progress, Silent
from kgqa.runs.files import check_is_local, check_new_file, check_new_folder, lies_within, new_folder, parents_of, put_all
from kgqa.runs.graph import finished_tables, rows_of
from kgqa.runs.scratch import scratch
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import STORE, WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store import graphml
from kgqa.store.neo4j import import_files
from kgqa.store.neo4j.graph import imported_marker
from kgqa.store.neo4j.samples import imported_part_marker, parts_of

DATASET_FORMATS = ("qangaroo", "musique")
GRAPH_FORMATS = ("graphml", "neo4j")
FORMATS = (*DATASET_FORMATS, *GRAPH_FORMATS)
FORMERLY = {"neo4j-import": "neo4j"}
"""Old names of formats → the current ones."""
_NAMES = {"qangaroo": ("{}.json", "{}.masked.json"), "musique": ("musique_ans_{}.jsonl", "musique_full_{}.jsonl")}
"""Format → file name of a split, and that of its masked twin."""
TWINS = {"qangaroo": "masked", "musique": "full"}
"""Format → folder of the masked twins."""
Datasets = str | Path | Sequence[str | Path]


def export(
    dataset: Datasets | None = None,
    *,
    to: str,
    out: str | Path,
    workspace: str | Path | None = None,
    rejected: bool = False,
    entity: str | None = None,
    document: str | None = None,
    sample: str | None = None,
    hops: int | None = None,
    limit: int | None = None,
    store: str = STORE,
    neo4j: Neo4jSettings | None = None,
    lossy: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Write ``dataset`` (a folder of kgqa's), or the graph of ``workspace``, in the format ``to`` to ``out``; return the files.

    A dataset becomes a folder: for ``qangaroo`` ``train.json``, ``dev.json``, ``test.json`` and a ``.masked.json`` twin of each; for
    ``musique`` ``musique_ans_train.jsonl`` and so on, and ``musique_full_train.jsonl`` with the unanswerable twins.

    A graph becomes, for ``neo4j``, a new folder with header and data files for ``neo4j-admin database import`` and a ``README.txt``; for
    ``graphml``, a new file. Each ``dataset`` (a folder or a name in the workspace, or a list) adds its samples with their chains;
    ``rejected`` adds its rejected questions. Memory: the tables of the workspace and the rows made from them. With ``entity``, ``document``
    or ``sample`` the GraphML has the result of :func:`kgqa.graph`, with ``hops``, ``limit``, ``store`` and ``neo4j``.

    Existing files are never replaced. A dataset's files are read back; a loss of gold raises GoldLost unless ``lossy``. Raises KgqaError;
    then nothing is left behind.
    """
    to = known_format(to)
    datasets = [] if dataset is None else [dataset] if isinstance(dataset, str | Path) else [*dataset]
    if to in DATASET_FORMATS:
        around = {"entity": entity, "document": document, "sample": sample, "hops": hops, "limit": limit}
        of_graphs = {"workspace": workspace, "rejected": rejected or None, **around, "neo4j": neo4j}
        options = [name for name, value in of_graphs.items() if value is not None] + ["store"] * (store != STORE)
        if options:
            raise SettingsError(f"the format {to} is one for datasets, which need no {options[0]}; leave it out.")
        if len(datasets) != 1:
            raise SettingsError(f"the format {to} is one for datasets; give the folder of one, such as kgqa-workspace/datasets/wikihop.")
        check_is_local(Path(out))
        return _export_dataset(fetched(datasets[0], progress=progress), Path(out), to, progress or Silent(), lossy=lossy)
    if lossy:
        raise SettingsError("--lossy is for datasets, and a graph is written whole; leave it out.")
    if rejected and not datasets:
        raise SettingsError("rejected questions are those of a dataset; give one too.")
    place, progress = workspace_at(workspace or WORKSPACE, progress), progress or Silent()
    if {entity, document, sample, hops, limit, neo4j} == {None} and store == STORE:
        return _export_graph(place, datasets, Path(out), to, progress, rejected=rejected)
    if to == "neo4j":
        raise SettingsError("the format neo4j exports the whole graph of a workspace; for a part of it use graphml.")
    if rejected or len(datasets) > 1:
        raise SettingsError("a part of a graph has at most one sample and no rejected questions; leave out the datasets.")
    part = Part(
        entity=entity,
        document=document,
        sample=sample,
        dataset=next(iter(datasets), None),
        hops=hops,
        limit=limit,
        store=store,
        neo4j=neo4j,
    )
    if part.of is None:
        raise SettingsError("the whole graph is read from the workspace, not from a server; give an entity, a document or a sample.")
    return _export_part(place, part, Path(out), progress)


def known_format(to: str) -> str:
    """The current name of a format. Raises SettingsError for an unknown one."""
    name = FORMERLY.get(to, to)
    if name not in FORMATS:
        raise SettingsError(f"format {to!r} is not known; {suggestion(to, FORMATS)}")
    return name


def _export_dataset(dataset: Path, out: Path, to: str, progress: Progress, *, lossy: bool) -> list[Path]:
    jobs = [(path, out / _NAMES[to][0].format(split)) for split, path in native.split_files(dataset).items()]
    twin = dataset / TWINS[to]
    if twin.is_dir():
        jobs += [(path, out / _NAMES[to][1].format(split)) for split, path in native.split_files(twin).items()]
    native.check_whole(dataset)
    if lies_within(out, dataset):
        raise StorageError(f"{out}: this is in the folder of the dataset, where a new dataset would overwrite it; choose another --out.")
    form, changes, count = {"qangaroo": qangaroo, "musique": musique}[to], Changes(), 0
    with storage_errors(out), parents_of(jobs[0][1]), scratch(jobs[0][1]) as folder:
        progress.start(f"Writing {to}", None, "questions")
        for source, target in jobs:
            questions = WrittenQuestions()
            form.write(questions.watch(native.read(source), progress), folder / target.name)
            count += len(questions)
            # An empty file is no valid file of the format.
            changes += questions.compare(form.read(folder / target.name) if len(questions) else (), progress)
        progress.finish(f"{count:,} questions")
        if not lossy:
            changes.check_gold(str(dataset), to, count)
        put_all({folder / target.name: target for _, target in jobs})
    return [target for _, target in jobs]


def _export_part(workspace: Workspace, part: Part, out: Path, progress: Progress) -> list[Path]:
    check_new_file(out, again=True)
    progress.start("Asking the graph", None, "rows")
    rows, about = part.read(workspace)
    progress.finish(f"{sum(table.num_rows for table in rows.values()):,} nodes and relationships{_cuts(about)}")
    return _write_graphml(out, rows, about, progress)


def _cuts(about: Mapping[str, Any]) -> str:
    nodes = {(entry["kind"], entry["id"]) for entry in about.get("cuts", ())}
    return f"; {len(nodes):,} node{'s' * (len(nodes) > 1)} had more than {about['limit']:,} of a kind" if nodes else ""


def _export_graph(
    workspace: Workspace, datasets: Sequence[str | Path], out: Path, to: str, progress: Progress, *, rejected: bool
) -> list[Path]:
    (check_new_file if to == "graphml" else check_new_folder)(out, again=True)
    with finished_tables(workspace) as tables:
        # Check the datasets before anything is written.
        datasets_on_graph = [
            DatasetOnGraph.read(dataset_folder(workspace, dataset), workspace, progress, rejected=rejected) for dataset in datasets
        ]
        names = [samples.name for samples in datasets_on_graph]
        if twice := [name for name in names if names.count(name) > 1]:
            raise SettingsError(f"two of the datasets are called {twice[0]}, and a graph tells them apart by that; leave out one.")
        progress.start("Reading the graph", None, "rows")
        graph = rows_of(workspace)
        progress.finish()
        rows = graph | _together(datasets_on_graph)
        if to == "graphml":
            return _write_graphml(out, rows, {"datasets": names} if names else {}, progress)
        markers = [imported_marker(tables, graph)]
        for samples in datasets_on_graph:
            markers += [imported_part_marker(part, samples.name, samples.content, samples.rows) for part in parts_of(samples.rows)]
        with new_folder(out, again=True) as partial:
            progress.start("Writing the graph for Neo4j", _rows(rows), "rows")
            import_files.write(partial, rows, markers=markers, advance=progress.advance)
            progress.finish(f"{sum(path.stat().st_size for path in partial.iterdir()) / 1e6:,.0f} MB")
    return sorted(out.iterdir())


def _together(datasets: Sequence[DatasetOnGraph]) -> dict[str, pa.Table]:
    """The rows of all datasets together; their keys differ."""
    tables = dict.fromkeys(name for samples in datasets for name in samples.rows)
    return {name: pa.concat_tables([samples.rows[name] for samples in datasets]) for name in tables}


def _write_graphml(out: Path, rows: Mapping[str, pa.Table], about: Mapping[str, Any], progress: Progress) -> list[Path]:
    properties = {name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in about.items()}
    with storage_errors(out), scratch(Path(os.path.abspath(out))) as folder:
        progress.start("Writing GraphML", _rows(rows), "rows")
        pictured = graphml.write(folder / out.name, rows, about=properties, advance=progress.advance)
        remark = f", {pictured:,} characters that XML cannot hold as pictures of them" if pictured else ""
        progress.finish(f"{(folder / out.name).stat().st_size / 1e6:,.1f} MB{remark}")
        put_all({folder / out.name: out})
    return [out]


def _rows(rows: Mapping[str, pa.Table]) -> int:
    return sum(table.num_rows for table in rows.values())
