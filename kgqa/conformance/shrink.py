"""Shrinking a graph that a store answers wrongly, as long as the answer stays wrong: fewer rows first, then plainer values and
arguments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

from kgqa.conformance.benches import Bench
from kgqa.conformance.comparison import Disagreement, disagreement_on
from kgqa.conformance.graphs import RandomGraph
from kgqa.conformance.oracles.graph_index import GraphIndex
from kgqa.store.queries import Value

PLACES = {"fact": ("head", "tail"), "mentions": ("entity",), "about": ("entity",)}
"""Columns that hold the id of an entity; those of a document are called ``document``."""
SECONDS = 60.0
LARGEST = 1000
"""A limit that cuts nothing off."""


def shrink(bench: Bench, disagreement: Disagreement) -> Disagreement:
    """The smallest disagreement of the same query that is found within ``SECONDS``; the one given where it does not happen again."""
    end = time.monotonic() + SECONDS

    def happens(graph: RandomGraph, arguments: dict[str, Value]) -> Disagreement | None:
        if time.monotonic() > end:
            return None
        with bench.holding(graph) as store:
            return disagreement_on(store, disagreement.query, arguments, GraphIndex(graph))

    return _plainer(_fewer(disagreement, happens), happens)


Happens = Callable[[RandomGraph, dict[str, Value]], Disagreement | None]


def _fewer(disagreement: Disagreement, happens: Happens) -> Disagreement:
    """Delta debugging: leave out halves, then quarters, down to single rows, until none can go."""
    pieces = 2
    while True:
        rows = [(name, row) for name, table in disagreement.graph.tables() for row in table]
        size = max(1, len(rows) // pieces)
        for at in range(0, len(rows), size):
            rows_left = rows[:at] + rows[at + size :]
            smaller = happens(_graph(rows_left), disagreement.arguments)
            if smaller:
                disagreement = smaller
                break
        else:
            if size == 1:
                return disagreement
            pieces *= 2


def _graph(rows: list[tuple[str, Any]]) -> RandomGraph:
    """A graph of these rows, without what connects nodes that are not there."""
    tables: dict[str, list[Any]] = {"entity": [], "document": [], "fact": [], "mentions": [], "about": []}
    for name, row in rows:
        tables[name].append(row)
    entities, documents = ({row.id for row in tables[name]} for name in ("entity", "document"))
    for name, columns in PLACES.items():
        tables[name] = [row for row in tables[name] if all(getattr(row, column) in entities for column in columns)]
        tables[name] = [row for row in tables[name] if getattr(row, "document", None) in {None, *documents}]
    return RandomGraph(**{name: tuple(table) for name, table in tables.items()})


def _plainer(disagreement: Disagreement, happens: Happens) -> Disagreement:
    """Take every simplification that keeps the answer wrong."""
    for simpler in (_renamed, _plain_texts, _large_limits, _in_order):
        for graph, arguments in simpler(disagreement):
            disagreement = happens(graph, arguments) or disagreement
    # Each value by itself, as some of them may matter.
    for name, table in disagreement.graph.tables():
        for at, row in enumerate(table):
            for column in set(row._fields) & {"label", "description", "title", "text"}:
                if getattr(row, column) not in {None, "a"}:
                    rows = list(getattr(disagreement.graph, name))
                    rows[at] = rows[at]._replace(**{column: "a"})
                    disagreement = happens(replace(disagreement.graph, **{name: tuple(rows)}), disagreement.arguments) or disagreement
    return disagreement


Simpler = Iterator[tuple[RandomGraph, dict[str, Value]]]


def _renamed(wrong: Disagreement) -> Simpler:
    """Entities become e0, e1, …, documents d0, d1, …, in arguments too."""
    names = {entity.id: f"e{at}" for at, entity in enumerate(wrong.graph.entity)}
    names |= {document.id: f"d{at}" for at, document in enumerate(wrong.graph.document)}
    graph = RandomGraph(
        **{
            name: tuple(
                row._replace(**{c: names[getattr(row, c)] for c in set(row._fields) & {"id", "head", "tail", "document", "entity"}})
                for row in table
            )
            for name, table in wrong.graph.tables()
        }
    )
    yield graph, {key: [names.get(v, v) for v in value] if isinstance(value, list) else names.get(str(value), value)
                  for key, value in wrong.arguments.items()}  # fmt: skip


def _plain_texts(wrong: Disagreement) -> Simpler:
    """Every name and text becomes "a", except kinds and relations, which queries speak of."""
    texts = {"label", "description", "title", "text"}
    tables = {
        name: tuple(row._replace(**dict.fromkeys(set(row._fields) & texts, "a")) for row in table) for name, table in wrong.graph.tables()
    }
    yield RandomGraph(**tables), wrong.arguments


def _large_limits(wrong: Disagreement) -> Simpler:
    """Nothing is cut off, and lists of ids have one."""
    if "limit" in wrong.arguments:
        yield wrong.graph, {**wrong.arguments, "limit": LARGEST}
    for key, value in wrong.arguments.items():
        if isinstance(value, list):
            for one in value:
                yield wrong.graph, {**wrong.arguments, key: [one]}


def _in_order(wrong: Disagreement) -> Simpler:
    """Nodes and facts are numbered from 0, in this order."""
    tables: dict[str, tuple[Any, ...]] = dict(wrong.graph.tables())
    for name in ("entity", "document", "fact"):
        rows = sorted(tables[name], key=attrgetter("row"))
        tables[name] = tuple(row._replace(row=at) for at, row in enumerate(rows))
    yield RandomGraph(**tables), wrong.arguments
