"""Grades of chains against their definition, and the best chain of each candidate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.recipes.qangaroo import evidence
from kgqa.recipes.qangaroo.evidence import MOST_IMPLIED, MOST_ROLES, path_texts, with_best_chains
from kgqa.recipes.qangaroo.samples import GRADE
from kgqa.rules.roles import TEXT_ROLES
from tests.recipes.drawing import Chain, Record, check_chains, records, to_records, to_samples
from tests.recipes.qangaroo.grading import Known, graded_records, known_things, sure
from tests.rules.drawing import Knowledge

HIGH, LOW = (190, 200), (90, 200)


@given(data=st.data(), known=known_things(), facts=st.integers(0, 3))
def test_a_chain_is_graded_as_its_definition_says(data: st.DataObject, known: Known, facts: int) -> None:
    made = data.draw(graded_records(known))
    grades = iter(known.evidence().grade(to_samples(made), facts=facts, engine=Threads(1)))
    for record in made:
        for candidate, chain in ((candidate, chain) for candidate, chains in record.chains.items() for chain in chains):
            grade = next(grades)
            confidence, text, paths = known.best(chain, record.relation, facts=facts if candidate == record.answer else 0)
            assert (float(grade["confidence"]), int(grade["text"])) == (pytest.approx(confidence, abs=1e-6), text)  # type: ignore[comparison-overlap]
            assert ((int(grade["first"]), int(grade["second"]), int(grade["third"])), int(grade["implied"])) in paths
    assert next(grades, None) is None


@pytest.mark.parametrize(("facts", "path"), [(0, (4, 4)), (1, (0, 4)), (2, (4, 4))])
def test_for_answers_a_path_with_enough_facts_beats_one_with_higher_confidence(facts: int, path: tuple[int, int]) -> None:
    graph = Knowledge(entities=6, symmetric=(False,) * 2, facts=[(0, 0, 1)], noise=[], texts=[])
    known = Known(facts=graph, rules={(0, 4, 1): LOW, (4, 4, 1): HIGH})  # role 4: in the same document
    record = Record(id=0, split=0, head=0, relation=1, answer=2, chains={2: [(0, 0, 1, 1, 2)], 3: [(0, 0, 1, 1, 3)]})
    answer, other = known.evidence().grade(to_samples([record]), facts=facts, engine=Threads(1))
    assert (int(answer["first"]), int(answer["second"])) == path
    assert float(answer["confidence"]) == pytest.approx(sure(LOW if path == (0, 4) else HIGH))
    assert (int(other["first"]), int(other["second"])) == (4, 4)


@pytest.mark.parametrize("workers", [2, 5])
@given(data=st.data(), known=known_things())
def test_grades_do_not_depend_on_workers_and_steps(workers: int, data: st.DataObject, known: Known) -> None:
    samples, prepared = to_samples(data.draw(graded_records(known))), known.evidence()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "STEP", 2)
        assert prepared.grade(samples, engine=Threads(workers)).tobytes() == known.evidence().grade(samples, engine=Threads(1)).tobytes()


def one(known: Known, chain: Chain, relation: int) -> np.void:
    """The grade of one chain."""
    record = Record(id=0, split=0, head=chain[0], relation=relation, answer=chain[-1], chains={chain[-1]: [chain]})
    return known.evidence().grade(to_samples([record]), engine=Threads(1))[0]


@given(data=st.data(), known=known_things())
def test_two_facts_imply_a_candidate_whatever_its_chains_are(data: st.DataObject, known: Known) -> None:
    made = data.draw(graded_records(known))
    found = iter(known.evidence().implied_by_facts(to_samples(made)).tolist())
    edges = known.facts.edges()
    for record in made:
        for candidate in record.chains:
            fitting = [
                sure(known.rules[first, second, record.relation])
                for x, first, z in edges for middle, second, y in edges
                if (x, y) == (record.head, candidate) and z == middle and (first, second, record.relation) in known.rules
            ]  # fmt: skip
            assert next(found) == pytest.approx(max(fitting, default=0.0), abs=1e-6)
    assert next(found, None) is None


LINE = [(0, 0, 1), (1, 1, 2), (2, 2, 3)]
"""Three hops with a relation each; relation 3 is what the first two may imply, relation 4 is asked about."""
THREE = {(0, 2, 3): HIGH, (6, 4, 4): HIGH}


def line(*more: tuple[int, int, int], rules: dict[tuple[int, int, int], tuple[int, int]] = THREE) -> Known:
    facts = Knowledge(entities=6, symmetric=(False,) * 5, facts=sorted([*LINE, *more]), noise=[], texts=[])
    return Known(facts=facts, rules=rules)


OTHERS_OBJECT = (5, 3, 2)
"""Relation 3 can have entity 2 as its object."""


@pytest.mark.parametrize(
    ("known", "confidence"),
    [
        (line(OTHERS_OBJECT), sure(HIGH) * sure(HIGH)),  # open: the graph says nothing of 0
        (line((0, 3, 2)), sure(HIGH)),  # a fact: sure
        (line(OTHERS_OBJECT, (0, 3, 4)), 0.0),  # taken for false: the graph knows other objects of 0
        (line(), 0.0),  # meaningless: 2 is never an object of relation 3
        (line(OTHERS_OBJECT, rules={**THREE, (0, 2, 3): LOW}), 0.0),  # not sure enough to take part
        (line((0, 3, 2), rules={**THREE, (0, 2, 3): LOW}), 0.0),
        (line((5, 3, 3), rules={(2, 4, 3): HIGH, (0, 6, 4): HIGH}), sure(HIGH) * sure(HIGH)),  # the last two, then the first
    ],
)
def test_two_of_three_hops_form_a_path_with_the_third_by_the_relation_that_they_imply(known: Known, confidence: float) -> None:
    grade = one(known, (0, 7, 1, 8, 2, 6, 3), 4)
    assert float(grade["confidence"]) == pytest.approx(confidence, abs=1e-6)
    path = (0, 2, 4) if confidence else (-1, -1, -1)
    assert (grade["first"], grade["second"], grade["third"], grade["implied"]) == (*path, 3 if confidence else -1)


def test_facts_on_a_hop_above_the_limit_are_ignored() -> None:
    many = MOST_ROLES + 4
    facts = Knowledge(entities=2, symmetric=(False,) * many, facts=[(0, r, 1) for r in range(many)], noise=[], texts=[])
    known = Known(facts=facts, rules={}, alone={(2 * (MOST_ROLES - 1), 0): LOW, (2 * MOST_ROLES, 0): HIGH, (2 * many, 1): HIGH})
    assert float(one(known, (0, 0, 1), 0)["confidence"]) == pytest.approx(sure(LOW))
    assert int(one(known, (0, 0, 1), 1)["first"]) == 2 * many  # the text role is always looked at


@pytest.mark.parametrize(("last", "is_seen"), [(MOST_IMPLIED - 1, True), (MOST_IMPLIED, False), (MOST_IMPLIED + 30, False)])
def test_implied_relations_above_the_limit_are_ignored(last: int, is_seen: bool) -> None:
    count = MOST_IMPLIED + 40
    facts = [(0, count, 1), (1, count + 1, 2), (2, count + 2, 3), *((5, r, 2) for r in range(count))]
    rules = {(2 * count, 2 * count + 2, r): HIGH for r in range(count)} | {(2 * last, 2 * count + 4, count + 3): HIGH}
    facts_known = Knowledge(entities=6, symmetric=(False,) * (count + 4), facts=sorted(facts), noise=[], texts=[])
    grade = one(Known(facts=facts_known, rules=rules), (0, 7, 1, 8, 2, 6, 3), count + 3)
    assert (float(grade["confidence"]) > 0, int(grade["implied"])) == ((True, last) if is_seen else (False, -1))


def test_texts_are_graded_without_rules_and_facts() -> None:
    facts = Knowledge(entities=3, symmetric=(False,), facts=[], noise=[], texts=[])
    grade = one(Known(facts=facts, rules={}, texts={(0, 0, 1): 2, (1, 1, 2): 1}), (0, 0, 1, 1, 2), 0)
    assert grade.tolist() == (0.0, 1, -1, -1, -1, -1, 0.0)


def drawn_grades(data: st.DataObject, count: int) -> np.ndarray:
    """Grades of few values, so that many are equal."""
    rows = st.tuples(st.sampled_from([0.0, 0.25, 0.5]), st.integers(0, 2), *[st.integers(-1, 5)] * 4, st.just(0.0))
    return np.array(data.draw(st.lists(rows, min_size=count, max_size=count)), GRADE)


@given(made=records(), data=st.data(), only=st.booleans())
def test_the_best_chain_is_best(made: list[Record], data: st.DataObject, only: bool) -> None:
    samples = to_samples(made)
    count = len(samples.chains.targets)
    grades = drawn_grades(data, count)
    enough = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
    best = with_best_chains(samples, grades, enough, only=only)
    numbers, wanted = iter(range(count)), []
    for record in made:
        lists, best_grades = {}, {}
        for candidate, chains in record.chains.items():
            mine = [(grades[number], number, chain) for number, chain in ((next(numbers), chain) for chain in chains)]
            by_text = {number: -int(grade["text"]) if candidate == record.answer and enough[number] else 0 for grade, number, _ in mine}
            weak = {number: candidate == record.answer and not enough[number] for _, number, _ in mine}
            # To an answer whether it is enough, and then its text; confidence; text; length; place.
            mine.sort(key=lambda of: (weak[of[1]], by_text[of[1]], -of[0]["confidence"], -int(of[0]["text"]), len(of[2]), of[1]))
            lists[candidate] = [chain for _, _, chain in mine][: 1 if only else None]
            best_grades[candidate] = mine[0][0].tolist()
        wanted.append(replace(record, chains=lists, grades=best_grades))
    assert to_records(best) == wanted  # which looks at the documents too
    for record in wanted:
        check_chains(record)


def test_a_path_is_read_from_its_roles() -> None:
    grades = np.array([(0.5, 2, 0, 3, -1, -1, 0), (0.0, 0, -1, -1, -1, -1, 0), (0.5, 1, 2, 6, 0, 1, 0), (0.5, 2, 0, 3, -1, -1, 0)], GRADE)
    labels = ["place of birth", "country"]
    forth = "place of birth → ^country"
    assert path_texts(grades, labels) == [forth, "", f"country → {TEXT_ROLES[2]} → place of birth", forth]
    assert path_texts(grades[:0], labels) == []
