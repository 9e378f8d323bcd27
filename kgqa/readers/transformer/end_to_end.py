"""End2End: one network that finds answer, support and sufficiency together; and its like, which see less or learn less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgqa.readers.neural import NeuralReader
from kgqa.readers.transformer.encoder import ENCODER, Encoder, load_encoder, saved_encoder
from kgqa.readers.transformer.examples import Lessons
from kgqa.readers.transformer.reading import Learned, ReadingTask, learned_from
from kgqa.readers.views import without_question
from kgqa.settings.reader import EncoderSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.task import Task


class SpanReader(NeuralReader):
    """Reads windows and points at what it finds."""

    settings: EncoderSettings

    def __init__(
        self, name: str, settings: EncoderSettings, training: TrainingSettings, *, lessons: Lessons, hides_question: bool = False
    ) -> None:
        """``hides_question`` makes it the context-only reader."""
        super().__init__(name, settings, training)
        self._lessons, self._hides_question = lessons, hides_question
        self._encoder: Encoder | None = None
        self._learned: Learned | None = None

    def new_task(self, train: Questions) -> Task:
        """On the pretrained encoder."""
        self._encoder, self._learned = load_encoder(self.settings.encoder), learned_from(train)
        return self._made()

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """On an encoder of the saved shape."""
        self._encoder, self._learned = saved_encoder(folder / ENCODER), Learned(**state["learned"])
        return self._made()

    def task_from(self, folder: Path, state: Mapping[str, Any], train: Questions) -> Task:
        """What either set teaches, it can say."""
        before, now = asdict(Learned(**state["learned"])), asdict(learned_from(train))
        both = {name: before[name] or now[name] for name in before}
        return self.saved_task(folder, {"learned": {**both, "label_weights": now["label_weights"]}})

    def _made(self) -> Task:
        assert self._encoder is not None
        assert self._learned is not None
        return ReadingTask(self._encoder, self.settings, self._learned, self._lessons)

    def state(self) -> Mapping[str, Any]:
        """What the training questions taught."""
        assert self._learned is not None
        return {"learned": asdict(self._learned)}

    def save_beside(self, folder: Path) -> None:
        """The encoder's shape and tokenizer."""
        assert self._encoder is not None
        self._encoder.save(folder / ENCODER)

    def seen(self, questions: Questions) -> Questions:
        """With or without what is asked."""
        return questions.shown(without_question, "without question") if self._hides_question else questions


def end_to_end(name: str, settings: EncoderSettings, training: TrainingSettings) -> SpanReader:
    """EE (Trivedi et al. 2022, section 7.2.1)."""
    return SpanReader(name, settings, training, lessons=Lessons())


def context_only(name: str, settings: EncoderSettings, training: TrainingSettings) -> SpanReader:
    """C-only (section 7.2.2): EE without the question."""
    return SpanReader(name, settings, training, lessons=Lessons(), hides_question=True)
