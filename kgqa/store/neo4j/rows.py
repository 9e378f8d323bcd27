"""What a Neo4j server sends, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from kgqa.store.base import as_table, objects_returned
from kgqa.store.queries import Query


def table_of(names: Sequence[str], rows: list[tuple[Any, ...]], query: Query | None) -> pa.Table:
    """Rows as a table; raises HeaderMismatch where they hold nodes and the like, and are those of a query with a header."""
    columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) or [()] * len(names)
    for name, column in zip(names, columns, strict=True):
        if query is not None and _is_object(next((value for value in column if value is not None), None)):
            raise objects_returned(query, name)
    return as_table(names, columns)


def _is_object(value: Any) -> bool:
    from neo4j import graph

    return isinstance(value[0] if isinstance(value, list) and value else value, graph.Entity | graph.Path)


def weight(value: Any) -> int:
    """About how many bytes a value takes."""
    if isinstance(value, str | bytes):
        return 4 + len(value)
    if isinstance(value, list | tuple):
        return 8 + sum(map(weight, value))
    if isinstance(value, Mapping):  # a node or relationship is one, of its properties
        return 8 + sum(map(weight, value.values()))
    if hasattr(value, "nodes"):  # a path
        return 8 + sum(map(weight, value.nodes))
    return 8
