"""SQuAD 1.1 and 2.0 as their official scripts score them (Rajpurkar et al. 2016, 2018): percentages, not rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgqa.errors import InputError, MissingInput
from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import token_overlap
from kgqa.metrics.scores import Scores, listed, total, unmatched
from kgqa.settings.defaults import NO_ANSWER_PROBABILITY


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """A system's no-answer probabilities, and the threshold above which the answer becomes empty."""

    probabilities: Mapping[str, float]
    """One for each predicted id."""
    threshold: float = NO_ANSWER_PROBABILITY
    """By default the official one: no probability is above it."""


def squad(gold: Mapping[str, Sequence[str]], predictions: Mapping[str, str]) -> Scores:
    """SQuAD 1.1: ``exact_match`` and ``f1`` over id → gold answers; a missing id counts 0, an unknown one is ignored.

    InputError where a question has no gold answer.
    """
    missing, extra = unmatched(gold, predictions)
    per_record: dict[str, dict[str, float]] = {"exact_match": {}, "f1": {}}
    for key, answers in gold.items():
        if not answers:
            raise InputError(
                f"question {key}: it has no gold answer, which SQuAD 1.1 cannot score; score it as SQuAD 2.0 (--metric squad2)."
            )
        exact, f1 = _best(predictions[key], answers) if key in predictions else (0.0, 0.0)
        per_record["exact_match"][key], per_record["f1"][key] = exact, f1
    means = {name: 100.0 * total(values.values()) / len(gold) for name, values in per_record.items()}
    return Scores(official=means, unrounded=means, per_record=per_record, missing=missing, extra=extra)


def _best(prediction: str, answers: Sequence[str]) -> tuple[float, float]:
    tokens = normalize(prediction).split()
    overlaps = [token_overlap(tokens, normalize(answer).split()) for answer in answers]
    return max(overlap.em for overlap in overlaps), max(overlap.f1 for overlap in overlaps)


def squad2(
    gold: Mapping[str, Sequence[str]],
    predictions: Mapping[str, str],
    *,
    no_answer: NoAnswer | None = None,
    missing_as_zero: bool = False,
) -> Scores:
    """SQuAD 2.0: ``exact``, ``f1``, ``total``, and the same for questions with (``HasAns_``) and without gold answers (``NoAns_``).

    With ``no_answer``, answers whose probability exceeds the threshold become "", and the best thresholds for the original answers are
    reported too. The official script crashes on a missing id; here MissingInput is raised, or the id counts 0 if ``missing_as_zero``.
    """
    missing, extra = unmatched(gold, predictions)
    if missing and not missing_as_zero:
        raise MissingInput(
            f"{len(missing)} of {len(gold)} questions have no prediction: {listed(missing)}. "
            "Predict them, or score them as 0 (--missing-as-zero)."
        )
    has_answer = {key: bool(answers) for key, answers in gold.items()}
    raw = {key: answer_scores(predictions[key], answers) for key, answers in gold.items() if key in predictions}
    scores = raw if no_answer is None else _thresholded(raw, has_answer, no_answer)
    per_record = {}
    for prefix, has in (("", None), ("HasAns_", True), ("NoAns_", False)):
        ids = [key for key in gold if has is None or has_answer[key] == has]
        for column, name in enumerate(("exact", "f1")):
            if ids:
                per_record[f"{prefix}{name}"] = {key: scores[key][column] if key in scores else 0.0 for key in ids}
    official: dict[str, float] = {}
    for name, values in per_record.items():
        official[name] = 100.0 * total(values.values()) / len(values)
        if name.endswith("f1"):
            official[name.removesuffix("f1") + "total"] = len(values)
    if no_answer is not None:
        for column, name in enumerate(("exact", "f1")):
            best, threshold = _best_threshold(raw, column, predictions, has_answer, no_answer.probabilities)
            official[f"best_{name}"], official[f"best_{name}_thresh"] = 100.0 * best / len(gold), threshold
    return Scores(official=official, unrounded=official, per_record=per_record, missing=missing, extra=extra)


def answer_scores(prediction: str, answers: Sequence[str]) -> tuple[float, float]:
    """EM and F1 as in SQuAD 2.0 and MuSiQue, each maximised over the gold answers; two empty answers agree fully.

    Gold answers that are empty after normalisation do not count. A question with no other gold answer has the single gold answer "".
    """
    return gold_scores(prediction, [answer for answer in answers if normalize(answer)] or [""])


def gold_scores(prediction: str, answers: Sequence[str]) -> tuple[float, float]:
    """EM and F1, each maximised over the gold answers as given (at least one); two empty answers agree fully."""
    exact, f1 = _best(prediction, answers)
    # Equal without a common token means that both are empty: the one case in which 2.0 differs from 1.1.
    return exact, max(exact, f1)


def _thresholded(
    raw: Mapping[str, tuple[float, float]], has_answer: Mapping[str, bool], no_answer: NoAnswer
) -> dict[str, tuple[float, float]]:
    unknown = [key for key in raw if key not in no_answer.probabilities]
    if unknown:
        raise MissingInput(f"{len(unknown)} predictions have no probability in --na-prob-file: {listed(unknown)}. Give one for each.")
    score_without_answer = {key: float(not has_answer[key]) for key in raw}
    threshold = no_answer.threshold
    return {
        key: (score_without_answer[key], score_without_answer[key]) if no_answer.probabilities[key] > threshold else scores
        for key, scores in raw.items()
    }


def _best_threshold(
    raw: Mapping[str, tuple[float, float]],
    column: int,
    predictions: Mapping[str, str],
    has_answer: Mapping[str, bool],
    probabilities: Mapping[str, float],
) -> tuple[float, float]:
    """The highest reachable sum of scores, and the lowest probability that reaches it.

    Start with no answer to any question, then let one answer after another through, by rising probability. As in the official script,
    answers of equal probability go through one by one, in the order of the given probabilities.
    """
    total = best = float(sum(not has_answer[key] for key in raw))
    threshold = 0.0
    for key in sorted((key for key in probabilities if key in raw), key=lambda key: probabilities[key]):
        total += raw[key][column] if has_answer[key] else -float(bool(predictions[key]))
        if total > best:
            best, threshold = total, probabilities[key]
    return best, threshold
