"""The generative variant of the numeric reader: an encoder-decoder writes a line, which is computed (``kgqa.readers.numbers.programs``)."""

from __future__ import annotations

from functools import partial

from kgqa.readers.answers import BETWEEN
from kgqa.readers.numbers.programs import NONE, executed, program_of
from kgqa.readers.scores import dev_score
from kgqa.readers.transformer.decomposer import RewritingReader
from kgqa.readers.transformer.numeric.examples import numbers_of, right_sums, with_question
from kgqa.readers.transformer.rewriting import Rewriting
from kgqa.records import Instance
from kgqa.training.reader import Prediction


def _source(instance: Instance) -> str:
    titled = (f"{paragraph.title}: {paragraph.text}" if paragraph.title else paragraph.text for paragraph in instance.paragraphs)
    return " ".join([instance.question, *titled])


def _target(instance: Instance) -> str | None:
    """The first sum of the fewest numbers, else the answer."""
    if not instance.answerable:
        return NONE
    if not instance.answers:
        return None
    numbers = [mention for _, mention in numbers_of(with_question(instance))]
    sums = right_sums(with_question(instance), numbers)
    if sums:
        return program_of(sums[0], numbers)
    return BETWEEN.join(instance.answers) if instance.answer_type == "spans" else instance.answers[0]


def _prediction(instance: Instance, text: str) -> Prediction:
    answer = executed(text)
    is_answer = answer.type != "none"
    return Prediction(
        id=instance.id, answer=answer.text, parts=answer.parts, type=answer.type, value=answer.value, unit=answer.unit,
        answerable=is_answer, sufficiency=int(is_answer),
    )  # fmt: skip


WRITING = Rewriting(
    name="programs",
    source=_source,
    target=_target,
    absent="it has no answer, or its answer is hidden",
    prediction=_prediction,
    score=dev_score,
)
program = partial(RewritingReader, rewriting=WRITING)
"""A reader that writes answers and programs."""
