"""The composer: writes a question from its steps, the inverse of the decomposer (Trivedi et al. 2022, section 8.2, there BART-large)."""

from __future__ import annotations

from functools import partial

from kgqa.metrics.strategyqa import sari
from kgqa.readers.decompositions import steps_to_line
from kgqa.readers.spelling import pieces
from kgqa.readers.transformer.decomposer import RewritingReader
from kgqa.readers.transformer.rewriting import Rewriting
from kgqa.records import Instance
from kgqa.training.reader import Prediction


def _source(instance: Instance) -> str:
    return steps_to_line(instance.decomposition or ())


def _target(instance: Instance) -> str | None:
    return instance.question if instance.decomposition else None


def _prediction(instance: Instance, text: str) -> Prediction:
    return Prediction(id=instance.id, answer=f"{text[:1].upper()}{text[1:]}")


def question_sari(instance: Instance, prediction: Prediction) -> float:
    """SARI of the written question over lower-case words and signs; 0 without a decomposition."""
    source, written_question, gold_question = (" ".join(pieces(text)) for text in (_source(instance), prediction.answer, instance.question))
    return sari(source, written_question, gold_question) if instance.decomposition else 0.0


COMPOSING = Rewriting(
    name="composing",
    source=_source,
    target=_target,
    absent="the set does not decompose the question",
    prediction=_prediction,
    score=question_sari,
)
composer = partial(RewritingReader, rewriting=COMPOSING)
"""Writes a question from its steps without their answers; the question is the Prediction's ``answer``."""
