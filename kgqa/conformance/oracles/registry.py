"""Every query that reads has an oracle; here are all of them, and how an answer is compared with what it must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from kgqa.conformance.oracles import engine_traps, engine_values, explore, graph, names, page, paths, traverse
from kgqa.conformance.oracles.known import Known, Oracle, Row, Rows
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


def expected_rows(query: Query, known: Known, arguments: Mapping[str, Value]) -> Rows:
    """What ``query`` must return."""
    rows = ORACLES[query.name](known, **dict(arguments))
    return sorted(rows) if any(edge_lists(query)) else list(rows)


def found_rows(query: Query, table: pa.Table) -> Rows:
    """The rows of a table in the form in which rows are compared."""
    return comparable(query, list(zip(*(column.to_pylist() for column in table.columns), strict=True)))


def edge_lists(query: Query) -> list[bool]:
    """Which of its columns are lists that stand for edges."""
    return [name in PLURALS and kind == "strings" for name, kind in query.returns.items()]


def comparable(query: Query, rows: Rows) -> Rows:
    """Rows as they are; but lists of edges come in any order and any number of pieces: each edge becomes a row, and they are sorted.

    A list beside a list belongs to it place by place, a list beside a value as a whole. The oracles give edges.
    """
    lists = edge_lists(query)
    return edges(rows, lists) if any(lists) else rows


def edges(rows: Rows, lists: Sequence[bool]) -> Rows:
    """One row for each place of the lists in ``rows``, sorted; raises ValueError where those of one row differ in length."""
    found: list[Row] = []
    for row in rows:
        length = next((len(value) for value, listed in zip(row, lists, strict=True) if listed and isinstance(value, list)), 0)
        found += zip(*(value if listed else [value] * length for value, listed in zip(row, lists, strict=True)), strict=True)
    return sorted(found)
