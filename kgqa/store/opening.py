"""Which store: the embedded graph of a workspace, or a Neo4j server."""

from __future__ import annotations

from kgqa.errors import SettingsError, StoreError, storage_errors, suggestion
from kgqa.store.base import GraphStore
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.loading import check_holds
from kgqa.store.neo4j import Neo4jSettings, Neo4jStore
from kgqa.store.queries import STORES
from kgqa.workers import worker_count
from kgqa.workspace import Workspace


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
        if not workspace.graph.is_file():
            raise StoreError(f"{place}: there is no graph in this workspace; run kgqa generate --domain DOMAIN --workspace {place} first.")
        # The engine may crash on a damaged file, or answer wrongly, so the file is compared with its hash first.
        record = workspace.finished("build_store")
        if record is None:
            raise StoreError(
                f"{workspace.graph}: the graph is damaged or unfinished; kgqa generate --domain DOMAIN --workspace {place} makes it anew."
            )
        if not record.outputs:
            raise StoreError(f"{place}: the last run put its graph into Neo4j; add --store neo4j, or run kgqa generate without it.")
    return EmbeddedStore(workspace.graph, threads=worker_count())


def check_store(store: str) -> None:
    """Raise SettingsError for a store that does not exist."""
    if store not in STORES:
        raise SettingsError(f"store {store!r} is not known; {suggestion(store, STORES)}")
