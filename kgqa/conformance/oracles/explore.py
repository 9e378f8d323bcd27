"""Oracles of ``explore.cypher``, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product

from kgqa.conformance.oracles.graph_index import Chain, GraphIndex, Oracle, Row, Rows
from kgqa.conformance.oracles.names import folded, search


def _best(index: GraphIndex, counts: Iterable[tuple[str, int]], limit: int) -> list[tuple[str, int]]:
    """The entities with the largest counts; ties by row."""
    return sorted(counts, key=lambda pair: (-pair[1], index.entities[pair[0]].row))[:limit]


def _best_documents(index: GraphIndex, counts: Iterable[tuple[str, int]], limit: int) -> list[tuple[str, int]]:
    return sorted(counts, key=lambda pair: (-pair[1], index.documents[pair[0]].row))[:limit]


def find_entity(index: GraphIndex, text: str, limit: int) -> Rows:
    """Names that contain the text in any case, most mentioned entities first."""
    counts = [(e.id, len(index.mentions_of[e.id])) for e in index.entities.values() if folded(text) in search([e.label, *e.aliases])]
    return [_named_row(index, name, n) for name, n in _best(index, counts, limit)]


def bearers(index: GraphIndex, name: str, limit: int) -> Rows:
    """Entities of this name, most mentioned first."""
    counts = [(e.id, len(index.mentions_of[e.id])) for e in index.entities.values() if name in (e.label, *e.aliases)]
    return [_named_row(index, bearer, n) for bearer, n in _best(index, counts, limit)]


def _named_row(index: GraphIndex, name: str, documents: int) -> Row:
    e = index.entities[name]
    return e.id, e.kind, e.label, e.description, documents


def ambiguous_names(index: GraphIndex, limit: int) -> Rows:
    """Labels of several entities."""
    by_label: dict[str, list[str]] = {}
    for entity in index.entities.values():
        if entity.label:
            by_label.setdefault(entity.label, []).append(entity.id)
    rows = [(label, len(names), index.by_row(names)[0]) for label, names in by_label.items() if len(names) > 1]
    return [*sorted(rows, key=lambda row: (-row[1], index.entities[row[2]].row))][:limit]


def facts_about(index: GraphIndex, entity: str, limit: int) -> Rows:
    """Facts from or to an entity."""
    facts = sorted((f for f in index.graph.fact if entity in (f.head, f.tail)), key=lambda f: f.row)
    return [(f.head, index.entities[f.head].label, f.relation, f.label, f.tail, index.entities[f.tail].label) for f in facts][:limit]


def neighbours(index: GraphIndex, entity: str, limit: int) -> Rows:
    """Entities in the same documents."""
    counts = Counter(other for document in index.naming(entity) for other in index.named(document) if other != entity)
    rows: list[Row] = []
    for name, documents in _best(index, counts.items(), limit):
        to = sum(f.tail == name for f in index.facts_from[entity])
        back = sum(f.head == name for f in index.facts_to[entity])
        rows.append((name, index.entities[name].label, documents, to, back))
    return rows


def neighbouring_documents(index: GraphIndex, document: str, limit: int) -> Rows:
    """Documents with the same entities."""
    counts = Counter(other for entity in index.named(document) for other in index.naming(entity) if other != document)
    return [(name, index.documents[name].title, n) for name, n in _best_documents(index, counts.items(), limit)]


def bridge_entities(index: GraphIndex, entity: str, limit: int) -> Rows:
    """Entities that an entity's article shares with other documents."""
    rows: list[Row] = []
    for bridge in {name for article in index.articles[entity] for name in index.named(article) - {entity}}:
        documents, together, facts = (
            len(index.naming(bridge)),
            len(index.naming(bridge) & index.naming(entity)),
            _between(index, bridge, entity),
        )
        if documents > 1:
            score = _beside(index, bridge, entity) * (105 - index.entities[bridge].common) / 105
            rows.append((bridge, index.entities[bridge].label, documents - 1, together, facts, score))
    return sorted(rows, key=lambda row: (-row[5], -row[2], index.row(row[0])))[:limit]  # type: ignore[operator, arg-type]


