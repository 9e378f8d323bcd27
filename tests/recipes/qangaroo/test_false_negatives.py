"""Candidates that may be true as well, from the definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.recipes.qangaroo.false_negatives import FEW, SUPPORTED, TURNED, kin_of_answers, second_truths
from tests.recipes.drawing import ENTITIES, RELATIONS, Record, records, to_samples
from tests.recipes.qangaroo.mined import measured
from tests.rules.drawing import Fact, Knowledge, implied_relations, knowledge

FACTS = knowledge(least=ENTITIES, most=ENTITIES).map(lambda known: replace(known, texts=[]))


def entries(made: list[Record]) -> list[tuple[Record, int]]:
    """The entries of ``candidates.targets``."""
    return [(record, candidate) for record in made for candidate in record.chains]


def within(made: list[Record], known: Knowledge) -> list[Record]:
    """Samples of relations that the graph has."""
    return [replace(record, relation=record.relation % known.relations) for record in made]


@given(made=records(), known=FACTS, least=st.sampled_from([0.0, 0.1, 0.5, 1.0]), seed=st.integers(0, 2**32 - 1))
def test_a_candidate_may_be_true_if_a_fact_that_implies_the_relation_joins_it_to_the_subject(
    made: list[Record], known: Knowledge, least: float, seed: int
) -> None:
    made, rng = within(made, known), np.random.default_rng(seed)
    typed = rng.integers(0, 20, (known.roles, known.relations))
    support = np.minimum(typed, rng.integers(0, 20, typed.shape))
    implied = implied_relations({cell: (int(support[cell]), int(typed[cell])) for cell in np.ndindex(typed.shape)}, known.roles)
    found = second_truths(to_samples(made), known.graph(), implied, least)

    def is_true(record: Record, candidate: int) -> bool:
        roles = [role for x, role, y in known.edges() if (x, y) == (record.head, candidate)]
        cells = [(int(support[role, record.relation]), int(typed[role, record.relation])) for role in roles]
        return candidate != record.answer and any(hits >= SUPPORTED and hits >= least * of for hits, of in cells)

    assert found.tolist() == [is_true(*entry) for entry in entries(made)]


def orders_parts(facts: list[Fact], relation: int) -> bool:
    """Whether subjects or objects have few of the others, and hardly any pair is joined both ways."""
    pairs = {(head, tail) for head, r, tail in facts if r == relation}
    if not pairs:
        return True
    both = sum((tail, head) in pairs for head, tail in pairs) / len(pairs)
    few = min(len(pairs) / len({head for head, _ in pairs}), len(pairs) / len({tail for _, tail in pairs}))
    return few <= FEW and both <= TURNED


@given(made=records(), known=FACTS, data=st.data())
def test_a_candidate_that_a_part_whole_relation_joins_to_the_answer_is_its_kin(
    made: list[Record], known: Knowledge, data: st.DataObject
) -> None:
    made = within(made, known)
    learned = data.draw(st.lists(st.sampled_from(known.facts), unique=True)) if known.facts else []
    found = kin_of_answers(to_samples(made), known.graph(), measured(known, learned))
    kin = {(x, y) for x, role, y in known.edges() if orders_parts(learned, role // 2)}
    assert found.tolist() == [c != record.answer and (record.answer, c) in kin for record, c in entries(made)]


WHOLES = [(1, 0, 0), (2, 0, 0), (3, 0, 1)]
"""1 and 2 are parts of 0, and 3 of 1."""


@pytest.mark.parametrize(
    ("facts", "kin"),
    [
        (WHOLES, [1, 2]),  # a whole and its parts, be the answer the one or the other
        ([*WHOLES, *((a, 0, b) for b, _, a in WHOLES)], []),  # neighbours are no parts of each other
        ([(x, 0, y) for x in range(6) for y in range(x)], []),  # nor are those of whom everybody has many
    ],
)
def test_part_whole_relations_are_recognised_by_measures(facts: list[Fact], kin: list[int]) -> None:
    known = Knowledge(entities=6, symmetric=(False,) * RELATIONS, facts=sorted(facts), noise=[], texts=[])
    record = Record(id=0, split=0, head=5, relation=1, answer=0, chains={c: [(5, 0, c)] for c in range(5)})
    found = kin_of_answers(to_samples([record]), known.graph(), measured(known, known.facts))
    assert np.flatnonzero(found).tolist() == kin
