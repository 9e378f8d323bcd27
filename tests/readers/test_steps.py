"""Lines of steps are read as they were written, and a broken one stands for its question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.formats import musique
from kgqa.readers.decompositions import MOST, steps_from_line, steps_to_line


@pytest.mark.real_data
def test_every_decomposition_of_musique_survives_printing(real_data: Path) -> None:
    count = 0
    for instance in musique.read(real_data / "musique" / "musique_ans_dev_2417_no_paragraphs.jsonl"):
        assert instance.decomposition
        found = steps_from_line(steps_to_line(instance.decomposition), instance.question)
        number = {step.id: str(place) for place, step in enumerate(instance.decomposition, 1)}
        assert [step.question for step in found] == [step.question.strip() for step in instance.decomposition]
        assert [step.depends_on for step in found] == [tuple(number[each] for each in step.depends_on) for step in instance.decomposition]
        count += 1
    assert count == 2417


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  ",
        ";",
        "a ; ; b",
        "a ;",
        "#1 >> spouse",
        "a ; #2 >> spouse",
        "a ; #3 >> spouse ; b",
        "a ; b of #9",
        ";".join("x" * (MOST + 1)),
    ],
)
def test_a_broken_line_is_the_question_as_one_step(line: str) -> None:
    (step,) = steps_from_line(line, "who is it, a #1 hit?")
    assert (step.question, step.depends_on, step.answer, step.paragraph_id) == ("who is it, a #1 hit?", (), None, None)


def test_steps_depend_on_those_that_they_name() -> None:
    steps = steps_from_line("a of b ; c of d ; e of #1 and #2 ; f of #3", "?")
    assert [step.depends_on for step in steps] == [(), (), ("1", "2"), ("3",)]


def test_a_semicolon_in_a_step_does_not_split_it() -> None:
    step = replace(steps_from_line("a", "?")[0], question="Steins;Gate ; when")
    assert steps_to_line([step]) == "Steins, Gate, when"
