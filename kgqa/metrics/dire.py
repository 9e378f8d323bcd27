"""DiRe's four scorers (Trivedi et al. 2020): for a set, its probe, its sufficiency transform, and the probe of that transform.

Each scorer reports the answer, the supporting paragraphs, the supporting sentences, and the answer jointly with either kind of support,
in percent with one decimal, under the headings that the official scripts print.

A probe measures what a system reaches from parts of the supporting facts. For each bi-partition of the facts, the two answers and the two
sets of support are combined trivially. A question gets the best score over its bi-partitions, each score on its own (equations 5 and 6).
The published scripts handle two supporting facts only; this code handles any number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from kgqa.errors import DuplicateId, InputError
from kgqa.metrics.hotpotqa import Fact, HotpotQAGold, answer_overlap, titles
from kgqa.metrics.overlap import NOTHING, Overlap, best, capped, joint, set_overlap
from kgqa.metrics.scores import Scores, total, unmatched

SINGLE = ("Answer Scores", "Supporting Paragraph Scores", "Supporting Sentence Scores")
JOINT = ("Joint Answer + Supporting Paragraph Scores", "Joint Answer + Supporting Sentence Scores")
HEADINGS = SINGLE + JOINT
"""In the order of :class:`_Parts`; the joint headings have no precision and recall."""
SUFFICIENT, PARTIAL, UNSUPPORTED = 1, 0, -1
"""Labels: all supporting facts are present; some are missing (transform) or one part is present (its probe); none is present."""
GROUP_SIZES = {2**facts - 1 for facts in range(2, 31)}
"""Instances of a transformed question, by its supporting facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiReGold:
    """The gold answer and support for one context of a question."""

    question_id: str
    answer: str
    support: frozenset[Fact]
    """The labelled supporting sentences."""
    bipartition: int = 0
    """In probes: the number of the bi-partition of the question's facts that this instance belongs to."""
    sufficiency: int | None = None
    """One of ``SUFFICIENT``, ``PARTIAL``, ``UNSUPPORTED`` in transforms and their probes."""
    sub_idx: int | None = None
    """Distinguishes the instances of a question; without it, their order does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiRePrediction:
    """A system's prediction for one context."""

    question_id: str
    answer: str
    paragraphs: frozenset[str]
    """Titles of the supporting paragraphs."""
    sentences: frozenset[Fact]
    confidence: float = 0.0
    sufficiency: int | None = None
    sub_idx: int | None = None


class _Parts(NamedTuple):
    """The overlaps of one question under the five headings."""

    answer: Overlap
    paragraphs: Overlap
    sentences: Overlap
    with_paragraphs: Overlap
    with_sentences: Overlap


Pair = tuple[DiReGold, DiRePrediction]
Item = TypeVar("Item", DiReGold, DiRePrediction)
NO_POINTS = _Parts(*[NOTHING] * len(HEADINGS))


def dire(gold: Mapping[str, HotpotQAGold], predictions: Iterable[DiRePrediction]) -> Scores:
    """Score the set itself: HotpotQA's scores per question.

    A missing question counts 0, an unknown one is ignored. Raises DuplicateId for a question predicted twice.
    """
    by_id = _by_id(predictions)
    missing, extra = unmatched(gold, by_id)
    parts = {
        question_id: _overlaps(by_id[question_id], question) if question_id in by_id else NO_POINTS
        for question_id, question in gold.items()
    }
    return _scores(parts, missing=missing, extra=extra)


def dire_probe(
    gold: Sequence[DiReGold], predictions: Sequence[DiRePrediction], *, original: Iterable[DiRePrediction] | None = None
) -> Scores:
    """Score the probe, which has two instances per bi-partition.

    With ``original``, no score exceeds the system's own score on the whole question (equation 7). When both answers are equally confident,
    the one predicted first counts, because the published script reads a question's predictions from the end of the file. Raises InputError
    if a bi-partition does not have two instances, an instance has no prediction, or ``original`` lacks a question.
    """
    questions, extra = _pairs_by_question(gold, predictions, last_first=True)
    predictions_of_original = None if original is None else _by_id(original)
    parts = {}
    for question_id, pairs in questions.items():
        groups = [_pair_of(question_id, group) for group in _bipartitions(pairs).values()]
        cap = None
        if predictions_of_original is not None:
            if question_id not in predictions_of_original:
                raise InputError(f"question {question_id}: the original predictions lack it; predict every question of the unprobed set.")
            cap = _overlaps(predictions_of_original[question_id], _joint_gold(pairs))
        parts[question_id] = _best_of([_combined_overlaps(first, second, cap=cap) for first, second in groups])
    return _scores(parts, extra=extra)


