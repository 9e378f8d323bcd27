"""The random graphs hold what they promise, among it everything that was seen to go wrong."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kgqa.conformance.graphs import ROW_TYPES, RandomGraph, random_graph
from kgqa.store.graph import TABLES, graph_rows
from tests.store.test_explore_queries import empty_tables

GRAPHS = [random_graph(random.Random(seed)) for seed in range(200)]


def test_the_same_seed_gives_the_same_graph() -> None:
    assert random_graph(random.Random(7)) == GRAPHS[7]
    assert len({graph.entity for graph in GRAPHS}) == len(GRAPHS)


def test_the_columns_are_those_that_stores_load() -> None:
    loaded = graph_rows(empty_tables())
    # What relations come to follows from the others.
    assert tuple(ROW_TYPES) == tuple(name for name in TABLES if name != "relation")
    for name, table in GRAPHS[0].arrow().items():
        assert table.column_names == loaded[name].column_names
        for field in table.schema:
            assert field.type == loaded[name].schema.field(field.name).type, (name, field)


@pytest.mark.parametrize("graph", GRAPHS[:60])
def test_the_loaders_promises_hold(graph: RandomGraph) -> None:
    entities, documents = {row.id for row in graph.entity}, {row.id for row in graph.document}
    for nodes in (graph.entity, graph.document):
        assert len({row.id for row in nodes}) == len({row.row for row in nodes}) == len(nodes)
    assert all({fact.head, fact.tail} <= entities and fact.head != fact.tail for fact in graph.fact)
    assert sorted(fact.row for fact in graph.fact) == list(range(len(graph.fact)))
    assert {mention.entity for mention in graph.mentions} <= entities
    assert {mention.document for mention in graph.mentions} <= documents
    assert len({mention[:2] for mention in graph.mentions}) == len(graph.mentions)
    assert len({row.entity for row in graph.about}) == len({row.document for row in graph.about}) == len(graph.about)


def test_everything_that_goes_wrong_is_there() -> None:
    def parallel(graph: RandomGraph) -> bool:
        return len({(f.head, f.tail) for f in graph.fact}) < len({(f.head, f.tail, f.relation) for f in graph.fact})

    def repeated(graph: RandomGraph) -> bool:
        return len({(f.head, f.tail, f.relation) for f in graph.fact}) < len(graph.fact)

    def mutual(graph: RandomGraph) -> bool:
        return bool({(f.head, f.tail) for f in graph.fact} & {(f.tail, f.head) for f in graph.fact})

    def isolated(graph: RandomGraph) -> bool:
        used = {n for f in graph.fact for n in (f.head, f.tail)} | {m.entity for m in graph.mentions} | {a.entity for a in graph.about}
        return bool({e.id for e in graph.entity} - used)

    def hub(graph: RandomGraph) -> bool:
        return max(Counter(m.entity for m in graph.mentions).values(), default=0) >= 50

    def null(graph: RandomGraph) -> bool:
        return any(e.label is None for e in graph.entity)

    def astral(graph: RandomGraph) -> bool:
        return any(ord(letter) > 0xFFFF for e in graph.entity for letter in (e.label or "") + e.id)

    for trait in (parallel, repeated, mutual, isolated, hub, null, astral):
        assert sum(map(trait, GRAPHS)) > 10, trait.__name__
        assert not all(map(trait, GRAPHS)), trait.__name__
