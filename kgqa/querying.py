"""``kgqa query``: named Cypher queries on the graph of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from kgqa.errors import QueryError, StoreError, suggestion
from kgqa.generation import DEFAULT_WORKSPACE
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.queries import Query, read_queries
from kgqa.workspace import Workspace

INTERNAL = ("schema.cypher", "load.cypher")
"""Files whose queries build a graph; they are not for asking."""


def askable_queries() -> dict[str, Query]:
    """The named queries that a user can run, by name."""
    return {name: query for name, query in sorted(read_queries().items()) if query.file not in INTERNAL}


def query(name: str, parameters: Mapping[str, str] | None = None, *, workspace: Path = DEFAULT_WORKSPACE) -> pa.Table:
    """The rows of the query ``name`` with ``parameters`` as text, on the graph in ``workspace``. Raises QueryError or StoreError."""
    known = askable_queries()
    if name not in known:
        raise QueryError(f"there is no query {name!r}; {suggestion(name, list(known))}")
    arguments = known[name].arguments(dict(parameters or {}))
    graph = Workspace(Path(workspace)).graph
    if not graph.is_file():
        raise StoreError(f"{workspace}: there is no graph in this workspace; run kgqa generate --workspace {workspace} first.")
    with EmbeddedStore(graph) as store:
        return store.run(known[name], arguments)