def dire_sufficiency(gold: Sequence[DiReGold], predictions: Sequence[DiRePrediction]) -> Scores:
    """Score the sufficiency transform: the score of the sufficient instance if every label of the group is correct, else 0.

    Raises InputError if a group is not one sufficient instance and 2^n - 2 partial ones for n ≥ 2 facts, or an instance has no prediction.
    """
    questions, extra = _pairs_by_question(gold, predictions)
    parts = {}
    for question_id, pairs in questions.items():
        sufficient = [pair for pair in pairs if pair[0].sufficiency == SUFFICIENT]
        labels = Counter(instance.sufficiency for instance, _ in pairs)
        if len(pairs) not in GROUP_SIZES or labels != {SUFFICIENT: 1, PARTIAL: len(pairs) - 1}:
            raise InputError(
                f"question {question_id}: its group has {len(pairs)} instances, {len(sufficient)} of them sufficient, but "
                "n supporting facts make 2^n - 1 instances, and exactly one of these has label 1."
            )
        parts[question_id] = _overlaps(sufficient[0][1], _joint_gold(sufficient)) if _are_labels_right(pairs) else NO_POINTS
    return _scores(parts, extra=extra)


def dire_probe_of_sufficiency(gold: Sequence[DiReGold], predictions: Sequence[DiRePrediction]) -> Scores:
    """Score the probe of the transform. Each bi-partition has two partial instances, combined as in the probe, and one without support.

    All three labels must be correct, else the score is 0. When both answers are equally confident, the answer to the second gold instance
    counts, because this script looks predictions up by ``sub_idx``. Raises InputError if a bi-partition is not such a triple, or an
    instance has no prediction.
    """
    questions, extra = _pairs_by_question(gold, predictions)
    parts = {}
    for question_id, pairs in questions.items():
        scores = []
        for number, group in _bipartitions(pairs).items():
            labels = [instance.sufficiency for instance, _ in group]
            if Counter(labels) != {PARTIAL: 2, UNSUPPORTED: 1}:
                raise InputError(
                    f"question {question_id}, bi-partition {number}: its labels are {labels}; a group has the labels 0, 0 and -1."
                )
            first, second = (pair for pair in group if pair[0].sufficiency == PARTIAL)
            scores.append(_combined_overlaps(first, second) if _are_labels_right(group) else NO_POINTS)
        parts[question_id] = _best_of(scores)
    return _scores(parts, extra=extra)


def _by_id(predictions: Iterable[DiRePrediction]) -> dict[str, DiRePrediction]:
    predictions_by_id: dict[str, DiRePrediction] = {}
    for prediction in predictions:
        if prediction.question_id in predictions_by_id:
            raise DuplicateId(f"question {prediction.question_id}: it was predicted more than once; keep one prediction.")
        predictions_by_id[prediction.question_id] = prediction
    return predictions_by_id


def _pairs_by_question(
    gold: Sequence[DiReGold], predictions: Sequence[DiRePrediction], *, last_first: bool = False
) -> tuple[dict[str, list[Pair]], tuple[str, ...]]:
    """Pair each question's instances with their predictions; also return the ids that only the predictions have.

    Questions and their instances follow the gold order; with ``last_first``, instances run from the last prediction to the first.
    """
    _, extra = unmatched((instance.question_id for instance in gold), (prediction.question_id for prediction in predictions))
    # The official probe predictions carry no sub_idx: there the n-th prediction of a question is for its n-th instance.
    by_index = all(item.sub_idx is not None for item in gold) and all(item.sub_idx is not None for item in predictions)
    gold_by_key, predictions_by_key = _items_by_key(gold, by_index=by_index), _items_by_key(predictions, by_index=by_index)
    questions: dict[str, list[Pair]] = {instance.question_id: [] for instance in gold}
    for question_id, number in gold_by_key:
        if (question_id, number) not in predictions_by_key:
            raise InputError(f"question {question_id}: its instance {number} has no prediction; predict every instance of a group.")
    for question_id, number in predictions_by_key:
        if question_id in questions and (question_id, number) not in gold_by_key:
            raise InputError(
                f"question {question_id}: the gold data lacks instance {number}, which was predicted; predict its instances only."
            )
    for key in reversed(predictions_by_key) if last_first else gold_by_key:
        if key in gold_by_key:
            questions[key[0]].append((gold_by_key[key], predictions_by_key[key]))
    return questions, extra


