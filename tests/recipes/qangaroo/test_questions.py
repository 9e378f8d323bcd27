"""Facts become questions once per fact and direction, in splits that share no subject or no pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.domains import load_domain
from kgqa.errors import EmptyResult, SettingsError, UnknownId
from kgqa.recipes.qangaroo.corpus import asked_facts, possible_candidates, true_facts
from kgqa.recipes.qangaroo.questions import ask, first_try
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.recipes.qangaroo.search import endpoint_roles
from kgqa.runs.domain import Domain
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.layouts import LAYOUTS

IDS = [f"Q{i}" for i in range(9)]
FACTS = st.sets(st.tuples(st.sampled_from(IDS), st.sampled_from(["one-way", "both-ways"]), st.sampled_from(IDS)), min_size=1, max_size=25)
Facts = set[tuple[str, str, str]]


def tables(facts: Facts) -> dict[str, pa.Table]:
    """The tables as readers make them: sorted, symmetric facts once with the smaller id first, no self-loops."""
    kept = sorted(
        {(min(h, t), r, max(h, t)) if r == "both-ways" else (h, r, t) for h, r, t in facts if h != t} or {("Q0", "one-way", "Q1")}
    )
    return {
        "entities": pa.table({"id": IDS, "kind": ["even" if int(i[1:]) % 2 == 0 else "odd" for i in IDS]}),
        "relations": pa.table({"id": ["both-ways", "one-way"], "label": ["b", "o"], "symmetric": [True, False]}),
        "facts": pa.table({"head": [h for h, _, _ in kept], "relation": [r for _, r, _ in kept], "tail": [t for _, _, t in kept]}),
    }


def options(**changes: Any) -> QangarooSettings:
    return QangarooSettings.model_validate({"splits": {"by": "pair"}, **changes})


def triples(questions: Questions) -> list[tuple[int, int, int]]:
    return list(zip(questions.head.tolist(), questions.relation.tolist(), questions.answer.tolist(), strict=True))


def expected(given_tables: dict[str, pa.Table], settings: QangarooSettings) -> list[tuple[int, int, int]]:
    """Rows of head, relation and answer of every question, in order."""
    found = set()
    for fact in given_tables["facts"].to_pylist():
        relation = ["both-ways", "one-way"].index(fact["relation"])
        head, tail = IDS.index(fact["head"]), IDS.index(fact["tail"])
        if not settings.relations or fact["relation"] in settings.relations:
            found.add((head, relation, tail))
            if settings.both_directions and relation == 0:
                found.add((tail, relation, head))
    return sorted(found)


@given(facts=FACTS, both=st.booleans(), relations=st.sampled_from([(), ("one-way",), ("both-ways", "one-way")]))
def test_one_question_per_fact_and_direction(facts: Facts, both: bool, relations: tuple[str, ...]) -> None:
    settings, made = options(both_directions=both, relations=relations), tables(facts)
    if not expected(made, settings):
        with pytest.raises(EmptyResult, match=r"qangaroo\.relations"):
            ask(made, settings, seed=0)
        return
    questions = ask(made, settings, seed=0)
    assert triples(questions) == expected(made, settings)
    assert len(set(questions.id.tolist())) == len(questions)
    facts_asked = asked_facts(made, settings)
    of_head = [part.tolist() for part in np.split(facts_asked.tail, facts_asked.offsets(len(IDS))[1:-1])]
    assert of_head == [[t for h, _, t in expected(made, settings) if h == head] for head in range(len(IDS))]


@given(facts=FACTS, data=st.data())
def test_an_id_can_be_made_without_knowing_the_answer(facts: Facts, data: st.DataObject) -> None:
    settings, made = options(both_directions=False), tables(facts)
    questions = ask(made, settings, seed=0)
    pairs = [(head, relation) for head, relation, _ in triples(questions)]
    alone = [i for i, pair in enumerate(pairs) if pairs.count(pair) == 1]
    for i in alone:
        head, relation, answer = triples(questions)[i]
        other = data.draw(st.sampled_from([e for e in range(len(IDS)) if e not in {head, answer}]))
        changed = {(IDS[h], ["both-ways", "one-way"][r], IDS[t]) for h, r, t in triples(questions)}
        changed -= {(IDS[head], ["both-ways", "one-way"][relation], IDS[answer])}
        if relation == 1:
            again = ask(tables(changed | {(IDS[head], "one-way", IDS[other])}), settings, seed=0)
            assert again.id[triples(again).index((head, relation, other))] == questions.id[i]


def test_a_symmetric_relation_asked_from_both_ends_needs_splits_by_pair() -> None:
    with pytest.raises(SettingsError, match=r"splits\.by must be 'pair'"):
        ask(tables({("Q1", "both-ways", "Q2")}), options(splits={"by": "head"}), seed=0)


def test_an_inverse_symmetric_fact_excludes_a_candidate() -> None:
    made = tables({("Q1", "both-ways", "Q2")})
    assert true_facts(made, options(both_directions=False)).tail.tolist() == [2, 1]
    assert asked_facts(made, options(both_directions=False)).tail.tolist() == [2]


def test_an_unknown_relation_is_refused_by_name() -> None:
    with pytest.raises(UnknownId, match="sideways"):
        ask(tables({("Q0", "one-way", "Q1")}), options(relations=("sideways",)), seed=0)


@given(facts=FACTS, more=FACTS, by=st.sampled_from(["head", "pair"]), seed=st.integers(0, 20))
def test_splits_share_no_group_and_more_facts_move_no_question(facts: Facts, more: Facts, by: str, seed: int) -> None:
    settings = options(splits={"train": 0.4, "dev": 0.3, "test": 0.3, "by": by}, both_directions=by == "pair")
    few, many = (
        ask(tables(some), settings, seed=seed) for some in (facts | {("Q0", "one-way", "Q1")}, facts | more | {("Q0", "one-way", "Q1")})
    )
    split_of: dict[object, int] = {}
    for (head, _, answer), split in zip(triples(many), many.split.tolist(), strict=True):
        group = head if by == "head" else frozenset((head, answer))
        assert split_of.setdefault(group, split) == split
    later = dict(zip(triples(many), many.split.tolist(), strict=True))
    for question, split in zip(triples(few), few.split.tolist(), strict=True):
        assert later[question] == split


@given(facts=FACTS, seed=st.integers(0, 20))
def test_a_first_try_grows_with_its_limit_and_never_changes(facts: Facts, seed: int) -> None:
    questions = ask(tables(facts), options(), seed=0)
    chosen: set[int] = set()
    for limit in range(len(questions) + 2):
        now = set(np.flatnonzero(first_try(questions, limit, seed=seed)).tolist())
        assert chosen <= now
        assert len(now) == min(limit, len(questions))
        chosen = now
    turned = questions.select(np.arange(len(questions))[::-1])
    assert first_try(turned, 3, seed=seed)[::-1].tolist() == first_try(questions, 3, seed=seed).tolist()


def test_a_first_try_is_a_random_choice_that_depends_on_the_seed() -> None:
    facts = {(a, r, b) for a in IDS for b in IDS for r in ("one-way", "both-ways")}
    questions = ask(tables(facts), options(), seed=0)
    first, second = (first_try(questions, 30, seed=seed) for seed in (0, 1))
    assert (first != second).any()
    assert len(set(questions.head[first].tolist())) > 5


@given(facts=FACTS)
def test_end_points_are_objects_of_training_facts_or_of_the_kind(facts: Facts) -> None:
    made = tables(facts)
    questions = ask(made, options(splits={"train": 0.5, "dev": 0.3, "test": 0.2, "by": "pair"}), seed=3)
    by_fact = endpoint_roles(questions, made["entities"], options(), 2)
    trained = {(a, r) for (_, r, a), split in zip(triples(questions), questions.split.tolist(), strict=True) if split == 0}
    assert set(zip(by_fact.sources().tolist(), by_fact.targets.tolist(), strict=True)) == trained
    by_kind = endpoint_roles(questions, made["entities"], options(endpoint_kind="odd"), 2)
    odd = {(i, r) for i in range(len(IDS)) if i % 2 == 1 for r in (0, 1)}
    assert set(zip(by_kind.sources().tolist(), by_kind.targets.tolist(), strict=True)) == odd


@given(facts=FACTS)
def test_possible_candidates_are_all_answers_or_all_of_the_kind(facts: Facts) -> None:
    made = tables(facts)
    answers = {a for _, _, a in expected(made, options())}
    assert set(np.flatnonzero(possible_candidates(made, options())).tolist()) == answers
    assert possible_candidates(made, options(endpoint_kind="even")).tolist() == [i % 2 == 0 for i in range(len(IDS))]


@pytest.fixture(params=["wikidata", "medline"])
def domain(request: pytest.FixtureRequest) -> Domain:
    return load_domain(request.param)


def test_the_splits_of_a_seed_domain_share_nothing_and_have_about_their_shares(domain: Domain) -> None:
    settings = domain.settings.qangaroo
    made = dict(LAYOUTS[domain.settings.source.layout].read(domain.source))
    counts = np.zeros(3)
    for seed in range(20):
        questions = ask(made, settings, seed=seed)
        groups: dict[object, set[int]] = {}
        for (head, _, answer), split in zip(triples(questions), questions.split.tolist(), strict=True):
            groups.setdefault(head if settings.splits.by != "pair" else frozenset((head, answer)), set()).add(split)
        assert all(len(splits) == 1 for splits in groups.values())
        counts += np.bincount(questions.split, minlength=3)
    assert np.allclose(counts / counts.sum(), [settings.splits.train, settings.splits.dev, settings.splits.test], atol=0.03)
