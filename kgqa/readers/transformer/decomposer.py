"""The decomposer: a question becomes its steps (Trivedi et al. 2022, section 7.2.1, there BART-large)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgqa.metrics.strategyqa import sari
from kgqa.readers.neural import NeuralReader
from kgqa.readers.spelling import pieces
from kgqa.readers.steps import BETWEEN, parsed, printed
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
        """``rewriting``: what it learns to write."""
        super().__init__(name, settings, training)
        self._rewriting = rewriting
        self._model: EncoderDecoder | None = None

    def new_task(self, train: Questions) -> Task:
        """On the pretrained network."""
        self._model = load_encoder_decoder(self.settings)
        return RewritingTask(self._model, self.settings, self._rewriting)

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """On a network of the saved shape."""
        self._model = saved_encoder_decoder(folder / MODEL)
        return RewritingTask(self._model, self.settings, self._rewriting)

    def save_beside(self, folder: Path) -> None:
        """The network's shape and tokenizer."""
        assert self._model is not None
        self._model.save(folder / MODEL)


def decomposer(name: str, settings: Seq2SeqSettings, training: TrainingSettings) -> RewritingReader:
    """Writes the steps of a question."""
    return RewritingReader(name, settings, training, rewriting=DECOMPOSING)


def _question(instance: Instance) -> str:
    return instance.question


def _line(instance: Instance) -> str | None:
    return printed(instance.decomposition) if instance.decomposition else None


def _prediction(instance: Instance, text: str) -> Prediction:
    """Steps without answers; the last one's question stands for nothing more."""
    return Prediction(id=instance.id, answer="", steps=parsed(text, instance.question))


def _spelt(steps: tuple[Step, ...]) -> str:
    """As it is compared: SARI has white-space tokens, and case, accents and blanks before signs say nothing."""
    return f" {BETWEEN.strip()} ".join(" ".join(pieces(step.question)) for step in steps)


def steps_sari(instance: Instance, prediction: Prediction) -> float:
    """SARI of the steps (Geva et al. 2021), over words and signs in lower case; 0 where the set does not tell them."""
    if not instance.decomposition:
        return 0.0
    return sari(" ".join(pieces(instance.question)), _spelt(prediction.steps), _spelt(instance.decomposition))


DECOMPOSING = Rewriting(
    name="decomposing",
    source=_question,
    target=_line,
    absent="the set does not decompose the question",
    prediction=_prediction,
    score=steps_sari,
)