def _items_by_key(items: Sequence[Item], *, by_index: bool) -> dict[tuple[str, int], Item]:
    counts: Counter[str] = Counter()
    items_by_key: dict[tuple[str, int], Item] = {}
    for item in items:
        number = item.sub_idx if by_index and item.sub_idx is not None else counts[item.question_id]
        counts[item.question_id] += 1
        if (item.question_id, number) in items_by_key:
            raise DuplicateId(f"question {item.question_id}: its instance {number} occurs twice; keep one.")
        items_by_key[item.question_id, number] = item
    return items_by_key


def _bipartitions(pairs: Sequence[Pair]) -> dict[int, list[Pair]]:
    groups: dict[int, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair[0].bipartition, []).append(pair)
    return groups


def _pair_of(question_id: str, group: Sequence[Pair]) -> tuple[Pair, Pair]:
    if len(group) != 2:
        raise InputError(
            f"question {question_id}, bi-partition {group[0][0].bipartition}: it has {len(group)} instances; a probe has two for each."
        )
    return group[0], group[1]


def _joint_gold(pairs: Sequence[Pair]) -> HotpotQAGold:
    """The gold answer and the union of the support of all these instances."""
    return HotpotQAGold(answer=pairs[0][0].answer, support=frozenset().union(*(instance.support for instance, _ in pairs)))


def _are_labels_right(pairs: Sequence[Pair]) -> bool:
    return all(prediction.sufficiency == instance.sufficiency for instance, prediction in pairs)


def _overlaps(prediction: DiRePrediction, gold: HotpotQAGold, *, cap: _Parts | None = None) -> _Parts:
    answer = answer_overlap(prediction.answer, gold.answer)
    paragraphs = set_overlap(prediction.paragraphs, titles(gold.support))
    sentences = set_overlap(prediction.sentences, gold.support)
    if cap is not None:
        answer, paragraphs, sentences = capped(answer, cap.answer), capped(paragraphs, cap.paragraphs), capped(sentences, cap.sentences)
    return _Parts(answer, paragraphs, sentences, joint(answer, paragraphs), joint(answer, sentences))


def _combined_overlaps(first: Pair, second: Pair, *, cap: _Parts | None = None) -> _Parts:
    """Combine two predictions trivially: the first answer if its confidence is strictly higher, else the second; the union of both
    supports.
    """
    first_prediction, second_prediction = first[1], second[1]
    union = DiRePrediction(
        question_id=first_prediction.question_id,
        answer=first_prediction.answer if first_prediction.confidence > second_prediction.confidence else second_prediction.answer,
        paragraphs=first_prediction.paragraphs | second_prediction.paragraphs,
        sentences=first_prediction.sentences | second_prediction.sentences,
    )
    return _overlaps(union, _joint_gold((first, second)), cap=cap)


def _best_of(parts: Sequence[_Parts]) -> _Parts:
    return _Parts(*map(best, zip(*parts, strict=True)))


def _scores(parts: Mapping[str, _Parts], *, missing: tuple[str, ...] = (), extra: tuple[str, ...] = ()) -> Scores:
    per_record: dict[str, dict[str, float]] = {}
    for place, heading in enumerate(HEADINGS):
        for name in ("f1", "em") if heading in JOINT else ("f1", "em", "precision", "recall"):
            per_record[f"{heading}: {name}"] = {question_id: getattr(means[place], name) for question_id, means in parts.items()}
    means = {name: 100 * total(values.values()) / len(parts) for name, values in per_record.items()}
    official = {name: round(value, 1) for name, value in means.items()}
    return Scores(official=official, unrounded=means, per_record=per_record, missing=missing, extra=extra)
