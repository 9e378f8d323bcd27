"""What the queries of ``conformance.cypher`` must answer: patterns on which engines were seen to go wrong, or easily could."""

from __future__ import annotations

from collections import Counter
from itertools import product

from kgqa.conformance.oracles.known import Known, Oracle, Row, Rows


def filtered_hops(known: Known, entity: str, relation: str) -> Rows:
    """Three facts, the middle one of a relation."""
    walks = [
        h.tail for f in known.facts_from[entity] for g in known.facts_from[f.tail] if g.relation == relation and g.tail != entity
        for h in known.facts_from[g.tail]
    ]  # fmt: skip
    return [(len(walks), len(set(walks)))]


def filtered_mentions(known: Known, entity: str, mentions: int) -> Rows:
    """Article, mention of this count, fact."""
    found = [m for d in known.articles[entity] for m in known.mentions_in[d] if m.count == mentions]
    return [(sum(len(known.facts_from[m.entity]) for m in found),)]


def filtered_everywhere(known: Known, relation: str, other: str) -> Rows:
    """Two facts of two relations."""
    firsts = [f for f in known.facts_by_row() if f.relation == relation]
    pairs = [(f, g) for f in firsts for g in known.facts_from[f.tail] if g.relation == other and g.tail != f.head]
    return [(f.head, f.tail, g.tail) for f, g in sorted(pairs, key=lambda pair: (pair[0].row, pair[1].row))]


def filtered_last(known: Known, entity: str, kind: str) -> Rows:
    """Beside an entity of a kind, and on to another document."""
    ends = [
        (b, x) for d in known.naming(entity) for b in known.named(d) - {entity} if known.entities[b].kind == kind
        for x in known.naming(b) - {d}
    ]  # fmt: skip
    return [(len(ends), len({b for b, _ in ends}))]


def triangles(known: Known) -> Rows:
    """Cycles of three facts."""
    rows = []
    for a in known.by_row(known.entities):
        paths = ((f, g, h) for f in known.facts_from[a] for g in known.facts_from[f.tail] for h in known.facts_from[g.tail])
        cycles = sum(h.tail == a and g.tail != a for _, g, h in paths)
        rows.append((a, cycles))
    return [row for row in rows if row[1]]


def back_and_forth(known: Known) -> Rows:
    """Facts in both directions."""
    pairs = Counter((f.head, f.tail) for f in known.graph.fact)
    both = [(a, b, n * pairs[b, a]) for (a, b), n in pairs.items() if pairs[b, a] and known.row(a) < known.row(b)]
    return [*sorted(both, key=lambda row: (known.row(row[0]), known.row(row[1])))]


def parallel(known: Known, least: int) -> Rows:
    """Several facts of one pair."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for fact in known.graph.fact:
        pairs.setdefault((fact.head, fact.tail), []).append(fact.relation)
    rows = [(a, b, len(found), len(set(found))) for (a, b), found in pairs.items() if len(found) >= least]
    return [*sorted(rows, key=lambda row: (known.row(row[0]), known.row(row[1])))]


def parallel_hops(known: Known, entity: str) -> Rows:
    """Walks of two facts by their end."""
    counts = Counter(g.tail for f in known.facts_from[entity] for g in known.facts_from[f.tail] if g.tail != entity)
    return [(name, counts[name]) for name in known.by_row(counts)]


def optional(known: Known, relation: str) -> Rows:
    """All entities with their facts of a relation."""
    rows: list[Row] = []
    for name in known.by_row(known.entities):
        found = [known.row(f.tail) for f in known.facts_from[name] if f.relation == relation]
        rows.append((name, len(found), min(found, default=None)))
    return rows


def optional_twice(known: Known) -> Rows:
    """All entities, their article or none, what it mentions more than once or nothing."""
    rows: list[Row] = []
    for name in known.by_row(known.entities):
        for article in known.articles[name] or (None,):
            found = known.by_row(m.entity for m in known.mentions_in[article] if m.count > 1) if article else []
            rows += [(name, article, mentioned) for mentioned in found or (None,)]
    return rows


def exists(known: Known, relation: str) -> Rows:
    """With a fact, without an article."""
    found = [e for e in known.entities if any(f.relation == relation for f in known.facts_from[e]) and not known.articles[e]]
    return [(name,) for name in known.by_row(found)]


def exists_either(known: Known, entity: str) -> Rows:
    """Documents that mention it or something with a fact about it."""
    heads = {f.head for f in known.facts_to[entity]} | {entity}
    return [(name,) for name in known.documents_by_row(d for d in known.documents if known.named(d) & heads)]


def isolated(known: Known) -> Rows:
    """Entities without facts, mentions and article."""
    ties = (known.facts_from, known.facts_to, known.mentions_of, known.articles)
    return [(name,) for name in known.by_row(e for e in known.entities if not any(tie[e] for tie in ties))]


def counted_pattern(known: Known) -> Rows:
    """Pairs of mentions in the same document."""
    return [(e, sum(len(known.named(d) - {e}) for d in known.naming(e))) for e in known.by_row(known.entities)]


def after_with(known: Known, least: int) -> Rows:
    """In several documents, and with facts."""
    counts = [(e, len(known.naming(e)), len(known.facts_from[e])) for e in known.entities]
    kept = [row for row in counts if row[1] >= least and row[1] and row[2]]
    return [*sorted(kept, key=lambda row: (-row[1], known.row(row[0])))]


def beside(known: Known, limit: int) -> Rows:
    """Pairs by the documents that mention both."""
    pairs = Counter(
        (a, b) for d in known.documents for a, b in product(known.named(d), repeat=2) if known.row(a) < known.row(b)
    )  # fmt: skip
    ordered = sorted(pairs.items(), key=lambda item: (-item[1], known.row(item[0][0]), known.row(item[0][1])))
    return [(*pair, n) for pair, n in ordered[:limit]]


def same_object(known: Known, limit: int) -> Rows:
    """Pairs of facts that end alike."""
    pairs = [
        (f, g) for f in known.graph.fact for g in known.facts_to[f.tail]
        if f.relation == g.relation and known.row(f.head) < known.row(g.head)
    ]  # fmt: skip
    ordered = sorted(pairs, key=lambda pair: (pair[0].row, pair[1].row))
    return [(f.head, g.head, f.relation, f.tail) for f, g in ordered[:limit]]


def fact_in_document(known: Known, relation: str) -> Rows:
    """Heads and tails of the facts of which a document mentions both ends."""
    rows: list[Row] = []
    for d in sorted(known.graph.document, key=lambda d: d.row):
        named = known.named(d.id)
        found = [f for f in known.graph.fact if f.relation == relation and {f.head, f.tail} <= named] if d.usable else []
        rows += [(d.id, len({f.head for f in found}), len({f.tail for f in found}))] if found else []
    return rows


def collect(known: Known) -> Rows:
    """Objects of what a document mentions, as often as they are reached."""
    return [(m.document, f.tail) for m in known.graph.mentions for f in known.facts_from[m.entity]]


ORACLES: dict[str, Oracle] = {
    f"conformance_{oracle.__name__}": oracle
    for oracle in (
        filtered_hops, filtered_mentions, filtered_everywhere, filtered_last, triangles, back_and_forth, parallel, parallel_hops,
        optional, optional_twice, exists, exists_either, isolated, counted_pattern, after_with, beside, same_object, fact_in_document,
        collect,
    )
}  # fmt: skip
"""By the name of the query."""
