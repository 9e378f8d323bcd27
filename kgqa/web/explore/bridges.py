"""What connects two entities: documents that mention both, and bridge entities that share documents with each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kgqa.web.explore.neighbours import Subject
from kgqa.web.explore.picture import Edge, Picture, document_node, entity_node
from kgqa.web.explore.stores import Graph

DRAWN = 7
"""Bridges in the picture; the list beside it holds more."""
LISTED = 50
RANKED = 500
"""Bridges that are compared, those that share most documents with the end with which they share fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """An entity that shares documents with both of two entities."""

    row: dict[str, Any]
    """``entity``, ``kind``, ``label``."""
    near: int
    """Documents that mention it together with the first entity; ``far``: with the second."""
    far: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridges:
    """All that connects two entities over at most one entity in between."""

    listed: tuple[Bridge, ...]
    total: int
    direct: tuple[dict[str, Any], ...]
    """``document``, ``title``, ``mentions``: some documents that mention both."""


def find_bridges(graph: Graph, first: Subject, second: Subject) -> Bridges:
    """The bridges between two entities; first those for which it is least of an accident that they share documents with both.

    That is, by the documents shared with one times those shared with the other, over all that mention the bridge: else words like
    country, which everything shares with everything, would always come first.
    """
    near, far = (
        {row["entity"]: row["documents"] for row in graph.rows("page_companions", entity=subject.id)} for subject in (first, second)
    )
    both = [entity for entity in near if entity in far and entity not in {first.id, second.id}]
    both.sort(key=lambda entity: (-min(near[entity], far[entity]), -near[entity] - far[entity]))
    ranked = both[:RANKED]
    everywhere = {row["entity"]: row["documents"] for row in graph.rows("page_mention_counts", ids=ranked)} if ranked else {}
    ranked.sort(key=lambda entity: -near[entity] * far[entity] / everywhere[entity])
    both[:RANKED] = ranked
    rows = graph.entities(both[:LISTED])
    listed = tuple(Bridge(row=rows[entity], near=near[entity], far=far[entity]) for entity in both[:LISTED])
    direct = graph.rows("page_shared_documents", entity=first.id, other=second.id, limit=5)
    return Bridges(listed=listed, total=len(both), direct=tuple(direct))


def bridges_picture(graph: Graph, first: Subject, second: Subject, bridges: Bridges) -> Picture:
    """Entity, document, bridge, document, entity from left to right: for each bridge the document on each side that says most."""
    picture = Picture(root=first.node.key, layout="flow")
    begin = picture.add(replace(first.node, layer=0, role="start"))
    end = replace(second.node, layer=4, role="answer")
    for document in bridges.direct[:1]:
        _mentioned(picture, picture.add(document_node(document, layer=2)), begin, end.key)
    for bridge in bridges.listed[:DRAWN]:
        middle = entity_node(bridge.row, layer=2, role="bridge")
        for layer, subject in ((1, first), (3, second)):
            document = graph.rows("page_shared_documents", entity=subject.id, other=bridge.row["entity"], limit=1)[0]
            there = picture.add(document_node(document, layer=layer))
            picture.add(middle)
            outer = begin if layer == 1 else end.key
            count = bridge.near if layer == 1 else bridge.far
            _mentioned(picture, there, outer, middle.key, f"1 of {count:,}" if count > 1 else "")
    picture.add(end)
    hidden = f" {bridges.total - DRAWN:,} more bridge entities are not drawn." if bridges.total > DRAWN else ""
    picture.hidden = f"One document of those that connect is drawn for each bridge.{hidden}"
    return picture


def _mentioned(picture: Picture, document: str, outer: str, inner: str, label: str = "") -> None:
    """``label`` says, on the side of the bridge, of how many documents this is one."""
    picture.connect(Edge(source=document, target=outer, kind="mention"))
    picture.connect(Edge(source=document, target=inner, kind="mention", label=label))
