"""The nodes and relationships in a store's answer as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgqa.store.values import as_json
from kgqa.web.explore.picture import Edge, Node, Picture, document_node, entity_node
from kgqa.web.rendering import link
from kgqa.web.visible import visible

DRAWN = 60
"""Maximum number of nodes in one picture."""
STAR = 5
"""Minimum number of edges of a star; a smaller one is as readable in layers."""
LETTERS = {"Entity": "e", "Document": "d", "Sample": "s", "Chain": "c", "SubQuestion": "u", "Rejected": "q", "Filter": "f"}
"""Label of a node → prefix of the keys of such nodes."""
ENDS = {
    "FACT": ("e", "e"), "MENTIONS": ("d", "e"), "ABOUT": ("e", "d"), "ASKS_ABOUT": ("sq", "e"), "ANSWER": ("squ", "e"),
    "CANDIDATE": ("s", "e"), "SUPPORT": ("s", "d"), "HAS_CHAIN": ("s", "c"), "STEP": ("c", "ed"),
    "HAS_SUBQUESTION": ("s", "u"), "SUPPORTED_BY": ("u", "d"), "DEPENDS_ON": ("u", "u"), "REJECTED_BY": ("q", "f"),
}  # fmt: skip
"""Relationship type → letters of its source and target nodes. They are needed because an entity and a document may share an id."""
KINDS = {"FACT": "fact", "MENTIONS": "mention", "ABOUT": "article"}
PATH = {"nodes", "relationships"}
"""Keys of a path in an answer."""
Thing = Mapping[str, Any]


def picture_of(rows: Sequence[Mapping[str, Any]]) -> Picture | None:
    """All nodes, relationships and paths in ``rows``, also inside lists and maps, as one picture. None if there is no node."""
    nodes: list[Thing] = []
    relationships: list[Thing] = []
    for row in rows:
        for thing in _things(row):
            (nodes if "labels" in thing else relationships).append(thing)
    picture = graph_picture(nodes, relationships, places=_places(rows))
    return picture if picture.nodes else None


def graph_picture(
    nodes: Iterable[Thing], relationships: Iterable[Thing], *, most: int = DRAWN, places: Mapping[str, int] | None = None
) -> Picture:
    """The first ``most`` of ``nodes`` (``labels``, ``properties``), and the ``relationships`` (``type``, ``start``, ``end``,
    ``properties``) between them.

    A star is drawn around its centre. Any other graph is drawn in layers: by the ``places`` of nodes on paths if all nodes have one,
    otherwise by their distance from the first node.
    """
    picture = Picture(layout="flow")
    by_key = {node.key: node for node in map(_node, nodes) if node is not None}
    for node in list(by_key.values())[:most]:
        picture.add(node)
    by_id: dict[str, list[str]] = {}
    for key in picture.nodes:
        by_id.setdefault(key[2:], []).append(key)
    left_out = 0
    for relationship in relationships:
        edge = _edge(relationship, by_id)
        if edge is not None:
            picture.connect(edge)
        else:
            left_out += 1
    if len(by_key) > most:
        picture.hidden = f"{len(by_key) - most:,} more nodes are not drawn."
    elif left_out:
        picture.hidden = f"{left_out:,} relationships whose ends the rows do not hold are not drawn."
    _lay_out(picture, places or {})
    return picture


def join(picture: Picture, edges: Iterable[Edge]) -> None:
    """Add edges to a picture that has none, and lay it out again."""
    for edge in edges:
        picture.connect(edge)
    if picture.edges:
        _lay_out(picture, {})


def _things(value: Any) -> Iterator[Thing]:
    """The nodes and relationships in a value."""
    if isinstance(value, Mapping):
        if {"labels", "properties"} <= value.keys() or {"type", "start", "end", "properties"} <= value.keys():
            yield value
        else:
            for part in value.values():
                yield from _things(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _things(part)


def _places(value: Any) -> dict[str, int]:
    """Key of each node on the paths in a value → its first position on a path."""
    places: dict[str, int] = {}
    if isinstance(value, Mapping) and value.keys() == PATH:
        places = {drawable.key: place for place, drawable in reversed(list(enumerate(map(_node, value["nodes"])))) if drawable}
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            places = {**_places(part), **places}
    return places


def node_of(value: Any) -> Node | None:
    """``value`` as a node of the picture, or None if it is no node with an id."""
    return _node(value) if isinstance(value, Mapping) and {"labels", "properties"} <= value.keys() else None


def in_words(value: Any) -> str:
    """A relationship or a path in Cypher's notation, with names in place of nodes; empty for other values."""
    if not isinstance(value, Mapping):
        return ""
    if {"type", "start", "end", "properties"} <= value.keys():
        properties = ", ".join(f"{name}: {as_json(part)}" for name, part in visible(value)["properties"].items())
        return f"[:{value['type']}{f' {{{properties}}}' if properties else ''}]"
    if value.keys() != PATH:
        return ""
    text = ""
    for place, node in enumerate(value["nodes"]):
        if place:
            step = value["relationships"][place - 1]
            before = value["nodes"][place - 1]["properties"]
            onward = step["start"] in {before.get("key"), before.get("id")}
            text += f"-[:{step['type']}]->" if onward else f"<-[:{step['type']}]-"
        drawable = _node(node)
        text += f"({drawable.label if drawable else ':'.join(node['labels'])})"
    return text


