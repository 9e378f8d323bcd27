"""Mined paths against their definitions, whatever the graph, and however many workers count."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.arrays.wilson import wilson_low
from kgqa.rules import paths
from kgqa.rules.paths import PathRules, mine_paths
from tests.rules import oracle
from tests.rules.drawing import Knowledge, columns, knowledge


def mined(known: Knowledge, *, min_support: int = 1, min_confidence: float = 0.0, workers: int = 1) -> PathRules:
    return mine_paths(known.graph(), *known.columns(), min_support=min_support, min_confidence=min_confidence, engine=Threads(workers))


def keys(rules: PathRules) -> list[oracle.Path]:
    return list(zip(rules.first.tolist(), rules.second.tolist(), rules.relation.tolist(), strict=True))


def as_bytes(rules: PathRules) -> list[bytes]:
    return [getattr(rules, field.name).tobytes() for field in fields(PathRules)]


@given(known=knowledge(), min_support=st.integers(1, 4))
def test_the_miner_finds_the_rules_that_the_definitions_give(known: Knowledge, min_support: int) -> None:
    rules, wanted = mined(known, min_support=min_support), oracle.path_rules(known, min_support=min_support)
    assert keys(rules) == sorted(wanted)
    for name in ("support", "body", "typed", "head_facts"):
        assert getattr(rules, name).tolist() == [getattr(wanted[key], name) for key in keys(rules)], name


@given(known=knowledge())
def test_the_confidence_is_a_lower_bound_and_counts_are_nested(known: Knowledge) -> None:
    rules, wanted = mined(known), oracle.path_rules(known, min_support=1)
    for place, key in enumerate(keys(rules)):
        rule = wanted[key]
        assert rules.confidence[place] < rule.support / rule.typed
    assert (rules.support <= rules.typed).all()
    assert (rules.typed <= rules.body).all()
    assert (rules.support <= rules.head_facts).all()


@pytest.mark.parametrize("workers", [2, 5])
@given(known=knowledge(most=20))
def test_the_rules_do_not_depend_on_the_workers(known: Knowledge, workers: int) -> None:
    assert as_bytes(mined(known, workers=workers)) == as_bytes(mined(known, workers=1))


@given(known=knowledge(), order=st.randoms(use_true_random=False))
def test_the_rules_do_not_depend_on_the_order_of_the_facts(known: Knowledge, order) -> None:  # type: ignore[no-untyped-def]
    mixed = columns(order.sample(known.facts, len(known.facts)))
    again = mine_paths(known.graph(), *mixed, min_support=1, min_confidence=0.0, engine=Threads(1))
    assert as_bytes(again) == as_bytes(mined(known))


@given(known=knowledge(most=20), least=st.sampled_from([0.05, 0.1, 0.3, 0.6]))
def test_a_higher_minimum_confidence_only_removes_rules(known: Knowledge, least: float) -> None:
    every = mined(known)
    sure = every.select(every.confidence >= least)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "STRIDE", 1)  # so that the first look sees all that there is, and errs in nothing
        assert as_bytes(mined(known, min_confidence=least)) == as_bytes(sure)
    early = mined(known, min_confidence=least)
    assert set(keys(early)) <= set(keys(sure))


def star(leaves: int, *, true: int) -> Knowledge:
    """``leaves`` subjects, each of which relation 0 joins to a hub and the hub to an object; relation 1 holds of the first ``true``."""
    hub, thing, other = leaves, leaves + 1, leaves + 2
    facts = [(leaf, 0, hub) for leaf in range(leaves)] + [(hub, 0, thing)]
    facts += [(leaf, 1, thing if leaf < true else other) for leaf in range(leaves)]
    return Knowledge(entities=leaves + 3, symmetric=(False, False), facts=sorted(facts), noise=[], texts=[])


@pytest.mark.parametrize("leaves", [40, 500])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_sample_keeps_a_good_rule_and_discards_a_poor_one(leaves: int, share: float) -> None:
    true = int(share * leaves)
    rules = mined(star(leaves, true=true), min_support=5, min_confidence=0.3)
    assert (0, 0, 1) in keys(rules)
    place = keys(rules).index((0, 0, 1))
    assert (rules.support[place], rules.typed[place], rules.body[place]) == (true, leaves, leaves)
    assert (0, 0, 1) not in keys(mined(star(leaves, true=leaves // 20), min_support=1, min_confidence=0.3))


def test_the_sample_counts_hits_and_misses_over_the_same_entities() -> None:
    leaves = [leaf for leaf in range(2000) if leaf % paths.STRIDE]  # it sees none of them, and so must not judge
    facts = [(leaf, 0, 2001) for leaf in leaves] + [(2001, 0, 2002)] + [(leaf, 1, 2002) for leaf in leaves]
    known = Knowledge(entities=2003, symmetric=(False, False), facts=sorted(facts), noise=[], texts=[])
    assert (0, 0, 1) in keys(mined(known, min_support=5, min_confidence=0.9))


def test_no_path_leads_back_to_its_start() -> None:
    known = Knowledge(entities=2, symmetric=(True,), facts=[(0, 0, 1), (1, 0, 0)], noise=[(0, 0, 0)], texts=[(0, 1, 2), (1, 0, 2)])
    assert len(mined(known)) == 0


def test_a_long_row_outgrows_the_first_buffers() -> None:
    leaves = 70_000  # more paths over the hub than the first buffer holds
    known = star(leaves, true=leaves)
    rules = mined(known, min_support=1000, min_confidence=0.1)
    place = keys(rules).index((0, 0, 1))
    assert (rules.support[place], rules.body[place]) == (leaves, leaves)


def test_an_end_that_many_hops_reach_counts_once() -> None:
    many = 3000  # more hops with one role than the first buffer holds
    hub, end, other = many, many + 1, many + 2
    facts = [(hub, 0, leaf) for leaf in range(many)] + [(leaf, 0, end) for leaf in range(many)]
    facts += [(leaf, 0, other) for leaf in range(many // 2)] + [(hub, 1, end)]
    known = Knowledge(entities=many + 3, symmetric=(False, False), facts=sorted(facts), noise=[], texts=[])
    rules = mined(known)
    place = keys(rules).index((0, 0, 1))
    assert (rules.support[place], rules.body[place], rules.typed[place]) == (1, 2, 1)


@given(of=st.integers(1, 10_000), data=st.data())
def test_the_lower_end_solves_wilsons_equation(of: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, of))
    low = float(wilson_low(np.array([hits]), np.array([of]))[0])
    assert -1e-12 <= low <= hits / of + 1e-12
    assert (hits / of - low) ** 2 == pytest.approx(1.959963984540054**2 * low * (1 - low) / of, abs=1e-9)


def test_without_cases_the_lower_end_is_zero() -> None:
    assert wilson_low(np.array([0]), np.array([0])).tolist() == [0.0]
    assert wilson_low(np.array([5, 50]), np.array([5, 50])).tolist() == sorted(wilson_low(np.array([5, 50]), np.array([5, 50])))
