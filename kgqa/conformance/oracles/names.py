"""What the queries of ``names.cypher`` must answer, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kgqa.conformance.graphs import Document, Entity
from kgqa.conformance.oracles.known import Known, Oracle, Rows


def folded(text: str) -> str:
    """In small letters, on one line."""
    return text.replace("İ", "i").lower().replace("ς", "σ").replace("\n", " ")


def search(names: Iterable[str | None]) -> str:
    """All names, each on a line of its own between two line feeds."""
    return "\n" + "\n".join(folded(name) for name in names if name is not None) + "\n"


def entities_with_id(known: Known, ids: list[str]) -> Rows:
    """Once for each time that it is asked for."""
    return [_entity(known, known.entities[name]) for name in known.by_row(name for name in ids if name in known.entities)]


def entities_named(known: Known, name: str, text: str) -> Rows:
    """By label or alias, if the text is a part of the names."""
    found = [e for e in known.entities.values() if text in _search(e) and name in (e.label, *e.aliases)]
    return [_entity(known, e) for e in _most(known, found)]


def entities_like(known: Known, text: str, also: str, limit: int) -> Rows:
    """Whole names, beginnings, and the rest."""
    found = [e for e in _most(known, known.entities.values()) if text in _search(e) or also in _search(e)]
    return [(*_entity(known, e), _search(e)) for e in sorted(found, key=lambda e: _rank(text, _search(e)))][:limit]


def documents_with_id(known: Known, ids: list[str]) -> Rows:
    """Once for each time that it is asked for."""
    return [(name, known.documents[name].title) for name in known.documents_by_row(name for name in ids if name in known.documents)]


def documents_named(known: Known, name: str, text: str) -> Rows:
    """By title, if the text is a part of it."""
    found = [d for d in known.documents.values() if d.title == name and text in search([d.title])]
    return [(d.id, d.title) for d in sorted(found, key=_row)]


def documents_like(known: Known, text: str, also: str, limit: int) -> Rows:
    """Whole titles, beginnings, and the rest."""
    found = [(d, search([d.title])) for d in sorted(known.documents.values(), key=_row)]
    found = [(d, s) for d, s in found if text in s or also in s]
    return [(d.id, d.title, s) for d, s in sorted(found, key=lambda pair: _rank(text, pair[1]))][:limit]


def relations_with_id(known: Known, ids: list[str]) -> Rows:
    """Once for each label and each time that it is asked for."""
    return [row[:3] for row in _relations(known) for name in ids if row[0] == name]


def relations_named(known: Known, name: str, text: str) -> Rows:
    """By label, if the text is a part of it."""
    return [row[:3] for row in _by_facts(known) if row[1] == name and text in row[3]]


def relations_like(known: Known, text: str, also: str, limit: int) -> Rows:
    """Whole labels, beginnings, and the rest."""
    found = [row for row in _by_facts(known) if text in row[3] or also in row[3]]
    return [*sorted(found, key=lambda row: _rank(text, row[3]))][:limit]


def _relations(known: Known) -> list[tuple[str, str | None, int, str]]:
    """Id, label, facts and what is looked up of each pair of relation and label, in the order of their first facts."""
    facts = Counter((f.relation, f.label) for f in known.facts_by_row())
    return [(relation, label, count, search([label])) for (relation, label), count in facts.items()]


def _by_facts(known: Known) -> list[tuple[str, str | None, int, str]]:
    return sorted(_relations(known), key=lambda row: -row[2])


def _rank(text: str, names: str) -> int:
    return 0 if f"\n{text}\n" in names else 1 if f"\n{text}" in names else 2


def _search(entity: Entity) -> str:
    return search([entity.label, *entity.aliases])


def _most(known: Known, entities: Iterable[Entity]) -> list[Entity]:
    return sorted(entities, key=lambda e: (-len(known.naming(e.id)), e.row))


def _entity(known: Known, e: Entity) -> tuple[object, ...]:
    return e.id, e.label, e.kind, e.description, len(known.naming(e.id))


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
