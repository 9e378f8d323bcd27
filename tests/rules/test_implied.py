"""What single edges imply, against its definition."""

from __future__ import annotations

from hypothesis import given, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.arrays.wilson import wilson_low
from kgqa.rules.implied import FIRST_SIZE, ImpliedRelations, mine_implied
from kgqa.rules.paths import mine_paths, path_index
from tests.rules import oracle
from tests.rules.drawing import Knowledge, cells_of, columns, knowledge


def mined(known: Knowledge) -> ImpliedRelations:
    return mine_implied(known.graph(), *known.columns())


@given(known=knowledge())
def test_the_miner_counts_what_the_definition_counts(known: Knowledge) -> None:
    found = mined(known)
    assert len(found.relations.offsets) == known.roles + 1
    assert cells_of(found) == oracle.implied(known)


@given(known=knowledge(), order=st.randoms(use_true_random=False))
def test_duplicates_and_the_order_of_facts_change_nothing(known: Knowledge, order) -> None:  # type: ignore[no-untyped-def]
    again = order.sample(known.facts, len(known.facts)) + known.facts[:2]
    assert cells_of(mine_implied(known.graph(), *columns(again))) == cells_of(mined(known))


@given(known=knowledge())
def test_the_share_and_its_lower_end_are_those_of_the_counts(known: Knowledge) -> None:
    found = mined(known)
    assert (found.support <= found.typed).all()
    assert (found.typed > 0).all()
    assert (found.confidence <= found.share + 1e-12).all()
    assert found.confidence.tolist() == wilson_low(found.support, found.typed).tolist()
    assert found.share.tolist() == [hits / of for hits, of in cells_of(found).values()]


def test_a_synonym_an_inverse_and_a_text_are_mined() -> None:
    same = [(0, 0, 1), (2, 0, 3), (0, 1, 1), (2, 1, 3), (1, 2, 0), (3, 2, 2)]
    known = Knowledge(entities=4, symmetric=(False,) * 3, facts=sorted(same), noise=[], texts=[(0, 1, 2), (0, 3, 2)])
    found, sentence = cells_of(mined(known)), 2 * 3 + 2
    assert found[2, 0] == (2, 2)  # relation 1 says what relation 0 says
    assert found[5, 0] == (2, 2)  # so does relation 2 backwards
    assert (4, 0) not in found  # its objects are no subjects
    assert found[sentence, 0] == (1, 2)  # one of two sentences states a fact
    assert (0, 0) not in found  # a relation says nothing about itself


def test_memory_grows_with_occurring_pairs_and_not_with_relations_squared() -> None:
    relations, same = 5_000, 40
    facts = [(0, r, 1) for r in range(same)] + [(2 * r, r, 2 * r + 1) for r in range(same, relations)]
    known = Knowledge(entities=2 * relations, symmetric=(False,) * relations, facts=facts, noise=[], texts=[])
    found, graph = mined(known), known.graph()
    index = path_index(mine_paths(graph, *known.columns(), min_support=1, min_confidence=0.0, engine=Threads(1)), graph.role_count)
    assert cells_of(found) == {(2 * r, s): (1, 1) for r in range(same) for s in range(same) if r != s}  # more than a new table has room for
    assert found.relations.offsets.size == graph.role_count + 1
    assert found.relations.targets.size == found.support.size == found.typed.size == same * (same - 1) > FIRST_SIZE
    assert [part.size for part in index] == [graph.role_count + 1, 0]
