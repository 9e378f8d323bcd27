"""The embedded graph of a workspace with samples on it: a file of its own, made anew with each dataset that is loaded.

The engine's updates cannot be trusted, so nothing is ever changed in a graph: what each dataset puts on it is kept as tables, and the graph
that ``kgqa generate`` made is copied and filled with those of all. ``loaded.json`` says what is in the copy and is written last; where the
graph was made of others since, the copy does not count.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, StoreConflict, StoreError, storage_errors
from kgqa.progress import Advance
from kgqa.runs.files import file_hash, key_of, write_parquet
from kgqa.runs.workspace import Workspace
from kgqa.settings.small_files import read_small
from kgqa.store import embedded
from kgqa.store.samples import ON_GRAPH


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDataset:
    """Part of the graph that comes from one dataset."""

    content: str
    """Hash of the dataset."""
    rows: dict[str, int]
    """Table → number of rows; tables of a part that was not requested are missing."""


def loaded_graph(workspace: Workspace) -> Path | None:
    """The graph with samples, if there is one of today's graph. Raises StoreError where it is damaged."""
    index = _index(workspace)
    if index is None:
        return None
    if not workspace.loaded.is_file() or file_hash(workspace.loaded) != index["graph"]:
        again = f"kgqa load --store embedded --workspace {workspace.path} --dataset {next(iter(index['datasets']))}"
        raise StoreError(f"{workspace.loaded}: the graph with samples is damaged; {again} --replace rebuilds it.")
    return workspace.loaded


def loaded_datasets(workspace: Workspace) -> dict[str, LoadedDataset]:
    """Loaded parts by dataset."""
    index = _index(workspace)
    return {} if index is None else {name: LoadedDataset(**told) for name, told in index["datasets"].items()}


def load_dataset(
    workspace: Workspace, name: str, content: str, rows: Mapping[str, pa.Table], *, replace: bool, threads: int,
    advance: Advance = lambda _: None,
) -> bool:  # fmt: skip
    """Put ``rows`` of ``dataset`` on a copy of the graph, with those of the datasets that lie there; whether anything was done.

    The workspace is locked by whoever calls. Raises StoreConflict where others of this name are there, unless ``replace``.
    """
    there = loaded_datasets(workspace)
    mine = LoadedDataset(content=content, rows={table: rows[table].num_rows for table in ON_GRAPH if table in rows})
    if name in there and not replace:
        if there[name].content != content:
            raise StoreConflict(
                f"{workspace.path}: the graph holds other samples of {name}; replace them with kgqa load --store embedded --dataset {name} "
                "--replace."
            )
        if mine.rows.keys() <= there[name].rows.keys():
            loaded_graph(workspace)
            return False
    if not workspace.graph.is_file() or workspace.finished("build_store") is None:
        raise StoreError(
            f"{workspace.path}: there is no embedded graph here; run kgqa generate in this workspace again, without --store neo4j."
        )
    there[name] = mine
    with storage_errors(workspace.path):
        workspace.replace(_folder(workspace, name), lambda partial: _write_tables(partial, rows))
        workspace.replace(workspace.loaded, lambda partial: _build(workspace, partial, there, threads, advance))
        datasets = {dataset: asdict(told) for dataset, told in there.items()}
        index = {"made_of": _made_of(workspace), "graph": file_hash(workspace.loaded), "datasets": datasets}
        workspace.write_json(_index_file(workspace), index)
    return True


def _build(workspace: Workspace, partial: Path, datasets: Mapping[str, LoadedDataset], threads: int, advance: Advance) -> None:
    shutil.copyfile(workspace.graph, partial)
    rows = {}
    for table in ON_GRAPH:
        parts = [
            pq.read_table(_folder(workspace, name) / f"{table}.parquet") for name, told in sorted(datasets.items()) if table in told.rows
        ]
        if parts:
            rows[table] = pa.concat_tables(parts)
    embedded.add(partial, rows, tables=[table for table in ON_GRAPH if table in rows], threads=threads, advance=advance)


def _write_tables(folder: Path, rows: Mapping[str, pa.Table]) -> None:
    folder.mkdir()
    for name, table in rows.items():
        write_parquet(table, folder / f"{name}.parquet")


def _folder(workspace: Workspace, dataset: str) -> Path:
    """Where the tables of a dataset are kept; its name may hold anything, so the folder's is made of its hash."""
    return workspace.loaded.parent / f"samples-{key_of(dataset)[:16]}"


def _index_file(workspace: Workspace) -> Path:
    return workspace.loaded.with_suffix(".json")


def _index(workspace: Workspace) -> dict[str, Any] | None:
    """The record of loaded parts; None if it belongs to another graph."""
    try:
        index = json.loads(read_small(_index_file(workspace)))
        told = index if index["made_of"] == _made_of(workspace) and index["datasets"] and index["graph"] else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, BrokenInput):
        return None
    return told


def _made_of(workspace: Workspace) -> str:
    """Fingerprint of the graph of ``kgqa generate``."""
    key: str = json.loads((workspace.tables / "build_store.json").read_text("utf-8"))["key"]
    return key
