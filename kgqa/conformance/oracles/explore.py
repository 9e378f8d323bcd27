"""What the queries of ``explore.cypher`` must answer, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product

from kgqa.conformance.oracles.known import Chain, Known, Oracle, Row, Rows
from kgqa.conformance.oracles.names import folded, search


def _best(known: Known, counts: Iterable[tuple[str, int]], limit: int) -> list[tuple[str, int]]:
    """The entities with the largest counts; ties by row."""
    return sorted(counts, key=lambda pair: (-pair[1], known.entities[pair[0]].row))[:limit]


def _best_documents(known: Known, counts: Iterable[tuple[str, int]], limit: int) -> list[tuple[str, int]]:
    return sorted(counts, key=lambda pair: (-pair[1], known.documents[pair[0]].row))[:limit]


def find_entity(known: Known, text: str, limit: int) -> Rows:
    """Names that contain the text in any case, most mentioned entities first."""
    found = [(e.id, len(known.mentions_of[e.id])) for e in known.entities.values() if folded(text) in search([e.label, *e.aliases])]
    return [_called(known, name, n) for name, n in _best(known, found, limit)]


def bearers(known: Known, name: str, limit: int) -> Rows:
    """Entities of this name, most mentioned first."""
    counts = [(e.id, len(known.mentions_of[e.id])) for e in known.entities.values() if name in (e.label, *e.aliases)]
    return [_called(known, bearer, n) for bearer, n in _best(known, counts, limit)]


def _called(known: Known, name: str, documents: int) -> Row:
    e = known.entities[name]
    return e.id, e.kind, e.label, e.description, documents


def ambiguous_names(known: Known, limit: int) -> Rows:
    """Labels of several entities."""
    by_label: dict[str, list[str]] = {}
    for entity in known.entities.values():
        if entity.label:
            by_label.setdefault(entity.label, []).append(entity.id)
    shared = [(label, len(names), known.by_row(names)[0]) for label, names in by_label.items() if len(names) > 1]
    return [*sorted(shared, key=lambda row: (-row[1], known.entities[row[2]].row))][:limit]


def facts_about(known: Known, entity: str, limit: int) -> Rows:
    """Facts from or to an entity."""
    facts = sorted((f for f in known.graph.fact if entity in (f.head, f.tail)), key=lambda f: f.row)
    return [(f.head, known.entities[f.head].label, f.relation, f.label, f.tail, known.entities[f.tail].label) for f in facts][:limit]


def neighbours(known: Known, entity: str, limit: int) -> Rows:
    """Entities in the same documents."""
    counts = Counter(other for document in known.naming(entity) for other in known.named(document) if other != entity)
    rows: list[Row] = []
    for name, documents in _best(known, counts.items(), limit):
        to = sum(f.tail == name for f in known.facts_from[entity])
        back = sum(f.head == name for f in known.facts_to[entity])
        rows.append((name, known.entities[name].label, documents, to, back))
    return rows


def neighbouring_documents(known: Known, document: str, limit: int) -> Rows:
    """Documents with the same entities."""
    counts = Counter(other for entity in known.named(document) for other in known.naming(entity) if other != document)
    return [(name, known.documents[name].title, n) for name, n in _best_documents(known, counts.items(), limit)]


def bridge_entities(known: Known, entity: str, limit: int) -> Rows:
    """What an entity's article shares with other documents."""
    rows: list[Row] = []
    for bridge in {name for article in known.articles[entity] for name in known.named(article) - {entity}}:
        documents, together, facts = (
            len(known.naming(bridge)),
            len(known.naming(bridge) & known.naming(entity)),
            _between(known, bridge, entity),
        )
        if documents > 1:
            score = _beside(known, bridge, entity) * (105 - known.entities[bridge].common) / 105
            rows.append((bridge, known.entities[bridge].label, documents - 1, together, facts, score))
    return sorted(rows, key=lambda row: (-row[5], -row[2], known.row(row[0])))[:limit]  # type: ignore[operator, arg-type]


def bridges_between(known: Known, entity: str, other: str, limit: int) -> Rows:
    """What stands beside both, in two different documents."""
    rows: list[Row] = []
    for bridge in known.entities.keys() - {entity, other}:
        near, far = (known.naming(bridge) & known.naming(end) for end in (entity, other))
        if any(first != second for first, second in product(near, far)):
            e, documents = known.entities[bridge], len(known.naming(bridge))
            facts = (_between(known, bridge, end) for end in (entity, other))
            score = _beside(known, bridge, entity) * _beside(known, bridge, other) * (105 - e.common) / 105
            rows.append((bridge, e.kind, e.label, len(near), len(far), *facts, documents, score))
    return sorted(rows, key=lambda row: (-row[8], -row[7], known.row(row[0])))[:limit]  # type: ignore[operator, arg-type]


def _between(known: Known, entity: str, other: str) -> int:
    """Facts between two entities, in either direction."""
    return sum(f.tail == other for f in known.facts_from[entity]) + sum(f.head == other for f in known.facts_to[entity])


def _beside(known: Known, bridge: str, end: str) -> float:
    """How much it says of the bridge that it stands beside the end: its share of documents and of facts."""
    documents, facts = len(known.naming(bridge)), len(known.facts_from[bridge]) + len(known.facts_to[bridge])
    return len(known.naming(bridge) & known.naming(end)) / (documents + 20) + _between(known, bridge, end) / (facts + 20)


