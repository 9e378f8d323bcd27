"""Opens the graph of a workspace, or its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from kgqa.errors import StoreError, WorkspaceError, storage_errors
from kgqa.runs.files import key_of, known_hash
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
BUILDING = "build_store"
"""The stage that writes the embedded graph."""


@contextmanager
def finished_tables(workspace: Workspace) -> Iterator[str]:
    """Lock the workspace, so that no run replaces its tables, and yield their hash.

    Raises WorkspaceError if the tables are missing or unfinished, and WorkspaceBusy if another run holds the workspace.
    """
    place = workspace.path
    again = f"run kgqa generate --domain DOMAIN --workspace {workspace.place} first"
    workspace.fetch(*STAGES)
    with storage_errors(place):
        # Locking would create the folder, and only generate may create a workspace.
        if not workspace.tables.is_dir():
            raise WorkspaceError(f"{workspace.place}: there is no graph in this workspace; {again}.")
    with workspace, storage_errors(place):
        for stage in STAGES:
            if workspace.finished(stage) is None:
                raise WorkspaceError(f"{workspace.place}: the tables of the graph are damaged or unfinished; {again}.")
        yield tables_hash(workspace)


def rows_of(workspace: Workspace) -> dict[str, pa.Table]:
    """The rows of the graph, by table. Memory: the tables and the rows together."""
    return graph_rows({name: workspace.read_table(name, coded=name == "mentions") for name in SOURCES})


def open_store(store: str, workspace: Workspace, *, neo4j: Neo4jSettings | None = None, seconds: float | None = None) -> GraphStore:
    """The graph of ``workspace`` in the ``embedded`` store, or the graph on a ``neo4j`` server; close it after use.

    ``neo4j`` names the server (default: the environment does), and ``seconds`` is the longest wait for an answer. Raises SettingsError for
    an unknown store, and StoreError if there is no complete graph.
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
    workspace.fetch(BUILDING)
    place = workspace.place
    with storage_errors(workspace.path):
        if (graph := loaded_graph(workspace)) is not None:
            return EmbeddedStore(graph, threads=worker_count())
        if not workspace.graph.is_file():
            raise StoreError(f"{place}: there is no graph in this workspace; run kgqa generate --domain DOMAIN --workspace {place} first.")
        # On a damaged file the engine may crash or return wrong results, so the file's hash is checked first.
        record = workspace.finished(BUILDING)
        if record is None:
            raise StoreError(
                f"{workspace.graph}: the graph is damaged or unfinished; kgqa generate --domain DOMAIN --workspace {place} rebuilds it."
            )
        if not record.outputs:
            raise StoreError(f"{place}: the last run put its graph into Neo4j; add --store neo4j, or run kgqa generate without it.")
    return EmbeddedStore(workspace.graph, threads=worker_count())


def tables_hash(workspace: Workspace) -> str:
    """Hash of the tables from which the graph of ``workspace`` is built."""
    with storage_errors(workspace.path):
        return key_of(GRAPH_VERSION, {name: known_hash(workspace.tables / f"{name}.parquet") for name in SOURCES})
