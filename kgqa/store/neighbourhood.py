"""The neighbourhood of an entity or a document, and the relationships between given nodes, as rows of the tables of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kgqa.store.base import GraphStore
from kgqa.store.queries import Value, read_queries

Node = tuple[str, str]
"""``entity`` or ``document``, and its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """Step from nodes of one kind along one kind of relationship."""

    name: str
    """Description of these relationships."""
    to: str
    query: str
    """Query for the neighbours, the most informative first."""
    count: str
    """Query for their number, the sum of its last column; empty if a node has at most one, or few."""


_WAYS = {
    "entity": (
        _Way(name="facts from it", to="entity", query="page_facts_from", count="page_relations_from"),
        _Way(name="facts to it", to="entity", query="page_facts_to", count="page_relations_to"),
        _Way(name="documents that mention it", to="document", query="page_mentioned_in", count="page_mentioned_in_count"),
        _Way(name="articles about it", to="document", query="page_articles", count=""),
    ),
    "document": (
        _Way(name="entities that it mentions", to="entity", query="page_mentions", count="page_mentions_count"),
        _Way(name="entities that it is about", to="entity", query="page_subjects", count=""),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A node with more neighbours than were followed."""

    kind: str
    """Table of the node: ``entity`` or ``document``."""
    id: str
    what: str
    """Description of the relationships, such as ``facts to it``."""
    followed: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The nodes and relationships within some hops of a node."""

    rows: dict[str, pa.Table]
    """Table → rows, without the column ``search``."""
    cuts: tuple[Cut, ...]


class Surroundings:
    """Queries on one store."""

    def __init__(self, store: GraphStore) -> None:
        """The store stays open."""
        self._store = store
        self._queries = read_queries()

    def around(self, start: Node, *, hops: int, limit: int) -> Neighbourhood:
        """The nodes within ``hops`` relationships in any direction, and all relationships between these nodes.

        For each node and kind of relationship, at most ``limit`` are followed, in the order of the pages of ``kgqa explore``. Memory: the
        resulting part of the graph, texts included.
        """
        nodes = {start: None}
        edge: Sequence[Node] = [start]
        cuts: list[Cut] = []
        for _ in range(hops):
            frontier: dict[Node, None] = {}
            for node in edge:
                for way in _WAYS[node[0]]:
                    frontier |= dict.fromkeys(self._follow(node, way, limit, cuts))
            edge = [node for node in frontier if node not in nodes]
            nodes |= dict.fromkeys(edge)
        ids = {kind: [name for of, name in nodes if of == kind] for kind in _WAYS}
        return Neighbourhood(rows=self.between(entities=ids["entity"], documents=ids["document"]), cuts=tuple(cuts))

    def between(self, *, entities: Sequence[str], documents: Sequence[str]) -> dict[str, pa.Table]:
        """Given entities and documents, and all relationships between any two of them."""
        ends: dict[str, Value] = {"documents": list(documents), "entities": list(entities)}
        return {
            "entity": self._ask("graph_entities", entities=ends["entities"]),
            "document": self._ask("graph_documents", documents=ends["documents"]),
            "fact": self._ask("graph_facts", entities=ends["entities"]),
            "mentions": self._ask("graph_mentions", **ends),
            "about": self._ask("graph_about", **ends),
        }

    def _follow(self, node: Node, way: _Way, limit: int, cuts: list[Cut]) -> list[Node]:
        kind, name = node
        rows = self._rows(way.query, {kind: name, "limit": limit})
        if way.count and len(rows) >= limit:
            total = sum(next(reversed(row.values())) for row in self._rows(way.count, {kind: name}))
            if total > limit:
                cuts.append(Cut(kind=kind, id=name, what=way.name, followed=limit, total=total))
        return [(way.to, row[way.to]) for row in rows]

    def _rows(self, name: str, arguments: Mapping[str, Value]) -> list[dict[str, Any]]:
        query = self._queries[name]
        values = {parameter.name: arguments.get(parameter.name, parameter.default) for parameter in query.params}
        return self._ask(name, **values).to_pylist()  # type: ignore[arg-type]

    def _ask(self, name: str, **arguments: Value) -> pa.Table:
        return self._store.run(self._queries[name], arguments)
