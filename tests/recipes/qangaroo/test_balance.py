"""MedHop's rounds: the same number of chains for every candidate, within the document limit, and nothing chosen for its id."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings, strategies as st

from kgqa.recipes.qangaroo.balance import balance, draw_alternatives
from kgqa.recipes.qangaroo.samples import Samples
from tests.lengths import example_count
from tests.recipes.drawing import DOCUMENTS, Record, check_chains, records, to_records, to_samples

LIMITS = st.integers(1, DOCUMENTS + 1)
CHOICES = st.integers(2, 6)
MADE = records(most=5, chains=4)


def balanced(made: list[Record], *, candidates: int, limit: int, seed: int = 0) -> list[Record]:
    return to_records(balance(to_samples(made), candidates=candidates, max_documents=limit, seed=seed))


def rounds(record: Record) -> int:
    """How many chains each candidate has; it must be one number."""
    (number,) = {len(chains) for chains in record.chains.values()}
    return number


@settings(max_examples=example_count(200))
@given(made=MADE, candidates=CHOICES, limit=LIMITS, seed=st.integers(0, 5))
def test_the_kept_part_is_balanced_and_within_the_limits(made: list[Record], candidates: int, limit: int, seed: int) -> None:
    for before, after in zip(made, balanced(made, candidates=candidates, limit=limit, seed=seed), strict=True):
        assert (after.id, after.head, after.answer) == (before.id, before.head, before.answer)
        assert len(after.documents) <= limit
        assert len(after.chains) <= candidates
        # The shortest chain of the answer alone decides whether the sample can be shown.
        assert (after.answer in after.chains) == (min(map(len, before.chains[before.answer])) // 2 <= limit)
        assert bool(after.chains) == (after.answer in after.chains)
        if after.chains:
            check_chains(after)
            assert rounds(after) >= 1
        for candidate, chains in after.chains.items():
            dropped = Counter(before.chains[candidate]) - Counter(chains)
            assert not Counter(chains) - Counter(before.chains[candidate])
            assert max(map(len, chains)) <= min(map(len, dropped), default=99)


@given(made=MADE, candidates=CHOICES)
def test_without_a_document_limit_all_rounds_fit_and_alternatives_with_many_chains_are_preferred(
    made: list[Record], candidates: int
) -> None:
    for before, after in zip(made, balanced(made, candidates=candidates, limit=DOCUMENTS), strict=True):
        assert len(after.chains) == min(candidates, len(before.chains))
        assert rounds(after) == min(len(before.chains[candidate]) for candidate in after.chains)
        most = len(before.chains[before.answer])
        useful = {candidate: min(len(chains), most) for candidate, chains in before.chains.items()}
        left_out = set(before.chains) - set(after.chains)
        assert max((useful[c] for c in left_out), default=0) <= min(useful[c] for c in after.chains)


@given(made=MADE, candidates=CHOICES, limit=LIMITS, seed=st.integers(0, 5))
def test_balancing_a_sample_does_not_depend_on_other_samples(made: list[Record], candidates: int, limit: int, seed: int) -> None:
    together = balanced(made, candidates=candidates, limit=limit, seed=seed)
    assert together == balanced(made, candidates=candidates, limit=limit, seed=seed)
    assert together == [record for one in made for record in balanced([one], candidates=candidates, limit=limit, seed=seed)]


@given(made=MADE, candidates=CHOICES, seed=st.integers(0, 5))
def test_the_answer_and_the_given_number_of_alternatives_are_drawn(made: list[Record], candidates: int, seed: int) -> None:
    drawn = to_records(draw_alternatives(to_samples(made), candidates=candidates, seed=seed))
    for before, after in zip(made, drawn, strict=True):
        assert len(after.chains) == min(candidates, len(before.chains))
        assert after.answer in after.chains
        assert all(before.chains[candidate] == chains for candidate, chains in after.chains.items())
    alone = [record for one in made for record in to_records(draw_alternatives(to_samples([one]), candidates=candidates, seed=seed))]
    assert drawn == alone


def many_alike(count: int) -> Samples:
    """Samples that differ in their id alone: an answer, and six alternatives as good as each other."""
    ids = np.random.default_rng(0).integers(0, 2**63, count)
    chains = {candidate: [(7, candidate, candidate)] for candidate in range(7)}
    return to_samples([Record(id=int(i), split=0, head=7, relation=0, answer=3, chains=chains) for i in ids])


def test_no_alternative_is_favoured_for_its_id() -> None:
    for kept in (
        balance(many_alike(3000), candidates=3, max_documents=9, seed=0),
        draw_alternatives(many_alike(3000), candidates=3, seed=0),
    ):
        counts = np.bincount(kept.candidates.targets, minlength=7)
        assert counts[3] == 3000
        assert all(900 < count < 1100 for i, count in enumerate(counts.tolist()) if i != 3)


def test_another_seed_draws_others() -> None:
    first, second = (balance(many_alike(50), candidates=3, max_documents=9, seed=seed).candidates.targets.tolist() for seed in (0, 1))
    assert first != second


def test_a_round_that_does_not_fit_is_left_out_for_all() -> None:
    chains = {1: [(0, 0, 1), (0, 1, 1)], 2: [(0, 2, 2), (0, 3, 2)]}
    made = [Record(id=5, split=0, head=0, relation=0, answer=1, chains=chains)]
    assert rounds(balanced(made, candidates=2, limit=4)[0]) == 2
    assert rounds(balanced(made, candidates=2, limit=3)[0]) == 1
    assert list(balanced(made, candidates=2, limit=1)[0].chains) == [1]


@given(made=records(most=5, chains=4, graded=True), candidates=CHOICES, limit=LIMITS)
def test_graded_chains_are_taken_in_their_order_and_grades_stay_with_their_candidates(
    made: list[Record], candidates: int, limit: int
) -> None:
    for before, after in zip(made, balanced(made, candidates=candidates, limit=limit), strict=True):
        for candidate, chains in after.chains.items():
            assert chains == before.chains[candidate][: len(chains)]
            assert after.grades is not None
            assert before.grades is not None
            assert after.grades[candidate] == before.grades[candidate]
