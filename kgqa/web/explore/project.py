"""The content of the pages: a workspace, an open graph, and the named queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import KgqaError, QueryTimeout, StoreConflict
from kgqa.object_store.workspace import workspace_at
from kgqa.records import Mention
from kgqa.runs.graph import STAGES, open_store, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.queries import Query, askable_queries, listed_queries, read_queries
from kgqa.web.explore.stores import Graph, StorePool

SECONDS = 10.0
"""Limit of seconds for one query of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything that the page shows; made by :func:`open_project`, closed by :meth:`close`."""

    workspace: Workspace
    graph: Graph
    queries: dict[str, Query]
    """Named queries for users, by name."""
    place: str
    """The workspace or the server, as shown to users."""
    tables: str
    """Hash of the workspace's tables if the graph is on a server. Empty if the workspace has none; then texts have no marked mentions."""

    def spans(self, document: str) -> list[Mention]:
        """The mentions in the document's text; none if the tables are missing."""
        path = self.workspace.tables / "mentions.parquet"
        if not path.is_file() or not self._graph_is_of_tables():
            return []
        try:
            self.workspace.check_tables(*STAGES)
            table = pq.read_table(path, filters=[("document", "=", document)], memory_map=False)
            return [Mention(**row) for row in table.select(["entity", "start", "end"]).to_pylist()]
        except (pa.ArrowException, OSError, TypeError, KgqaError):
            return []  # the page shows the text without marks

    def mark(self) -> str:
        """The identity of the graph; empty for a file, which cannot change while it is open. A server may get another graph.

        Raises StoreUnreachable if no server answers, QueryTimeout if it is too slow, StoreConflict if it holds no complete graph.
        """
        if self.graph.stores.name == "embedded":
            return ""
        try:
            rows = self.graph.stores.run(read_queries()["graph_marker"], seconds=self.graph.seconds).to_pylist()
        except QueryTimeout:
            raise QueryTimeout(
                f"{self.place}: the server has not answered for {self.graph.seconds:g} seconds; check it, then reload this page."
            ) from None
        if not rows or not rows[0]["finished"]:
            state = "is being loaded, or was not loaded to its end" if rows else "has been taken out of the database"
            raise StoreConflict(f"{self.place}: the graph {state}; when kgqa load has ended, load this page again.")
        return str(rows[0]["tables"])

    def check_mark(self, mark: str) -> str:
        """The graph's mark. Raises StoreConflict if the server no longer holds the graph of ``mark``, with which a page was opened."""
        now = self.mark()
        if mark and mark != now:
            raise StoreConflict(f"{self.place}: the database has a different graph than when this page was opened; load the page again.")
        return now

    def _graph_is_of_tables(self) -> bool:
        """Whether the graph was made from the workspace's tables."""
        if self.graph.stores.name == "embedded":
            return True
        try:
            return bool(self.tables) and self.mark() == self.tables
        except KgqaError:
            return False

    def close(self) -> None:
        """Close all connections to the graph."""
        self.graph.stores.close()


def open_project(
    workspace: str | Path, *, store: str = "embedded", neo4j: Neo4jSettings | None = None, seconds: float = SECONDS
) -> Project:
    """Open the graph of ``workspace``, or the one in a Neo4j server; raises SettingsError, StoreError and StorageError."""
    folder = workspace_at(workspace)
    folder.fetch(*STAGES)
    folder.bring_datasets()
    from_tables = store != "embedded" and (folder.tables / "documents.parquet").is_file()
    tables = tables_hash(folder) if from_tables else ""
    stores = StorePool(lambda: open_store(store, folder, neo4j=neo4j, seconds=seconds))
    return Project(
        workspace=folder,
        graph=Graph(stores, askable_queries(), seconds=seconds),
        queries={name: query for name, query in listed_queries().items() if stores.name in query.stores},
        place=folder.place if store == "embedded" else (neo4j or Neo4jSettings.from_environment()).place,
        tables=tables,
    )
