"""Oracles of ``page.cypher``, which serves the pages of ``kgqa explore``, in plain Python."""

from __future__ import annotations

from collections import Counter

from kgqa.conformance.graphs import Fact
from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Rows


def entities(index: GraphIndex, ids: list[str]) -> Rows:
    """Those of a list, as often as they are in it."""
    rows = [index.entities[name] for name in index.by_row(name for name in ids if name in index.entities)]
    return [(e.id, e.kind, e.label, e.description) for e in rows]


def documents(index: GraphIndex, ids: list[str]) -> Rows:
    """Those of a list, as often as they are in it."""
    rows = [index.documents[name] for name in index.documents_by_row(name for name in ids if name in index.documents)]
    return [(d.id, d.title, d.usable) for d in rows]


def text(index: GraphIndex, document: str) -> Rows:
    """The text of a document, which may be null."""
    return [(index.documents[document].text,)] if document in index.documents else []


def facts_from(index: GraphIndex, entity: str, relation: str, limit: int) -> Rows:
    """Facts by how many documents mention their tail."""
    return _ends(index, [(f.tail, f) for f in index.facts_from[entity]], relation)[:limit]


def facts_to(index: GraphIndex, entity: str, relation: str, limit: int) -> Rows:
    """Facts by how many documents mention their head."""
    return _ends(index, [(f.head, f) for f in index.facts_to[entity]], relation)[:limit]


def facts_among(index: GraphIndex, ids: list[str], limit: int) -> Rows:
    """Facts with both ends in a list, as often as the head is in it."""
    facts = sorted((fact for name in ids for fact in index.facts_from[name] if fact.tail in ids), key=lambda fact: fact.row)
    return [(fact.head, fact.tail, fact.relation, fact.label) for fact in facts][:limit]


def mentions_among(index: GraphIndex, documents: list[str], entities: list[str], limit: int) -> Rows:
    """Documents of a list and the entities of another that they mention, each pair once."""
    pairs = {(name, entity) for name in documents if name in index.documents for entity in index.named(name) if entity in entities}
    return sorted(pairs, key=lambda pair: (index.documents[pair[0]].row, index.entities[pair[1]].row))[:limit]


def relations_from(index: GraphIndex, entity: str) -> Rows:
    """Facts of an entity by relation and its label."""
    return _relations(index.facts_from[entity])


def relations_to(index: GraphIndex, entity: str) -> Rows:
    """Facts about an entity by relation and its label."""
    return _relations(index.facts_to[entity])


def mentioned_in(index: GraphIndex, entity: str, limit: int) -> Rows:
    """Documents ordered by their number of mentions of an entity."""
    mention_rows = sorted(index.mentions_of[entity], key=lambda m: (-m.count, index.documents[m.document].row))
    return [(m.document, index.documents[m.document].title, m.count) for m in mention_rows][:limit]


def mentioned_in_count(index: GraphIndex, entity: str) -> Rows:
    """Number of documents that mention an entity."""
    return [(len(index.naming(entity)),)]


def articles(index: GraphIndex, entity: str) -> Rows:
    """Documents about an entity, usable or not."""
    return [(name, index.documents[name].title) for name in index.documents_by_row(index.articles[entity])]


def subjects(index: GraphIndex, document: str) -> Rows:
    """Entities that a document is about."""
    names = index.by_row(name for name in index.entities if document in index.articles[name])
    return [(name, index.entities[name].kind, index.entities[name].label) for name in names]


def articles_among(index: GraphIndex, documents: list[str], entities: list[str]) -> Rows:
    """Documents and the entities among these that they are about, once for each time that the entity is given."""
    pairs = [(name, id_) for id_ in entities if id_ in index.entities for name in index.articles[id_] if name in documents]
    return sorted(pairs, key=lambda pair: (index.documents[pair[0]].row, index.entities[pair[1]].row))


def mentions(index: GraphIndex, document: str, limit: int) -> Rows:
    """Entities ordered by their number of mentions in a document."""
    mention_rows = sorted(index.mentions_in[document], key=lambda m: (-m.count, index.entities[m.entity].row))
    return [(m.entity, index.entities[m.entity].kind, index.entities[m.entity].label, m.count) for m in mention_rows][:limit]


def mentions_count(index: GraphIndex, document: str) -> Rows:
    """Number of entities that a document mentions."""
    return [(len(index.named(document)),)]


def shared_documents(index: GraphIndex, entity: str, other: str, limit: int) -> Rows:
    """Documents by the mentions of the one that they mention less, then by those of both together."""
    rows = []
    for name in index.naming(entity) & index.naming(other) if entity != other else ():
        counts = [m.count for m in index.mentions_in[name] if m.entity in (entity, other)]
        rows.append((-min(counts), -sum(counts), index.documents[name].row, (name, index.documents[name].title, sum(counts))))
    return [row for *_, row in sorted(rows)][:limit]


def graph_size(index: GraphIndex) -> Rows:
    """Numbers of entities and documents, in one row."""
    return [(len(index.entities), len(index.documents))]


def _ends(index: GraphIndex, facts: list[tuple[str, Fact]], relation: str) -> Rows:
    """The other ends of facts, often mentioned ones first; an empty relation is any."""
    rows = []
    for end, fact in facts:
        e, documents = index.entities[end], len(index.naming(end))
        if relation in ("", fact.relation):
            rows.append((-documents, fact.row, (e.id, e.kind, e.label, fact.relation, fact.label, documents)))
    return [row for *_, row in sorted(rows)]


def _relations(facts: list[Fact]) -> Rows:
    """Relation, label and count, large counts first; a tie goes to what has the first fact."""
    counts = Counter((fact.relation, fact.label) for fact in sorted(facts, key=lambda fact: fact.row))
    return [(*key, n) for key, n in counts.most_common()]


ORACLES: dict[str, Oracle] = {
    f"page_{oracle.__name__}": oracle
    for oracle in (
        entities, documents, text, facts_from, facts_to, relations_from, relations_to, mentioned_in, mentioned_in_count, articles,
        articles_among, facts_among, mentions_among, subjects, mentions, mentions_count, shared_documents, graph_size,
    )
}  # fmt: skip
"""By the name of the query."""
