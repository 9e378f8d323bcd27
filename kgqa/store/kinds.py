"""The tables of :mod:`kgqa.store.graph` and :mod:`kgqa.store.samples` as a graph: tables of nodes, and tables of relationships.

The first two columns of a table of relationships name its ends. All other columns are properties. Relations and filters are not here: they
only count rows of other tables and have no relationships.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKind:
    """The nodes of one table."""

    label: str
    key: str
    """The column that relationships use to refer to these nodes."""
    mark: str
    """Prefix of the key, where nodes of all kinds need distinct names: an entity and a document may share an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipKind:
    """The relationships of one table."""

    type: str
    source: str
    """The table of nodes where the relationships start."""
    target: str


NODES = {
    "entity": NodeKind(label="Entity", key="id", mark="e:"),
    "document": NodeKind(label="Document", key="id", mark="d:"),
    "sample": NodeKind(label="Sample", key="key", mark="s:"),
    "chain": NodeKind(label="Chain", key="key", mark="c:"),
    "subquestion": NodeKind(label="SubQuestion", key="key", mark="u:"),
    "blocked": NodeKind(label="Rejected", key="key", mark="q:"),
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
    "has_subquestion": RelationshipKind(type="HAS_SUBQUESTION", source="sample", target="subquestion"),
    "supported_by": RelationshipKind(type="SUPPORTED_BY", source="subquestion", target="document"),
    "subquestion_answer": RelationshipKind(type="ANSWER", source="subquestion", target="entity"),
    "depends_on": RelationshipKind(type="DEPENDS_ON", source="subquestion", target="subquestion"),
    "blocked_about": RelationshipKind(type="ASKS_ABOUT", source="blocked", target="entity"),
    "blocked_answer": RelationshipKind(type="ANSWER", source="blocked", target="entity"),
}
LOOKED_UP = "search"
"""A column that repeats the names in their look-up form."""
