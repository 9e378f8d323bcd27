"""How good a prediction is, on one scale for all sets: what decides on the dev questions which weights are kept."""

from __future__ import annotations

from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import token_overlap
from kgqa.records import Instance
from kgqa.training.reader import Prediction


def answer_score(instance: Instance, prediction: Prediction) -> float:
    """Among candidates 1 for the right one; else SQuAD's F1 with the best of the answers, and of unanswerable questions 1 for saying so."""
    if not instance.answerable or not instance.answers:
        return float(not prediction.answerable)
    if not prediction.answerable:
        return 0.0
    if instance.candidates:
        return float(prediction.candidate == instance.answer_id if instance.answer_id else prediction.answer == instance.answers[0])
    tokens = normalize(prediction.answer).split()
    return max(token_overlap(tokens, normalize(answer).split()).f1 for answer in instance.answers)
