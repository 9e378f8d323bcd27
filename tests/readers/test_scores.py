"""What decides on the dev questions: of DiRe's transforms that is what their scores are about, and no label outweighs another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgqa.checks.readers.disconnection import transformed
from kgqa.formats.provenance import noted_sufficiency
from kgqa.readers.answers import random_candidate
from kgqa.readers.scores import answer_score, dev_score
from kgqa.records import Candidate, Instance
from kgqa.training.processes import Processes
from kgqa.training.questions import of_list
from kgqa.training.reader import Prediction
from tests.readers.questions import two_hops
from tests.small_questions import question

pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.readers.transformer.examples import paragraphs_with_answer
from kgqa.readers.transformer.reading import supervision_of
from kgqa.settings.training import TrainingSettings
from kgqa.training import predicting
from kgqa.training.device import device_of

Say = Callable[[Instance], Prediction]


def right(instance: Instance) -> Prediction:
    label = noted_sufficiency(instance)
    answer = instance.answers[0] if instance.answers else "whatever"
    return Prediction(id=instance.id, answer=answer, answerable=label is None or label == 1, sufficiency=1 if label is None else label)


def never_suffices(instance: Instance) -> Prediction:
    return replace(right(instance), answerable=False, sufficiency=0)


def unanswered(instance: Instance) -> Prediction:
    return replace(right(instance), answer="nobody")


def mean(instances: Sequence[Instance], say: Say, folder: Path, monkeypatch: pytest.MonkeyPatch) -> float:
    class Told:
        def answer(self, instance: Instance, _: object) -> Prediction:
            return say(instance)

        def score(self, instance: Instance, prediction: Prediction) -> float:
            return dev_score(instance, prediction)

    monkeypatch.setattr(predicting, "_readings", lambda *_, **__: [None] * len(instances))
    return predicting.mean_score(Told(), of_list(instances), folder, Processes(device_of(TrainingSettings(device="cpu"))), limit=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["probe", "sufficiency", "probe-of-sufficiency"])
def test_who_is_right_scores_most_and_who_answers_nothing_scores_less(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = transformed(two_hops(6), kind, max_facts=4, seed=0).instances
    scores = [mean(found, say, tmp_path, monkeypatch) for say in (right, never_suffices, unanswered)]
    assert scores[0] == 1.0
    assert scores[2] < 1.0
    # A probe has no labels, and who is asked for labels gets half for one of two.
    assert scores[1] == pytest.approx({"probe": 1.0, "sufficiency": 0.5, "probe-of-sufficiency": 0.5}[kind])


def test_a_context_of_a_probe_that_lost_its_answer_says_nothing() -> None:
    scores = [dev_score(each, right(each)) for each in transformed(two_hops(1), "probe", max_facts=4, seed=0).instances]
    assert sorted(map(str, scores)) == ["1.0", str(math.nan)]


def test_labels_of_a_transform_weigh_the_same_however_many_have_them() -> None:
    found = transformed(two_hops(6), "sufficiency", max_facts=4, seed=0).instances
    assert supervision_of(found).label_weights == pytest.approx((1.0, 3 / 4, 3 / 2))
    assert supervision_of([question(0), replace(question(1), answerable=False, answers=())]).label_weights == (1.0, 1.0, 1.0)


def test_yes_and_no_can_be_learned_from_a_probe() -> None:
    asked = [replace(each, answers=("yes",), answer_type="boolean") for each in two_hops(2)]
    found = transformed(asked, "probe", max_facts=4, seed=0).instances
    assert [each.answers for each in found] == [("yes",)] * 4
    assert supervision_of(found).options


def test_one_paragraph_learns_every_paragraph_that_states_the_answer() -> None:
    """Also a distractor (Trivedi et al. 2022, section 7.2.2)."""
    right_one, wrong = (replace(question(0).paragraphs[0], id=name, supporting=name == "right") for name in ("right", "wrong"))
    asked = replace(question(0), paragraphs=(wrong, right_one), answers=(right_one.text.split()[0],))
    assert paragraphs_with_answer(asked) == {0, 1}
    assert paragraphs_with_answer(replace(asked, answers=("yes",), answer_type="boolean")) == {1}


def test_where_no_candidate_is_mentioned_their_order_does_not_answer() -> None:
    candidates = tuple(Candidate(id=f"C{number}", text=f"place {number}") for number in range(5))
    chosen = {random_candidate(replace(question(0), id=f"q{number}", candidates=candidates)).id for number in range(30)}
    assert len(chosen) > 2
    turned = replace(question(0), candidates=candidates[::-1])
    assert random_candidate(turned) == random_candidate(replace(turned, candidates=candidates))


def test_one_part_of_an_answer_is_not_the_answer() -> None:
    parts = asked_for("Ada Holm", "Bo Ek", answer_type="spans", alternatives=(("the two founders",),))
    said = {text: answer_score(parts, Prediction(id=parts.id, answer=text)) for text in ("Ada Holm", "Bo Ek Ada Holm", "two founders")}
    assert said == {"Ada Holm": pytest.approx(2 / 3), "Bo Ek Ada Holm": 1, "two founders": 1}
    assert answer_score(asked_for("Ada Holm", "Holm", answer_type="span"), Prediction(id="q", answer="Holm")) == 1


def asked_for(*answers: str, **more: Any) -> Instance:
    return Instance(id="q", question="Who?", paragraphs=(), answers=answers, answerable=True, group="q", provenance=None, **more)
