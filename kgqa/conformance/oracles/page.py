"""What the queries of ``page.cypher``, which serve the pages of ``kgqa explore``, must answer, in plain Python."""

from __future__ import annotations

from collections import Counter

from kgqa.conformance.graphs import Fact
from kgqa.conformance.oracles.known import Known, Oracle, Rows


def entities(known: Known, ids: list[str]) -> Rows:
    """Those of a list, as often as they are in it."""
    found = [known.entities[name] for name in known.by_row(name for name in ids if name in known.entities)]
    return [(e.id, e.kind, e.label, e.description) for e in found]


def documents(known: Known, ids: list[str]) -> Rows:
    """Those of a list, as often as they are in it."""
    found = [known.documents[name] for name in known.documents_by_row(name for name in ids if name in known.documents)]
    return [(d.id, d.title, d.usable) for d in found]


def text(known: Known, document: str) -> Rows:
    """The text, of which there may be none."""
    return [(known.documents[document].text,)] if document in known.documents else []


def facts_from(known: Known, entity: str, relation: str, limit: int) -> Rows:
    """Facts by how many documents mention their tail."""
    return _ends(known, [(f.tail, f) for f in known.facts_from[entity]], relation)[:limit]


def facts_to(known: Known, entity: str, relation: str, limit: int) -> Rows:
    """Facts by how many documents mention their head."""
    return _ends(known, [(f.head, f) for f in known.facts_to[entity]], relation)[:limit]


def facts_among(known: Known, ids: list[str], limit: int) -> Rows:
    """Facts of which both ends are in a list, as often as the head is."""
    found = sorted((fact for name in ids for fact in known.facts_from[name] if fact.tail in ids), key=lambda fact: fact.row)
    return [(fact.head, fact.tail, fact.relation, fact.label) for fact in found][:limit]


def mentions_among(known: Known, documents: list[str], entities: list[str], limit: int) -> Rows:
    """Documents of a list and the entities of another that they mention, each pair once."""
    pairs = {(name, entity) for name in documents if name in known.documents for entity in known.named(name) if entity in entities}
    return sorted(pairs, key=lambda pair: (known.documents[pair[0]].row, known.entities[pair[1]].row))[:limit]


def relations_from(known: Known, entity: str) -> Rows:
    """Facts of an entity by relation and its label."""
    return _relations(known.facts_from[entity])


def relations_to(known: Known, entity: str) -> Rows:
    """Facts about an entity by relation and its label."""
    return _relations(known.facts_to[entity])


def mentioned_in(known: Known, entity: str, limit: int) -> Rows:
    """Documents by how often they mention an entity."""
    found = sorted(known.mentions_of[entity], key=lambda m: (-m.count, known.documents[m.document].row))
    return [(m.document, known.documents[m.document].title, m.count) for m in found][:limit]


def mentioned_in_count(known: Known, entity: str) -> Rows:
    """Number of documents that mention an entity."""
    return [(len(known.naming(entity)),)]


def articles(known: Known, entity: str) -> Rows:
    """What is about an entity, usable or not."""
    return [(name, known.documents[name].title) for name in known.documents_by_row(known.articles[entity])]


def subjects(known: Known, document: str) -> Rows:
    """What a document is about."""
    found = known.by_row(name for name in known.entities if document in known.articles[name])
    return [(name, known.entities[name].kind, known.entities[name].label) for name in found]


def articles_among(known: Known, documents: list[str], entities: list[str]) -> Rows:
    """Documents and the entities among these that they are about, once for each time that the entity is given."""
    found = [(name, id_) for id_ in entities if id_ in known.entities for name in known.articles[id_] if name in documents]
    return sorted(found, key=lambda pair: (known.documents[pair[0]].row, known.entities[pair[1]].row))


def mentions(known: Known, document: str, limit: int) -> Rows:
    """Entities by how often a document mentions them."""
    found = sorted(known.mentions_in[document], key=lambda m: (-m.count, known.entities[m.entity].row))
    return [(m.entity, known.entities[m.entity].kind, known.entities[m.entity].label, m.count) for m in found][:limit]


def mentions_count(known: Known, document: str) -> Rows:
    """Number of entities that a document mentions."""
    return [(len(known.named(document)),)]


def shared_documents(known: Known, entity: str, other: str, limit: int) -> Rows:
    """Documents by the mentions of the one that they mention less, then by those of both together."""
    rows = []
    for name in known.naming(entity) & known.naming(other) if entity != other else ():
        counts = [m.count for m in known.mentions_in[name] if m.entity in (entity, other)]
        rows.append((-min(counts), -sum(counts), known.documents[name].row, (name, known.documents[name].title, sum(counts))))
    return [row for *_, row in sorted(rows)][:limit]


def graph_size(known: Known) -> Rows:
    """Numbers of entities and documents, in one row."""
    return [(len(known.entities), len(known.documents))]


def _ends(known: Known, facts: list[tuple[str, Fact]], relation: str) -> Rows:
    """The other ends of facts, often mentioned ones first; an empty relation is any."""
    rows = []
    for end, fact in facts:
        e, documents = known.entities[end], len(known.naming(end))
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
