"""HotpotQA: yes and no, empty sides, joint scores, missing parts, paragraph level."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.metrics.hotpotqa import NAMES, Fact, HotpotQAGold, HotpotQAPrediction, answer_overlap, hotpotqa, titles
from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import Overlap, joint, set_overlap, token_overlap
from tests.metrics.drawing import facts, ids, texts

GOLD = st.dictionaries(ids, st.builds(HotpotQAGold, answer=texts, support=facts), min_size=1)
PREDICTIONS = st.dictionaries(ids, st.builds(HotpotQAPrediction, answer=st.none() | texts, support=st.none() | facts))


def asked(answer: str, *support: Fact) -> HotpotQAGold:
    return HotpotQAGold(answer=answer, support=frozenset(support))


def said(answer: str | None, *support: Fact) -> HotpotQAPrediction:
    return HotpotQAPrediction(answer=answer, support=frozenset(support))


def test_worked_example() -> None:
    gold = {"a": asked("New York", ("A", 0), ("B", 1)), "b": asked("yes", ("C", 0))}
    scores = hotpotqa(gold, {"a": said("New York new york", ("A", 0), ("A", 1), ("A", 2), ("B", 1)), "b": said("yes", ("C", 0))})
    assert scores.official == {
        "em": 0.5, "f1": (2 * 0.5 / 1.5 + 1) / 2, "prec": 0.75, "recall": 1.0,
        "sp_em": 0.5, "sp_f1": (2 * 0.5 / 1.5 + 1) / 2, "sp_prec": 0.75, "sp_recall": 1.0,
        "joint_em": 0.5, "joint_f1": (2 * 0.25 / 1.25 + 1) / 2, "joint_prec": 0.625, "joint_recall": 1.0,
    }  # fmt: skip
    assert scores.unrounded == scores.official | dict.fromkeys([f"paragraph_{name}" for name in NAMES], 1.0)


@given(texts, texts)
def test_yes_and_no_count_only_where_they_are_the_whole_answer_on_both_sides(prediction: str, gold: str) -> None:
    left, right = normalize(prediction), normalize(gold)
    overlap = answer_overlap(prediction, gold)
    if left != right and {left, right} & {"yes", "no", "noanswer"}:
        assert overlap == Overlap()
    else:
        assert overlap == token_overlap(left.split(), right.split())


def test_yes_in_a_longer_answer_is_no_partial_match() -> None:
    assert answer_overlap("Yes!", "yes it is") == answer_overlap("yes it is", "yes") == Overlap()
    assert answer_overlap("yes sir", "yes it is").f1 == pytest.approx(0.4)
    assert answer_overlap("The.", "a") == Overlap(em=1.0)


@given(GOLD, PREDICTIONS)
def test_what_is_missing_counts_0_and_the_divisor_is_the_gold_size(
    gold: dict[str, HotpotQAGold], predictions: dict[str, HotpotQAPrediction]
) -> None:
    scores = hotpotqa(gold, predictions)
    for name, values in scores.per_record.items():
        assert list(values) == list(gold)
        assert scores.unrounded[name] == pytest.approx(sum(values.values()) / len(gold))
    for key in gold:
        predicted = predictions.get(key, HotpotQAPrediction(answer=None, support=None))
        for prefix, given_up in (
            ("", predicted.answer is None),
            ("sp_", predicted.support is None),
            ("joint_", None in (predicted.answer, predicted.support)),
        ):
            if given_up:
                assert not any(scores.per_record[prefix + name][key] for name in NAMES)
    assert set(scores.missing) == set(gold) - set(predictions)
    assert set(scores.extra) == set(predictions) - set(gold)
    without_extra = {key: predicted for key, predicted in predictions.items() if key in gold}
    assert hotpotqa(gold, without_extra).per_record == scores.per_record


@given(st.builds(HotpotQAGold, answer=texts, support=facts), texts, facts)
def test_each_question_joins_its_own_answer_and_support(question: HotpotQAGold, answer: str, support: frozenset[Fact]) -> None:
    scores = hotpotqa({"q": question}, {"q": HotpotQAPrediction(answer=answer, support=support)}).official
    parts = answer_overlap(answer, question.answer), set_overlap(support, question.support)
    for prefix, overlap in zip(("", "sp_", "joint_"), (*parts, joint(*parts)), strict=True):
        assert tuple(scores[prefix + name] for name in NAMES) == overlap


def test_two_empty_supports_match_exactly_with_f1_0() -> None:
    scores = hotpotqa({"q": asked("x")}, {"q": said("x")}).official
    assert (scores["sp_em"], scores["sp_f1"], scores["joint_em"], scores["joint_f1"]) == (1.0, 0.0, 1.0, 0.0)


@given(facts, facts)
def test_the_paragraph_level_forgets_the_sentences(predicted: frozenset[Fact], gold: frozenset[Fact]) -> None:
    scores = hotpotqa({"q": HotpotQAGold(answer="", support=gold)}, {"q": HotpotQAPrediction(answer="", support=predicted)}).unrounded
    assert tuple(scores[f"paragraph_{name}"] for name in NAMES) == set_overlap(titles(predicted), titles(gold))


@pytest.mark.real_data
def test_the_gold_answers_of_the_dev_set_score_full_marks(real_data: Path) -> None:
    records = json.loads((real_data / "hotpotqa" / "hotpot_dev_distractor_200.json").read_text("utf-8"))
    gold = {
        record["_id"]: asked(record["answer"], *[(title, number) for title, number in record["supporting_facts"]]) for record in records
    }
    scores = hotpotqa(gold, {key: HotpotQAPrediction(answer=question.answer, support=question.support) for key, question in gold.items()})
    assert len(gold) == 200
    assert set(scores.unrounded.values()) == {1.0}