def bridges_between(index: GraphIndex, entity: str, other: str, limit: int) -> Rows:
    """Entities mentioned with each of the two, in two different documents."""
    rows: list[Row] = []
    for bridge in index.entities.keys() - {entity, other}:
        near, far = (index.naming(bridge) & index.naming(end) for end in (entity, other))
        if any(first != second for first, second in product(near, far)):
            e, documents = index.entities[bridge], len(index.naming(bridge))
            facts = (_between(index, bridge, end) for end in (entity, other))
            score = _beside(index, bridge, entity) * _beside(index, bridge, other) * (105 - e.common) / 105
            rows.append((bridge, e.kind, e.label, len(near), len(far), *facts, documents, score))
    return sorted(rows, key=lambda row: (-row[8], -row[7], index.row(row[0])))[:limit]  # type: ignore[operator, arg-type]


def _between(index: GraphIndex, entity: str, other: str) -> int:
    """Facts between two entities, in either direction."""
    return sum(f.tail == other for f in index.facts_from[entity]) + sum(f.head == other for f in index.facts_to[entity])


def _beside(index: GraphIndex, bridge: str, end: str) -> float:
    """The association of a bridge with an end: the shared part of its documents and of its facts."""
    documents, facts = len(index.naming(bridge)), len(index.facts_from[bridge]) + len(index.facts_to[bridge])
    return len(index.naming(bridge) & index.naming(end)) / (documents + 20) + _between(index, bridge, end) / (facts + 20)


def connecting_documents(index: GraphIndex, entity: str, other: str, limit: int) -> Rows:
    """Documents that mention both."""
    names = index.naming(entity) & index.naming(other) if entity != other else set()
    return [(name, index.documents[name].title) for name in index.documents_by_row(names)][:limit]


def documents_mentioning(index: GraphIndex, entity: str, limit: int) -> Rows:
    """Documents ordered by their number of mentions of an entity."""
    counts = [(m.document, m.count) for m in index.mentions_of[entity]]
    return [(name, index.documents[name].title, n) for name, n in _best_documents(index, counts, limit)]


def entities_in(index: GraphIndex, document: str, limit: int) -> Rows:
    """Entities ordered by their number of mentions in a document."""
    counts = [(m.entity, m.count) for m in index.mentions_in[document]]
    return [(name, index.entities[name].kind, index.entities[name].label, n) for name, n in _best(index, counts, limit)]


def hubs(index: GraphIndex, limit: int) -> Rows:
    """Entities by the number of documents that mention them."""
    counts = Counter(mention.entity for mention in index.graph.mentions)
    return [(name, index.entities[name].label, n) for name, n in _best(index, counts.items(), limit)]


def relation_counts(index: GraphIndex, limit: int) -> Rows:
    """Facts by relation and its label."""
    rows = []
    for key in {(f.relation, f.label) for f in index.graph.fact}:
        facts = [f for f in index.graph.fact if (f.relation, f.label) == key]
        rows.append((-len(facts), min(f.row for f in facts), (*key, len(facts), len({f.tail for f in facts}))))
    return [row for _, _, row in sorted(rows, key=lambda row: row[:2])][:limit]


def answer_frequencies(index: GraphIndex, relation: str, limit: int) -> Rows:
    """Objects of a relation."""
    counts = Counter(f.tail for f in index.graph.fact if f.relation == relation)
    total = sum(counts.values())
    return [(name, index.entities[name].label, n, n * 1.0 / total) for name, n in _best(index, counts.items(), limit)]


def why_wikihop_candidate(index: GraphIndex, subject: str, relation: str, candidate: str) -> Rows:
    """Facts, truth, chains, and the first chain."""
    if not {subject, candidate} <= index.entities.keys() or subject == candidate:
        return []
    facts = sum(f.relation == relation for f in index.facts_to[candidate])
    chains = [_ending(index.chains(index.wikihop, subject, n), candidate) for n in (1, 2, 3)]
    shortest_chains = next((chains_of_length for chains_of_length in chains if chains_of_length), [])
    first: Chain = min(shortest_chains, key=index.rows, default=())
    return [(facts, bool(index.facts(subject, candidate, relation)), *map(len, chains), list(first) or None)]


