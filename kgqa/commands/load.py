"""``kgqa load``: the graph of a workspace into a Neo4j server, and the samples of a dataset onto it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import BrokenInput, InterruptedRun, MissingInput, SettingsError, UnknownId, storage_errors
from kgqa.formats import native
from kgqa.progress import Progress, Silent
from kgqa.records import Grade
from kgqa.runs.files import file_hash, key_of
from kgqa.runs.graph import finished_tables, rows_of
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import check_store
from kgqa.store.graph import TABLES
from kgqa.store.neo4j import graph
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.samples import SAMPLES_VERSION, SampleRow, add_samples, check_only_ours, erase_samples, sample_markers

FIELDS = (
    "id",
    "question",
    "answers",
    "answer_id",
    "candidates.list.element.id",
    "chains",
    "grades",
    "provenance",
    "paragraphs.list.element.id",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What a server holds after a load."""

    place: str
    """Server and database."""
    rows: dict[str, int]
    """How many rows of each table of the graph."""
    already: bool
    """Whether the whole graph was there before."""
    dataset: str | None
    samples: int | None
    """How many samples of ``dataset``; None: none were asked for."""
    samples_already: bool
    """Whether they were all there before."""


def load(
    workspace: str | Path = WORKSPACE,
    *,
    store: str = "neo4j",
    dataset: str | Path | None = None,
    replace: bool = False,
    neo4j: Neo4jSettings | None = None,
    progress: Progress | None = None,
) -> Loaded:
    """Load the graph of ``workspace`` into a Neo4j database, or go on with a load that was cut off; with ``dataset`` also its samples.

    ``dataset`` is a folder, or a name in the workspace. ``replace`` erases what kgqa loaded before: with ``dataset`` the samples of that
    name, and the graph only if it is another one; else the graph with all samples. Nothing that kgqa did not write is ever erased.
    ``neo4j`` says where the server is, by default what the environment says. Raises KgqaError.
    """
    check_store(store)
    if store != "neo4j":
        raise SettingsError(f"the {store} graph is made by kgqa generate; only a neo4j store is loaded.")
    place, progress = Workspace(Path(workspace)), progress or Silent()
    folder = None if dataset is None else _folder(place, Path(dataset))
    try:
        with finished_tables(place) as tables, Neo4jStore(neo4j or Neo4jSettings.from_environment()) as server:
            # What is wrong with the dataset is found before anything is erased or written.
            total = None if folder is None else _check_known(folder, place, progress)
            if replace:
                _replace(server, tables, folder, progress)
            counts, already = _load_graph(server, place, tables, progress)
            samples_already = folder is not None and total is not None and not _load_samples(server, tables, folder, total, progress)
            return Loaded(
                place=server.settings.place,
                rows=counts,
                already=already,
                dataset=None if folder is None else _name(folder),
                samples=total,
                samples_already=samples_already,
            )
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; run the same command again to go on from the last batch.") from None


def _replace(server: Neo4jStore, tables: str, folder: Path | None, progress: Progress) -> None:
    marker = graph.read_marker(server)
    if marker is None:
        return
    check_only_ours(server)
    graph.check_can_erase(server, marker)
    markers = sample_markers(server)
    whole = folder is None or marker.tables != tables
    # Samples go first, a few at a time: each has hundreds of relationships.
    for name in [name for name in markers if whole or (folder and name == _name(folder))]:
        progress.start(f"Erasing samples of {name}", markers[name].samples, "samples")
        erase_samples(server, name, advance=progress.advance)
        progress.finish(f"{markers[name].samples:,} samples")
    if whole:
        nodes = marker.rows["entity"] + marker.rows["document"]
        progress.start("Erasing the graph", nodes, "nodes")
        graph.erase(server, advance=progress.advance)
        progress.finish(f"{nodes:,} nodes")


def _load_graph(server: Neo4jStore, place: Workspace, tables: str, progress: Progress) -> tuple[dict[str, int], bool]:
    marker = graph.check_can_load(server, tables)
    if marker is not None and marker.finished:
        # The graph is not read again; but one that was imported from files has no constraints yet.
        progress.start("Loading the graph", sum(marker.rows.values()), "rows")
        graph.load(server, tables, {})
        progress.finish(f"all {sum(marker.rows.values()):,} rows are there already")
        return marker.rows, True
    progress.start("Reading the graph", None, "rows")
    rows = rows_of(place)
    total = sum(rows[name].num_rows for name in TABLES)
    progress.start("Loading the graph", total, "rows")
    done = graph.load(server, tables, rows, advance=progress.advance)
    progress.finish(f"{total:,} rows")
    return {name: rows[name].num_rows for name in TABLES}, not done


