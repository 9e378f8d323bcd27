"""MuSiQue-Ans and MuSiQue-Full as version 1.0 of their official script scores them (Trivedi et al. 2022), between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.errors import DuplicateId, InputError
from kgqa.metrics.overlap import set_overlap
from kgqa.metrics.scores import Scores, mean
from kgqa.metrics.squad import gold_scores

SHOWN = 60
"""Characters of an id that a message shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MuSiQueGold:
    """Gold of one line of the gold file."""

    id: str
    answers: tuple[str, ...]
    """The answer, then its aliases."""
    support: frozenset[int]
    """``idx`` of the supporting paragraphs."""
    answerable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MuSiQuePrediction:
    """A system's prediction for one line of its file."""

    id: str
    answer: str
    support: frozenset[int]
    answerable: bool


def musique(gold: Sequence[MuSiQueGold], predictions: Sequence[MuSiQuePrediction]) -> Scores:
    """``answer_f1, answer_em, support_f1`` over the answerable questions, whatever answerability was predicted.

    If some questions are unanswerable, also ``group_answer_sufficiency_f1`` and ``group_support_sufficiency_f1`` over the pairs.
    ``support_em`` is our addition. Raises InputError if the ids differ line by line, or a set with unanswerable questions does not have
    each id once answerable and once not; DuplicateId if an id occurs twice in a set without unanswerable questions.
    """
    _check_aligned(gold, predictions)
    per_record: dict[str, dict[str, float]] = {name: {} for name in ("answer_f1", "answer_em", "support_f1", "support_em")}
    misjudged: set[str] = set()
    for question, prediction in zip(gold, predictions, strict=True):
        if prediction.answerable != question.answerable:
            misjudged.add(question.id)
        if question.answerable:
            exact, f1 = gold_scores(prediction.answer, question.answers)
            support = set_overlap(prediction.support, question.support)
            # Two empty sets agree fully here, other than in HotpotQA; otherwise EM implies F1.
            question_scores = {"answer_f1": f1, "answer_em": exact, "support_f1": max(support.f1, support.em), "support_em": support.em}
            for name, value in question_scores.items():
                per_record[name][question.id] = value
    if not all(question.answerable for question in gold):
        for part in ("answer", "support"):
            scores = per_record[f"{part}_f1"]
            per_record[f"group_{part}_sufficiency_f1"] = {key: 0.0 if key in misjudged else value for key, value in scores.items()}
    means = {name: mean(values) for name, values in per_record.items()}
    official = {name: round(value, 3) for name, value in means.items() if name != "support_em"}
    return Scores(official=official, unrounded=means, per_record=per_record)


def _check_aligned(gold: Sequence[MuSiQueGold], predictions: Sequence[MuSiQuePrediction]) -> None:
    if not gold:
        raise InputError("There is nothing to score: the gold data has no questions.")
    if len(gold) != len(predictions):
        raise InputError(
            f"There are {len(gold)} gold lines and {len(predictions)} predictions; MuSiQue needs one prediction a line, in order."
        )
    for line, (question, prediction) in enumerate(zip(gold, predictions, strict=True), start=1):
        if question.id != prediction.id:
            raise InputError(
                f"line {line}: the gold id is {question.id[:SHOWN]} and the predicted one {prediction.id[:SHOWN]}; "
                "put the predictions in gold order."
            )
        if question.answerable and not question.answers:
            raise InputError(f"question {question.id}: it is answerable and has no answer; give it one.")
    _check_groups(gold)


def _check_groups(gold: Sequence[MuSiQueGold]) -> None:
    groups: dict[str, list[bool]] = {}
    for question in gold:
        groups.setdefault(question.id, []).append(question.answerable)
    has_unanswerable = not all(question.answerable for question in gold)
    for key, members in groups.items():
        if has_unanswerable and sorted(members) != [False, True]:
            raise InputError(
                f"question {key}: it has {sum(members)} answerable and {len(members) - sum(members)} unanswerable instances; "
                "a set with unanswerable questions needs one of each."
            )
        if not has_unanswerable and len(members) > 1:
            raise DuplicateId(f"question {key}: it occurs {len(members)} times, each time answerable; keep one.")
