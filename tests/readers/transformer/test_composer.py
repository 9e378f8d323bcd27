"""The composer learns to write eight questions from their steps, and says the same after it was saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.progress import Silent
from kgqa.readers.registry import find_reader
from kgqa.readers.transformer.composer import COMPOSING, composer, question_sari
from kgqa.settings.seq2seq import Seq2SeqSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import of_list
from kgqa.training.reader import Prediction
from tests.readers.questions import fitting, two_hops

LEARNING = TrainingSettings(batch=8, epochs=60, learning_rate=5e-3, device="cpu", checkpoint_seconds=0)
QUESTIONS = of_list(two_hops())


@pytest.mark.slow
def test_it_learns_eight_questions_by_heart_and_keeps_them(tiny_encoder: str, tmp_path: Path) -> None:
    settings = Seq2SeqSettings(encoder=tiny_encoder, target_tokens=40, tunes_embeddings=True)
    reader = composer("composer", settings, LEARNING)
    reader.fit(QUESTIONS, None, fitting(tmp_path / "fit", LEARNING))
    found = list(reader.predict(QUESTIONS, Silent()))
    scores = [question_sari(instance, prediction) for instance, prediction in zip(QUESTIONS, found, strict=True)]
    assert min(scores) > 0.9
    (tmp_path / "saved").mkdir()
    reader.save(tmp_path / "saved")
    again = find_reader("composer").make("composer", settings, LEARNING)
    again.load(tmp_path / "saved")
    assert list(again.predict(QUESTIONS, Silent())) == found


def test_what_it_reads_tells_no_answer() -> None:
    [first, *_] = list(QUESTIONS)
    assert first.decomposition
    source = COMPOSING.source(first)
    assert "#1" in source
    assert not any(step.answer and step.answer in source for step in first.decomposition)
    assert COMPOSING.prediction(first, "who was it?") == Prediction(id=first.id, answer="Who was it?")
