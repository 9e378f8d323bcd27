"""The live checks of answers: what is refused, what is only warned of."""

from __future__ import annotations

import pytest

from kgqa.collection import checks
from kgqa.collection.task import Fault
from kgqa.collection.tasks.compose import chain_of

CHAIN = chain_of("c", ["Where was Ada born?", "What country is #1 the capital of?"], ["Vaxton", "Arlia"])


def said(faults: list[Fault]) -> list[tuple[str, bool]]:
    """Field and whether it blocks."""
    return [(fault.field, fault.blocking) for fault in faults]


@pytest.mark.parametrize(
    ("question", "parts", "blocks"),
    [
        ("What country is the place where Ada was born the capital of?", [], False),
        ("Of which country is the birthplace of Ada the capital?", [], False),
        ("What country is the capital of Ada's birthplace", ["?"], True),
        ("What country is Vaxton, where Ada was born, the capital of?", ["gives away"], True),
        ("Is Arlia the country with the capital where Ada was born?", ["gives away"], True),
        ("What country is the place where she was born the capital of?", ["missing"], True),
        ("Where was Ada born?", ["one step", "step 2"], True),
        ("What town does Ada think of when she thinks of a country with a capital?", [], False),
        ("What does Ada like?", ["step 2"], False),
        ("What country is the place where Ada was born the capital the capital of?", ["twice"], False),
    ],
)
def test_composed_questions(question: str, parts: list[str], blocks: bool) -> None:
    faults = checks.composed_question(question, CHAIN, max_words=40)
    sentences = [fault.sentence for fault in faults]
    if not parts:
        assert not [fault for fault in faults if fault.blocking]
    for part in parts:
        assert any(part in sentence for sentence in sentences), sentences
    assert any(fault.blocking for fault in faults) is blocks


def test_every_step_must_be_used_or_the_page_warns() -> None:
    chain = chain_of("c", ["Who is the spouse of Bo?", "What is exported by #1?"], ["Ada", "wool"])
    assert not checks.composed_question("What does the spouse of Bo export?", chain, max_words=40)
    assert said(checks.composed_question("What does Bo export?", chain, max_words=40)) == []  # Bo is of step 1
    assert said(checks.composed_question("Who is Bo's wife?", chain, max_words=40)) == [("question", False)]


def test_edited_steps_keep_their_references() -> None:
    steps = ["Where was Ada born?", "What country is #1 the capital of?"]
    assert not checks.edited_steps(steps, ["In which town was Ada born?", "#1 is the capital of what country?"])
    assert said(checks.edited_steps(steps, ["", "What country?"])) == [("steps.0", True), ("steps.1", True)]
    assert said(checks.edited_steps(steps, ["Where?"])) == [("steps", True)]
    assert said(checks.edited_steps(steps, ["Where was #2 born?", steps[1]])) == [("steps.0", True)]


def test_strategy_questions_need_facts() -> None:
    question = "Did Aristotle use a laptop?"
    assert not checks.strategy_question(question, ["He died in 322 BC.", "The laptop was invented in 1980."])
    assert said(checks.strategy_question(question, ["", " "])) == [("facts", True)]
    assert said(checks.strategy_question(question, ["He died in 322 BC.", ""])) == [("facts", False)]
    assert said(checks.strategy_question("Did he", [])) == [("question", True), ("facts", True)]


def test_decompositions_name_a_page_for_each_step_that_is_no_operation() -> None:
    steps = ["When did Aristotle live?", "When was the laptop invented?", "Is #2 before #1?"]
    question = "Did Aristotle use a laptop?"

    def found(pages: list[str], operations: list[bool], texts: list[str] = steps) -> list[tuple[str, bool]]:
        return said(checks.strategy_decomposition(question, texts, pages, operations))

    assert found(["Aristotle", "Laptop", ""], [False, False, True]) == []
    assert found(["Aristotle", "", ""], [False, False, True]) == [("steps.1", True)]
    assert found(["Aristotle", "Laptop", ""], [False, False, False]) == [("steps.2", True)]
    assert found(["", "Laptop", ""], [True, False, True]) == [("steps.0", True), ("steps.0", False)]
    assert found(["A", "B"], [False, False], ["Who?", "Is it?"])[0] == ("steps.0", True)
    explicit = ["What did Aristotle use?", "Is a laptop among #1?"]
    assert ("steps", False) in found(["Aristotle", ""], [False, True], ["What did Aristotle use?", "Is #1 laptops?"])
    assert ("steps", False) not in found(["Aristotle", ""], [False, True], explicit)  # "among" is a word of its own


def test_evidence_is_paragraphs_or_a_mark() -> None:
    assert not checks.strategy_evidence([["a"], ["b", "c"], []], [False, False, True], [False, False, False])
    assert not checks.strategy_evidence([[], ["b"]], [False, False], [True, False])
    assert said(checks.strategy_evidence([[], ["b", "b"]], [False, False], [False, False])) == [("steps.0", True), ("steps.1", True)]
    assert said(checks.strategy_evidence([[], ["b"]], [True, False], [False, False])) == [("steps.0", False)]


def test_iirc_questions_need_a_link_and_some_need_two() -> None:
    assert not checks.iirc_question("Where was Ada born?", ["Ada"], field="questions.0", links_field="links.0")
    assert said(checks.iirc_question("Where was Ada born", [], field="q", links_field="l")) == [("q", True), ("l", True)]
    assert not checks.iirc_links([["a", "b"], ["a"], ["b", "c"], ["d"]])
    assert said(checks.iirc_links([["a", "b"], ["a", "a"]], field="questions")) == [("questions", True)]
