"""The generative reader: an encoder-decoder, as T5 or BART, writes the answer to a question from its numbered paragraphs.

The question and its choices come first, so that a source that is too long loses the last paragraphs. Two semicolons, which no answer has by
accident, separate several spans; alone they are no answer.
"""

from __future__ import annotations

from functools import partial

from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import token_overlap
from kgqa.readers.answers import BETWEEN, random_candidate, right_candidate, spans_of
from kgqa.readers.scores import dev_score
from kgqa.readers.transformer.decomposer import RewritingReader
from kgqa.readers.transformer.rewriting import Rewriting
from kgqa.records import Candidate, Instance
from kgqa.training.reader import Prediction

NONE = BETWEEN.strip()


def _source(instance: Instance) -> str:
    choices = [f"choices: {' ; '.join(candidate.text for candidate in instance.candidates)}"] if instance.candidates else []
    paragraphs = [
        f"[{number}] {paragraph.title}: {paragraph.text}" if paragraph.title else f"[{number}] {paragraph.text}"
        for number, paragraph in enumerate(instance.paragraphs, start=1)
    ]
    return " ".join([f"question: {instance.question}", *choices, *paragraphs])


def _target(instance: Instance) -> str | None:
    """The answer, the right candidate, or :data:`NONE`."""
    if not instance.answerable:
        return NONE
    if instance.candidates:
        number = right_candidate(instance)
        return instance.candidates[number].text if number >= 0 else None
    if not instance.answers:
        return None
    return BETWEEN.join(instance.answers) if instance.answer_type == "spans" else instance.answers[0]


def _prediction(instance: Instance, text: str) -> Prediction:
    line = " ".join(text.split())
    parts = spans_of(line)
    is_answer = bool(parts)
    if instance.candidates:
        best = _candidate(instance, line)
        return Prediction(id=instance.id, answer=best.text, candidate=best.id, answerable=is_answer, sufficiency=int(is_answer))
    if not is_answer:
        return Prediction(id=instance.id, answer="", answerable=False, sufficiency=0)
    return Prediction(id=instance.id, answer=", ".join(parts), parts=parts if len(parts) > 1 else ())


def _candidate(instance: Instance, text: str) -> Candidate:
    """The candidate with the same text, or else with the most words in common (SQuAD's F1); any one if none has a word in common."""
    words = normalize(text).split()
    scores = {candidate: token_overlap(words, normalize(candidate.text).split()).f1 for candidate in instance.candidates or ()}
    same = [candidate for candidate in scores if candidate.text == text]
    best = max(scores, key=lambda candidate: (scores[candidate], candidate.text))
    return same[0] if same else best if scores[best] > 0 else random_candidate(instance)


ANSWERING = Rewriting(
    name="answering",
    source=_source,
    target=_target,
    absent="it has no answer, or its answer is hidden",
    prediction=_prediction,
    score=dev_score,
)
generative = partial(RewritingReader, rewriting=ANSWERING)
"""A reader that writes answers."""
