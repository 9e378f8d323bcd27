"""Oracles of ``graph.cypher``, in plain Python; an id given twice is returned twice."""

from __future__ import annotations

from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Rows


def graph_entities(index: GraphIndex, entities: list[str]) -> Rows:
    """Entities with all their properties."""
    rows = [index.entities[name] for name in index.by_row(name for name in entities if name in index.entities)]
    return [
        (e.id, e.row, e.kind, e.label, e.description, list(e.aliases) or None, e.common, len(index.naming(e.id)), _facts(index, e.id))
        for e in rows
    ]


def graph_documents(index: GraphIndex, documents: list[str]) -> Rows:
    """Documents with all their properties."""
    rows = [index.documents[name] for name in index.documents_by_row(name for name in documents if name in index.documents)]
    return [(d.id, d.row, d.title, d.text, d.usable) for d in rows]


def graph_facts(index: GraphIndex, entities: list[str]) -> Rows:
    """Facts with both ends in a list."""
    facts = [fact for name in entities for fact in index.facts_from[name] if fact.tail in entities]
    return [(f.head, f.tail, f.row, f.relation, f.label) for f in sorted(facts, key=lambda fact: fact.row)]


def graph_mentions(index: GraphIndex, documents: list[str], entities: list[str]) -> Rows:
    """Mentions from one list to another."""
    mentions = [m for name in documents for m in index.mentions_in[name] if m.entity in entities]
    mentions.sort(key=lambda m: (index.documents[m.document].row, index.row(m.entity)))
    return [(m.document, m.entity, m.count, m.start, m.stop) for m in mentions]


def graph_about(index: GraphIndex, documents: list[str], entities: list[str]) -> Rows:
    """Articles from one list about another."""
    names = index.documents_by_row(name for name in documents if name in index.documents)
    about = index.by_row(name for name in set(entities) if name in index.entities)
    return [(entity, name) for name in names for entity in about if name in index.articles[entity]]


def _facts(index: GraphIndex, entity: str) -> int:
    """The number of an entity's facts; a fact with itself counts twice."""
    return len(index.facts_from[entity]) + len(index.facts_to[entity])


ORACLES: dict[str, Oracle] = {
    oracle.__name__: oracle for oracle in (graph_entities, graph_documents, graph_facts, graph_mentions, graph_about)
}
"""By the name of the query."""
