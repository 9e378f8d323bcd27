"""Stores with a planted fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from kgqa.conformance.benches import EmbeddedBench
from kgqa.conformance.graphs import RandomGraph
from kgqa.store.base import GraphStore
from kgqa.store.limits import Answer, Limits
from kgqa.store.queries import Query, Value

Spoil = Callable[[Query, pa.Table], pa.Table]


class FaultyStore:
    """Answers through ``spoil``."""

    def __init__(self, store: GraphStore, spoil: Spoil) -> None:
        self.name, self.version = store.name, store.version
        self._store, self._spoil = store, spoil

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float | None = None) -> pa.Table:
        return self._spoil(query, self._store.run(query, arguments, seconds=seconds))

    def read(self, text: str, parameters: Mapping[str, Any] | None = None, *, limits: Limits | None = None) -> Answer:
        return self._store.read(text, parameters, limits=limits)

    def close(self) -> None:
        self._store.close()


class FaultyBench(EmbeddedBench):
    """Gives faulty stores."""

    def __init__(self, spoil: Spoil) -> None:
        super().__init__()
        self.fault = ""
        self._spoil = spoil

    @contextmanager
    def holding(self, graph: RandomGraph) -> Iterator[GraphStore]:
        with super().holding(graph) as store:
            yield FaultyStore(store, self._spoil)


def drops_a_row(query: Query, rows: pa.Table) -> pa.Table:
    """The last of several rows of one query is lost."""
    return rows.slice(0, rows.num_rows - 1) if query.name == "page_entities" and rows.num_rows > 1 else rows


def repeats_a_row(query: Query, rows: pa.Table) -> pa.Table:
    """The first row comes twice."""
    return pa.concat_tables([rows.slice(0, 1), rows]) if query.name == "conformance_triangles" and rows.num_rows else rows


def loses_an_edge(query: Query, rows: pa.Table) -> pa.Table:
    """A list of edges is one short."""
    if query.name != "article_mentions" or not any(len(names) > 1 for names in rows["entities"].to_pylist()):
        return rows
    return rows.set_column(1, "entities", pa.array([names[: max(1, len(names) - 1)] for names in rows["entities"].to_pylist()]))


def fails(query: Query, rows: pa.Table) -> pa.Table:
    """The engine gives up."""
    if query.name == "hubs" and rows.num_rows:
        raise RuntimeError("Buffer manager exception")
    return rows
