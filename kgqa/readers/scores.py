"""The quality of a prediction, on one scale for all sets; on dev questions it selects the weights."""

from __future__ import annotations

import math
from dataclasses import replace

from kgqa.formats.provenance import noted, noted_sufficiency
from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import set_overlap, token_overlap
from kgqa.records import Instance
from kgqa.training.reader import Prediction


def answer_score(instance: Instance, prediction: Prediction) -> float:
    """1 for the right candidate; else SQuAD's F1 with the best gold answer, whose parts are joined if it has several.

    For an unanswerable question, 1 if the prediction says so.
    """
    if not instance.answerable or not instance.answers:
        return float(not prediction.answerable)
    if not prediction.answerable:
        return 0.0
    if instance.candidates:
        return float(prediction.candidate == instance.answer_id if instance.answer_id else prediction.answer == instance.answers[0])
    tokens = normalize(prediction.answer).split()
    return max(token_overlap(tokens, normalize(" ".join(parts)).split()).f1 for parts in instance.whole_answers)


def support_score(instance: Instance, prediction: Prediction) -> float:
    """F1 of the supporting paragraphs."""
    gold = {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
    return set_overlap(set(prediction.supporting), gold).f1


def dev_score(instance: Instance, prediction: Prediction) -> float:
    """The score of a dev question, as its set is scored; NaN if it does not count.

    In DiRe's transforms, a probe is scored by its answers alone, where there is one (Trivedi et al. 2020, equation 8). If a transform noted
    a sufficiency label, an answer counts only with that label (equation 10). Other sets use :func:`answer_score`.
    """
    label = noted_sufficiency(instance)
    if label is None and noted(instance, "dire").get("transform") != "probe":
        return answer_score(instance, prediction)
    if label is not None and prediction.sufficiency != label:
        return 0.0
    if not instance.answers:
        return math.nan if label is None else 1.0
    return answer_score(instance, replace(prediction, answerable=True))


def sufficiency_of(instance: Instance) -> int:
    """DiRe's label if a transform noted one, else whether the question is answerable."""
    label = noted_sufficiency(instance)
    return int(instance.answerable) if label is None else label
