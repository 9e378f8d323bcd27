"""StrategyQA as its leaderboard's evaluator scores it (Geva et al. 2021): accuracy, SARI and Recall@10, between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from kgqa.errors import InputError, MissingInput, UnknownId
from kgqa.metrics.overlap import harmonic
from kgqa.metrics.scores import Scores, listed, mean, total, unmatched

RETRIEVED = 10
LONGEST = 4
"""Tokens of the longest n-grams that SARI looks at."""
Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Gold of a question: answer, steps and annotators' evidence."""

    question: str
    answer: bool
    decomposition: tuple[str, ...]
    evidence: tuple[frozenset[str], ...]
    """For each annotator the ids of all the paragraphs that any step names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a system says; None where it does not do that task at all."""

    answer: bool | None = None
    decomposition: tuple[str, ...] | None = None
    paragraphs: tuple[str, ...] | None = None
    """Ids of paragraphs, best first."""


def strategyqa(gold: Mapping[str, Question], predictions: Mapping[str, Prediction]) -> Scores:
    """``Accuracy``, ``SARI`` and ``Recall@10``; a task that is not done is 0 and has no per-record scores.

    As the evaluator does it, every question needs a prediction for the same tasks: MissingInput for missing ids, UnknownId for others,
    InputError where some predictions leave out a task that others do.
    """
    missing, extra = unmatched(gold, predictions)
    if missing:
        raise MissingInput(f"{len(missing)} of {len(gold)} questions have no prediction: {listed(missing)}. Predict them.")
    if extra:
        raise UnknownId(f"{len(extra)} predictions are for other questions: {listed(extra)}. Leave them out.")
    per_record: dict[str, dict[str, float]] = {"Accuracy": {}, "SARI": {}, "Recall@10": {}}
    for key, question in gold.items():
        predicted = predictions[key]
        if predicted.answer is not None:
            per_record["Accuracy"][key] = float(predicted.answer == question.answer)
        if predicted.decomposition is not None:
            per_record["SARI"][key] = sari(question.question, " ".join(predicted.decomposition), " ".join(question.decomposition))
        if predicted.paragraphs is not None:
            per_record["Recall@10"][key] = recall(predicted.paragraphs, question.evidence)
    for name, values in per_record.items():
        if values and len(values) < len(gold):
            lacking = [key for key in gold if key not in values]
            raise InputError(
                f"{name}: {len(lacking)} predictions lack what it scores, others have it: {listed(lacking)}. Give all or none."
            )
    found = {name: mean(values) for name, values in per_record.items()}
    done = {name: values for name, values in per_record.items() if values}
    return Scores(official=found, unrounded=found, per_record=done)


def recall(paragraphs: Sequence[str], evidence: Sequence[Set[str]]) -> float:
    """The share of an annotator's paragraphs among the first ten retrieved, at best; 0 for an annotator without paragraphs."""
    found = frozenset(paragraphs[:RETRIEVED])
    return max((len(found & wanted) / len(wanted) for wanted in evidence if wanted), default=0.0)


def sari(source: str, prediction: str, target: str) -> float:
    """How well what was kept, added and deleted from the source agrees with the target (Xu et al. 2016), in Tensor2Tensor's variant.

    The mean over n-grams of 1 to 4 white-space tokens, as sets, of F1 for kept and added ones and of the precision of deleted ones
    (beta 0); 0/0 is 1. "?" is a token of its own.
    """
    before, given, wanted = (text.replace("?", " ?").split() for text in (source, prediction, target))
    keep, add, delete = [], [], []
    for size in range(1, LONGEST + 1):
        old, new, right = _grams(before, size), _grams(given, size), _grams(wanted, size)
        keep.append(_agreement(old & new, old & right))
        add.append(_agreement(new - old, right - old))
        delete.append(_ratio(len((old - new) & (old - right)), len(old - new)))
    return (total(keep) / LONGEST + total(add) / LONGEST + total(delete) / LONGEST) / 3.0


def _grams(tokens: Sequence[str], size: int) -> set[Gram]:
    return {tuple(tokens[start : start + size]) for start in range(len(tokens) + 1 - size)}


def _agreement(given: Set[Gram], wanted: Set[Gram]) -> float:
    common = len(given & wanted)
    return harmonic(_ratio(common, len(given)), _ratio(common, len(wanted)))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
