"""SQuAD 1.1 and 2.0: maxima over gold answers, empty sides, missing and extra ids, thresholds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import InputError, MissingInput
from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import token_overlap
from kgqa.metrics.squad import NoAnswer, squad, squad2
from tests.metrics.drawing import ids, texts

GOLD = st.dictionaries(ids, st.lists(texts, min_size=1, max_size=3), min_size=1)
GOLD_2 = st.dictionaries(ids, st.lists(texts, max_size=3), min_size=1)
PREDICTIONS = st.dictionaries(ids, texts)


def test_worked_example() -> None:
    scores = squad({"a": ["New York", "Boston"], "b": ["the one"], "c": ["x"]}, {"a": "new york new york", "b": "One", "z": "x"})
    assert scores.official == {"exact_match": 100 / 3, "f1": 100 * (2 * 0.5 / 1.5 + 1) / 3}
    assert scores.per_record["f1"] == {"a": 2 * 0.5 / 1.5, "b": 1.0, "c": 0.0}
    assert (scores.missing, scores.extra) == (("c",), ("z",))


@given(gold=GOLD, predictions=PREDICTIONS)
def test_each_score_is_the_best_over_the_gold_answers(gold: dict[str, list[str]], predictions: dict[str, str]) -> None:
    scores = squad(gold, predictions)
    for key, answers in gold.items():
        one_by_one = [squad({key: [answer]}, predictions) for answer in answers]
        for name in ("exact_match", "f1"):
            assert scores.per_record[name][key] == max(single.per_record[name][key] for single in one_by_one)
        if key not in predictions:
            assert scores.per_record["f1"][key] == scores.per_record["exact_match"][key] == 0
    for name, values in scores.per_record.items():
        assert scores.official[name] == pytest.approx(100 * sum(values.values()) / len(gold))


@given(answer=texts, prediction=texts)
def test_the_versions_differ_where_both_sides_are_empty_and_nowhere_else(answer: str, prediction: str) -> None:
    old = squad({"q": [answer]}, {"q": prediction}).per_record
    new = squad2({"q": [answer]}, {"q": prediction}).per_record
    assert old["exact_match"] == new["exact"]
    if normalize(answer) == normalize(prediction) == "":
        assert (old["f1"], new["f1"]) == ({"q": 0.0}, {"q": 1.0})
    else:
        assert old["f1"] == new["f1"] == {"q": token_overlap(normalize(prediction).split(), normalize(answer).split()).f1}


def test_a_question_without_gold_answers_is_refused_by_the_old_version() -> None:
    with pytest.raises(InputError, match="question q"):
        squad({"q": []}, {"q": "x"})


@given(gold=GOLD_2, empty=texts.filter(lambda text: not normalize(text)))
def test_without_a_gold_answer_only_the_empty_prediction_is_right(gold: dict[str, list[str]], empty: str) -> None:
    scores = squad2(gold, dict.fromkeys(gold, empty)).per_record
    for key, answers in gold.items():
        assert scores["exact"][key] == scores["f1"][key] == (not any(normalize(answer) for answer in answers))


@given(gold=GOLD_2, predictions=PREDICTIONS)
def test_the_two_kinds_of_questions_make_up_the_whole(gold: dict[str, list[str]], predictions: dict[str, str]) -> None:
    scores = squad2(gold, predictions, missing_as_zero=True)
    parts = [prefix for prefix in ("HasAns_", "NoAns_") if f"{prefix}total" in scores.official]
    assert sum(scores.official[f"{prefix}total"] for prefix in parts) == scores.official["total"] == len(gold)
    for name in ("exact", "f1"):
        assert scores.per_record[name] == {k: v for prefix in parts for k, v in scores.per_record[prefix + name].items()}
    assert all(bool(gold[key]) for key in scores.per_record.get("HasAns_f1", {}))


def test_the_new_version_names_the_missing_ids_unless_told_to_score_them_0() -> None:
    gold = {"a": ["x"], "b": [], "c": ["y"]}
    with pytest.raises(MissingInput, match="2 of 3 questions have no prediction: b, c"):
        squad2(gold, {"a": "x", "z": "y"})
    scores = squad2(gold, {"a": "x", "z": "y"}, missing_as_zero=True)
    assert scores.per_record["exact"] == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert (scores.missing, scores.extra) == (("b", "c"), ("z",))


def test_best_threshold_by_hand() -> None:
    # By rising probability: a is right (+1), b has no answer but one is given (-1), c is right (+1), d has no answer and none is given (0).
    gold: dict[str, list[str]] = {"a": ["x"], "b": [], "c": ["y"], "d": []}
    predictions = {"a": "x", "b": "x", "c": "y", "d": ""}
    probabilities = {"d": 0.9, "c": 0.4, "b": 0.3, "a": 0.1}
    scores = squad2(gold, predictions, no_answer=NoAnswer(probabilities=probabilities, threshold=0.35))
    assert scores.official == {
        "exact": 50.0, "f1": 50.0, "total": 4, "HasAns_exact": 50.0, "HasAns_f1": 50.0, "HasAns_total": 2,
        "NoAns_exact": 50.0, "NoAns_f1": 50.0, "NoAns_total": 2,
        "best_exact": 75.0, "best_exact_thresh": 0.1, "best_f1": 75.0, "best_f1_thresh": 0.1,
    }  # fmt: skip


@given(gold=GOLD_2, data=st.data())
def test_the_best_threshold_reaches_what_it_says(gold: dict[str, list[str]], data: st.DataObject) -> None:
    predictions = {key: data.draw(texts) for key in gold}
    shuffled = data.draw(st.permutations(range(len(gold))))
    probabilities = {key: (1 + place) / 10 for key, place in zip(gold, shuffled, strict=True)}

    def at(threshold: float) -> dict[str, float]:
        return squad2(gold, predictions, no_answer=NoAnswer(probabilities=probabilities, threshold=threshold)).official

    found = at(1.0)
    for name in ("exact", "f1"):
        reached = at(found[f"best_{name}_thresh"])[name]
        # A non-empty prediction that is empty once normalised costs a point in the search and not in the score.
        assert reached >= found[f"best_{name}"] - 1e-9
        if all(normalize(prediction) or not prediction for prediction in predictions.values()) and all(
            any(map(normalize, answers)) or not answers for answers in gold.values()
        ):
            assert reached == pytest.approx(found[f"best_{name}"])
            assert all(at(threshold)[name] <= reached + 1e-9 for threshold in (0.0, *probabilities.values()))


def test_a_prediction_without_probability_is_named() -> None:
    with pytest.raises(MissingInput, match="no probability in --na-prob-file: q"):
        squad2({"q": ["x"]}, {"q": "x"}, no_answer=NoAnswer(probabilities={}))


@pytest.mark.real_data
def test_every_gold_answer_of_the_dev_set_scores_full_marks(real_data: Path) -> None:
    articles = json.loads((real_data / "squad" / "dev-v1.1.json").read_text("utf-8"))["data"]
    questions = [question for article in articles for paragraph in article["paragraphs"] for question in paragraph["qas"]]
    gold = {question["id"]: [answer["text"] for answer in question["answers"]] for question in questions}
    assert len(gold) == 10_570
    for place in (0, -1):
        scores = squad(gold, {key: answers[place] for key, answers in gold.items()})
        # An answer of articles and punctuation alone has no token: EM is 1 and F1 is 0.
        empty = sum(not normalize(answers[place]) for answers in gold.values())
        assert scores.official == {"exact_match": 100.0, "f1": 100.0 * (len(gold) - empty) / len(gold)}
