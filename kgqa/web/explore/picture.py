"""A picture: nodes, edges, and the number of hidden neighbours. The page gets it as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from kgqa.errors import UnknownId

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An entity or a document."""

    key: str
    """``e:`` or ``d:`` and the id: an entity and a document may share an id. Nodes of other labels begin with another letter."""
    label: str
    note: str = ""
    """The entity's kind or description, in a few words."""
    layer: int | None = None
    """Layer in a picture of layers; None in a tree."""
    role: str = ""
    """``start``, ``answer``, ``candidate``, ``bridge``, ``chain`` or empty."""
    step: int | None = None
    """Position of a document in the chain, from 1."""
    link: str = ""
    """The address of its page, if the key does not imply it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line between two nodes, in the direction that it has in the graph."""

    source: str
    target: str
    kind: str
    """``fact``, ``mention``, ``article`` or ``row``."""
    label: str = ""
    chain: bool = False
    """Whether it is part of the chain to the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One side of a node's neighbourhood, and how much of it is shown."""

    node: str
    name: str
    """``facts_in``, ``facts_out``, ``documents`` or ``entities``."""
    noun: str
    """The kind of hidden neighbours: facts, documents, entities."""
    shown: int
    total: int
    keys: tuple[str, ...]
    """The nodes that are shown, in order."""


@dataclass(slots=True, kw_only=True)
class Picture:
    """Nodes and edges of a picture while it is composed."""

    root: str = ""
    layout: str = "tree"
    """``tree``: sources left of the root and targets right of it; ``flow``: in layers."""
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], Edge] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    hidden: str = ""
    """One sentence about everything that is hidden."""

    def add(self, node: Node) -> str:
        """Add a node unless it exists. Returns its key."""
        self.nodes.setdefault(node.key, node)
        return node.key

    def connect(self, edge: Edge) -> None:
        """Add an edge. A second edge of the same kind between the same nodes adds its label to the first."""
        place = (edge.source, edge.target, edge.kind)
        previous = self.edges.get(place)
        if previous is not None:
            labels = list(dict.fromkeys([*previous.label.split(" · "), edge.label]))
            edge = replace(edge, label=" · ".join(label for label in labels if label), chain=previous.chain or edge.chain)
        self.edges[place] = edge

    def data(self) -> dict[str, Any]:
        """The picture as JSON data."""
        return {
            "root": self.root,
            "layout": self.layout,
            "nodes": [asdict(node) for node in self.nodes.values()],
            "edges": [asdict(edge) for edge in self.edges.values()],
            "groups": [asdict(group) for group in self.groups],
            "hidden": self.hidden,
        }


def entity_key(entity: str) -> str:
    """The key of an entity's node."""
    return f"e:{entity}"


def document_key(document: str) -> str:
    """The key of a document's node."""
    return f"d:{document}"


def split_key(key: str) -> tuple[str, str]:
    """``e:Q84`` → ``("entity", "Q84")``; raises UnknownId."""
    kinds = {"e": "entity", "d": "document"}
    letter, colon, name = key.partition(":")
    if not colon or letter not in kinds:
        raise UnknownId(f"{key!r} is not a node; a node is e:ENTITY or d:DOCUMENT.")
    return kinds[letter], name


def entity_node(row: dict[str, Any], **fields: Any) -> Node:
    """The node of an entity from a row with ``entity``, ``kind`` and ``label``."""
    return Node(key=entity_key(row["entity"]), label=row["label"] or row["entity"], note=row["kind"] or "", **fields)


def document_node(row: dict[str, Any], **fields: Any) -> Node:
    """The node of a document from a row with ``document`` and ``title``."""
    return Node(key=document_key(row["document"]), label=row["title"] or row["document"], note="document", **fields)


def in_turn(rows: Iterable[Row], kind: Callable[[Row], str]) -> list[Row]:
    """``rows`` reordered so that their kinds alternate and the first few show as many kinds as possible."""
    counts: Counter[str] = Counter()
    placed: list[tuple[int, Row]] = []
    for row in rows:
        placed.append((counts[kind(row)], row))
        counts[kind(row)] += 1
    return [row for _, row in sorted(placed, key=lambda entry: entry[0])]
