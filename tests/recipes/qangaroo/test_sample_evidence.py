"""What evidence does with samples: which candidates leave, which gates there are, and what is said where nothing is left."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.arrays.rows import Adjacency
from kgqa.errors import EmptyResult
from kgqa.recipes.qangaroo.false_negatives import kin_of_answers, second_truths
from kgqa.recipes.qangaroo.gates import AnotherImpliedMore, AnswerNotImplied, ChainAddsLittle, PathLeadsAnywhere, RelationSeldomImplied
from kgqa.recipes.qangaroo.relations import RelationMeasures
from kgqa.recipes.qangaroo.sample_evidence import BESIDE, BY_FACTS, EQUALLY, KIN, SECOND_TRUTH, SampleEvidence
from kgqa.recipes.qangaroo.samples import Samples
from tests.recipes.drawing import DOCUMENTS, ENTITIES, Record, records, to_records, to_samples, without
from tests.recipes.qangaroo.mined import World, mined, worlds
from tests.rules.drawing import Knowledge, implied_relations

CHAIN = Knowledge(
    entities=12, symmetric=(False, False), noise=[], texts=[(2, 3, 2), (3, 4, 2), (4, 5, 2)],
    facts=sorted([*((x, 0, 10) for x in range(9)), (10, 0, 11), *((x, 1, 11) for x in range(9)), (9, 0, 10), (9, 1, 0)]),
)  # fmt: skip
"""Relation 0 twice implies relation 1, but of entity 9; three documents that say nothing of it."""


def evidence(world: World, **options: Any) -> SampleEvidence:
    """As a stage that comes after reads it."""
    with mined(world, min_support=1, min_confidence=0.01, **options) as (run, _):
        return SampleEvidence.read(run, world.tables(), world.questions())


@cache
def learned() -> SampleEvidence:
    """What :data:`CHAIN` teaches."""
    return evidence(World(known=CHAIN, asked={}))


def by_facts(record: Record, candidate: int) -> np.float32:
    """How surely two facts of :data:`CHAIN` in a row imply the candidate: the surest rule of all that fit."""
    edges = {edge for edge in CHAIN.edges() if edge[1] < 2 * CHAIN.relations}
    sure = dict(zip(_rules(learned()), learned().mined.rules.confidence.astype(np.float32), strict=True))
    found = [
        sure.get((first, second, record.relation), np.float32(0))
        for x, first, z in edges if x == record.head and z != candidate
        for middle, second, y in edges if (middle, y) == (z, candidate)
    ]  # fmt: skip
    return max(found, default=np.float32(0))


STATED = st.sets(st.tuples(st.integers(0, DOCUMENTS - 1), st.integers(0, ENTITIES - 1)), max_size=20)
"""Document and entity."""


@given(made=records(graded=True), stated=STATED)
@pytest.mark.parametrize("beside_answer", [True, False])
@pytest.mark.parametrize("margin", [0.0, 0.1, 0.25, 1.0])
def test_candidates_that_may_be_true_are_removed_and_counted_once(
    made: list[Record], stated: set[tuple[int, int]], margin: float, beside_answer: bool
) -> None:
    def reason(record: Record, candidate: int) -> str:
        assert record.grades is not None
        least = np.float32(record.grades[record.answer][0]) - np.float32(margin)
        if candidate == record.answer:
            return ""
        confidence, _, _, _, third, *_ = record.grades[candidate]
        if confidence > least or confidence >= np.float32(known.settings.grade_long if third >= 0 else known.settings.grade):
            return EQUALLY
        if by_facts(record, candidate) > least or by_facts(record, candidate) >= np.float32(known.settings.grade):
            return BY_FACTS
        on_chain = record.chains[record.answer][0][1::2]
        return BESIDE if not beside_answer and any((document, candidate) in stated for document in on_chain) else ""

    known = replace(learned(), settings=learned().settings.model_copy(update={"margin": margin, "beside_answer": beside_answer}))
    left, rows = known.without_equally_implied(to_samples(made), adjacency(stated))
    gone = [{candidate: why for candidate in record.chains if (why := reason(record, candidate))} for record in made]
    assert to_records(left) == [without(record, *candidates) for record, candidates in zip(made, gone, strict=True)]
    counts = Counter(why for candidates in gone for why in candidates.values())
    assert [(row.reason, row.removed, row.setting) for row in rows] == [
        (EQUALLY, counts[EQUALLY], "qangaroo.evidence.margin"), (BY_FACTS, counts[BY_FACTS], "qangaroo.evidence.margin"),
        (BESIDE, counts[BESIDE], "qangaroo.evidence.beside_answer"),
    ]  # fmt: skip


def adjacency(stated: set[tuple[int, int]]) -> Adjacency:
    documents, entities = np.array(sorted(stated), np.int32).reshape(-1, 2).T
    return Adjacency.from_pairs(documents, entities, DOCUMENTS)


def test_a_candidate_that_two_facts_imply_is_removed_even_without_a_chain() -> None:
    chains: Any = {4: [(9, 2, 4)], 11: [(9, 1, 11)]}
    grades: Any = {4: (0.5, *[0] * 6), 11: (0.0, *[0] * 6)}
    record = Record(id=0, split=0, head=9, relation=1, answer=4, chains=chains, grades=grades)
    left, rows = learned().without_equally_implied(to_samples([record]), adjacency(set()))
    assert to_records(left) == [without(record, 11)]
    assert [row.removed for row in rows] == [0, 1, 0]


@pytest.mark.parametrize(("document", "leaves"), [(2, True), (3, False)])
def test_only_documents_of_the_best_chain_to_the_answer_count_as_beside_it(document: int, leaves: bool) -> None:
    chains = {4: [(9, 2, 4), (9, 3, 4)], 5: [(9, 3, 5)]}
    grades: Any = {4: (0.5, *[0] * 6), 5: (0.0, *[0] * 6)}
    record = Record(id=0, split=0, head=9, relation=1, answer=4, chains=chains, grades=grades)
    known = replace(learned(), settings=learned().settings.model_copy(update={"beside_answer": False}))
    left, _ = known.without_equally_implied(to_samples([record]), adjacency({(document, 5)}))
    assert to_records(left) == [without(record, 5) if leaves else record]


@given(made=records())
@pytest.mark.parametrize("hierarchy", [True, False])
def test_second_truths_and_kin_are_removed_and_counted_once(made: list[Record], hierarchy: bool) -> None:
    made = [replace(record, relation=record.relation % 2) for record in made]
    known = replace(learned(), settings=learned().settings.model_copy(update={"hierarchy": hierarchy, "second_truth": 0.1}))
    samples = to_samples(made)
    second = second_truths(samples, known.facts, known.mined.implied, 0.1)
    kin = kin_of_answers(samples, known.facts, known.measures) & ~second & hierarchy
    left, rows = known.without_second_truths(samples)
    assert to_records(left) == to_records(samples.without_candidates(second | kin))
    assert [(row.reason, row.removed) for row in rows] == [(SECOND_TRUTH, int(second.sum())), (KIN, int(kin.sum()))]
    assert len(left.candidates.targets) + sum(row.removed or 0 for row in rows) == len(samples.candidates.targets)
    assert left.is_answer().sum() == len(made)


def test_a_second_truth_that_is_kin_counts_as_a_second_truth() -> None:
    facts = learned().facts
    cells = dict.fromkeys(np.ndindex(facts.role_count, facts.relations), (10, 10))
    says_all = replace(learned().mined, implied=implied_relations(cells, facts.role_count))
    record = Record(id=0, split=0, head=1, relation=1, answer=11, chains={c: [(1, 0, c)] for c in (4, 10, 11)})
    left, rows = replace(learned(), mined=says_all).without_second_truths(to_samples([record]))
    assert to_records(left) == [without(record, 4, 10)]
    assert [row.removed for row in rows] == [1, 1]  # 10 is joined to 1 and to 11, 4 only to 11


@settings(max_examples=10)
@given(world=worlds())
def test_shares_of_answers_are_those_of_the_training_facts(world: World) -> None:
    train = world.training()
    gates = evidence(world).sample_gates(np.zeros(world.known.relations, np.int64))
    gate = next(gate for gate in gates if isinstance(gate, ChainAddsLittle))
    objects = Counter((relation, tail) for _, relation, tail in train)
    subjects = Counter(relation for relation, _ in {(relation, head) for head, relation, _ in train})
    shares = {(relation << 32) | tail: count / subjects[relation] for (relation, tail), count in objects.items()}
    assert dict(zip(gate.of.tolist(), gate.share.tolist(), strict=True)) == pytest.approx(shares)
    assert gate.of.tolist() == sorted(shares)


@pytest.mark.parametrize(("better", "more"), [("reject", [AnotherImpliedMore]), ("leave", [])])
def test_the_settings_select_the_gates(better: str, more: list[type]) -> None:
    limits = {"grade": 0.7, "grade_long": 0.8, "facts": 1, "functional": 0.2, "odds": 2.0, "odds_long": 4.0}
    known = replace(learned(), settings=learned().settings.model_copy(update={"better": better, "text": "near", **limits}))
    gates = known.sample_gates(np.array([3, 4]))
    assert [type(gate) for gate in gates] == [AnswerNotImplied, PathLeadsAnywhere, ChainAddsLittle, *more, RelationSeldomImplied]
    assert gates[0] == AnswerNotImplied(least=0.7, long=0.8, text=1, facts=1, roles=2 * CHAIN.relations)
    assert gates[1].least == 0.2  # type: ignore[attr-defined]
    assert (gates[2].least, gates[2].long) == (2.0, 4.0)  # type: ignore[attr-defined]
    assert (gates[-1].least, gates[-1].samples.tolist()) == (known.settings.graded_share, [3, 4])  # type: ignore[attr-defined]


def test_grades_come_from_the_mined_rules() -> None:
    chains: Any = {11: [(9, 1, 11), (9, 0, 10, 1, 11)], 4: [(9, 2, 4)]}
    record = Record(id=0, split=0, head=9, relation=1, answer=11, chains=chains)
    found = learned().graded(to_samples([record]), only=True, engine=Threads(1))
    assert found.grades is not None
    assert [dict(of.chains) for of in to_records(found)] == [{11: [(9, 0, 10, 1, 11)], 4: [(9, 2, 4)]}]
    at = [i for i, (a, b, r) in enumerate(_rules(learned())) if (a, b, r) == (0, 0, 1)]
    assert found.grades["confidence"].tolist() == [np.float32(learned().mined.rules.confidence[at[0]]), 0.0]
    assert found.grades[["first", "second", "third"]].tolist() == [(0, 0, -1), (-1, -1, -1)]
    every = learned().graded(to_samples([record]), only=False, engine=Threads(1))
    assert [dict(of.chains) for of in to_records(every)] == [{11: chains[11][::-1], 4: chains[4]}]


def _rules(known: SampleEvidence) -> list[tuple[int, int, int]]:
    rules = known.mined.rules
    return list(zip(rules.first.tolist(), rules.second.tolist(), rules.relation.tolist(), strict=True))


def samples_of(*relations: int) -> Samples:
    return to_samples(
        [Record(id=i, split=0, head=0, relation=r, answer=1, chains={1: [(0, 0, 1)], 2: [(0, 0, 2)]}) for i, r in enumerate(relations)]
    )


def test_a_path_is_as_functional_as_the_training_facts() -> None:
    forwards, backwards = CHAIN.graph().functionality()
    gate = learned().sample_gates(np.zeros(2, np.int64))[1]
    assert isinstance(gate, PathLeadsAnywhere)
    assert (gate.forwards.tolist(), gate.backwards.tolist()) == (forwards.tolist(), backwards.tolist())
    assert gate.forwards[:2].tolist() == [1.0, pytest.approx(2 / 11)]  # ten subjects with 10 as their object, and 10 itself
    assert gate.backwards[:2].tolist() == gate.forwards[:2][::-1].tolist()
    assert gate.symmetric.tolist() == learned().measures.symmetric.tolist() == [False, False]


def measures(objects: list[int], lift: list[int]) -> RelationMeasures:
    """Relations with so many objects for each subject, and as many subjects for each object, which texts state so many times oftener than
    chance; none is symmetric."""
    entities, named = np.full(len(objects), 10**4), np.full(len(objects), 10**6)
    facts = np.array(objects) * entities
    stated = np.round(np.array(lift) * facts / (entities * entities) * named).astype(np.int64)
    return RelationMeasures(
        facts=facts, subjects=entities, objects=entities, named_together=named, stated=stated, turned=np.zeros(len(objects), np.int64)
    )


def test_only_uninformative_relations_are_rejected() -> None:
    known = replace(learned(), measures=measures([1, 30, 1], [50, 50, 1]))
    gate = known.relation_gate(samples_of(0, 1, 2, 0))
    assert gate.rejected(samples_of(0, 1, 2, 0)).tolist() == [False, True, True, False]


def test_if_no_relation_is_informative_the_message_names_the_best_and_the_settings() -> None:
    known = replace(learned(), measures=measures([40, 30, 1], [50, 60, 50]), labels=["friend", "neighbour", "author"])
    with pytest.raises(EmptyResult) as caught:
        known.relation_gate(samples_of(0, 1))
    said = str(caught.value)
    best = "the best are neighbour (30.0 objects, text lift 60.0), friend (40.0 objects, text lift 50.0)."
    assert best in said
    assert "author" not in said  # nobody asks about it
    assert "qangaroo.evidence.max_objects" in said
    assert "qangaroo.evidence.text_lift" in said
    known.relation_gate(samples_of())  # nothing is asked, so nothing is refused


@pytest.mark.parametrize(
    ("world", "knows"), [(World(known=CHAIN, asked={}), True), (World(known=replace(CHAIN, facts=CHAIN.facts[:1]), asked={}), False)]
)
def test_a_graph_without_paths_gives_no_rules(world: World, knows: bool) -> None:
    assert evidence(world).knows_something is knows
