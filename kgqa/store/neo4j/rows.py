"""The results of a Neo4j server as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from kgqa.store.base import distinct, objects_returned
from kgqa.store.queries import Query
from kgqa.store.values import Node, Relationship, Walk, all_scalars, table_of_values


def table_of(names: Sequence[str], rows: list[tuple[Any, ...]], query: Query | None) -> pa.Table:
    """Rows as a table; raises HeaderMismatch where they hold nodes and the like, and are those of a query with a header."""
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(names)
    for name, column in zip(names, columns, strict=True):
        if query is not None and _is_object(next((value for value in column if value is not None), None)):
            raise objects_returned(query, name)
    return table_of_values(distinct(names), [column if all_scalars(column) else [_value(value) for value in column] for column in columns])


def _is_object(value: Any) -> bool:
    from neo4j import graph, spatial

    return isinstance(value[0] if isinstance(value, list) and value else value, graph.Entity | graph.Path | spatial.Point | Mapping)


def _value(value: Any) -> Any:
    """``value`` without the driver's own types."""
    from neo4j import graph, spatial, time

    if isinstance(value, graph.Entity | graph.Path):
        return _object(value)
    if isinstance(value, spatial.Point):  # a tuple, of two or three
        return {**dict(zip("xyz", value, strict=False)), "srid": value.srid}
    if isinstance(value, Mapping):
        return {name: _value(part) for name, part in value.items()}
    if isinstance(value, list):
        return value if all_scalars(value) else [_value(part) for part in value]
    if isinstance(value, time.Date):
        return value.to_native()
    plain = value is None or isinstance(value, str | int | float | bool | bytes)
    return value if plain else value.iso_format() if hasattr(value, "iso_format") else str(value)


def _object(value: Any) -> Node | Relationship | Walk:
    from neo4j import graph

    if isinstance(value, graph.Path):
        nodes, relationships = (tuple(map(_object, parts)) for parts in (value.nodes, value.relationships))
        return Walk(nodes=nodes, relationships=relationships)  # type: ignore[arg-type] # a path has nothing else
    properties = {name: _value(part) for name, part in value.items()}
    if isinstance(value, graph.Node):
        return Node(key=value.element_id, labels=tuple(sorted(value.labels)), properties=properties)
    start, end = (node.element_id if node is not None else None for node in (value.start_node, value.end_node))
    return Relationship(type=value.type, start=start, end=end, properties=properties)


def weight(value: Any) -> int:
    """Approximate bytes of a value."""
    if isinstance(value, str | bytes):
        return 4 + len(value)
    if isinstance(value, list | tuple):
        return 8 + sum(map(weight, value))
    if isinstance(value, Mapping):  # a node or relationship is one, of its properties
        return 8 + sum(map(weight, value.values()))
    if hasattr(value, "nodes"):  # a path
        return 8 + sum(map(weight, value.nodes))
    return 8


def plan_steps(result: Any) -> pa.Table:
    """The plan of a query on the server: ``step, details, estimated_rows, rows, db_hits``. A plan that was not run lacks the last two."""
    summary = result.consume()
    root = summary.profile or summary.plan
    columns: dict[str, list[Any]] = {name: [] for name in ("step", "details", "estimated_rows", "rows", "db_hits")}

    def add(operator: Mapping[str, Any], depth: int) -> None:
        arguments = operator["args"]
        columns["step"].append("  " * depth + str(operator["operatorType"]).partition("@")[0])
        columns["details"].append(str(arguments.get("Details", "")))
        columns["estimated_rows"].append(arguments.get("EstimatedRows"))
        columns["rows"].append(operator.get("rows"))
        columns["db_hits"].append(operator.get("dbHits"))
        for child in operator.get("children", ()):
            add(child, depth + 1)

    add(root, 0)
    kinds = (pa.string(), pa.string(), pa.float64(), pa.int64(), pa.int64())
    return pa.table({name: pa.array(column, kind) for (name, column), kind in zip(columns.items(), kinds, strict=True)})
