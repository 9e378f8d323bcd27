"""What looks like a name or a number in a paragraph."""

from __future__ import annotations

import pytest
from hypothesis import given

from kgqa.readers.lexical.spans import name_like
from kgqa.records import Instance, Paragraph
from tests.readers.lexical.drawing import instances


def spans(*texts: str, question: str = "") -> list[str]:
    shown = tuple(Paragraph(id=str(number), title=None, text=text, supporting=None) for number, text in enumerate(texts))
    return name_like(
        Instance(id="q", question=question, paragraphs=shown, answers=(), answer_type="span", answerable=True, group="q", provenance=None)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The king of New York met Jean-Luc at the inn.", ["New York", "Jean-Luc"]),
        ("Born in 1912, J. R. Hartley caught 3,000 flies.", ["Born", "1912", "J. R. Hartley", "3,000"]),
        ("He was born. Born he was.", []),
        ("He saw Éire. Ely too; Ely was wet.", ["He", "Éire", "Ely"]),
        ("nothing here is a name", []),
        ("", []),
    ],
)
def test_runs_of_capitals_and_figures(text: str, expected: list[str]) -> None:
    assert spans(text) == expected


def test_first_words_that_are_small_elsewhere_and_what_the_question_has_do_not_count() -> None:
    assert spans("After Ely came York.", "What came after the flood?", question="Who saw York?") == ["Ely", "What"]
    assert spans("New York is large.", question="What is York?") == ["New York"]


@given(instances())
def test_all_are_in_a_text_and_none_in_the_question(instance: Instance) -> None:
    found = name_like(instance)
    assert len(found) == len(set(found))
    for span in found:
        assert any(span in paragraph.text for paragraph in instance.paragraphs)
        assert f" {span.lower()} " not in f" {instance.question.lower()} "
