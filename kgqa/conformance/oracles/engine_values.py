"""What the queries of ``conformance.cypher`` must answer: values that engines could change, miscount, or cut off wrongly."""

from __future__ import annotations

from itertools import product

from kgqa.conformance.oracles.known import Known, Oracle, Row, Rows


def nodes(known: Known) -> Rows:
    """Every entity with its properties, by row."""
    ordered = sorted(known.graph.entity, key=lambda e: e.row)
    return [(e.id, e.kind, e.label, e.description, e.label is None, "none" if e.label is None else e.label) for e in ordered]


def documents(known: Known) -> Rows:
    """Every document with its properties, by row."""
    return [(d.id, d.title, d.text, d.usable) for d in sorted(known.graph.document, key=lambda d: d.row)]


def facts(known: Known) -> Rows:
    """Every fact with head, relation and tail, by row."""
    return [(f.head, f.relation, f.label, f.tail) for f in known.facts_by_row()]


def distinct(known: Known) -> Rows:
    """Counts of mentions and of what they connect."""
    kinds = {known.entities[m.entity].kind for m in known.graph.mentions} - {None}
    entities, texts = {m.entity for m in known.graph.mentions}, {m.document for m in known.graph.mentions}
    return [(len(known.graph.mentions), len(entities), len(texts), len(kinds))]


def distinct_rows(known: Known) -> Rows:
    """Relation and kind of object, each pair once."""
    return [*dict.fromkeys((f.relation, known.entities[f.tail].kind) for f in known.facts_by_row())]


def limited_with(known: Known, limit: int) -> Rows:
    """The documents of the last few entities."""
    some = known.by_row(known.entities)[::-1][:limit]
    return [(e, d) for e in known.by_row(some) for d in known.documents_by_row(known.naming(e))]


def ties(known: Known, skip: int, limit: int) -> Rows:
    """A page of all mentions."""
    ordered = sorted(known.graph.mentions, key=lambda m: (-m.count, known.row(m.entity), -known.documents[m.document].row))
    return [(m.document, m.entity, m.count) for m in ordered][skip : skip + limit]


def extremes(known: Known) -> Rows:
    """Numbers by relation, in the order of each relation's first fact."""
    rows: list[Row] = []
    for relation in dict.fromkeys(f.relation for f in known.facts_by_row()):
        tails = [known.row(f.tail) for f in known.graph.fact if f.relation == relation]
        rows.append((relation, min(tails), max(tails), len(tails) // 2, len(tails) % 2, len(tails) * 1.0 / 3))
    return rows


def large_numbers(known: Known) -> Rows:
    """Both ends of each fact in one number."""
    return [(f.head, f.tail, (known.row(f.head) << 32) + known.row(f.tail)) for f in known.facts_by_row()]


def contains(known: Known, text: str) -> Rows:
    """Entities whose label or description contains a text."""
    rows: list[Row] = []
    for e in sorted(known.graph.entity, key=lambda e: e.row):
        if e.label is not None and e.description is not None:
            rows.append((e.id, text in e.label, e.label.startswith(text), e.description.endswith(text)))
    return rows


def same_text(known: Known) -> Rows:
    """Pairs with the same label."""
    ordered = [e for e in sorted(known.graph.entity, key=lambda e: e.row) if e.label is not None]
    return [(a.id, b.id) for a, b in product(ordered, ordered) if a.row < b.row and a.row < 30 and a.label == b.label]


def unlike(known: Known, text: str) -> Rows:
    """Of another label and no drug."""
    found = [e.id for e in known.graph.entity if e.label not in (None, text) and e.kind not in (None, "drug")]
    return [(name,) for name in known.by_row(found)]


def in_list(known: Known, ids: list[str]) -> Rows:
    """Those of a list, with their documents."""
    return [(name, len(known.naming(name))) for name in known.by_row(set(ids) & known.entities.keys())]


def unwind(known: Known, ids: list[str]) -> Rows:
    """Facts of those of a list, as often as they are in it."""
    counts = {name: ids.count(name) * len(known.facts_from[name]) for name in set(ids) & known.entities.keys()}
    return [(name, counts[name]) for name in known.by_row(counts) if counts[name]]


def flags(known: Known) -> Rows:
    """Usable and other documents."""
    usable = sum(d.usable for d in known.graph.document)
    return [(usable, len(known.documents) - usable)]


ORACLES: dict[str, Oracle] = {
    f"conformance_{oracle.__name__}": oracle
    for oracle in (
        nodes, documents, facts, distinct, distinct_rows, limited_with, ties, extremes, large_numbers, contains, same_text, unlike,
        in_list, unwind, flags,
    )
}  # fmt: skip
"""By the name of the query."""
