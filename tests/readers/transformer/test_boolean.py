"""The boolean reader: what it sees by its settings, what it learns from it, and what a set must have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.records import Instance, Step
from tests.small_typed import typed_question, typed_questions

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.errors import EmptyResult, MissingInput, SettingsError  # noqa: E402
from kgqa.readers.specification import specification  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, said  # noqa: E402


def _decomposed(number: int) -> Instance:
    steps = (
        Step(id="1", question="when did it end", answer=str(1900 + number), paragraph_id="p", depends_on=()),
        Step(id="2", question="is #1 even", answer=None, paragraph_id=None, depends_on=("1",)),
    )
    answer = "no" if number % 2 else "yes"
    return replace(typed_question(number, "boolean"), question="a question", answers=(answer,), decomposition=steps)


@pytest.mark.parametrize(
    ("kind", "context", "text"),
    [
        ("question", True, "a question"),
        ("decomposition", False, "a question when did it end is #1 even"),
        ("last-step", True, "is 1903 even"),
        ("last-step", False, "is 1903 even"),
    ],
)
def test_the_settings_say_what_is_seen(kind: str, context: bool, text: str) -> None:
    reader = specification("boolean", settings={"input": kind, "context": context}, training={}).make()
    instance = _decomposed(3)
    (seen,) = reader.view(of_list([instance]))  # type: ignore[attr-defined]
    assert seen.question == text
    assert seen.paragraphs == (instance.paragraphs if context else ())


def test_a_step_whose_answer_the_set_lacks_keeps_its_reference() -> None:
    reader = specification("boolean", settings={"input": "last-step"}, training={}).make()
    instance = _decomposed(3)
    unknown = replace(instance, decomposition=tuple(replace(step, answer=None) for step in instance.decomposition or ()))
    assert next(iter(reader.view(of_list([unknown])))).question == "is #1 even"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_last_step_alone_can_be_learned(tiny_encoder: str, tmp_path: Path) -> None:
    some = [_decomposed(number) for number in range(8)]
    settings = {"input": "last-step", "context": False}
    reader = fitted("boolean", tiny_encoder, tmp_path / "fit", some, epochs=60, learning_rate=0.005, settings=settings)
    found = said(reader, some)
    assert [one.answer for one in found] == [each.answers[0] for each in some]
    assert {one.type for one in found} == {"boolean"}
    assert said(again(reader, "boolean", tiny_encoder, tmp_path / "saved"), some) == found
    blind = said(fitted("boolean", tiny_encoder, tmp_path / "blind", some, settings={"context": False}), some)
    assert len({one.answer for one in blind}) == 1


def test_questions_without_the_input_are_counted_or_refused(tiny_encoder: str, tmp_path: Path) -> None:
    settings, plain = {"input": "decomposition"}, [replace(_decomposed(number), decomposition=None) for number in range(2)]
    some = [_decomposed(2), _decomposed(3), *plain, *typed_questions(1)]
    reader = fitted("boolean", tiny_encoder, tmp_path / "fit", some, settings=settings)
    assert sum(reader.fitted.faults.values()) == 8  # type: ignore[attr-defined]
    assert reader.fitted.faults["the set does not decompose the question"] == 8  # type: ignore[attr-defined]
    with pytest.raises(MissingInput, match="boolean-0 has no decomposition"):
        said(reader, plain)
    with pytest.raises(EmptyResult, match="the set does not decompose the question: 2"):
        fitted("boolean", tiny_encoder, tmp_path / "none", plain, settings=settings)
    with pytest.raises(SettingsError, match="'input' cannot be \"all\""):
        specification("boolean", settings={"input": "all"}, training={})