def _node(thing: Thing) -> Node | None:
    labels, properties = list(thing["labels"]), thing["properties"]
    label = next((label for label in labels if label in LETTERS), labels[0] if labels else "node")
    name = properties.get("key") or properties.get("id")  # as relationships call it
    if name is None:
        return None
    if label == "Entity":
        return entity_node({"entity": name, "kind": properties.get("kind"), "label": properties.get("label")})
    if label == "Document":
        return document_node({"document": name, "title": properties.get("title")})
    letter = LETTERS.get(label, "x")
    text = properties.get("question") or name
    if letter == "c" and properties.get("candidate"):
        text = f"chain {properties.get('number', 0) + 1} to {properties['candidate']}"
    if letter == "u" and properties.get("number"):
        text = f"#{properties['number']} {text}"
    page = ""
    if letter == "s" and properties.get("dataset") and properties.get("split"):
        page = link("/sample", dataset=properties["dataset"], split=properties["split"], id=properties["id"])
    return Node(key=f"{letter}:{name}", label=str(text), note=label.lower(), link=page)


def _edge(thing: Thing, by_id: Mapping[str, list[str]]) -> Edge | None:
    kind, properties = str(thing["type"]), thing.get("properties") or {}
    first, second = ENDS.get(kind, ("", ""))
    source, target = (
        next((key for key in by_id.get(end or "", ()) if not letters or key[0] in letters), None)
        for end, letters in ((thing["start"], first), (thing["end"], second))
    )
    if source is None or target is None:
        return None
    labels = {"FACT": properties.get("label") or properties.get("relation"), "MENTIONS": "mentions", "ABOUT": "article"}
    label = labels.get(kind) or kind.lower().replace("_", " ")
    if kind == "STEP" and properties.get("position") is not None:
        label = f"step {properties['position']}"
    return Edge(source=source, target=target, kind=KINDS.get(kind, "row"), label=str(label))


def _lay_out(picture: Picture, places: Mapping[str, int]) -> None:
    """Set the root of the picture, and the layer of each node."""
    edges = list(picture.edges.values())
    picture.root = next(iter(picture.nodes), "")
    degrees = Counter(key for edge in edges for key in {edge.source, edge.target})
    middle = max(degrees, key=lambda key: degrees[key], default="")
    if len(edges) >= STAR and degrees[middle] == len(edges) and len(degrees) == len(picture.nodes):
        picture.root, picture.layout = middle, "tree"
        return
    layers = dict(places) if picture.nodes.keys() <= places.keys() else _steps(picture)
    for key in picture.nodes:
        role = "start" if key == picture.root else picture.nodes[key].role
        picture.nodes[key] = replace(picture.nodes[key], layer=layers[key], role=role)


def _steps(picture: Picture) -> dict[str, int]:
    """Distance in edges, in either direction, of each node from the first node of its component."""
    beside: dict[str, list[str]] = {}
    for edge in picture.edges.values():
        beside.setdefault(edge.source, []).append(edge.target)
        beside.setdefault(edge.target, []).append(edge.source)
    layers: dict[str, int] = {}
    for begin in picture.nodes:
        if begin in layers:
            continue
        layers[begin] = 0
        waiting = [begin]
        for key in waiting:  # grows while it is walked
            for neighbour in beside.get(key, ()):
                if neighbour not in layers:
                    layers[neighbour] = layers[key] + 1
                    waiting.append(neighbour)
    return layers
