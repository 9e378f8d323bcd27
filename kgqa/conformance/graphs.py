"""Small random graphs as rows of :mod:`kgqa.store.graph`: hubs, parallel and repeated facts, cycles, isolated nodes, hostile names, nulls.

They keep the promises of the loaders. Ids and ``row`` are unique; no fact connects an entity with itself; a document mentions an entity
once. An entity has one article at most, and an article is about one entity. Rows come in any order, since no query may rely on it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import pyarrow as pa

from kgqa.store.graph import with_measures


class Entity(NamedTuple):
    """A row of the table ``entity``."""

    id: str
    row: int
    kind: str
    label: str | None
    description: str | None
    aliases: tuple[str, ...] = ()
    common: int = 0


class Document(NamedTuple):
    """A row of the table ``document``."""

    id: str
    row: int
    title: str | None
    text: str | None
    usable: bool


class Fact(NamedTuple):
    """A row of the table ``fact``."""

    head: str
    tail: str
    row: int
    relation: str
    label: str | None


class Mention(NamedTuple):
    """A row of the table ``mentions``."""

    document: str
    entity: str
    count: int  # type: ignore[assignment] # a tuple has a method of that name, which nobody needs here
    start: int = 0
    stop: int = 1


class Article(NamedTuple):
    """A row of the table ``about``."""

    entity: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomGraph:
    """The rows of each table, as plain tuples."""

    entity: tuple[Entity, ...] = ()
    document: tuple[Document, ...] = ()
    fact: tuple[Fact, ...] = ()
    mentions: tuple[Mention, ...] = ()
    about: tuple[Article, ...] = ()

    def __len__(self) -> int:
        """The number of rows of all tables."""
        return sum(len(rows) for _, rows in self.tables())

    def tables(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Name and rows of each table, nodes first."""
        return ((field.name, getattr(self, field.name)) for field in fields(self))

    def arrow(self) -> dict[str, pa.Table]:
        """The tables for a store to load."""
        return with_measures({name: _table(ROW_TYPES[name], rows) for name, rows in self.tables()})


ROW_TYPES: dict[str, type[Any]] = {"entity": Entity, "document": Document, "fact": Fact, "mentions": Mention, "about": Article}
NUMBERS, FLAGS, LISTS = ("row", "count", "common", "start", "stop"), ("usable",), ("aliases",)
RELATIONS = ("target", "protein_interaction", "interacts_with", "P17", "r'\"`\\ 🜁")
KINDS = ("drug", "protein", "entity")
NAMES = (
    "London", "london", "Ωmega", "ΟΔΟΣ", "οδός", "İzmir", "straße", "STRASSE", "É", "e\u0301", "Ж", "中文",
    "🌍", "𝒳 ray", "𐐀𐐨", "a🌍b", "\uffee", "\u200d", "", " ", "tab\tline\n", "x" * 300,
    "'", '"', "`x`", "\\", "$limit", "{id: 1}", "a,b", "null", "0",
    "<b>bold</b>", "<script>alert(1)</script>", "x' OR true RETURN 1 //", "MATCH (n) DETACH DELETE n",
)  # fmt: skip
MARKS = ("", "", "", "é", "🌍", "'", "`", "<i>")
"""Put into ids here and there."""


