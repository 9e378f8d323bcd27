"""What the queries of ``page.cypher``, which serve the pages of ``kgqa explore``, must answer, in plain Python."""

from __future__ import annotations

from collections import Counter

from kgqa.conformance.graphs import Fact
from kgqa.conformance.oracles.known import Known, Oracle, Rows


def find_entity(known: Known, text: str, limit: int) -> Rows:
    """The very id, the very label, labels that begin so, labels that contain it; of each often mentioned ones first."""
    rows = []
    for e in known.entities.values():
        rank, documents = _rank(text, e.id, e.label), len(known.mentions_of[e.id])
        if rank is not None:
            rows.append((rank, -documents, e.row, (e.id, e.kind, e.label, e.description, documents)))
    return [row for *_, row in sorted(rows)][:limit]


def find_document(known: Known, text: str, limit: int) -> Rows:
    """The very id, the very title, titles that begin so, titles that contain it."""
    rows = []
    for d in known.documents.values():
        rank = _rank(text, d.id, d.title)
        if rank is not None:
            rows.append((rank, d.row, (d.id, d.title)))
    return [row for *_, row in sorted(rows)][:limit]


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
    """How many documents."""
    return [(len(known.naming(entity)),)]


def articles(known: Known, entity: str) -> Rows:
    """What is about an entity, usable or not."""
    return [(name, known.documents[name].title) for name in known.documents_by_row(known.articles[entity])]


def subjects(known: Known, document: str) -> Rows:
    """What a document is about."""
    found = known.by_row(name for name in known.entities if document in known.articles[name])
    return [(name, known.entities[name].kind, known.entities[name].label) for name in found]


def mentions(known: Known, document: str, limit: int) -> Rows:
    """Entities by how often a document mentions them."""
    found = sorted(known.mentions_in[document], key=lambda m: (-m.count, known.entities[m.entity].row))
    return [(m.entity, known.entities[m.entity].kind, known.entities[m.entity].label, m.count) for m in found][:limit]


def mentions_count(known: Known, document: str) -> Rows:
    """How many entities."""
    return [(len(known.named(document)),)]


def companions(known: Known, entity: str, limit: int) -> Rows:
    """Entities by the documents that mention both."""
    counts = Counter(other for document in known.naming(entity) for other in known.named(document) - {entity})
    return _most(known, counts)[:limit]


def mention_counts(known: Known, ids: list[str]) -> Rows:
    """Those of a list, as often as they are in it, by documents."""
    counts = {name: len(known.naming(name)) for name in ids if name in known.entities}
    return [row for row in _most(known, counts) for _ in range(ids.count(row[0]))]


def shared_documents(known: Known, entity: str, other: str, limit: int) -> Rows:
    """Documents by the mentions of the one that they mention less, then by those of both together."""
    rows = []
    for name in known.naming(entity) & known.naming(other) if entity != other else ():
        counts = [m.count for m in known.mentions_in[name] if m.entity in (entity, other)]
        rows.append((-min(counts), -sum(counts), known.documents[name].row, (name, known.documents[name].title, sum(counts))))
    return [row for *_, row in sorted(rows)][:limit]


def graph_size(known: Known) -> Rows:
    """Always one row."""
    return [(len(known.entities), len(known.documents))]


def hubs(known: Known, limit: int) -> Rows:
    """Entities that any document mentions, by documents."""
    found = _most(known, Counter(mention.entity for mention in known.graph.mentions))[:limit]
    return [(name, known.entities[name].kind, known.entities[name].label, n) for name, n in found]


def _rank(wanted: str, name: str, text: str | None) -> int | None:
    """0 to 3, the better the smaller; None for what is not found."""
    folded, sought = _folded(text or ""), _folded(wanted)
    if name == wanted:
        return 0
    if text is None or sought not in folded:
        return None
    return 1 if folded == sought else 2 if folded.startswith(sought) else 3


def _folded(text: str) -> str:
    return text.replace("İ", "i").lower().replace("ς", "σ")


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


def _most(known: Known, counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], known.row(pair[0])))


ORACLES: dict[str, Oracle] = {
    f"page_{oracle.__name__}": oracle
    for oracle in (
        find_entity, find_document, entities, documents, text, facts_from, facts_to, relations_from, relations_to, mentioned_in,
        mentioned_in_count, articles, subjects, mentions, mentions_count, companions, mention_counts, shared_documents, graph_size, hubs,
    )
}  # fmt: skip
"""By the name of the query."""