def connecting_documents(known: Known, entity: str, other: str, limit: int) -> Rows:
    """Documents that mention both."""
    both = known.naming(entity) & known.naming(other) if entity != other else set()
    return [(name, known.documents[name].title) for name in known.documents_by_row(both)][:limit]


def documents_mentioning(known: Known, entity: str, limit: int) -> Rows:
    """Documents by how often they mention an entity."""
    counts = [(m.document, m.count) for m in known.mentions_of[entity]]
    return [(name, known.documents[name].title, n) for name, n in _best_documents(known, counts, limit)]


def entities_in(known: Known, document: str, limit: int) -> Rows:
    """Entities by how often a document mentions them."""
    counts = [(m.entity, m.count) for m in known.mentions_in[document]]
    return [(name, known.entities[name].kind, known.entities[name].label, n) for name, n in _best(known, counts, limit)]


def hubs(known: Known, limit: int) -> Rows:
    """Entities by the number of documents that mention them."""
    counts = Counter(mention.entity for mention in known.graph.mentions)
    return [(name, known.entities[name].label, n) for name, n in _best(known, counts.items(), limit)]


def relation_counts(known: Known, limit: int) -> Rows:
    """Facts by relation and its label."""
    rows = []
    for key in {(f.relation, f.label) for f in known.graph.fact}:
        facts = [f for f in known.graph.fact if (f.relation, f.label) == key]
        rows.append((-len(facts), min(f.row for f in facts), (*key, len(facts), len({f.tail for f in facts}))))
    return [row for _, _, row in sorted(rows, key=lambda row: row[:2])][:limit]


def answer_frequencies(known: Known, relation: str, limit: int) -> Rows:
    """Objects of a relation."""
    counts = Counter(f.tail for f in known.graph.fact if f.relation == relation)
    total = sum(counts.values())
    return [(name, known.entities[name].label, n, n * 1.0 / total) for name, n in _best(known, counts.items(), limit)]


def why_wikihop_candidate(known: Known, subject: str, relation: str, candidate: str) -> Rows:
    """Facts, truth, chains, and the first chain."""
    if not {subject, candidate} <= known.entities.keys() or subject == candidate:
        return []
    facts = sum(f.relation == relation for f in known.facts_to[candidate])
    chains = [_ending(known.chains(known.wikihop, subject, n), candidate) for n in (1, 2, 3)]
    shortest = next((found for found in chains if found), [])
    first: Chain = min(shortest, key=known.rows, default=())
    return [(facts, bool(known.facts(subject, candidate, relation)), *map(len, chains), list(first) or None)]


def why_medhop_candidate(known: Known, subject: str, candidate: str, relation: str) -> Rows:
    """Facts in either direction, truth, and chains."""
    if not {subject, candidate} <= known.entities.keys() or subject == candidate:
        return []
    facts = sum(f.relation == relation for f in [*known.facts_from[candidate], *known.facts_to[candidate]])
    true = known.facts(subject, candidate, relation) + known.facts(candidate, subject, relation)
    chains = (known.over_proteins(known.chains(known.medhop, subject, n)) for n in (1, 2))
    return [(facts, bool(true), *(len(_ending(found, candidate)) for found in chains))]


def what_blocks_wikihop(known: Known, subject: str, relation: str, answer: str) -> Rows:
    """The gates of the recipe in their order."""
    if not {subject, answer} <= known.entities.keys() or subject == answer:
        return []
    facts = len(known.facts(subject, answer, relation))
    article = next(iter(known.articles[subject]), None)
    usable = known.documents[article].usable if article else None
    stated = max((m.count for m in known.mentions_of[answer] if m.document == article), default=0)
    documents = next((n for n in (1, 2, 3) if _ending(known.chains(known.wikihop, subject, n), answer)), 0)
    tests = (
        (facts == 0, "there is no such fact"),
        (not usable, "no document leads on from the subject"),
        (stated > 0, "the subject's own article states the answer"),
        (documents == 0, "no chain of documents leads from the subject to the answer"),
        (True, "nothing in the graph"),
    )
    return [(facts, article, usable, stated, documents, next(reason for applies, reason in tests if applies))]


def what_blocks_medhop(known: Known, subject: str, answer: str, relation: str) -> Rows:
    """The gates of the recipe in their order."""
    if not {subject, answer} <= known.entities.keys() or subject == answer:
        return []
    facts = len(known.facts(subject, answer, relation)) + len(known.facts(answer, subject, relation))
    leading, stated = len(known.medhop[0][subject]), len(known.naming(subject) & known.naming(answer))
    chains = len(_ending(known.over_proteins(known.chains(known.medhop, subject, 2)), answer))
    tests = (
        (facts == 0, "there is no such fact"),
        (leading == 0, "no document leads on from the subject"),
        (stated > 0, "a document states subject and answer together"),
        (chains == 0, "no chain of two documents leads from the subject to the answer; medhop_chains_3 looks for three"),
        (True, "nothing in the graph"),
    )
    return [(facts, leading, stated, chains, next(reason for applies, reason in tests if applies))]


def blocked_questions(known: Known, limit: int) -> Rows:
    """For each relation how many facts are no question."""
    rows = []
    for key in {(f.relation, f.label) for f in known.graph.fact}:
        facts = [f for f in known.graph.fact if (f.relation, f.label) == key]
        articles = [known.wikihop[0][f.head] for f in facts]
        without = sum(not found for found in articles)
        told = sum(any(f.tail in known.named(d) for d in found) for f, found in zip(facts, articles, strict=True))
        rows.append((-len(facts), min(f.row for f in facts), (*key, len(facts), without, told, len(facts) - without - told)))
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
