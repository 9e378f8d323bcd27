"""A decomposed question is as many single-hop questions as it has steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgqa.formats import musique
from kgqa.readers.decompositions import filled_question, single_hop, single_hop_instances
from kgqa.records import Step
from kgqa.training.questions import of_list
from tests.readers.questions import two_hops


def test_each_step_has_its_question_answer_and_paragraph() -> None:
    first, second = single_hop_instances(two_hops(1)[0])
    assert (first.question, first.answers) == ("director of zora", ("zoraan",))
    assert (second.question, second.answers) == ("spouse of zoraan", ("zoraette",))
    assert [[each.supporting for each in hop.paragraphs] for hop in (first, second)] == [[True, False, False], [False, True, False]]
    assert {hop.id for hop in (first, second)} == {"q0/step-1", "q0/step-2"}
    assert {hop.group for hop in (first, second)} == {"q0"}
    assert first.decomposition is None


def test_a_step_whose_paragraph_was_taken_away_is_not_answerable() -> None:
    whole = two_hops(1)[0]
    twin = replace(whole, answerable=False, answers=(), paragraphs=whole.paragraphs[1:])
    first, second = single_hop_instances(twin)
    assert (first.answerable, first.answers, first.answer_type) == (False, (), "none")
    assert (second.answerable, second.answers) == (True, ("zoraette",))


def test_a_question_without_steps_stays_as_it_is() -> None:
    plain = replace(two_hops(1)[0], decomposition=None)
    assert list(single_hop_instances(plain)) == [plain]


def test_they_are_counted_and_know_their_source() -> None:
    questions = of_list([*two_hops(3), replace(two_hops(4)[3], decomposition=None)])
    hops = single_hop(questions)
    assert len(hops) == len(list(hops)) == 7
    fewer = single_hop(questions.only(np.array([True, False, False, True])))
    assert [each.id for each in fewer] == ["q0/step-1", "q0/step-2", "q3"]
    assert len({questions.key, hops.key, fewer.key}) == 3


def test_only_references_to_what_a_step_depends_on_are_filled() -> None:
    steps = tuple(
        Step(id=name, question=question, answer=None, paragraph_id=None, depends_on=depends)
        for name, question, depends in (("x", "a #1 hit", ()), ("y", "#1 of #2 and #3", ("x",)), ("z", "#1, #2", ("x", "y")))
    )
    assert [filled_question(number, steps, {"x": "A", "y": ""}) for number in range(3)] == ["a #1 hit", "A of #2 and #3", "A, #2"]


@pytest.mark.real_data
def test_single_hop_questions_of_musique_refer_to_nothing_and_name_one_paragraph(real_data: Path) -> None:
    for instance in musique.read(real_data / "musique" / "musique_ans_dev_200.jsonl"):
        for hop in single_hop_instances(instance):
            assert hop.answerable
            assert sum(bool(each.supporting) for each in hop.paragraphs) == 1
            assert "#1" not in hop.question
