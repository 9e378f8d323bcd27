"""The estimate of how useful a query about a path is: each measure counts what it says, and the weights point the right way."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.rows import Adjacency
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.distractors import Ranks
from kgqa.recipes.qangaroo.types import Types
from kgqa.recipes.qangaroo.usefulness import WEIGHTS, Usefulness, percentiles
from kgqa.rules.roles import RoleGraph, role_graph

# Entities: the cities 0 and 1, the people 2, 3 and 4, the book 5. Relations: 0 "born in", 1 "author". Document d is about entity d.
CITIES, PEOPLE, BOOK = (0, 1), (2, 3, 4), 5
BORN_IN, AUTHOR = 0, 2
"""The forward roles of the two relations."""


def graph() -> RoleGraph:
    """2 and 3 were born in 0, 4 in 1; 2 wrote 5."""
    none = np.zeros(0, np.int32)
    return role_graph(
        np.array([2, 3, 4, 5], np.int32), np.array([0, 0, 0, 1], np.int32), np.array([0, 0, 1, 2], np.int32),
        symmetric=np.zeros(2, np.bool_), texts=(none, none), grades=none, entities=6,
    )  # fmt: skip


def types_by(facts: RoleGraph) -> Types:
    """Types without articles."""
    return Types(facts, pa.chunked_array([pa.array([], pa.string())]), np.full(facts.entities, -1, np.int32))


def usefulness(mentions: list[tuple[int, int]]) -> Usefulness:
    """``mentions``: documents and the entities that they mention, in the order of the text."""
    document, entity = (np.array(column, np.int32) for column in zip(*mentions, strict=True))
    linked = Adjacency.from_pairs(document, entity, 6)
    start = np.arange(len(document), dtype=np.int32)
    offsets = np.searchsorted(document, np.arange(7)).astype(np.int64)
    places = Places(offsets=offsets, entity=entity, start=start, end=start + 1)
    facts = graph()
    return Usefulness(
        facts=facts, linked=linked, mentioning=linked.reversed(6), ranks=Ranks(places, np.arange(6, dtype=np.int32)), types=types_by(facts),
        forwards=np.arange(facts.role_count) / 10, alike=0.2,
    )  # fmt: skip


def chain(subject: int = BOOK, bridge: int = 2, answer: int = 0, facts: int = 2) -> dict[str, int]:
    """Book → author → born in, each hop stated by the article about its first entity."""
    return {
        "subject": subject, "document": subject, "first": AUTHOR, "bridge": bridge, "answer_document": bridge, "second": BORN_IN,
        "answer": answer, "facts": facts,
    }  # fmt: skip


def test_each_measure_counts_what_it_says() -> None:
    judge = usefulness([(2, 0), (3, 0), (3, 2), (5, 4), (5, 2)])
    measures = {
        name: values.tolist() for name, values in judge.measures(pl.DataFrame([chain(), chain(bridge=3, answer=1, facts=1)])).items()
    }
    assert measures["together"] == [1, 0]  # document 3 mentions 2 and 0
    assert measures["answer_share"] == [2 / 3, 1]  # of the two documents that mention 2; no document mentions 3
    assert measures["bridge_frequency"] == [1, 0]  # all facts of "author" have 2 as object, and none 3
    assert measures["answer_frequency"] == [2 / 3, 1 / 3]
    assert measures["objects"] == [1, 1]
    assert measures["bridge_rank"] == [1, -1]  # the book's document mentions 4 first
    assert measures["bridge_facts"] == [2, 1]  # one of them in the inverse role
    assert measures["answer_documents"] == [2, 0]
    assert measures["facts"] == [2, 1]
    assert measures["functional"] == [0, 0]
    assert set(measures) == set(WEIGHTS)


def test_rivals_are_entities_of_the_answers_type_in_its_document() -> None:
    none = np.zeros(0, np.int32)
    people, cities = np.arange(6, dtype=np.int32), np.array([6, 7], np.int32)
    facts = role_graph(
        people, np.zeros(6, np.int32), np.tile(cities, 3), symmetric=np.zeros(1, np.bool_), texts=(none, none), grades=none, entities=8
    )
    linked = Adjacency.from_pairs(np.array([0, 0, 0]), np.array([1, 6, 7]), 8)
    places = Places(
        offsets=np.array([0, 3, *[3] * 7]), entity=np.array([1, 6, 7], np.int32), start=np.arange(3, dtype=np.int32),
        end=np.arange(1, 4, dtype=np.int32),
    )  # fmt: skip
    judge = Usefulness(
        facts=facts, linked=linked, mentioning=linked.reversed(8), ranks=Ranks(places, np.full(8, -1, np.int32)), types=types_by(facts),
        forwards=np.zeros(facts.role_count), alike=0.2,
    )  # fmt: skip
    row = {"document": 1, "first": 1, "bridge": 0, "answer_document": 0, "second": 0, "answer": 6, "facts": 2}
    assert judge.measures(pl.DataFrame([row]))["rivals"].tolist() == [2]  # both cities, not the person


def test_of_chains_that_differ_in_one_measure_the_weight_decides_and_equal_chains_are_equal() -> None:
    assert WEIGHTS["facts"] > 0
    judge = usefulness([(2, 0), (5, 4), (5, 2)])
    two_facts, one_fact, again = judge.of(pl.DataFrame([chain(), chain(facts=1), chain()])).tolist()
    assert 0 < one_fact < two_facts == again < 1


def test_percentiles_do_not_depend_on_the_unit() -> None:
    values = np.random.default_rng(0).integers(0, 50, 200).astype(float)
    assert (percentiles(values) == percentiles(np.log1p(values) * 1e6)).all()
    assert percentiles(np.zeros(0)).tolist() == []
