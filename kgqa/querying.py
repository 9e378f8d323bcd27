"""``kgqa query``: named Cypher queries on the graph of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from kgqa.errors import QueryError, StoreError, storage_errors, suggestion
from kgqa.generation import DEFAULT_WORKSPACE
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.queries import Query, read_queries
from kgqa.workspace import Workspace

INTERNAL = ("schema.cypher", "load.cypher")
"""Files whose queries build a graph; they are not for asking."""


def askable_queries() -> dict[str, Query]:
    """The named queries that a user can run, by name."""
    return {name: query for name, query in sorted(read_queries().items()) if query.file not in INTERNAL}


def query(name: str, parameters: Mapping[str, str] | None = None, *, workspace: str | Path = DEFAULT_WORKSPACE) -> pa.Table:
    """The rows of the query ``name`` with ``parameters`` as text, on the graph in ``workspace``. Raises QueryError or StoreError."""
    known = askable_queries()
    if name not in known:
        raise QueryError(f"there is no query {name!r}; {suggestion(name, list(known))}")
    arguments = known[name].arguments(dict(parameters or {}))
    place = Workspace(Path(workspace))
    with storage_errors(place.path):
        if not place.graph.is_file():
            raise StoreError(
                f"{workspace}: there is no graph in this workspace; run kgqa generate --domain DOMAIN --workspace {workspace} first."
            )
        # The engine may crash on a damaged file, or answer wrongly, so the file is compared with its hash first.
        if place.finished("build_store") is None:
            raise StoreError(f"{place.graph}: the graph is damaged or unfinished; kgqa generate --workspace {workspace} makes it anew.")
    with EmbeddedStore(place.graph) as store:
        return store.run(known[name], arguments)
