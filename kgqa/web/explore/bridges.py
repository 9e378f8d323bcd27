"""Connections of two entities: documents that mention both, and bridge entities that share documents with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgqa.web.explore.neighbours import Subject
from kgqa.web.explore.picture import Edge, Picture, document_key, document_node, entity_node
from kgqa.web.explore.stores import Graph

DRAWN = 7
"""Bridges in the picture; the list on the page holds more."""
LISTED = 50
COUNTED = 10_000
"""Maximum number of bridges that are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridges:
    """The connections of two entities over at most one entity in between."""

    listed: tuple[dict[str, Any], ...]
    """Rows of ``bridges_between``, in its order."""
    total: int
    direct: tuple[dict[str, Any], ...]
    """``document``, ``title``, ``mentions``: some documents that mention both."""


def find_bridges(graph: Graph, first: Subject, second: Subject) -> Bridges:
    """The bridges between two entities, as ``kgqa query bridges_between`` ranks them."""
    return listed_bridges(graph, first, second, graph.rows("bridges_between", entity=first.id, other=second.id, limit=COUNTED))


def listed_bridges(graph: Graph, first: Subject, second: Subject, rows: Sequence[dict[str, Any]]) -> Bridges:
    """The listed rows of ``bridges_between``, and the documents that mention both entities."""
    direct = graph.rows("page_shared_documents", entity=first.id, other=second.id, limit=5)
    return Bridges(listed=tuple(rows[:LISTED]), total=len(rows), direct=tuple(direct))


def bridges_picture(graph: Graph, first: Subject, second: Subject, bridges: Bridges) -> Picture:
    """Entity, document, bridge, document, entity, from left to right. The document on each side is the one that mentions both most
    often.
    """
    picture = Picture(root=first.node.key, layout="flow")
    picture.add(replace(first.node, layer=0, role="start"))
    rows = bridges.listed[:DRAWN]
    beside = {subject.id: _documents(graph, subject, [row["bridge"] for row in rows]) for subject in (first, second)}
    for row in rows:
        middle = entity_node({**row, "entity": row["bridge"]}, layer=2, role="bridge")
        for layer, subject, count in ((1, first, row["near"]), (3, second, row["far"])):
            document = picture.add(document_node(_choice(picture, beside[subject.id][row["bridge"]], layer), layer=layer))
            picture.add(middle)
            picture.connect(Edge(source=document, target=subject.node.key, kind="mention"))
            label = f"1 of {count:,}" if count > 1 else ""
            picture.connect(Edge(source=document, target=middle.key, kind="mention", label=label))
    for row in bridges.direct:
        if document_key(row["document"]) not in picture.nodes:
            document = picture.add(document_node(row, layer=2))
            for subject in (first, second):
                picture.connect(Edge(source=document, target=subject.node.key, kind="mention"))
            break
    picture.add(replace(second.node, layer=4, role="answer"))
    hidden_count = bridges.total - DRAWN
    hidden_note = (
        f" {hidden_count:,} more bridge {'entity is' if hidden_count == 1 else 'entities are'} not drawn." if hidden_count > 0 else ""
    )
    picture.hidden = f"One document of those that connect is drawn for each bridge.{hidden_note}"
    return picture


def _documents(graph: Graph, subject: Subject, bridges: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Bridge → the documents that it shares with an end, the richest in mentions of both first."""
    by_bridge: dict[str, list[dict[str, Any]]] = {bridge: [] for bridge in bridges}
    for row in graph.rows("path_documents", entity=subject.id, others=bridges) if bridges else []:
        by_bridge[row["other"]].append(row)
    return by_bridge


def _choice(picture: Picture, rows: list[dict[str, Any]], layer: int) -> dict[str, Any]:
    """The first document that is not in the picture yet."""
    places = [picture.nodes.get(document_key(row["document"])) for row in rows]
    return next((row for row, node in zip(rows, places, strict=True) if node is None or node.layer == layer), rows[0])
