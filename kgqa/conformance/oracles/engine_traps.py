"""Oracles of ``conformance.cypher``: patterns that engines got wrong, or easily could."""

from __future__ import annotations

from collections import Counter
from itertools import product

from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Row, Rows


def filtered_hops(index: GraphIndex, entity: str, relation: str) -> Rows:
    """Three facts, the middle one of a relation."""
    walks = [
        h.tail for f in index.facts_from[entity] for g in index.facts_from[f.tail] if g.relation == relation and g.tail != entity
        for h in index.facts_from[g.tail]
    ]  # fmt: skip
    return [(len(walks), len(set(walks)))]


def filtered_mentions(index: GraphIndex, entity: str, mentions: int) -> Rows:
    """Article, mention of this count, fact."""
    mentions_found = [m for d in index.articles[entity] for m in index.mentions_in[d] if m.count == mentions]
    return [(sum(len(index.facts_from[m.entity]) for m in mentions_found),)]


def filtered_everywhere(index: GraphIndex, relation: str, other: str) -> Rows:
    """Two facts of two relations."""
    firsts = [f for f in index.facts_by_row() if f.relation == relation]
    pairs = [(f, g) for f in firsts for g in index.facts_from[f.tail] if g.relation == other and g.tail != f.head]
    return [(f.head, f.tail, g.tail) for f, g in sorted(pairs, key=lambda pair: (pair[0].row, pair[1].row))]


def filtered_last(index: GraphIndex, entity: str, kind: str) -> Rows:
    """Beside an entity of a kind, and on to another document."""
    ends = [
        (b, x) for d in index.naming(entity) for b in index.named(d) - {entity} if index.entities[b].kind == kind
        for x in index.naming(b) - {d}
    ]  # fmt: skip
    return [(len(ends), len({b for b, _ in ends}))]


def triangles(index: GraphIndex) -> Rows:
    """Cycles of three facts."""
    rows = []
    for a in index.by_row(index.entities):
        paths = ((f, g, h) for f in index.facts_from[a] for g in index.facts_from[f.tail] for h in index.facts_from[g.tail])
        cycles = sum(h.tail == a and g.tail != a for _, g, h in paths)
        rows.append((a, cycles))
    return [row for row in rows if row[1]]


def back_and_forth(index: GraphIndex) -> Rows:
    """Facts in both directions."""
    pairs = Counter((f.head, f.tail) for f in index.graph.fact)
    mutual = [(a, b, n * pairs[b, a]) for (a, b), n in pairs.items() if pairs[b, a] and index.row(a) < index.row(b)]
    return [*sorted(mutual, key=lambda row: (index.row(row[0]), index.row(row[1])))]


