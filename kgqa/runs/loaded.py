"""The embedded graph of a workspace with loaded samples: a separate file, rebuilt whenever a dataset is loaded.

Updates of the embedded engine are unreliable, so kgqa never changes a graph. It keeps the rows of each loaded dataset as tables, copies the
graph of ``kgqa generate``, and adds the rows of all datasets to the copy. ``loaded.json`` names the copy and lists its contents. It is
written last, and the copy before it is removed after that, so a load that is killed leaves the earlier graph. A copy of an older graph is
ignored.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, StoreConflict, StoreError, storage_errors
from kgqa.progress import Advance
from kgqa.runs.files import file_hash, file_hashes, key_of, write_parquet
from kgqa.runs.workspace import Workspace
from kgqa.settings.small_files import read_small
from kgqa.store import embedded
from kgqa.store.samples import ON_GRAPH


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDataset:
    """The part of the graph that comes from one dataset."""

    content: str
    """Hash of the dataset."""
    rows: dict[str, int]
    """Table → number of rows; without the tables that were not requested."""
    tables: dict[str, str] = field(default_factory=dict)
    """File of rows → SHA-256 of its bytes; empty for what an older version loaded."""


def loaded_graph(workspace: Workspace) -> Path | None:
    """The graph with samples; None unless one was loaded for the current graph. Raises StoreError if it is damaged."""
    index = _index(workspace)
    if index is None:
        return None
    graph = _graph_file(workspace, str(index["name"]))
    if not graph.is_file() or file_hash(graph) != index["graph"]:
        again = f"kgqa load --store embedded --workspace {workspace.path} --dataset {next(iter(index['datasets']))}"
        raise StoreError(f"{graph}: the graph with samples is damaged; {again} --replace rebuilds it.")
    return graph


def loaded_datasets(workspace: Workspace) -> dict[str, LoadedDataset]:
    """The datasets that were loaded into the graph, by name."""
    index = _index(workspace)
    return {} if index is None else {name: LoadedDataset(**entry) for name, entry in index["datasets"].items()}


def load_dataset(
    workspace: Workspace, name: str, content: str, rows: Mapping[str, pa.Table], *, replace: bool, threads: int,
    advance: Advance = lambda _: None,
) -> bool:  # fmt: skip
    """Add the ``rows`` of dataset ``name`` to the copy of the graph, next to those of other datasets. Returns whether anything changed.

    The caller locks the workspace. Raises StoreConflict if the copy holds other samples of this name, unless ``replace`` is set.
    """
    loaded_names = loaded_datasets(workspace)
    entry = LoadedDataset(content=content, rows={table: rows[table].num_rows for table in ON_GRAPH if table in rows})
    if name in loaded_names and not replace:
        if loaded_names[name].content != content:
            raise StoreConflict(
                f"{workspace.path}: the graph has other samples of {name}; replace them with kgqa load --store embedded --dataset {name} "
                "--replace."
            )
        if entry.rows.keys() <= loaded_names[name].rows.keys():
            loaded_graph(workspace)
            return False
    if not workspace.graph.is_file() or workspace.finished("build_store") is None:
        raise StoreError(
            f"{workspace.path}: there is no embedded graph here; run kgqa generate in this workspace again, without --store neo4j."
        )
    with storage_errors(workspace.path):
        workspace.replace(_folder(workspace, name), lambda partial: _write_tables(partial, rows))
        loaded_names[name] = dataclasses.replace(entry, tables=file_hashes(_folder(workspace, name)))
        _check_tables(workspace, loaded_names)
        datasets = {dataset: asdict(dataset_entry) for dataset, dataset_entry in loaded_names.items()}
        graph_name = key_of(_made_of(workspace), datasets)[:16]
        graph = _graph_file(workspace, graph_name)
        workspace.replace(graph, lambda partial: _build(workspace, partial, loaded_names, threads, advance))
        index = {"made_of": _made_of(workspace), "name": graph_name, "graph": file_hash(graph), "datasets": datasets}
        workspace.write_json(workspace.loaded, index)
        for older in graph.parent.glob("loaded-*.lbug"):
            if older != graph:
                older.unlink()
    return True


def _check_tables(workspace: Workspace, datasets: Mapping[str, LoadedDataset]) -> None:
    """Raise StoreError if the rows of a loaded dataset are not as they were written; Parquet does not notice every flipped bit."""
    for name, entry in datasets.items():
        for file, digest in entry.tables.items():
            path = _folder(workspace, name) / file
            if not path.is_file() or file_hash(path) != digest:
                again = f"kgqa load --store embedded --workspace {workspace.path} --dataset {name} --replace"
                raise StoreError(f"{path}: the rows of the dataset {name} are damaged; run {again} to make them again.")


def _build(workspace: Workspace, partial: Path, datasets: Mapping[str, LoadedDataset], threads: int, advance: Advance) -> None:
    shutil.copyfile(workspace.graph, partial)
    rows = {}
    for table in ON_GRAPH:
        parts = [
            pq.read_table(_folder(workspace, name) / f"{table}.parquet") for name, entry in sorted(datasets.items()) if table in entry.rows
        ]
        if parts:
            rows[table] = pa.concat_tables(parts)
    embedded.add(partial, rows, tables=[table for table in ON_GRAPH if table in rows], threads=threads, advance=advance)


def _write_tables(folder: Path, rows: Mapping[str, pa.Table]) -> None:
    folder.mkdir()
    for name, table in rows.items():
        write_parquet(table, folder / f"{name}.parquet")


def _folder(workspace: Workspace, dataset: str) -> Path:
    """The folder with the tables of a dataset. It is named by a hash, because the name of a dataset may contain any character."""
    return workspace.loaded.with_name(f"samples-{key_of(dataset)[:16]}")


def _graph_file(workspace: Workspace, name: str) -> Path:
    """A graph with samples; ``name`` is a hash of its contents, so that another load does not touch it."""
    return workspace.loaded.with_name(f"loaded-{name}.lbug")


def _index(workspace: Workspace) -> dict[str, Any] | None:
    """The contents of ``loaded.json``; None if the file is missing, damaged or belongs to another graph."""
    try:
        index = json.loads(read_small(workspace.loaded))
        current = index["made_of"] == _made_of(workspace) and index["datasets"] and index["graph"]
        valid = index if current and re.fullmatch("[0-9a-f]{16}", index["name"]) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, BrokenInput):
        return None
    return valid


def _made_of(workspace: Workspace) -> str:
    """The key of the current graph of ``kgqa generate``."""
    return json.loads((workspace.tables / "build_store.json").read_text("utf-8"))["key"]
