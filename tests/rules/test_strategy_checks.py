"""StrategyQA's automatic checks: what people and recipes may not write."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.formats.strategyqa import format as strategyqa
from kgqa.rules.strategy_checks import FAULTS, decomposition_faults, question_faults, references


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Did Aristotle use a laptop?", []),
        ("Did Aristotle use a laptop? ", []),
        ("亚里士多德用过笔记本电脑吗？", []),
        ("Did Aristotle use a laptop", ["mark"]),
        ("", ["mark"]),
        ("Was Tom Cruise married to the star who played in Inland Empire?", ["explicit"]),
        ("Did Aristotle live when the laptop was invented", ["mark", "explicit"]),
        ("That is the question?", []),  # a pronoun at the beginning, no clause
        ("Is a thatcher paid well?", []),
    ],
)
def test_questions(question: str, kinds: list[str]) -> None:
    assert [fault.kind for fault in question_faults(question)] == kinds


def test_a_language_without_a_list_has_the_question_mark_checked_alone() -> None:
    assert not question_faults("Did Aristotle live when the laptop was invented?", language="fi")
    assert [fault.kind for fault in question_faults("Eli Aristoteles", language="fi")] == ["mark"]


@pytest.mark.parametrize(
    ("steps", "faults"),
    [
        (["When did Aristotle live?", "When was the laptop invented?", "Is #2 before #1?"], []),
        (["Is it?"], [("few", None)]),
        ([], [("few", None)]),
        (["Who built Weir?", "  "], [("unused", 0), ("empty", 1)]),
        (["Is #1 old?", "Is #1 new?"], [("reference", 0)]),
        (["When was #2?", "Is #1 new?"], [("reference", 0)]),
        (["Who?", "Is #1 like #7?"], [("reference", 1)]),
        (["Who?", "Where?", "Is #1 old?"], [("unused", 1)]),
        (["Who?", "What of #1?", "Is #1 old?"], [("unused", 1)]),
        (["What is &#39;a&#39;?", "Is #1 old?"], []),
    ],
)
def test_decompositions(steps: list[str], faults: list[tuple[str, int | None]]) -> None:
    found = decomposition_faults(steps)
    assert [(fault.kind, fault.step) for fault in found] == faults
    assert all(fault.kind in FAULTS and fault.sentence[0].isupper() and fault.sentence.endswith(".") for fault in found)


def test_references_are_numbers_of_steps() -> None:
    assert references("Is #3 more than #1 and #3?") == [1, 3]
    assert references("Which of #12 is &#39;x&#39;?") == [12]


@pytest.mark.real_data
def test_published_questions_and_decompositions_nearly_all_pass(real_data: Path) -> None:
    instances = list(strategyqa.read(real_data / "strategyqa" / "dev.json"))
    explicit = sum(bool(question_faults(instance.question)) for instance in instances)
    steps = [[step.question for step in instance.decomposition or ()] for instance in instances]
    wrong = sum(any(fault.kind in {"reference", "empty"} for fault in decomposition_faults(each)) for each in steps)
    assert len(instances) == 229
    assert explicit <= 0.05 * len(instances)
    assert wrong <= 0.01 * len(instances)
