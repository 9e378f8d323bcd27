"""The program writer learns to write arithmetic, and predicts what it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.small_typed import typed_question, typed_questions

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.readers.transformer.program import WRITING  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, said  # noqa: E402


def test_targets_are_answers_or_the_arithmetic_that_gives_them() -> None:
    written = [WRITING.target(each) for each in typed_questions(1)]
    assert written == ["vax", "vax ;; wim", "2", "difference(1950, 1900) years", "no", "none"]


@pytest.mark.slow
def test_programs_are_learned_written_and_computed(tiny_encoder: str, tmp_path: Path) -> None:
    some = [typed_question(number, kind) for kind in ("difference", "boolean", "none") for number in range(2)]
    settings = {"target_tokens": 40, "source_tokens": 100, "tunes_embeddings": True}
    reader = fitted("program", tiny_encoder, tmp_path / "fit", some, epochs=150, learning_rate=0.005, settings=settings)
    found = said(reader, some)
    assert [one.answer for one in found] == ["".join(each.answers) for each in some]
    assert [(one.type, one.value, one.unit) for one in found[:2]] == [("number", 50.0, "years"), ("number", 52.0, "years")]
    assert said(again(reader, "program", tiny_encoder, tmp_path / "saved"), some) == found
