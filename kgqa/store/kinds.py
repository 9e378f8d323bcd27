"""What the tables of :mod:`kgqa.store.graph` and :mod:`kgqa.store.samples` are as a graph: which hold nodes, and what the others connect.

The first two columns of a table of relationships name its ends; whatever else a table holds is a property. Relations and filters are not
here: they only count what others hold, and nothing connects them with the graph.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKind:
    """The nodes of one table."""

    label: str
    key: str
    """The column by which relationships name them."""
    mark: str
    """Before the key, where nodes of all kinds need names that differ: an entity and a document may share an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipKind:
    """The relationships of one table."""

    type: str
    source: str
    """Name of the table of nodes at the beginning."""
    target: str


NODES = {
    "entity": NodeKind(label="Entity", key="id", mark="e:"),
    "document": NodeKind(label="Document", key="id", mark="d:"),
    "sample": NodeKind(label="Sample", key="key", mark="s:"),
    "chain": NodeKind(label="Chain", key="key", mark="c:"),
    "blocked": NodeKind(label="Question", key="key", mark="q:"),
}
RELATIONSHIPS = {
    "fact": RelationshipKind(type="FACT", source="entity", target="entity"),
    "mentions": RelationshipKind(type="MENTIONS", source="document", target="entity"),
    "about": RelationshipKind(type="ABOUT", source="entity", target="document"),
    "sample_about": RelationshipKind(type="ASKS_ABOUT", source="sample", target="entity"),
    "sample_answer": RelationshipKind(type="ANSWER", source="sample", target="entity"),
    "candidate": RelationshipKind(type="CANDIDATE", source="sample", target="entity"),
    "support": RelationshipKind(type="SUPPORT", source="sample", target="document"),
    "has_chain": RelationshipKind(type="HAS_CHAIN", source="sample", target="chain"),
    "step_entity": RelationshipKind(type="STEP", source="chain", target="entity"),
    "step_document": RelationshipKind(type="STEP", source="chain", target="document"),
    "blocked_about": RelationshipKind(type="ASKS_ABOUT", source="blocked", target="entity"),
    "blocked_answer": RelationshipKind(type="ANSWER", source="blocked", target="entity"),
}
LOOKED_UP = "search"
"""A column that says nothing but what the others do, in the form in which names are looked up."""