def parallel(index: GraphIndex, least: int) -> Rows:
    """Several facts of one pair."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for fact in index.graph.fact:
        pairs.setdefault((fact.head, fact.tail), []).append(fact.relation)
    rows = [(a, b, len(relations), len(set(relations))) for (a, b), relations in pairs.items() if len(relations) >= least]
    return [*sorted(rows, key=lambda row: (index.row(row[0]), index.row(row[1])))]


def parallel_hops(index: GraphIndex, entity: str) -> Rows:
    """Walks of two facts by their end."""
    counts = Counter(g.tail for f in index.facts_from[entity] for g in index.facts_from[f.tail] if g.tail != entity)
    return [(name, counts[name]) for name in index.by_row(counts)]


def optional(index: GraphIndex, relation: str) -> Rows:
    """All entities with their facts of a relation."""
    rows: list[Row] = []
    for name in index.by_row(index.entities):
        rows_of_tails = [index.row(f.tail) for f in index.facts_from[name] if f.relation == relation]
        rows.append((name, len(rows_of_tails), min(rows_of_tails, default=None)))
    return rows


def optional_twice(index: GraphIndex) -> Rows:
    """All entities, their article or none, what it mentions more than once or nothing."""
    rows: list[Row] = []
    for name in index.by_row(index.entities):
        for article in index.articles[name] or (None,):
            mentioned_entities = index.by_row(m.entity for m in index.mentions_in[article] if m.count > 1) if article else []
            rows += [(name, article, mentioned) for mentioned in mentioned_entities or (None,)]
    return rows


def exists(index: GraphIndex, relation: str) -> Rows:
    """With a fact, without an article."""
    names = [e for e in index.entities if any(f.relation == relation for f in index.facts_from[e]) and not index.articles[e]]
    return [(name,) for name in index.by_row(names)]


def exists_either(index: GraphIndex, entity: str) -> Rows:
    """Documents that mention it or something with a fact about it."""
    heads = {f.head for f in index.facts_to[entity]} | {entity}
    return [(name,) for name in index.documents_by_row(d for d in index.documents if index.named(d) & heads)]


def isolated(index: GraphIndex) -> Rows:
    """Entities without facts, mentions and article."""
    ties = (index.facts_from, index.facts_to, index.mentions_of, index.articles)
    return [(name,) for name in index.by_row(e for e in index.entities if not any(tie[e] for tie in ties))]


def counted_pattern(index: GraphIndex) -> Rows:
    """Pairs of mentions in the same document."""
    return [(e, sum(len(index.named(d) - {e}) for d in index.naming(e))) for e in index.by_row(index.entities)]


def after_with(index: GraphIndex, least: int) -> Rows:
    """In several documents, and with facts."""
    counts = [(e, len(index.naming(e)), len(index.facts_from[e])) for e in index.entities]
    rows = [row for row in counts if row[1] >= least and row[1] and row[2]]
    return [*sorted(rows, key=lambda row: (-row[1], index.row(row[0])))]


def beside(index: GraphIndex, limit: int) -> Rows:
    """Pairs by the documents that mention both."""
    pairs = Counter(
        (a, b) for d in index.documents for a, b in product(index.named(d), repeat=2) if index.row(a) < index.row(b)
    )  # fmt: skip
    ranking = sorted(pairs.items(), key=lambda item: (-item[1], index.row(item[0][0]), index.row(item[0][1])))
    return [(*pair, n) for pair, n in ranking[:limit]]


def same_object(index: GraphIndex, limit: int) -> Rows:
    """Pairs of facts that end alike."""
    pairs = [
        (f, g) for f in index.graph.fact for g in index.facts_to[f.tail]
        if f.relation == g.relation and index.row(f.head) < index.row(g.head)
    ]  # fmt: skip
    ranking = sorted(pairs, key=lambda pair: (pair[0].row, pair[1].row))
    return [(f.head, g.head, f.relation, f.tail) for f, g in ranking[:limit]]


def fact_in_document(index: GraphIndex, relation: str) -> Rows:
    """Heads and tails of the facts whose ends a document mentions."""
    rows: list[Row] = []
    for d in sorted(index.graph.document, key=lambda d: d.row):
        mentioned = index.named(d.id)
        facts = [f for f in index.graph.fact if f.relation == relation and {f.head, f.tail} <= mentioned] if d.usable else []
        rows += [(d.id, len({f.head for f in facts}), len({f.tail for f in facts}))] if facts else []
    return rows


def collect(index: GraphIndex) -> Rows:
    """Objects of what a document mentions, as often as they are reached."""
    return [(m.document, f.tail) for m in index.graph.mentions for f in index.facts_from[m.entity]]


ORACLES: dict[str, Oracle] = {
    f"conformance_{oracle.__name__}": oracle
    for oracle in (
        filtered_hops, filtered_mentions, filtered_everywhere, filtered_last, triangles, back_and_forth, parallel, parallel_hops,
        optional, optional_twice, exists, exists_either, isolated, counted_pattern, after_with, beside, same_object, fact_in_document,
        collect,
    )
}  # fmt: skip
"""By the name of the query."""