def random_graph(rng: random.Random) -> RandomGraph:
    """The next graph; a third of them has a hub, a third has nulls, a third repeats facts."""
    entities = _entities(rng, rng.randint(1, 16))
    documents = _documents(rng, rng.randint(0, 12))
    facts = list(_facts(rng, entities, rng.randint(0, rng.choice((1, 3, 8)) * len(entities)), repeats=rng.random() < 1 / 3))
    mentions = {(d.id, e.id) for d in documents for e in rng.sample(entities, min(len(entities), rng.choice((0, 1, 2, 2, 3, 4))))}
    if rng.random() < 1 / 3 and documents:
        size = rng.randint(50, 250)
        hub, page = rng.choice(entities).id, rng.choice(documents).id
        leaves, pages = _entities(rng, size // 3, first=len(entities)), _documents(rng, size, first=len(documents))
        mentions |= {(d.id, hub) for d in pages} | {(page, e.id) for e in leaves}
        mentions |= {(rng.choice(pages).id, rng.choice(entities).id) for _ in range(10)}
        facts += [Fact(e.id, hub, 0, rng.choice(RELATIONS), "l") for e in leaves if e.id != hub]
        entities, documents = entities + leaves, documents + pages
    owners = rng.sample(entities, min(len(entities), len(documents), rng.randint(0, 14)))
    articles = list(map(Article, (e.id for e in owners), (d.id for d in rng.sample(documents, len(owners)))))
    mention_rows = [Mention(d, e, rng.choice((1, 1, 1, 2, 2, 3)), rng.randrange(9), rng.randrange(9, 99)) for d, e in sorted(mentions)]
    numbers = rng.sample(range(len(facts)), len(facts))
    graph = RandomGraph(
        entity=tuple(_shuffled(rng, entities)),
        document=tuple(_shuffled(rng, documents)),
        fact=tuple(fact._replace(row=number) for fact, number in zip(facts, numbers, strict=True)),
        mentions=tuple(_shuffled(rng, mention_rows)),
        about=tuple(_shuffled(rng, articles)),
    )
    return _with_nulls(rng, graph) if rng.random() < 1 / 3 else graph


def _entities(rng: random.Random, count: int, *, first: int = 0) -> list[Entity]:
    ids = [f"{rng.choice('QeΩ')}{number}{rng.choice(MARKS)}" for number in range(first, first + count)]
    rows = rng.sample(range(first, first + count), count)
    entities = [Entity(name, row, rng.choice(KINDS), rng.choice(NAMES), rng.choice(NAMES)) for name, row in zip(ids, rows, strict=True)]
    return [e._replace(aliases=tuple(rng.sample(NAMES, rng.choice((0, 0, 1, 2)))), common=rng.choice((0, 0, 33, 100))) for e in entities]


def _documents(rng: random.Random, count: int, *, first: int = 0) -> list[Document]:
    ids = [f"{rng.choice('dD中')}{number}{rng.choice(MARKS)}" for number in range(first, first + count)]
    rows = rng.sample(range(first, first + count), count)
    return [Document(name, row, rng.choice(NAMES), rng.choice(NAMES), rng.random() < 0.9) for name, row in zip(ids, rows, strict=True)]


def _facts(rng: random.Random, entities: list[Entity], count: int, *, repeats: bool) -> Iterator[Fact]:
    """Heads and tails from few entities, so that there are parallel facts and cycles."""
    sample = rng.sample(entities, rng.randint((len(entities) + 1) // 2, len(entities)))
    labels = {relation: rng.choice(NAMES) for relation in RELATIONS}
    triples = set()
    for _ in range(count):
        head, tail, relation = rng.choice(sample).id, rng.choice(sample).id, rng.choice(RELATIONS)
        if head != tail and (repeats or (head, tail, relation) not in triples):
            triples.add((head, tail, relation))
            yield Fact(head, tail, 0, relation, labels[relation])


def _with_nulls(rng: random.Random, graph: RandomGraph) -> RandomGraph:
    """Names and texts may be missing; kinds never are in what kgqa loads, and 0.20.4 takes ``null OR EXISTS`` for null (docs/doctor.md)."""

    def some(value: str | None) -> str | None:
        return None if rng.random() < 0.2 else value

    return RandomGraph(
        entity=tuple(e._replace(label=some(e.label), description=some(e.description)) for e in graph.entity),
        document=tuple(d._replace(title=some(d.title), text=some(d.text)) for d in graph.document),
        fact=tuple(f._replace(label=some(f.label)) for f in graph.fact),
        mentions=graph.mentions,
        about=graph.about,
    )


def _shuffled(rng: random.Random, rows: list[Any]) -> list[Any]:
    return rng.sample(rows, len(rows))


def _table(kind: Any, rows: tuple[Any, ...]) -> pa.Table:
    names: tuple[str, ...] = kind._fields
    types = [_type(name) for name in names]
    return pa.table([pa.array([row[at] for row in rows], type_) for at, type_ in enumerate(types)], names=list(names))


def _type(column: str) -> pa.DataType:
    texts = pa.list_(pa.string()) if column in LISTS else pa.string()
    return pa.int64() if column in NUMBERS else pa.bool_() if column in FLAGS else texts
