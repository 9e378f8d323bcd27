"""Oracles of ``conformance.cypher``: values that engines could change, miscount, or cut off wrongly."""

from __future__ import annotations

from itertools import product

from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Row, Rows


def nodes(index: GraphIndex) -> Rows:
    """Every entity with its properties, by row."""
    entities = sorted(index.graph.entity, key=lambda e: e.row)
    return [(e.id, e.kind, e.label, e.description, e.label is None, "none" if e.label is None else e.label) for e in entities]


def documents(index: GraphIndex) -> Rows:
    """Every document with its properties, by row."""
    return [(d.id, d.title, d.text, d.usable) for d in sorted(index.graph.document, key=lambda d: d.row)]


def facts(index: GraphIndex) -> Rows:
    """Every fact with head, relation and tail, by row."""
    return [(f.head, f.relation, f.label, f.tail) for f in index.facts_by_row()]


def distinct(index: GraphIndex) -> Rows:
    """Counts of mentions and of what they connect."""
    kinds = {index.entities[m.entity].kind for m in index.graph.mentions} - {None}
    entities, texts = {m.entity for m in index.graph.mentions}, {m.document for m in index.graph.mentions}
    return [(len(index.graph.mentions), len(entities), len(texts), len(kinds))]


def distinct_rows(index: GraphIndex) -> Rows:
    """Relation and kind of object, each pair once."""
    return [*dict.fromkeys((f.relation, index.entities[f.tail].kind) for f in index.facts_by_row())]


def limited_with(index: GraphIndex, limit: int) -> Rows:
    """The documents of the last few entities."""
    names = index.by_row(index.entities)[::-1][:limit]
    return [(e, d) for e in index.by_row(names) for d in index.documents_by_row(index.naming(e))]


def ties(index: GraphIndex, skip: int, limit: int) -> Rows:
    """A page of all mentions."""
    ranking = sorted(index.graph.mentions, key=lambda m: (-m.count, index.row(m.entity), -index.documents[m.document].row))
    return [(m.document, m.entity, m.count) for m in ranking][skip : skip + limit]


def extremes(index: GraphIndex) -> Rows:
    """Numbers by relation, in the order of each relation's first fact."""
    rows: list[Row] = []
    for relation in dict.fromkeys(f.relation for f in index.facts_by_row()):
        tails = [index.row(f.tail) for f in index.graph.fact if f.relation == relation]
        rows.append((relation, min(tails), max(tails), len(tails) // 2, len(tails) % 2, len(tails) * 1.0 / 3))
    return rows


def large_numbers(index: GraphIndex) -> Rows:
    """Both ends of each fact in one number."""
    return [(f.head, f.tail, (index.row(f.head) << 32) + index.row(f.tail)) for f in index.facts_by_row()]


def contains(index: GraphIndex, text: str) -> Rows:
    """Entities whose label or description contains a text."""
    rows: list[Row] = []
    for e in sorted(index.graph.entity, key=lambda e: e.row):
        if e.label is not None and e.description is not None:
            rows.append((e.id, text in e.label, e.label.startswith(text), e.description.endswith(text)))
    return rows


def same_text(index: GraphIndex) -> Rows:
    """Pairs with the same label."""
    entities = [e for e in sorted(index.graph.entity, key=lambda e: e.row) if e.label is not None]
    return [(a.id, b.id) for a, b in product(entities, entities) if a.row < b.row and a.row < 30 and a.label == b.label]


def unlike(index: GraphIndex, text: str) -> Rows:
    """Entities with another label that are not drugs."""
    names = [e.id for e in index.graph.entity if e.label not in (None, text) and e.kind not in (None, "drug")]
    return [(name,) for name in index.by_row(names)]


def in_list(index: GraphIndex, ids: list[str]) -> Rows:
    """Those of a list, with their documents."""
    return [(name, len(index.naming(name))) for name in index.by_row(set(ids) & index.entities.keys())]


def unwind(index: GraphIndex, ids: list[str]) -> Rows:
    """Facts of those of a list, as often as they are in it."""
    counts = {name: ids.count(name) * len(index.facts_from[name]) for name in set(ids) & index.entities.keys()}
    return [(name, counts[name]) for name in index.by_row(counts) if counts[name]]


def flags(index: GraphIndex) -> Rows:
    """Usable and other documents."""
    usable = sum(d.usable for d in index.graph.document)
    return [(usable, len(index.documents) - usable)]


ORACLES: dict[str, Oracle] = {
    f"conformance_{oracle.__name__}": oracle
    for oracle in (
        nodes, documents, facts, distinct, distinct_rows, limited_with, ties, extremes, large_numbers, contains, same_text, unlike,
        in_list, unwind, flags,
    )
}  # fmt: skip
"""By the name of the query."""
