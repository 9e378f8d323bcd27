"""QAngaroo: accuracy over all questions and over the validated ones, in percent (Welbl et al. 2018, sections 5.3 and 6.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgqa.metrics.normalize import normalize
from kgqa.metrics.scores import Scores, total, unmatched

Annotation = tuple[str, str]
"""One annotator's judgement: whether the answer ``follows``, and whether it needs ``single`` or ``multiple`` documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QAngarooGold:
    """The gold answer, and the annotators' judgements of it."""

    answer: str
    annotations: tuple[Annotation, ...] = ()


def qangaroo(gold: Mapping[str, QAngarooGold], predictions: Mapping[str, str]) -> Scores:
    """``accuracy``, and ``validated_accuracy`` if some question is validated. A missing id counts 0, an unknown one is ignored."""
    missing, extra = unmatched(gold, predictions)
    correct = {
        key: float(key in predictions and normalize(predictions[key]) == normalize(question.answer)) for key, question in gold.items()
    }
    per_record = {"accuracy": correct}
    validated_scores = {key: correct[key] for key, question in gold.items() if validated(question)}
    if validated_scores:
        per_record["validated_accuracy"] = validated_scores
    means = {name: 100.0 * total(values.values()) / len(values) for name, values in per_record.items()}
    return Scores(official=means, unrounded=means, per_record=per_record, missing=missing, extra=extra)


def majority(categories: Sequence[str]) -> str | None:
    """The category that more than half of the annotators chose, if there is one."""
    return next((category for category, count in Counter(categories).items() if 2 * count > len(categories)), None)


def validated(question: QAngarooGold) -> bool:
    """Whether most annotators say that the answer follows, and most say that it needs multiple documents."""
    follows = majority([judgement for judgement, _ in question.annotations])
    documents = majority([documents for _, documents in question.annotations])
    return follows == "follows" and documents == "multiple"
