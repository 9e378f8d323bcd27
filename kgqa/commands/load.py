"""``kgqa load``: load the graph of a workspace into a Neo4j server, and a dataset's samples into it or the embedded graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import InterruptedRun, SettingsError
from kgqa.formats.dataset_on_graph import DatasetOnGraph, dataset_folder
from kgqa.object_store.workspace import workspace_at
from kgqa.progress import Progress, Silent
from kgqa.runs.graph import finished_tables, rows_of
from kgqa.runs.loaded import load_dataset
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.settings.workers import worker_count
from kgqa.store.base import check_store
from kgqa.store.graph import TABLES
from kgqa.store.neo4j import graph
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.samples import PARTS, add_part, check_only_ours, drop_indexes, erase_part, make_indexes, part_markers, parts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Contents of the store after a load."""

    place: str
    """Server and database, as messages name them."""
    rows: dict[str, int]
    """Table of the graph → number of rows."""
    already: bool
    """Whether the whole graph was there before."""
    dataset: str | None
    samples: int | None
    """Number of samples of ``dataset``; None without a dataset."""
    rejected: int | None
    """Number of rejected questions; None without ``rejected``."""
    samples_already: bool
    """Whether they were all there before."""


def load(
    workspace: str | Path = WORKSPACE,
    *,
    store: str = "neo4j",
    dataset: str | Path | None = None,
    rejected: bool = False,
    replace: bool = False,
    neo4j: Neo4jSettings | None = None,
    progress: Progress | None = None,
) -> Loaded:
    """Load the graph of ``workspace`` into a Neo4j database, with the samples of ``dataset``; an interrupted load resumes.

    ``dataset`` is a folder, or a name in the workspace; ``rejected`` adds its rejected questions. In the ``embedded`` store only these are
    added. ``replace`` erases what kgqa loaded before: with ``dataset`` the samples of that name, and the graph if it differs; else the
    graph with all samples. kgqa never erases anything that it did not write. ``neo4j`` is the server, by default from the environment.
    Raises KgqaError.
    """
    check_store(store)
    if dataset is None and (rejected or store == "embedded"):
        why = (
            "rejected questions are those of a dataset"
            if rejected
            else "the embedded graph is made by kgqa generate; only samples are added"
        )
        raise SettingsError(f"{why}; give --dataset too.")
    place, progress = workspace_at(workspace, progress), progress or Silent()
    try:
        with finished_tables(place) as tables:
            # Check the dataset before anything is erased or written.
            samples = None if dataset is None else DatasetOnGraph.read(dataset_folder(place, dataset), place, progress, rejected=rejected)
            if store == "embedded":
                assert samples is not None
                return _load_embedded(place, samples, progress, replace=replace)
            with Neo4jStore(neo4j or Neo4jSettings.from_environment()) as server:
                if replace:
                    _replace(server, tables, samples, progress)
                counts, already = _load_graph(server, place, tables, progress)
                is_new_data = samples is not None and _load_samples(server, tables, samples, progress)
                make_indexes(server)
                return _summary(server.settings.place, counts, samples, already=already, is_new=is_new_data)
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; run the same command again to go on from the last batch.") from None


def _summary(place: str, counts: dict[str, int], samples: DatasetOnGraph | None, *, already: bool, is_new: bool) -> Loaded:
    rows = {} if samples is None else {name: table.num_rows for name, table in samples.rows.items()}
    return Loaded(
        place=place,
        rows=counts,
        already=already,
        dataset=None if samples is None else samples.name,
        samples=rows.get("sample"),
        rejected=rows.get("blocked"),
        samples_already=samples is not None and not is_new,
    )


def _load_embedded(place: Workspace, samples: DatasetOnGraph, progress: Progress, *, replace: bool) -> Loaded:
    total = sum(table.num_rows for table in samples.rows.values())
    progress.start(f"Loading samples of {samples.name}", total, "rows")
    is_new_data = load_dataset(
        place, samples.name, samples.content, samples.rows, replace=replace, threads=worker_count(), advance=progress.advance
    )
    progress.finish(f"{total:,} rows" if is_new_data else f"all {total:,} rows are there already")
    tables = {"entity": "entities", "document": "documents", "fact": "facts", "mentions": "links"}
    counts = {name: place.rows(table) for name, table in tables.items()}
    return _summary(str(place.path), counts, samples, already=True, is_new=is_new_data)


def _replace(server: Neo4jStore, tables: str, samples: DatasetOnGraph | None, progress: Progress) -> None:
    marker = graph.read_marker(server)
    if marker is None:
        return
    check_only_ours(server)
    graph.check_can_erase(server, marker)
    whole = samples is None or marker.tables != tables
    # Erase samples first, and a few at a time, because each has hundreds of relationships.
    for (name, part), recorded in part_markers(server).items():
        if whole or (samples and name == samples.name):
            progress.start(f"Erasing {part} of {name}", recorded.rows, part)
            erase_part(server, next(entry for entry in PARTS if entry.name == part), name, rows=recorded.rows, advance=progress.advance)
            progress.finish(f"{recorded.rows:,} {part}")
    if whole:
        nodes = sum(marker.rows[name] for name in ("entity", "document", "relation"))
        progress.start("Erasing the graph", nodes, "nodes")
        graph.erase(server, advance=progress.advance)
        graph.drop_indexes(server)
        drop_indexes(server)
        progress.finish(f"{nodes:,} nodes")


def _load_graph(server: Neo4jStore, place: Workspace, tables: str, progress: Progress) -> tuple[dict[str, int], bool]:
    marker = graph.check_can_load(server, tables)
    if marker is not None and marker.finished:
        # The graph need not be loaded again, but a graph imported from files has no constraints yet.
        progress.start("Loading the graph", sum(marker.rows.values()), "rows")
        graph.load(server, tables, {})
        progress.finish(f"all {sum(marker.rows.values()):,} rows are there already")
        return marker.rows, True
    progress.start("Reading the graph", None, "rows")
    rows = rows_of(place)
    total = sum(rows[name].num_rows for name in TABLES)
    progress.start("Loading the graph", total, "rows")
    is_loaded = graph.load(server, tables, rows, advance=progress.advance)
    progress.finish(f"{total:,} rows")
    return {name: rows[name].num_rows for name in TABLES}, not is_loaded


def _load_samples(server: Neo4jStore, tables: str, samples: DatasetOnGraph, progress: Progress) -> bool:
    is_new_data = False
    for part in parts_of(samples.rows):
        total = samples.rows[part.nodes].num_rows
        progress.start(f"Loading {part.noun} of {samples.name}", total, part.noun)
        is_new = add_part(
            server, part, samples.rows, tables=tables, dataset=samples.name, content=samples.content, advance=progress.advance
        )
        progress.finish(f"{total:,} {part.noun}" if is_new else f"all {total:,} {part.noun} are there already")
        is_new_data |= is_new
    return is_new_data
