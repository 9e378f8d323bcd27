"""Whatever a model answers is a prediction that every official file can hold, or has a reason why it is none."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.chat.ask import judge
from kgqa.chat.recording import Answer
from kgqa.readers.llm.answer_form import TYPES, Form, Wanted, fault_of, gold_form, prediction_of, schema_of
from kgqa.readers.llm.context import InTheBox
from kgqa.records import ANSWER_TYPES
from kgqa.scoring.prediction_files import ANSWER_TYPES as OF_METRIC, LABELLED, OF_SENTENCES, TRANSFORMED, write_predictions
from tests.small_questions import question

TEXTS = ["span", "spans", "number", "boolean", "none", "yes", "no", "5", "1", "3", "3.1", "2.9", "", " ", "a b", "\ud800", "−1"]
ATOMS = st.sampled_from(TEXTS) | st.integers(-2, 10) | st.booleans() | st.none() | st.floats()
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3), max_leaves=5)
ANSWERS = st.dictionaries(st.sampled_from(list(Form.model_fields)), VALUES)
PLAIN = [metric for metric in OF_METRIC if metric not in TRANSFORMED]


def wanted(metric: str) -> Wanted:
    return Wanted(types=OF_METRIC[metric], sentences=metric in OF_SENTENCES, sufficiency=metric in LABELLED)


@pytest.mark.parametrize("metric", PLAIN)
@pytest.mark.parametrize("candidates", [False, True])
@given(content=ANSWERS)
def test_any_answer_is_written_or_refused(metric: str, candidates: bool, content: dict[str, Any], tmp_path_factory: Any) -> None:
    instance = question(2, candidates=candidates)
    [shown] = InTheBox(by_sentence=metric in OF_SENTENCES)([instance])
    answer = Answer(text=json.dumps(content), finish="stop", input_tokens=1, output_tokens=1)
    judged = judge(answer, schema=Form, check=partial(fault_of, shown=shown, wanted=wanted(metric)))
    asked = judged.result
    assert (asked.value is None) == bool(asked.reason) == bool(judged.complaint)
    if asked.value is not None:
        folder: Path = tmp_path_factory.mktemp("out")
        write_predictions(metric, [instance], [prediction_of(asked.value, shown)], folder / "out.json")


def test_the_types_are_those_of_the_records() -> None:
    assert set(TYPES) == set(ANSWER_TYPES) - {"candidate"}
    assert {kind for kinds in OF_METRIC.values() for kind in kinds} == set(TYPES)


@pytest.mark.parametrize("metric", OF_METRIC)
@pytest.mark.parametrize("candidates", [False, True])
def test_gold_is_an_answer_without_faults(metric: str, candidates: bool) -> None:
    instance = question(2, candidates=candidates)
    if metric == "strategyqa":
        instance = replace(instance, answers=("no",), answer_type="boolean", candidates=None)
    [shown] = InTheBox(by_sentence=metric in OF_SENTENCES)([instance])
    form = gold_form(shown, wanted(metric))
    assert form is not None
    fields = schema_of(wanted(metric), candidates=bool(instance.candidates))
    content = json.dumps(form.model_dump(include=set(fields["properties"])))
    value = Form.model_validate_json(content)
    assert not fault_of(value, shown, wanted(metric))
    prediction = prediction_of(value, shown)
    assert prediction.answer == instance.answers[0]
    assert prediction.supporting == ("p2",)
    assert prediction.supporting_sentences == ((("p2", 1),) if metric in OF_SENTENCES else ())