def _load_samples(server: Neo4jStore, tables: str, folder: Path, total: int, progress: Progress) -> bool:
    name = _name(folder)
    with storage_errors(folder):
        content = key_of(SAMPLES_VERSION, {split: file_hash(path) for split, path in native.split_files(folder).items()})
    progress.start(f"Loading samples of {name}", total, "samples")
    added = add_samples(server, _samples(folder), tables=tables, dataset=name, content=content, advance=progress.advance)
    progress.finish(f"{total:,} samples" if added else f"all {total:,} samples are there already")
    return added


def _folder(place: Workspace, dataset: Path) -> Path:
    """The folder of ``dataset``: as given, or relative to the workspace, or by its name there."""
    known = [dataset, place.path / dataset, place.path / "datasets" / dataset]
    with storage_errors(dataset):
        for folder in known:
            if folder.is_dir() and native.split_files(folder):
                return folder
    raise MissingInput(f"{dataset}: there is no dataset of this name, not here and not in {place.path}; kgqa generate makes one.")


def _name(folder: Path) -> str:
    """What the dataset is called: as its manifest says, else as its folder."""
    return str(native.manifest_of(folder).get("dataset", folder.resolve().name))


def _samples(folder: Path) -> Iterator[SampleRow]:
    """The samples of all splits, in order. Raises BrokenInput for one that has no chain to its answer."""
    number = 0
    for split, path in native.split_files(folder).items():
        for row in native.read_fields(path, *FIELDS):
            try:
                sample = _sample(row, split, number)
                whole = bool(sample.supports) and len(sample.candidates) == len(sample.chains)
                whole = whole and (sample.grades is None or len(sample.grades) == len(sample.candidates))
                whole = whole and any(len(chain) > 2 for chains in sample.chains for chain in chains)
            except (ValueError, KeyError, TypeError, IndexError, AttributeError):
                whole = False
            if not whole:
                raise BrokenInput(f"{path}: sample {row['id']} has no subject, candidates and chains; load what kgqa generate made.")
            yield sample
            number += 1


def _sample(row: dict[str, Any], split: str, number: int) -> SampleRow:
    provenance = json.loads(row["provenance"])
    return SampleRow(
        id=row["id"],
        split=split,
        row=number,
        question=row["question"],
        relation=str(provenance["relation"]),
        answer=row["answers"][0],
        subject=str(provenance["head"]),
        answer_id=row["answer_id"],
        candidates=tuple(candidate["id"] for candidate in row["candidates"]),
        supports=tuple(paragraph["id"] for paragraph in row["paragraphs"]),
        chains=tuple(tuple(tuple(chain) for chain in chains) for chains in row["chains"]),
        grades=None if row["grades"] is None else tuple(entry and _grade(entry) for entry in row["grades"]),
    )


def _grade(entry: dict[str, Any]) -> Grade:
    """With the fewest digits that name the same number, so that a grade of 0.9 is found among those from 0.9."""
    return Grade(**{**entry, "confidence": float(str(np.float32(float(entry["confidence"]))))})


def _check_known(folder: Path, place: Workspace, progress: Progress) -> int:
    """How many samples there are; raises UnknownId where one names an entity or a document that the graph does not have."""
    progress.start(f"Reading samples of {_name(folder)}", None, "samples")
    native.check_whole(folder)
    entities: set[str] = set()
    documents: set[str] = set()
    total = 0
    for sample in _samples(folder):
        total += 1
        entities.update((sample.subject, sample.answer_id, *sample.candidates))
        documents.update(sample.supports)
        for chains in sample.chains:
            for chain in chains:
                entities.update(chain[::2])
                documents.update(chain[1::2])
    for kind, ids in (("entities", entities), ("documents", documents)):
        named = pa.array(sorted(ids), pa.string())
        unknown = named.filter(pc.invert(pc.is_in(named, value_set=place.read_table(kind)["id"].combine_chunks())))
        if len(unknown):
            raise UnknownId(
                f"{folder}: a sample names {unknown[0].as_py()!r}, which is not among the {kind} of {place.path}; give the workspace in "
                "which the dataset was made."
            )
    return total
