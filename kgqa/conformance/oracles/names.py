"""Oracles of ``names.cypher``, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kgqa.conformance.graphs import Document, Entity
from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Rows


def folded(text: str) -> str:
    """In small letters, on one line."""
    return text.replace("İ", "i").lower().replace("ς", "σ").replace("\n", " ")


def search(names: Iterable[str | None]) -> str:
    """All names, each on a line of its own between two line feeds."""
    return "\n" + "\n".join(folded(name) for name in names if name is not None) + "\n"


def entities_with_id(index: GraphIndex, ids: list[str]) -> Rows:
    """A row for each given id, repeated for a repeated id."""
    return [_entity(index, index.entities[name]) for name in index.by_row(name for name in ids if name in index.entities)]


def entities_named(index: GraphIndex, name: str, text: str) -> Rows:
    """By label or alias, if the text is a part of the names."""
    entities = [e for e in index.entities.values() if text in _search(e) and name in (e.label, *e.aliases)]
    return [_entity(index, e) for e in _most(index, entities)]


def entities_like(index: GraphIndex, text: str, also: str, limit: int) -> Rows:
    """Whole names, beginnings, and the rest."""
    entities = [e for e in _most(index, index.entities.values()) if text in _search(e) or also in _search(e)]
    return [(*_entity(index, e), _search(e)) for e in sorted(entities, key=lambda e: _rank(text, _search(e)))][:limit]


def documents_with_id(index: GraphIndex, ids: list[str]) -> Rows:
    """A row for each given id, repeated for a repeated id."""
    return [(name, index.documents[name].title) for name in index.documents_by_row(name for name in ids if name in index.documents)]


def documents_named(index: GraphIndex, name: str, text: str) -> Rows:
    """By title, if the text is a part of it."""
    documents = [d for d in index.documents.values() if d.title == name and text in search([d.title])]
    return [(d.id, d.title) for d in sorted(documents, key=_row)]


def documents_like(index: GraphIndex, text: str, also: str, limit: int) -> Rows:
    """Whole titles, beginnings, and the rest."""
    documents = [(d, search([d.title])) for d in sorted(index.documents.values(), key=_row)]
    documents = [(d, s) for d, s in documents if text in s or also in s]
    return [(d.id, d.title, s) for d, s in sorted(documents, key=lambda pair: _rank(text, pair[1]))][:limit]


def relations_with_id(index: GraphIndex, ids: list[str]) -> Rows:
    """A row for each label of a given id, repeated for a repeated id."""
    return [row[:3] for row in _relations(index) for name in ids if row[0] == name]


def relations_named(index: GraphIndex, name: str, text: str) -> Rows:
    """By label, if the text is a part of it."""
    return [row[:3] for row in _by_facts(index) if row[1] == name and text in row[3]]


def relations_like(index: GraphIndex, text: str, also: str, limit: int) -> Rows:
    """Whole labels, beginnings, and the rest."""
    rows = [row for row in _by_facts(index) if text in row[3] or also in row[3]]
    return [*sorted(rows, key=lambda row: _rank(text, row[3]))][:limit]


def _relations(index: GraphIndex) -> list[tuple[str, str | None, int, str]]:
    """Id, label, facts and what is looked up of each pair of relation and label, in the order of their first facts."""
    facts = Counter((f.relation, f.label) for f in index.facts_by_row())
    return [(relation, label, count, search([label])) for (relation, label), count in facts.items()]


def _by_facts(index: GraphIndex) -> list[tuple[str, str | None, int, str]]:
    return sorted(_relations(index), key=lambda row: -row[2])


def _rank(text: str, names: str) -> int:
    return 0 if f"\n{text}\n" in names else 1 if f"\n{text}" in names else 2


def _search(entity: Entity) -> str:
    return search([entity.label, *entity.aliases])


def _most(index: GraphIndex, entities: Iterable[Entity]) -> list[Entity]:
    return sorted(entities, key=lambda e: (-len(index.naming(e.id)), e.row))


def _entity(index: GraphIndex, e: Entity) -> tuple[object, ...]:
    return e.id, e.label, e.kind, e.description, len(index.naming(e.id))


def _row(document: Document) -> int:
    return document.row


ORACLES: dict[str, Oracle] = {
    oracle.__name__: oracle
    for oracle in (
        entities_with_id,
        entities_named,
        entities_like,
        documents_with_id,
        documents_named,
        documents_like,
        relations_with_id,
        relations_named,
        relations_like,
    )
}
"""By the name of the query."""
