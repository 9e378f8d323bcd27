"""``kgqa query``: named Cypher queries on the graph of a workspace, and the user's own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgqa.object_store.workspace import workspace_at
from kgqa.runs.graph import open_store
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import STORE, WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.empty_results import reason_for_empty_result
from kgqa.store.limits import Answer, Limits, check_seconds, remaining
from kgqa.store.names import SECONDS, resolved
from kgqa.store.queries import askable_queries, find_query, listed_queries


def query(
    name: str,
    parameters: Mapping[str, str] | None = None,
    *,
    workspace: str | Path = WORKSPACE,
    store: str = STORE,
    neo4j: Neo4jSettings | None = None,
    seconds: float | None = None,
) -> pa.Table:
    """Return the rows of the query ``name`` with ``parameters`` as text, on the graph of ``workspace`` or of the Neo4j server.

    Parameters for an entity or a document accept a name. ``seconds`` covers connecting, names and the query. Raises QueryError
    (AmbiguousName and UnknownName have the candidates), QueryTimeout and StoreError.
    """
    return answer(name, parameters, workspace_at(workspace), store, neo4j, seconds=seconds).rows


def answer(
    name: str, parameters: Mapping[str, str] | None, workspace: Workspace, store: str, neo4j: Neo4jSettings | None,
    *, seconds: float | None, explain: bool = False,
) -> Answer:  # fmt: skip
    """Like :func:`query`; with ``explain``, errors give the reason for an empty result if one is known."""
    named_query = find_query(name, askable_queries(), suggested=listed_queries())
    arguments = named_query.arguments(dict(parameters or {}))
    check_seconds(seconds)
    begin = time.monotonic()
    with closing(open_store(store, workspace, neo4j=neo4j, seconds=seconds)) as graph:
        remarks: list[str] = []
        arguments = resolved(
            graph, named_query, arguments, seconds=SECONDS if seconds is None else remaining(seconds, begin), tell=remarks.append
        )
        rows = graph.run(named_query, arguments, seconds=None if seconds is None else remaining(seconds, begin))
        if rows.num_rows or not explain:
            return Answer(rows=rows, remarks=tuple(remarks))
        reason = reason_for_empty_result(graph, named_query, arguments, seconds=SECONDS if seconds is None else remaining(seconds, begin))
        return Answer(rows=rows, nothing=reason, remarks=tuple(remarks))


def cypher(
    text: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    workspace: str | Path = WORKSPACE,
    store: str = STORE,
    neo4j: Neo4jSettings | None = None,
    limits: Limits | None = None,
) -> Answer:
    """Return the rows of any read-only Cypher, with values for its ``parameters``, within ``limits``.

    ``cut`` of the answer names the limit that cut rows. Raises QueryError, QueryTimeout, QueryMemory and StoreError.
    """
    limits = limits or Limits()
    begin = time.monotonic()
    with closing(open_store(store, workspace_at(workspace), neo4j=neo4j, seconds=limits.seconds)) as graph:
        return graph.read(text, parameters, limits=replace(limits, seconds=remaining(limits.seconds, begin)))
