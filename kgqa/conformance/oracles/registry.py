"""The oracles of all reading queries, and the comparison of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from kgqa.conformance.oracles import engine_traps, engine_values, explore, graph, names, page, paths, traverse
from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Row, Rows
from kgqa.store.queries import PLURALS, Query, Value, read_queries

ORACLES: dict[str, Oracle] = {
    name: oracle
    for module in (explore, graph, names, page, paths, traverse, engine_traps, engine_values)
    for name, oracle in module.ORACLES.items()
}
"""By the name of the query."""


def templates() -> list[Query]:
    """The queries that are compared, by name."""
    queries = read_queries()
    return [queries[name] for name in sorted(ORACLES)]


def expected_rows(query: Query, index: GraphIndex, arguments: Mapping[str, Value]) -> Rows:
    """The rows that ``query`` must return."""
    rows = ORACLES[query.name](index, **dict(arguments))
    return sorted(rows) if any(edge_lists(query)) else list(rows)


def found_rows(query: Query, table: pa.Table) -> Rows:
    """The rows of a table, ready for comparison."""
    return comparable(query, list(zip(*(column.to_pylist() for column in table.columns), strict=True)))


def edge_lists(query: Query) -> list[bool]:
    """For each column, whether it is a list of edges."""
    return [name in PLURALS and kind == "strings" for name, kind in query.returns.items()]


def comparable(query: Query, rows: Rows) -> Rows:
    """Rows as they are; but lists of edges come in any order and any number of pieces: each edge becomes a row, and they are sorted.

    Two lists in one row correspond element by element; any other value belongs to all elements. The oracles return edges.
    """
    lists = edge_lists(query)
    return edges(rows, lists) if any(lists) else rows


def edges(rows: Rows, lists: Sequence[bool]) -> Rows:
    """One row for each place of the lists in ``rows``, sorted; raises ValueError where those of one row differ in length."""
    result: list[Row] = []
    for row in rows:
        length = next((len(value) for value, is_list in zip(row, lists, strict=True) if is_list and isinstance(value, list)), 0)
        result += zip(*(value if is_list else [value] * length for value, is_list in zip(row, lists, strict=True)), strict=True)
    return sorted(result)
