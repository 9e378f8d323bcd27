"""QAngaroo: accuracy after normalisation, and the subset that annotators validated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.metrics.normalize import normalize
from kgqa.metrics.qangaroo import QAngarooGold, majority, qangaroo, validated
from tests.metrics.drawing import ids, texts

VALID = (("follows", "multiple"), ("follows", "single"), ("likely", "multiple"))
ANNOTATIONS = st.lists(
    st.tuples(st.sampled_from(("follows", "likely", "not_follow")), st.sampled_from(("single", "multiple", ""))), max_size=4
)
GOLD = st.dictionaries(ids, st.builds(QAngarooGold, answer=texts, annotations=ANNOTATIONS.map(tuple)), min_size=1)


@pytest.mark.parametrize(("categories", "chosen"), [("aab", "a"), ("aabb", None), ("abc", None), ("", None), ("b", "b")])
def test_a_majority_is_more_than_half(categories: str, chosen: str | None) -> None:
    assert majority(categories) == chosen


def test_worked_example() -> None:
    gold = {
        "a": QAngarooGold(answer="german empire", annotations=VALID),
        "b": QAngarooGold(answer="DB04844"),
        "c": QAngarooGold(answer="x"),
    }
    scores = qangaroo(gold, {"a": "The German Empire. ", "b": "DB00001", "z": "x"})
    assert scores.official == {"accuracy": 100 / 3, "validated_accuracy": 100.0}
    assert scores.per_record == {"accuracy": {"a": 1.0, "b": 0.0, "c": 0.0}, "validated_accuracy": {"a": 1.0}}
    assert (scores.missing, scores.extra) == (("c",), ("z",))
    assert set(qangaroo({"b": gold["b"]}, {}).official) == {"accuracy"}


@given(GOLD, st.dictionaries(ids, texts))
def test_right_is_what_is_equal_once_normalised(gold: dict[str, QAngarooGold], predictions: dict[str, str]) -> None:
    scores = qangaroo(gold, predictions)
    for key, question in gold.items():
        assert scores.per_record["accuracy"][key] == (key in predictions and normalize(predictions[key]) == normalize(question.answer))
    checked = {key for key, question in gold.items() if validated(question)}
    assert set(scores.per_record.get("validated_accuracy", {})) == checked


@given(ANNOTATIONS)
def test_each_majority_is_more_than_half_on_its_own(annotations: list[tuple[str, str]]) -> None:
    follows = sum(annotation[0] == "follows" for annotation in annotations)
    multiple = sum(annotation[1] == "multiple" for annotation in annotations)
    assert validated(QAngarooGold(answer="x", annotations=tuple(annotations))) == (2 * follows > len(annotations) < 2 * multiple)


@pytest.mark.real_data
def test_the_gold_answers_of_the_dev_set_score_full_marks(real_data: Path) -> None:
    records = json.loads((real_data / "qangaroo" / "wikihop_dev_28.json").read_text("utf-8"))
    gold = {
        record["id"]: QAngarooGold(
            answer=record["answer"], annotations=tuple((follows, documents) for follows, documents in record.get("annotations", ()))
        )
        for record in records
    }
    scores = qangaroo(gold, {key: question.answer for key, question in gold.items()})
    assert len(gold) == 28
    assert 0 < len(scores.per_record["validated_accuracy"]) < 28
    assert set(scores.official.values()) == {100.0}
