"""StrategyQA as its leaderboard's evaluator scores it (Geva et al. 2021): accuracy, SARI and Recall@10, between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from kgqa.errors import InputError, MissingInput, UnknownId
from kgqa.metrics.overlap import harmonic
from kgqa.metrics.scores import Scores, listed, mean, total, unmatched

RETRIEVED = 10
LONGEST = 4
"""Tokens of the longest n-grams in SARI."""
Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyQAGold:
    """Gold of a question: answer, steps and annotators' evidence."""

    question: str
    answer: bool
    decomposition: tuple[str, ...]
    evidence: tuple[frozenset[str], ...]
    """For each annotator the ids of all paragraphs that any of the steps names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyQAPrediction:
    """A system's prediction; None for a task that it does not do at all."""

    answer: bool | None = None
    decomposition: tuple[str, ...] | None = None
    paragraphs: tuple[str, ...] | None = None
    """Ids of paragraphs, best first."""


def strategyqa(gold: Mapping[str, StrategyQAGold], predictions: Mapping[str, StrategyQAPrediction]) -> Scores:
    """``Accuracy``, ``SARI`` and ``Recall@10``; a task that was not done scores 0 and has no per-record scores.

    As in the evaluator, every question needs a prediction for the same tasks. Raises MissingInput for missing ids, UnknownId for others,
    and InputError if some predictions lack a task that others do.
    """
    missing, extra = unmatched(gold, predictions)
    if missing:
        raise MissingInput(f"{len(missing)} of {len(gold)} questions have no prediction: {listed(missing)}. Predict them.")
    if extra:
        raise UnknownId(f"{len(extra)} predictions are for other questions: {listed(extra)}. Leave them out.")
    per_record: dict[str, dict[str, float]] = {"Accuracy": {}, "SARI": {}, "Recall@10": {}}
    for key, question in gold.items():
        prediction = predictions[key]
        if prediction.answer is not None:
            per_record["Accuracy"][key] = float(prediction.answer == question.answer)
        if prediction.decomposition is not None:
            per_record["SARI"][key] = sari(question.question, " ".join(prediction.decomposition), " ".join(question.decomposition))
        if prediction.paragraphs is not None:
            per_record["Recall@10"][key] = recall(prediction.paragraphs, question.evidence)
    for name, values in per_record.items():
        if values and len(values) < len(gold):
            incomplete = [key for key in gold if key not in values]
            raise InputError(
                f"{name}: {len(incomplete)} predictions lack what it scores, others have it: {listed(incomplete)}. Give all or none."
            )
    means = {name: mean(values) for name, values in per_record.items()}
    values_by_name = {name: values for name, values in per_record.items() if values}
    return Scores(official=means, unrounded=means, per_record=values_by_name)


def recall(paragraphs: Sequence[str], evidence: Sequence[Set[str]]) -> float:
    """The best share, over annotators, of an annotator's paragraphs among the first ten retrieved; an annotator without paragraphs is
    skipped.
    """
    retrieved = frozenset(paragraphs[:RETRIEVED])
    return max(
        (
            len(retrieved & paragraphs_of_annotator) / len(paragraphs_of_annotator)
            for paragraphs_of_annotator in evidence
            if paragraphs_of_annotator
        ),
        default=0.0,
    )


def sari(source: str, prediction: str, target: str) -> float:
    """How well the kept, added and deleted n-grams agree with the target (Xu et al. 2016), in Tensor2Tensor's variant.

    The mean over n-grams of 1 to 4 white-space tokens, as sets, of the F1 of kept and of added n-grams and the precision of deleted ones
    (beta 0); 0/0 is 1. "?" is a token of its own.
    """
    source_tokens, predicted_tokens, target_tokens = (text.replace("?", " ?").split() for text in (source, prediction, target))
    kept_f1s, added_f1s, deleted_precisions = [], [], []
    for size in range(1, LONGEST + 1):
        source_grams, predicted_grams, target_grams = (
            _grams(source_tokens, size),
            _grams(predicted_tokens, size),
            _grams(target_tokens, size),
        )
        kept_f1s.append(_agreement(source_grams & predicted_grams, source_grams & target_grams))
        added_f1s.append(_agreement(predicted_grams - source_grams, target_grams - source_grams))
        deleted_precisions.append(
            _ratio(len((source_grams - predicted_grams) & (source_grams - target_grams)), len(source_grams - predicted_grams))
        )
    return (total(kept_f1s) / LONGEST + total(added_f1s) / LONGEST + total(deleted_precisions) / LONGEST) / 3.0


def _grams(tokens: Sequence[str], size: int) -> set[Gram]:
    return {tuple(tokens[start : start + size]) for start in range(len(tokens) + 1 - size)}


def _agreement(prediction: Set[Gram], gold: Set[Gram]) -> float:
    common = len(prediction & gold)
    return harmonic(_ratio(common, len(prediction)), _ratio(common, len(gold)))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
