"""The decomposer: writes the steps of a question (Trivedi et al. 2022, section 7.2.1, there BART-large)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from kgqa.metrics.strategyqa import sari
from kgqa.readers.decompositions import BETWEEN, steps_from_line, steps_to_line
from kgqa.readers.neural import NeuralReader
from kgqa.readers.spelling import pieces
from kgqa.readers.transformer.encoder_decoder import EncoderDecoder, load_encoder_decoder, saved_encoder_decoder
from kgqa.readers.transformer.rewriting import Rewriting, RewritingTask
from kgqa.records import Instance, Step
from kgqa.settings.seq2seq import Seq2SeqSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction
from kgqa.training.task import Task

MODEL = "encoder-decoder"


class RewritingReader(NeuralReader):
    """Writes a text for each Instance."""

    settings: Seq2SeqSettings

    def __init__(self, name: str, settings: Seq2SeqSettings, training: TrainingSettings, *, rewriting: Rewriting) -> None:
        """``rewriting``: the source, the target and the score of the texts."""
        super().__init__(name, settings, training)
        self._rewriting = rewriting
        self._model: EncoderDecoder | None = None

    def new_task(self, train: Questions) -> Task:
        """The task on the pretrained network."""
        self._model = load_encoder_decoder(self.settings)
        return RewritingTask(self._model, self.settings, self._rewriting)

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task on a network of the saved configuration."""
        self._model = saved_encoder_decoder(folder / MODEL)
        return RewritingTask(self._model, self.settings, self._rewriting)

    def save_beside(self, folder: Path) -> None:
        """Write the network's configuration and tokenizer."""
        assert self._model is not None
        self._model.save(folder / MODEL)


def _question(instance: Instance) -> str:
    return instance.question


def _line(instance: Instance) -> str | None:
    return steps_to_line(instance.decomposition) if instance.decomposition else None


def _prediction(instance: Instance, text: str) -> Prediction:
    """Steps without answers; the prediction itself has no answer."""
    return Prediction(id=instance.id, answer="", steps=steps_from_line(text, instance.question))


def _normalised(steps: tuple[Step, ...]) -> str:
    """Normalised for SARI, which splits at white space: lower case, no accents, blanks around signs."""
    return f" {BETWEEN.strip()} ".join(" ".join(pieces(step.question)) for step in steps)


def steps_sari(instance: Instance, prediction: Prediction) -> float:
    """SARI of the steps (Geva et al. 2021) over lower-case words and signs; 0 if the set has no decomposition."""
    if not instance.decomposition:
        return 0.0
    return sari(" ".join(pieces(instance.question)), _normalised(prediction.steps), _normalised(instance.decomposition))


DECOMPOSING = Rewriting(
    name="decomposing",
    source=_question,
    target=_line,
    absent="the set does not decompose the question",
    prediction=_prediction,
    score=steps_sari,
)
decomposer = partial(RewritingReader, rewriting=DECOMPOSING)
"""A reader that writes the steps of a question."""
