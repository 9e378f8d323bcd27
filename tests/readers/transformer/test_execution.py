"""Decompositions are executed step by step; with a reader that knows every single-hop answer, the answers are the gold ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.errors import BrokenInput, MissingInput
from kgqa.formats import musique
from kgqa.progress import Progress, Silent
from kgqa.readers.decompositions import single_hop_instances
from kgqa.readers.registry import find_reader
from kgqa.readers.transformer.execution import Execution, StepExecution, execute
from kgqa.records import Instance, Step
from kgqa.settings.seq2seq import ExecutionSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions, of_list
from kgqa.training.reader import Fitting, Prediction
from tests.readers.questions import fitting, two_hops

FEW = TrainingSettings(batch=8, epochs=1, max_steps=2, device="cpu")


class Oracle:
    """Knows what it was told about the steps of questions, and notes what it was asked."""

    def __init__(self, instances: list[Instance]) -> None:
        self.known: Mapping[tuple[str, str], Instance] = {
            (hop.id, hop.question): hop for each in instances for hop in single_hop_instances(each)
        }
        self.calls: list[list[str]] = []

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        raise NotImplementedError

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        asked = list(questions)
        assert len(asked) == len(questions)
        self.calls.append([each.question for each in asked])
        return iter([self._said(each) for each in asked])

    def _said(self, asked: Instance) -> Prediction:
        hop = self.known.get((asked.id, asked.question))
        if hop is None:
            return Prediction(id=asked.id, answer="unknown", answerable=False, sufficiency=0)
        scores = tuple((each.id, 0.9 if each.supporting else 0.1) for each in hop.paragraphs)
        return Prediction(id=asked.id, answer=(hop.answers or ("",))[0], confidence=0.5, paragraph_scores=scores, answerable=hop.answerable)

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    def load(self, folder: Path) -> None:
        raise NotImplementedError


def _executed(instances: list[Instance], oracle: Oracle) -> list[Prediction]:
    return list(execute(of_list(instances), [each.decomposition or () for each in instances], oracle, Silent()))


@pytest.mark.real_data
def test_gold_steps_and_an_oracle_give_the_gold_answers_of_musique(real_data: Path) -> None:
    instances = list(musique.read(real_data / "musique" / "musique_ans_dev_200.jsonl"))
    oracle = Oracle(instances)
    found = _executed(instances, oracle)
    assert [each.answer for each in found] == [each.answers[0] for each in instances]
    assert [set(each.supporting) for each in found] == [{p.id for p in each.paragraphs if p.supporting} for each in instances]
    assert all(each.answerable and each.sufficiency == 1 for each in found)
    assert len(instances) == 200
    assert len(oracle.calls) <= 4


def test_a_round_asks_the_steps_of_all_questions_at_once() -> None:
    instances = two_hops(3)
    oracle = Oracle(instances)
    found = _executed(instances, oracle)
    assert oracle.calls == [
        ["director of zora", "director of milo", "director of tarn"],
        ["spouse of zoraan", "spouse of miloan", "spouse of tarnan"],
    ]
    assert [(step.answer, step.paragraph_id) for step in found[0].steps] == [("zoraan", "0"), ("zoraette", "1")]
    assert found[0].confidence == 0.25
    assert dict(found[0].paragraph_scores) == {"0": 0.9, "1": 0.9, "2": 0.1}


def test_one_step_that_lacks_its_paragraph_makes_the_question_unanswerable() -> None:
    whole = two_hops(1)[0]
    twin = replace(whole, paragraphs=whole.paragraphs[:1])
    (found,) = _executed([twin], Oracle([twin]))
    assert (found.answerable, found.sufficiency) == (False, 0)


@pytest.mark.parametrize(
    "waits", [{"a": ("b",), "b": ("a",)}, {"a": ("a",), "b": ()}, {"a": ("b",), "b": ()}, {"a": ("gone",), "b": ("a",)}]
)
def test_steps_that_wait_for_each_other_come_to_an_end(waits: dict[str, tuple[str, ...]]) -> None:
    whole = two_hops(1)[0]
    steps = tuple(
        Step(id=name, question=f"#{3 - n} of #{n}", answer=None, paragraph_id=None, depends_on=waits[name])
        for n, name in ((1, "a"), (2, "b"))
    )
    asked = replace(whole, decomposition=steps)
    (found,) = _executed([asked], Oracle([]))
    assert [step.answer for step in found.steps] == ["unknown", "unknown"]


def test_a_step_waits_for_all_that_it_depends_on() -> None:
    steps = tuple(
        Step(id=name, question="?", answer=None, paragraph_id=None, depends_on=depends)
        for name, depends in (("a", ()), ("b", ("a",)), ("c", ()), ("d", ("b", "c")))
    )
    execution = Execution(steps=steps)
    order = []
    while ready := execution.ready():
        order.append(ready)
        execution.predictions.update({number: Prediction(id="", answer="x") for number in ready})
    assert order == [[0, 2], [1], [3]]


def _made(name: str, encoder: str, **given: object) -> StepExecution:
    settings = ExecutionSettings.model_validate({"encoder": encoder, "decomposer_epochs": 1, **given})
    reader = find_reader(name).make(name, settings, FEW)
    assert isinstance(reader, StepExecution)
    return reader


@pytest.mark.parametrize("name", ["ex-ee", "ex-sa"])
def test_both_parts_are_fitted_saved_and_loaded(name: str, tiny_encoder: str, tmp_path: Path) -> None:
    questions = of_list(two_hops())
    parts = set()
    reader = _made(name, tiny_encoder, decomposer={"encoder": tiny_encoder, "target_tokens": 30})
    reader.fit(questions, None, fitting(tmp_path / "fit", FEW, lambda point: parts.add(str(point["part"]))))
    assert parts >= {"decomposer"}
    assert reader.fitted is not None
    (tmp_path / "saved").mkdir()
    reader.save(tmp_path / "saved")
    again = _made(name, "-")
    again.load(tmp_path / "saved")
    found = list(reader.predict(questions, Silent()))
    assert [each.id for each in found] == [each.id for each in questions]
    assert list(again.predict(questions, Silent())) == found
    with pytest.raises(BrokenInput, match=f"this is the reader {name}, not ee"):
        find_reader("ee").make("ee", find_reader("ee").settings(), FEW).load(tmp_path / "saved")
    path = tmp_path / "saved" / "reader.json"
    for change in ({"settings": {"more": 1}}, {"settings": 3}):
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **change}), "utf-8")
        with pytest.raises(BrokenInput, match="does not describe this reader any more"):
            again.load(tmp_path / "saved")


def test_gold_decompositions_need_no_decomposer(tiny_encoder: str, tmp_path: Path) -> None:
    reader = _made("ex-ee", tiny_encoder, decompositions="gold")
    questions = of_list(two_hops(2))
    reader.fit(questions, questions, fitting(tmp_path, FEW))
    assert not (tmp_path / "decomposer").exists()
    assert [len(each.steps) for each in reader.predict(questions, Silent())] == [2, 2]
    plain = of_list([replace(each, decomposition=None) for each in questions])
    with pytest.raises(MissingInput, match="question q0 has no decomposition"):
        list(reader.predict(plain, Silent()))


def test_a_set_without_decompositions_is_refused(tiny_encoder: str, tmp_path: Path) -> None:
    plain = of_list([replace(each, decomposition=None) for each in two_hops(2)])
    with pytest.raises(MissingInput, match="ex-sa learns from decompositions"):
        _made("ex-sa", tiny_encoder).fit(plain, None, fitting(tmp_path, FEW))


def test_the_single_hop_reader_learns_from_steps_and_reads_questions_as_they_are(tiny_encoder: str, tmp_path: Path) -> None:
    kind = find_reader("single-hop")
    reader = kind.make("single-hop", kind.settings.model_validate({"encoder": tiny_encoder}), FEW)
    questions = of_list(two_hops(2))
    reader.fit(questions, None, fitting(tmp_path, FEW))
    assert [each.id for each in reader.predict(questions, Silent())] == ["q0", "q1"]
