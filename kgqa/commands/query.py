"""``kgqa query``: named Cypher queries on the graph of a workspace, and the user's own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgqa.runs.graph import open_store
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import STORE, WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.limits import Answer, Limits, check_seconds, left
from kgqa.store.names import SECONDS, resolved
from kgqa.store.nothing import why_nothing
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
    """The rows of the query ``name`` with ``parameters`` as text, on the graph in ``workspace`` or in the Neo4j server.

    Where a parameter wants the id of an entity or a document, its name will do. ``seconds`` are for reaching the server, for names and for
    the answer together. Raises QueryError, of which AmbiguousName and UnknownName carry what was found, QueryTimeout and StoreError.
    """
    return answer(name, parameters, Workspace(Path(workspace)), store, neo4j, seconds=seconds).rows


def answer(
    name: str, parameters: Mapping[str, str] | None, workspace: Workspace, store: str, neo4j: Neo4jSettings | None,
    *, seconds: float | None, explain: bool = False,
) -> Answer:  # fmt: skip
    """The same; to ``explain`` is to say why there are no rows, where that can be said."""
    asked = find_query(name, askable_queries(), suggested=listed_queries())
    arguments = asked.arguments(dict(parameters or {}))
    check_seconds(seconds)
    begin = time.monotonic()
    with closing(open_store(store, workspace, neo4j=neo4j, seconds=seconds)) as graph:
        remarks: list[str] = []
        arguments = resolved(graph, asked, arguments, seconds=SECONDS if seconds is None else left(seconds, begin), tell=remarks.append)
        rows = graph.run(asked, arguments, seconds=None if seconds is None else left(seconds, begin))
        if rows.num_rows or not explain:
            return Answer(rows=rows, remarks=tuple(remarks))
        nothing = why_nothing(graph, asked, arguments, seconds=SECONDS if seconds is None else left(seconds, begin))
        return Answer(rows=rows, nothing=nothing, remarks=tuple(remarks))


def cypher(
    text: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    workspace: str | Path = WORKSPACE,
    store: str = STORE,
    neo4j: Neo4jSettings | None = None,
    limits: Limits | None = None,
) -> Answer:
    """The rows of any Cypher that only reads, with a value for each of the ``parameters`` that it names, within ``limits``.

    The answer says what was cut off. Raises QueryError, QueryTimeout, QueryMemory and StoreError.
    """
    limits = limits or Limits()
    begin = time.monotonic()
    with closing(open_store(store, Workspace(Path(workspace)), neo4j=neo4j, seconds=limits.seconds)) as graph:
        return graph.read(text, parameters, limits=replace(limits, seconds=left(limits.seconds, begin)))
