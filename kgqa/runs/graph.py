"""The graph of a workspace: opening it, and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from kgqa.errors import StoreError, WorkspaceError, storage_errors
from kgqa.runs.files import file_hash, key_of
from kgqa.runs.loaded import loaded_graph
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.settings.workers import worker_count
from kgqa.store.base import GraphStore, check_store
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.graph import GRAPH_VERSION, SOURCES, graph_rows
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import check_holds

STAGES = ("read_sources", "link_mentions")
"""Stages whose tables the graph is built from."""


@contextmanager
def finished_tables(workspace: Workspace) -> Iterator[str]:
    """Hold the workspace, so that no run replaces its tables meanwhile, and give their hash.

    Raises WorkspaceError where they are not there or not finished, WorkspaceBusy where another run holds the workspace.
    """
    place = workspace.path
    again = f"run kgqa generate --domain DOMAIN --workspace {place} first"
    with storage_errors(place):
        # Locking makes the folder of a workspace, which only generate should do.
        if not workspace.tables.is_dir():
            raise WorkspaceError(f"{place}: there is no graph in this workspace; {again}.")
    with workspace, storage_errors(place):
        for stage in STAGES:
            if workspace.finished(stage) is None:
                raise WorkspaceError(f"{place}: the tables of the graph are damaged or unfinished; {again}.")
        yield tables_hash(workspace)


def rows_of(workspace: Workspace) -> dict[str, pa.Table]:
    """The rows of the graph; needs as much memory as the tables and the rows together."""
    return graph_rows({name: workspace.read_table(name) for name in SOURCES})


def open_store(store: str, workspace: Workspace, *, neo4j: Neo4jSettings | None = None, seconds: float | None = None) -> GraphStore:
    """The graph of ``workspace`` in the ``embedded`` store, or the one that a ``neo4j`` server holds; close it after use.

    ``neo4j`` says where the server is, by default what the environment says, and ``seconds`` for how long it is waited for. Raises
    SettingsError for an unknown store, and StoreError where there is no whole graph.
    """
    check_store(store)
    if store == "neo4j":
        server = Neo4jStore(neo4j or Neo4jSettings.from_environment(), seconds=seconds)
        try:
            check_holds(server)
        except BaseException:
            server.close()
            raise
        return server
    place = workspace.path
    with storage_errors(place):
        if (graph := loaded_graph(workspace)) is not None:
            return EmbeddedStore(graph, threads=worker_count())
        if not workspace.graph.is_file():
            raise StoreError(f"{place}: there is no graph in this workspace; run kgqa generate --domain DOMAIN --workspace {place} first.")
        # The engine may crash on a damaged file, or answer wrongly, so the file is compared with its hash first.
        record = workspace.finished("build_store")
        if record is None:
            raise StoreError(
                f"{workspace.graph}: the graph is damaged or unfinished; kgqa generate --domain DOMAIN --workspace {place} rebuilds it."
            )
        if not record.outputs:
            raise StoreError(f"{place}: the last run put its graph into Neo4j; add --store neo4j, or run kgqa generate without it.")
    return EmbeddedStore(workspace.graph, threads=worker_count())


def tables_hash(workspace: Workspace) -> str:
    """Fingerprint of the graph that the tables of ``workspace`` make."""
    with storage_errors(workspace.path):
        return key_of(GRAPH_VERSION, {name: file_hash(workspace.tables / f"{name}.parquet") for name in SOURCES})
