"""Link prediction: averages over questions, F of the averages, and questions that need no link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.metrics.links import link_prediction
from tests.metrics.drawing import ids

LINKS = st.dictionaries(ids, st.frozensets(st.sampled_from("abc")), min_size=1)


def test_worked_example() -> None:
    gold = {"a": frozenset("xy"), "b": frozenset(), "c": frozenset("x"), "d": frozenset("x"), "e": frozenset()}
    scores = link_prediction(gold, {"a": frozenset("x"), "b": frozenset(), "c": frozenset(), "e": frozenset("x"), "z": frozenset("x")})
    assert scores.per_record["precision"] == {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": 0.0}
    assert scores.per_record["recall"] == {"a": 0.5, "b": 1.0, "c": 0.0, "d": 0.0, "e": 0.0}
    assert scores.official == {"precision": 0.4, "recall": 0.3, "f1": pytest.approx(0.24 / 0.7)}
    assert (scores.missing, scores.extra) == (("d",), ("z",))


@given(LINKS, LINKS)
def test_gold_and_predictions_swap_precision_and_recall(one: dict[str, frozenset[str]], other: dict[str, frozenset[str]]) -> None:
    other = {key: other.get(key, frozenset()) for key in one}
    there, back = link_prediction(one, other), link_prediction(other, one)
    assert there.per_record["precision"] == back.per_record["recall"]
    assert there.official["f1"] == pytest.approx(back.official["f1"])
    assert set(link_prediction(one, one).official.values()) == {1.0}


@pytest.mark.real_data
def test_questions_without_links_of_a_real_system_count_fully(real_data: Path) -> None:
    lines = (real_data / "iirc" / "iirc_dev_1301.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line)["link_prediction"] for line in lines]
    gold = {str(number): frozenset(record["gold_question_links"]) for number, record in enumerate(records)}
    predicted = {str(number): frozenset(record["predicted_links"]) for number, record in enumerate(records)}
    scores = link_prediction(gold, predicted)
    needless = [key for key in gold if not gold[key] and not predicted[key]]
    assert len(needless) == 12
    assert all(scores.per_record[name][key] == 1 for name in ("precision", "recall") for key in needless)
    assert scores.official["f1"] == pytest.approx(0.88978, abs=1e-5)
