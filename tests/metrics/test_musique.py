"""MuSiQue: aliases, empty sides, answerable questions only, sufficiency pairs, alignment line by line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import DuplicateId, InputError
from kgqa.metrics.musique import MuSiQueGold, MuSiQuePrediction, musique
from tests.metrics.drawing import texts

SUPPORT = st.frozensets(st.integers(0, 4), max_size=3)
Pairs = list[tuple[MuSiQueGold, MuSiQuePrediction]]


@st.composite
def sets(draw: st.DrawFn, *, full: bool) -> Pairs:
    """Gold lines with their predictions; in a full set each id is there with and without an answer, in any order."""
    members = [
        (f"q{number}", answerable) for number in range(draw(st.integers(1, 5))) for answerable in ([True, False] if full else [True])
    ]
    drawn = []
    for key, answerable in draw(st.permutations(members)):
        answers = tuple(draw(st.lists(texts, min_size=1, max_size=3)))
        question = MuSiQueGold(id=key, answers=answers, support=draw(SUPPORT), answerable=answerable)
        drawn.append((question, MuSiQuePrediction(id=key, answer=draw(texts), support=draw(SUPPORT), answerable=draw(st.booleans()))))
    return drawn


def scored(pairs: Pairs) -> dict[str, dict[str, float]]:
    return musique([question for question, _ in pairs], [predicted for _, predicted in pairs]).per_record


def asked(key: str, *answers: str, support: tuple[int, ...] = (1, 2), answerable: bool = True) -> MuSiQueGold:
    return MuSiQueGold(id=key, answers=answers, support=frozenset(support), answerable=answerable)


def said(key: str, answer: str, *support: int, answerable: bool = True) -> MuSiQuePrediction:
    return MuSiQuePrediction(id=key, answer=answer, support=frozenset(support), answerable=answerable)


def test_worked_example() -> None:
    gold = [asked("a", "New York", "NYC"), asked("b", "x"), asked("a", answerable=False), asked("b", "x", answerable=False)]
    predictions = [said("a", "new york new york", 1), said("b", "x", 1, 2), said("a", "", answerable=False), said("b", "y")]
    scores = musique(gold, predictions)
    # The pair b is lost, because its unanswerable member was thought answerable.
    assert scores.official == {
        "answer_f1": 0.833, "answer_em": 0.5, "support_f1": 0.833,
        "group_answer_sufficiency_f1": 0.333, "group_support_sufficiency_f1": 0.333,
    }  # fmt: skip
    assert scores.unrounded["support_em"] == 0.5
    assert scores.unrounded["group_answer_sufficiency_f1"] == pytest.approx(1 / 3)


@given(answers=st.lists(texts, min_size=1, max_size=3), prediction=texts)
def test_em_and_f1_are_each_the_best_over_answer_and_aliases(answers: list[str], prediction: str) -> None:
    whole = scored([(asked("q", *answers), said("q", prediction))])
    singles = [scored([(asked("q", answer), said("q", prediction))]) for answer in answers]
    for name in ("answer_em", "answer_f1"):
        assert whole[name]["q"] == max(single[name]["q"] for single in singles)


@pytest.mark.parametrize(
    ("gold", "predicted", "f1"),
    [
        ("", "", 1),
        ("The", "a!", 1),
        ("", "x", 0),
        ("x", "", 0),
        ("yes it is", "yes", 0.5),
        ("é", "e", 0),
        ("new york new york", "new york", 2 / 3),
    ],
)
def test_empty_sides_agree_and_neither_yes_nor_accents_are_special(gold: str, predicted: str, f1: float) -> None:
    assert scored([(asked("q", gold), said("q", predicted))])["answer_f1"]["q"] == pytest.approx(f1)


@pytest.mark.parametrize(("gold", "predicted", "f1"), [((), (), 1), ((), (1,), 0), ((1,), (), 0), ((1, 2), (2, 3), 0.5)])
def test_empty_supports_agree_fully(gold: tuple[int, ...], predicted: tuple[int, ...], f1: float) -> None:
    assert scored([(asked("q", "x", support=gold), said("q", "x", *predicted))])["support_f1"]["q"] == f1


@given(sets(full=False))
def test_a_set_of_answerable_questions_has_no_sufficiency_scores(pairs: Pairs) -> None:
    scores = musique([question for question, _ in pairs], [predicted for _, predicted in pairs])
    assert set(scores.official) == {"answer_f1", "answer_em", "support_f1"}
    assert list(scores.per_record["answer_f1"]) == [question.id for question, _ in pairs]


@given(sets(full=True))
def test_predicted_answerability_changes_the_pairs_only(pairs: Pairs) -> None:
    found = scored(pairs)
    right = scored([(question, replace(predicted, answerable=question.answerable)) for question, predicted in pairs])
    for name in ("answer_f1", "answer_em", "support_f1", "support_em"):
        assert found[name] == right[name]
    wrong = {question.id for question, predicted in pairs if question.answerable != predicted.answerable}
    for part in ("answer", "support"):
        group = f"group_{part}_sufficiency_f1"
        assert right[group] == right[f"{part}_f1"]
        assert found[group] == {key: 0.0 if key in wrong else score for key, score in right[group].items()}


@given(sets(full=True))
def test_what_is_said_of_unanswerable_members_does_not_count(pairs: Pairs) -> None:
    other = [
        (question, predicted if question.answerable else replace(predicted, answer="other", support=frozenset()))
        for question, predicted in pairs
    ]
    assert scored(other) == scored(pairs)


@given(pairs=sets(full=True), data=st.data())
def test_a_group_of_the_wrong_size_is_refused(pairs: Pairs, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(pairs) - 1))
    left = pairs[:place] + pairs[place + 1 :]
    if all(question.answerable for question, _ in left):
        assert len(scored(left)["answer_f1"]) == 1
    else:
        with pytest.raises(InputError, match=f"question {pairs[place][0].id}: it has"):
            scored(left)
    with pytest.raises(InputError, match=f"question {pairs[place][0].id}: it has"):
        scored([*pairs, pairs[place]])


def test_two_unanswerable_members_are_no_pair() -> None:
    with pytest.raises(InputError, match="0 answerable and 2 unanswerable"):
        scored([(asked("q", answerable=False), said("q", "x"))] * 2)


def test_an_id_twice_is_refused_where_all_are_answerable() -> None:
    with pytest.raises(DuplicateId, match="question q: it occurs 2 times"):
        scored([(asked("q", "x"), said("q", "x"))] * 2)


def test_gold_and_predictions_have_the_same_ids_line_by_line() -> None:
    gold = [asked("a", "x"), asked("b", "x")]
    with pytest.raises(InputError, match="line 1: the gold id is a and the predicted one b"):
        musique(gold, [said("b", "x"), said("a", "x")])
    with pytest.raises(InputError, match="2 gold lines and 1 predictions"):
        musique(gold, [said("a", "x")])
    with pytest.raises(InputError, match="2 gold lines and 3 predictions"):
        musique(gold, [said("a", "x"), said("b", "x"), said("c", "x")])
    with pytest.raises(InputError, match="nothing to score"):
        musique([], [])
    with pytest.raises(InputError, match="question a: it is answerable and has no answer"):
        musique([asked("a")], [said("a", "x")])


@pytest.mark.real_data
def test_the_gold_answers_of_the_dev_set_score_full_marks(real_data: Path) -> None:
    lines = (real_data / "musique" / "musique_ans_dev_200.jsonl").read_text("utf-8").splitlines()
    gold = []
    for record in map(json.loads, lines):
        support = tuple(paragraph["idx"] for paragraph in record["paragraphs"] if paragraph["is_supporting"])
        gold.append(asked(record["id"], record["answer"], *record["answer_aliases"], support=support, answerable=record["answerable"]))
    scores = musique(gold, [said(question.id, question.answers[-1], *question.support) for question in gold])
    assert len(gold) == 200
    assert scores.official == {"answer_f1": 1.0, "answer_em": 1.0, "support_f1": 1.0}
