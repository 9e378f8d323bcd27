"""The stage that mines learns from the training facts alone, and what it writes is read back as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.recipes.qangaroo.mining import Mined, Triples, all_facts, fact_graph, mine_rules, read_mined, training_facts
from kgqa.rules.implied import mine_implied
from kgqa.rules.paths import PathRules, mine_paths
from tests.recipes.qangaroo.mined import World, mined, worlds
from tests.rules.drawing import Knowledge, cells_of


def listed(facts: Triples) -> list[tuple[int, int, int]]:
    return sorted(zip(facts.head.tolist(), facts.relation.tolist(), facts.tail.tolist(), strict=True))


def read(world: World, tables: Mapping[str, pa.Table]) -> Mined:
    return read_mined({**world.tables(), **tables})


@given(world=worlds())
def test_only_training_facts_of_relations_with_questions_are_used(world: World) -> None:
    tables = world.tables()
    assert listed(training_facts(tables, world.questions())) == world.training()
    assert listed(all_facts(tables)) == world.known.facts


@given(world=worlds())
def test_hops_use_the_facts_of_all_splits_and_no_texts(world: World) -> None:
    graph = fact_graph(world.tables())
    sources = np.repeat(np.arange(graph.entities), np.diff(graph.offsets))
    found = set(zip(sources.tolist(), graph.roles.tolist(), graph.targets.tolist(), strict=True))
    assert found == replace(world.known, texts=[]).edges()


@settings(max_examples=15)
@given(world=worlds(), workers=st.sampled_from([1, 2, 5]))
def test_the_stage_finds_what_the_miners_find_and_it_is_read_back(world: World, workers: int) -> None:
    with mined(world, workers=workers, min_support=1, min_confidence=0.01) as (_, output):
        found = read(world, output.tables)
    learned, train = world.learned(), replace(world.known, facts=world.training()).columns()
    rules = mine_paths(learned.graph(), *train, min_support=1, min_confidence=0.01, engine=Threads(1))
    for field in fields(PathRules):
        mine, wanted = getattr(found.rules, field.name), getattr(rules, field.name)
        assert (mine.dtype, mine.tolist()) == (wanted.dtype, wanted.tolist()), field.name
    implied = mine_implied(learned.graph(), *train)
    assert found.implied.relations.offsets.tolist() == implied.relations.offsets.tolist()
    assert cells_of(found.implied) == cells_of(implied)
    (before, after), grades = found.hops.best()
    assert list(zip(before.tolist(), after.tolist(), grades.tolist(), strict=True)) == world.known.texts
    assert found.hops.offsets.tolist() == list(range(len(world.known.texts) + 1))
    assert output.report == {"rules": len(rules)}
    assert [(row.what, row.left) for row in output.funnel] == [("path rules", len(rules))]


LEAK = Knowledge(
    entities=12, symmetric=(False, False), noise=[], texts=[],
    facts=sorted([*((x, 0, 10) for x in range(10)), (10, 0, 11), *((x, 1, 11) for x in range(10))]),
)  # fmt: skip
"""Relation 0 twice implies relation 1."""


@pytest.mark.parametrize(("train", "rules"), [(10, 1), (5, 1), (4, 0), (0, 0)])
def test_facts_of_dev_and_test_are_no_support(train: int, rules: int) -> None:
    asked = {(x, 1, 11): 0 if x < train else 1 + x % 2 for x in range(10)}
    with mined(World(known=LEAK, asked=asked), min_support=5) as (_, output):
        found = read(World(known=LEAK, asked=asked), output.tables).rules
    paths = list(zip(found.first.tolist(), found.second.tolist(), found.relation.tolist(), strict=True))
    assert paths.count((0, 0, 1)) == rules
    if rules:
        assert (found.support[paths.index((0, 0, 1))], found.head_facts[paths.index((0, 0, 1))]) == (train, train)


def test_without_evidence_nothing_is_mined() -> None:
    world = World(known=LEAK, asked={})
    with mined(world, use=False) as (_, output):
        found = read(world, output.tables)
    assert (len(found.rules), len(found.hops.before), found.implied.typed.sum()) == (0, 0, 0)
    assert output.note == "evidence is turned off"
    with mined(world, min_support=5) as (run, full):
        assert {name: table.schema for name, table in full.tables.items()} == {name: t.schema for name, t in output.tables.items()}
        assert len(mine_rules(run).tables["path_rules"]) == full.report["rules"] > 0
