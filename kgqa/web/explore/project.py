"""What the page is about: a workspace, an open graph, and the queries that people may run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.querying import askable_queries
from kgqa.records import Mention
from kgqa.store.base import GraphStore
from kgqa.store.loading import read_marker, tables_hash
from kgqa.store.neo4j import Neo4jSettings, Neo4jStore
from kgqa.store.opening import open_store
from kgqa.store.queries import Query
from kgqa.web.explore.stores import Graph, StorePool
from kgqa.workspace import Workspace

SECONDS = 10.0
"""How long one query of the page may take."""
OWN = "page.cypher"
"""The file of the page's own queries; they can be run by name, but the list of queries leaves them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything that the page shows; made by :func:`open_project`, closed by :meth:`close`."""

    workspace: Workspace
    graph: Graph
    queries: dict[str, Query]
    """Those that people run, by name."""
    place: str
    """The workspace or the server, for people."""
    has_spans: bool
    """Whether the workspace's tables are those that the graph was made from, so that texts can be marked."""

    def spans(self, document: str) -> list[Mention]:
        """Where the document's text names entities; none where the tables are not there."""
        path = self.workspace.tables / "mentions.parquet"
        if not self.has_spans or not path.is_file():
            return []
        try:
            table = pq.read_table(path, filters=[("document", "=", document)], memory_map=False)
            return [Mention(**row) for row in table.select(["entity", "start", "end"]).to_pylist()]
        except (pa.ArrowException, OSError, TypeError):
            return []  # the page shows the text without marks

    def close(self) -> None:
        """Let go of the graph."""
        self.graph.stores.close()


def open_project(
    workspace: str | Path, *, store: str = "embedded", neo4j: Neo4jSettings | None = None, seconds: float = SECONDS
) -> Project:
    """Open the graph of ``workspace``, or the one in a Neo4j server; raises SettingsError, StoreError and StorageError."""
    folder = Workspace(Path(workspace))

    def open_one() -> GraphStore:
        return open_store(store, folder, neo4j=neo4j)

    stores = StorePool(open_one)
    queries = askable_queries()
    return Project(
        workspace=folder,
        graph=Graph(stores, queries, seconds=seconds),
        queries={name: query for name, query in queries.items() if query.file != OWN and stores.name in query.stores},
        place=str(folder.path) if store == "embedded" else (neo4j or Neo4jSettings.from_environment()).place,
        has_spans=store == "embedded" or _same_tables(open_one, folder),
    )


def _same_tables(open_one: Callable[[], GraphStore], folder: Workspace) -> bool:
    """Whether the server's graph was made from the tables in ``folder``."""
    if not (folder.tables / "documents.parquet").is_file():
        return False
    server = open_one()
    try:
        marker = read_marker(server) if isinstance(server, Neo4jStore) else None
        return marker is not None and marker.tables == tables_hash(folder)
    finally:
        server.close()
