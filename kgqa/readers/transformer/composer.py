"""The composer: steps become a question, the decomposer's lesson turned round (Trivedi et al. 2022, section 8.2, there BART-large)."""

from __future__ import annotations

from kgqa.metrics.strategyqa import sari
from kgqa.readers.spelling import pieces
from kgqa.readers.steps import printed
from kgqa.readers.transformer.decomposer import RewritingReader
from kgqa.readers.transformer.rewriting import Rewriting
from kgqa.records import Instance
from kgqa.settings.seq2seq import Seq2SeqSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.reader import Prediction


def composer(name: str, settings: Seq2SeqSettings, training: TrainingSettings) -> RewritingReader:
    """Writes a question from its steps, without their answers; the question is the Prediction's ``answer``."""
    return RewritingReader(name, settings, training, rewriting=COMPOSING)


def _steps(instance: Instance) -> str:
    return printed(instance.decomposition or ())


def _question(instance: Instance) -> str | None:
    return instance.question if instance.decomposition else None


def _written(instance: Instance, text: str) -> Prediction:
    return Prediction(id=instance.id, answer=f"{text[:1].upper()}{text[1:]}")


def question_sari(instance: Instance, prediction: Prediction) -> float:
    """SARI of the written question, over words and signs in lower case: what of the steps is kept, dropped and added as people did."""
    source, written, told = (" ".join(pieces(text)) for text in (_steps(instance), prediction.answer, instance.question))
    return sari(source, written, told) if instance.decomposition else 0.0


COMPOSING = Rewriting(
    name="composing",
    source=_steps,
    target=_question,
    absent="the set does not decompose the question",
    prediction=_written,
    score=question_sari,
)