def why_medhop_candidate(index: GraphIndex, subject: str, candidate: str, relation: str) -> Rows:
    """Facts in either direction, truth, and chains."""
    if not {subject, candidate} <= index.entities.keys() or subject == candidate:
        return []
    facts = sum(f.relation == relation for f in [*index.facts_from[candidate], *index.facts_to[candidate]])
    true = index.facts(subject, candidate, relation) + index.facts(candidate, subject, relation)
    chains = (index.over_proteins(index.chains(index.medhop, subject, n)) for n in (1, 2))
    return [(facts, bool(true), *(len(_ending(chains_of_length, candidate)) for chains_of_length in chains))]


def what_blocks_wikihop(index: GraphIndex, subject: str, relation: str, answer: str) -> Rows:
    """The gates of the recipe in their order."""
    if not {subject, answer} <= index.entities.keys() or subject == answer:
        return []
    facts = len(index.facts(subject, answer, relation))
    article = next(iter(index.articles[subject]), None)
    usable = index.documents[article].usable if article else None
    mention_count = max((m.count for m in index.mentions_of[answer] if m.document == article), default=0)
    documents = next((n for n in (1, 2, 3) if _ending(index.chains(index.wikihop, subject, n), answer)), 0)
    tests = (
        (facts == 0, "there is no such fact"),
        (not usable, "no document leads on from the subject"),
        (mention_count > 0, "the subject's own article states the answer"),
        (documents == 0, "no chain of documents leads from the subject to the answer"),
        (True, "nothing in the graph"),
    )
    return [(facts, article, usable, mention_count, documents, next(reason for applies, reason in tests if applies))]


def what_blocks_medhop(index: GraphIndex, subject: str, answer: str, relation: str) -> Rows:
    """The gates of the recipe in their order."""
    if not {subject, answer} <= index.entities.keys() or subject == answer:
        return []
    facts = len(index.facts(subject, answer, relation)) + len(index.facts(answer, subject, relation))
    leading, shared_count = len(index.medhop[0][subject]), len(index.naming(subject) & index.naming(answer))
    chains = len(_ending(index.over_proteins(index.chains(index.medhop, subject, 2)), answer))
    tests = (
        (facts == 0, "there is no such fact"),
        (leading == 0, "no document leads on from the subject"),
        (shared_count > 0, "a document states subject and answer together"),
        (chains == 0, "no chain of two documents leads from the subject to the answer; medhop_chains_3 looks for three"),
        (True, "nothing in the graph"),
    )
    return [(facts, leading, shared_count, chains, next(reason for applies, reason in tests if applies))]


def blocked_questions(index: GraphIndex, limit: int) -> Rows:
    """For each relation how many facts are no question."""
    rows = []
    for key in {(f.relation, f.label) for f in index.graph.fact}:
        facts = [f for f in index.graph.fact if (f.relation, f.label) == key]
        articles = [index.wikihop[0][f.head] for f in facts]
        without_article = sum(not articles_of_head for articles_of_head in articles)
        stated_count = sum(
            any(f.tail in index.named(d) for d in articles_of_head) for f, articles_of_head in zip(facts, articles, strict=True)
        )
        rows.append(
            (
                -len(facts),
                min(f.row for f in facts),
                (*key, len(facts), without_article, stated_count, len(facts) - without_article - stated_count),
            )
        )
    return [row for _, _, row in sorted(rows, key=lambda row: row[:2])][:limit]


def _ending(chains: list[Chain], entity: str) -> list[Chain]:
    return [chain for chain in chains if chain[-1] == entity]


ORACLES: dict[str, Oracle] = {
    oracle.__name__: oracle
    for oracle in (
        find_entity, bearers, ambiguous_names, facts_about, neighbours, neighbouring_documents, bridge_entities, bridges_between,
        connecting_documents, documents_mentioning, entities_in, hubs, relation_counts, answer_frequencies, why_wikihop_candidate,
        why_medhop_candidate, what_blocks_wikihop, what_blocks_medhop, blocked_questions,
    )
}  # fmt: skip
"""By the name of the query."""
