"""What single edges imply, against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.wilson import wilson_low
from kgqa.rules.implied import ImpliedRelations, mine_implied
from tests.rules import oracle
from tests.rules.drawing import Knowledge, columns, knowledge


def mined(known: Knowledge) -> ImpliedRelations:
    return mine_implied(known.graph(), *known.columns())


@given(known=knowledge())
def test_the_miner_counts_what_the_definition_counts(known: Knowledge) -> None:
    found, wanted = mined(known), oracle.implied(known)
    assert found.support.shape == found.typed.shape == (known.roles, known.relations)
    cells = {(role, relation): (0, 0) for role in range(known.roles) for relation in range(known.relations)} | wanted
    assert {cell: (int(found.support[cell]), int(found.typed[cell])) for cell in cells} == cells


@given(known=knowledge(), order=st.randoms(use_true_random=False))
def test_facts_that_come_again_and_in_another_order_change_nothing(known: Knowledge, order) -> None:  # type: ignore[no-untyped-def]
    again = order.sample(known.facts, len(known.facts)) + known.facts[:2]
    found = mine_implied(known.graph(), *columns(again))
    assert found.support.tolist() == mined(known).support.tolist()
    assert found.typed.tolist() == mined(known).typed.tolist()


@given(known=knowledge())
def test_the_share_and_its_lower_end_are_those_of_the_counts(known: Knowledge) -> None:
    found = mined(known)
    assert (found.support <= found.typed).all()
    assert (found.share[found.typed == 0] == 0).all()
    assert (found.confidence <= found.share + 1e-12).all()
    assert found.confidence.tolist() == wilson_low(found.support, found.typed).tolist()
    for role, relation in np.argwhere(found.typed):
        assert found.share[role, relation] == pytest.approx(found.support[role, relation] / found.typed[role, relation])


def test_a_synonym_an_inverse_and_a_text_are_seen() -> None:
    same = [(0, 0, 1), (2, 0, 3), (0, 1, 1), (2, 1, 3), (1, 2, 0), (3, 2, 2)]
    known = Knowledge(entities=4, symmetric=(False,) * 3, facts=sorted(same), noise=[], texts=[(0, 1, 2), (0, 3, 2)])
    found, sentence = mined(known), 2 * 3 + 2
    assert (found.support[2, 0], found.typed[2, 0]) == (2, 2)  # relation 1 says what relation 0 says
    assert (found.support[5, 0], found.typed[5, 0]) == (2, 2)  # so does relation 2 backwards
    assert (found.support[4, 0], found.typed[4, 0]) == (0, 0)  # its objects are no subjects
    assert (found.support[sentence, 0], found.typed[sentence, 0]) == (1, 2)  # one of two sentences states a fact
    assert (found.support[0, 0], found.typed[0, 0]) == (0, 0)  # a relation says nothing about itself
