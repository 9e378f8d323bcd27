"""Queries about pairs: both hops stated, once a pair, distractors as near that nothing makes true."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgqa.recipes.qangaroo.pair_queries import NOTHING_STATED, PairFinder, pair_tables
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.rejected import empty_sentence
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.rules.roles import role_graph
from kgqa.settings.qangaroo import QangarooSettings

A, B, C, D, P, Q = range(6)
"""Drugs A to D, proteins P and Q."""
SAID = {  # document: {drug: {protein: how probably it is stated}}
    0: {A: {P: 0.9, Q: 0.1}},
    1: {B: {P: 0.9}},
    2: {C: {P: 0.1}},
    3: {D: {Q: 0.9}},
}
MENTIONS = {0: (A, P, Q), 1: (B, P), 2: (C, P), 3: (D, Q)}


def tables() -> dict[str, pa.Table]:
    ids = ["A", "B", "C", "D", "P", "Q"]
    rows = [(f"d{document}", ids[entity]) for document, entities in MENTIONS.items() for entity in entities]
    documents, entities = (list(column) for column in zip(*rows, strict=True))
    return {
        "entities": pa.table({"id": ids, "kind": ["drug"] * 4 + ["protein"] * 2}),
        "relations": pa.table({"id": ["interacts_with", "target"], "symmetric": [True, False]}),
        "facts": pa.table({"head": ["A", "A", "B"], "relation": ["interacts_with", "target", "target"], "tail": ["B", "P", "P"]}),
        "documents": pa.table({"id": [f"d{document}" for document in MENTIONS]}),
        "links": pa.table({"document": documents, "entity": entities, "count": [1] * len(rows)}),
        "occurrences": pa.table({"document": documents, "entity": entities, "start": pa.array(range(len(rows)), pa.int32())}),
        "edges": pa.table({"document": [f"d{document}" for document in MENTIONS]}),
    }


def finder(**changed: object) -> tuple[PairFinder, Questions]:
    settings = QangarooSettings.model_validate(
        {
            "queries": "pairs", "relations": ["interacts_with"], "endpoint_kind": "drug", "answer_stated": "chain_document",
            "pairs": {"facts": 0, "known": 0, "per_pair": 1, **changed},
        }
    )  # fmt: skip
    here = tables()
    said = [(d, x, z, p) for d, drugs in SAID.items() for x, proteins in drugs.items() for z, p in proteins.items()]
    document, before, after = (np.array(column, np.int32) for column in list(zip(*said, strict=True))[:3])
    statements = Statements(
        document=document, before=before, after=after, role=np.full(len(said), 2, np.int32),
        probability=np.array([p for *_, p in said], np.float32), lift=np.zeros(len(said), np.float32),
        fact=(before <= B) & (after == P),
    )  # fmt: skip
    none = np.zeros(0, np.int32)
    facts = role_graph(
        np.array([A, A, B]), np.array([0, 1, 1]), np.array([B, P, P]), symmetric=np.array([True, False]), texts=(none, none), grades=none,
        entities=6,
    )  # fmt: skip
    questions = Questions(
        id=np.array([1, 2], np.uint64), split=np.zeros(2, np.int8), head=np.array([A, B], np.int32), relation=np.zeros(2, np.int32),
        answer=np.array([B, A], np.int32),
    )  # fmt: skip
    return PairFinder(here, pair_tables(here, settings), statements, facts, settings, seed=0), questions


def made(**changed: object) -> Samples:
    pairs, questions = finder(**changed)
    return pairs.samples(questions, pairs.queries(questions)[0])[0]


def test_a_pair_gives_one_query_whose_distractors_have_an_unstated_hop() -> None:
    samples = made()
    assert len(samples) == 1
    assert samples.candidates.targets.tolist() == ([B, C, D] if samples.questions.head[0] == A else [A, C])
    assert set(samples.nodes.counts().tolist()) == {5}, "all chains are as long"


def test_a_pair_that_is_not_stated_with_enough_confidence_gives_no_query() -> None:
    pairs, questions = finder(stated=0.95)
    queries, rows = pairs.queries(questions)
    assert not len(queries)
    assert not len(pairs.samples(questions, queries)[0])
    assert "Lower qangaroo.pairs.stated" in empty_sentence(rows, what=("chains",), nothing=NOTHING_STATED)


def test_a_candidate_that_texts_may_state_is_no_distractor() -> None:
    assert not {C, D} & set(made(possible=0.05).candidates.targets.tolist())


def test_both_ends_of_a_pair_are_asked_about() -> None:
    assert sorted(made(per_pair=2).questions.head.tolist()) == [A, B]


def test_a_candidate_of_which_the_graph_has_too_few_facts_is_no_distractor() -> None:
    assert len(finder(known=0)[0].queries(finder()[1])[0]) == 1
    assert not len(finder(known=1)[0].queries(finder()[1])[0])
