"""What the queries of ``graph.cypher`` must answer, in plain Python; what is asked for twice comes twice."""

from __future__ import annotations

from kgqa.conformance.oracles.known import Known, Oracle, Rows


def graph_entities(known: Known, entities: list[str]) -> Rows:
    """With all that is said of them."""
    found = [known.entities[name] for name in known.by_row(name for name in entities if name in known.entities)]
    return [
        (e.id, e.row, e.kind, e.label, e.description, list(e.aliases) or None, e.common, len(known.naming(e.id)), _facts(known, e.id))
        for e in found
    ]


def graph_documents(known: Known, documents: list[str]) -> Rows:
    """With all that is said of them."""
    found = [known.documents[name] for name in known.documents_by_row(name for name in documents if name in known.documents)]
    return [(d.id, d.row, d.title, d.text, d.usable) for d in found]


def graph_facts(known: Known, entities: list[str]) -> Rows:
    """Facts with both ends in a list."""
    found = [fact for name in entities for fact in known.facts_from[name] if fact.tail in entities]
    return [(f.head, f.tail, f.row, f.relation, f.label) for f in sorted(found, key=lambda fact: fact.row)]


def graph_mentions(known: Known, documents: list[str], entities: list[str]) -> Rows:
    """Mentions from one list to another."""
    found = [m for name in documents for m in known.mentions_in[name] if m.entity in entities]
    found.sort(key=lambda m: (known.documents[m.document].row, known.row(m.entity)))
    return [(m.document, m.entity, m.count) for m in found]


def graph_about(known: Known, documents: list[str], entities: list[str]) -> Rows:
    """Articles from one list about another."""
    wanted = known.documents_by_row(name for name in documents if name in known.documents)
    about = known.by_row(name for name in set(entities) if name in known.entities)
    return [(entity, name) for name in wanted for entity in about if name in known.articles[entity]]


def _facts(known: Known, entity: str) -> int:
    """How many it stands in; one about itself counts twice."""
    return len(known.facts_from[entity]) + len(known.facts_to[entity])


ORACLES: dict[str, Oracle] = {
    oracle.__name__: oracle for oracle in (graph_entities, graph_documents, graph_facts, graph_mentions, graph_about)
}
"""By the name of the query."""
