"""DiRe's four scorers (Trivedi et al. 2020): a set, its probe, its sufficiency transform, and the probe of that.

All score answer, supporting paragraphs, supporting sentences and answer with either, in percent with one decimal, under the headings that
the official scripts print. A probe asks what a system reaches from parts of the supporting facts: per bi-partition of them, its two
answers and supports are combined trivially, and over the bi-partitions of a question the best score counts, each score on its own
(equations 5 and 6). The published scripts know two supporting facts only; this holds for any number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from kgqa.errors import DuplicateId, InputError
from kgqa.metrics.hotpotqa import Fact, Question, answer_overlap, titles
from kgqa.metrics.overlap import NOTHING, Overlap, best, capped, joint, set_overlap
from kgqa.metrics.scores import Scores, total, unmatched

SINGLE = ("Answer Scores", "Supporting Paragraph Scores", "Supporting Sentence Scores")
JOINT = ("Joint Answer + Supporting Paragraph Scores", "Joint Answer + Supporting Sentence Scores")
HEADINGS = SINGLE + JOINT
"""In the order of :class:`_Parts`; the joint ones have no precision and recall."""
SUFFICIENT, PARTIAL, UNSUPPORTED = 1, 0, -1
"""Labels: all supporting facts are there; in a transform some are missing, in its probe one part is there; none is there."""
GROUP_SIZES = {2**facts - 1 for facts in range(2, 31)}
"""Instances of a transformed question, by its supporting facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """What is right for one context of a question."""

    question_id: str
    answer: str
    support: frozenset[Fact]
    """The supporting sentences that it is labelled with."""
    bipartition: int = 0
    """In probes: which bi-partition of the question's facts it belongs to."""
    sufficiency: int | None = None
    """One of ``SUFFICIENT``, ``PARTIAL``, ``UNSUPPORTED`` in transforms and their probes."""
    sub_idx: int | None = None
    """What tells the question's instances apart; without it, their order does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a system says about one context."""

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


Pair = tuple[Instance, Prediction]
Item = TypeVar("Item", Instance, Prediction)
NO_POINTS = _Parts(*[NOTHING] * len(HEADINGS))


def dire(gold: Mapping[str, Question], predictions: Iterable[Prediction]) -> Scores:
    """The set itself: HotpotQA's scores per question; a missing question counts 0, an unknown one is ignored; DuplicateId for one twice."""
    by_id = _by_id(predictions)
    missing, extra = unmatched(gold, by_id)
    parts = {
        question_id: _scored(by_id[question_id], question) if question_id in by_id else NO_POINTS for question_id, question in gold.items()
    }
    return _scores(parts, missing=missing, extra=extra)


def dire_probe(gold: Sequence[Instance], predictions: Sequence[Prediction], *, original: Iterable[Prediction] | None = None) -> Scores:
    """The probe: two instances per bi-partition. With ``original``, no score is above the system's own on the whole question (equation 7).

    Of two equally sure answers the one predicted first counts, whichever instance it is for: the published script takes a question's
    predictions from the end of their file. InputError where a bi-partition has not two instances, an instance has no prediction, or
    ``original`` lacks a question.
    """
    questions, extra = _questions(gold, predictions, last_first=True)
    whole = None if original is None else _by_id(original)
    parts = {}
    for question_id, pairs in questions.items():
        groups = [_pair(question_id, group) for group in _bipartitions(pairs).values()]
        cap = None
        if whole is not None:
            if question_id not in whole:
                raise InputError(f"question {question_id}: the original predictions lack it; predict every question of the unprobed set.")
            cap = _scored(whole[question_id], _label(pairs))
        parts[question_id] = _best([_combined(first, second, cap=cap) for first, second in groups])
    return _scores(parts, extra=extra)


def dire_sufficiency(gold: Sequence[Instance], predictions: Sequence[Prediction]) -> Scores:
    """The sufficiency transform: a question scores as its sufficient instance does if every label of its group is right, else 0.

    InputError where a group is not one sufficient instance and 2^n - 2 partial ones for n ≥ 2 facts, or an instance has no prediction.
    """
    questions, extra = _questions(gold, predictions)
    parts = {}
    for question_id, pairs in questions.items():
        sufficient = [pair for pair in pairs if pair[0].sufficiency == SUFFICIENT]
        labels = Counter(instance.sufficiency for instance, _ in pairs)
        if len(pairs) not in GROUP_SIZES or labels != {SUFFICIENT: 1, PARTIAL: len(pairs) - 1}:
            raise InputError(
                f"question {question_id}: its group has {len(pairs)} instances, {len(sufficient)} of them sufficient; "
                "n supporting facts make 2^n - 1 instances, one of them with label 1 and the others with label 0."
            )
        parts[question_id] = _scored(sufficient[0][1], _label(sufficient)) if _labels_right(pairs) else NO_POINTS
    return _scores(parts, extra=extra)


def dire_probe_of_sufficiency(gold: Sequence[Instance], predictions: Sequence[Prediction]) -> Scores:
    """The probe of the transform: per bi-partition two partial instances, combined as in the probe, and one without support.

    All three labels must be right, else 0. Of two equally sure answers the one to the second instance of the gold counts: this script finds
    predictions by ``sub_idx``. InputError where a bi-partition is not such a triple, or an instance has no prediction.
    """
    questions, extra = _questions(gold, predictions)
    parts = {}
    for question_id, pairs in questions.items():
        found = []
        for number, group in _bipartitions(pairs).items():
            labels = [instance.sufficiency for instance, _ in group]
            if Counter(labels) != {PARTIAL: 2, UNSUPPORTED: 1}:
                raise InputError(
                    f"question {question_id}, bi-partition {number}: its labels are {labels}; a group has the labels 0, 0 and -1."
                )
            first, second = (pair for pair in group if pair[0].sufficiency == PARTIAL)
            found.append(_combined(first, second) if _labels_right(group) else NO_POINTS)
        parts[question_id] = _best(found)
    return _scores(parts, extra=extra)


def _by_id(predictions: Iterable[Prediction]) -> dict[str, Prediction]:
    found: dict[str, Prediction] = {}
    for predicted in predictions:
        if predicted.question_id in found:
            raise DuplicateId(f"question {predicted.question_id}: it was predicted more than once; keep one prediction.")
        found[predicted.question_id] = predicted
    return found


def _questions(
    gold: Sequence[Instance], predictions: Sequence[Prediction], *, last_first: bool = False
) -> tuple[dict[str, list[Pair]], tuple[str, ...]]:
    """Each question's instances with their predictions, and the questions that only the predictions have.

    Questions are in the order of the gold, and so are a question's instances, or from the last prediction to the first if ``last_first``.
    """
    _, extra = unmatched((instance.question_id for instance in gold), (predicted.question_id for predicted in predictions))
    # The official probe predictions carry no sub_idx: there the n-th prediction of a question is for its n-th instance.
    by_index = all(item.sub_idx is not None for item in gold) and all(item.sub_idx is not None for item in predictions)
    wanted, given = _keyed(gold, by_index=by_index), _keyed(predictions, by_index=by_index)
    questions: dict[str, list[Pair]] = {instance.question_id: [] for instance in gold}
    for question_id, number in wanted:
        if (question_id, number) not in given:
            raise InputError(f"question {question_id}: its instance {number} has no prediction; predict every instance of a group.")
    for question_id, number in given:
        if question_id in questions and (question_id, number) not in wanted:
            raise InputError(
                f"question {question_id}: the gold data lacks instance {number}, which was predicted; predict its instances only."
            )
    for key in reversed(given) if last_first else wanted:
        if key in wanted:
            questions[key[0]].append((wanted[key], given[key]))
    return questions, extra


def _keyed(items: Sequence[Item], *, by_index: bool) -> dict[tuple[str, int], Item]:
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], Item] = {}
    for item in items:
        number = item.sub_idx if by_index and item.sub_idx is not None else seen[item.question_id]
        seen[item.question_id] += 1
        if (item.question_id, number) in found:
            raise DuplicateId(f"question {item.question_id}: its instance {number} occurs twice; keep one.")
        found[item.question_id, number] = item
    return found


def _bipartitions(pairs: Sequence[Pair]) -> dict[int, list[Pair]]:
    groups: dict[int, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair[0].bipartition, []).append(pair)
    return groups


def _pair(question_id: str, group: Sequence[Pair]) -> tuple[Pair, Pair]:
    if len(group) != 2:
        raise InputError(
            f"question {question_id}, bi-partition {group[0][0].bipartition}: it has {len(group)} instances; a probe has two for each."
        )
    return group[0], group[1]


def _label(pairs: Sequence[Pair]) -> Question:
    """What is right for all the instances together."""
    return Question(answer=pairs[0][0].answer, support=frozenset().union(*(instance.support for instance, _ in pairs)))


def _labels_right(pairs: Sequence[Pair]) -> bool:
    return all(predicted.sufficiency == instance.sufficiency for instance, predicted in pairs)


def _scored(predicted: Prediction, right: Question, *, cap: _Parts | None = None) -> _Parts:
    answer = answer_overlap(predicted.answer, right.answer)
    paragraphs = set_overlap(predicted.paragraphs, titles(right.support))
    sentences = set_overlap(predicted.sentences, right.support)
    if cap is not None:
        answer, paragraphs, sentences = capped(answer, cap.answer), capped(paragraphs, cap.paragraphs), capped(sentences, cap.sentences)
    return _Parts(answer, paragraphs, sentences, joint(answer, paragraphs), joint(answer, sentences))


def _combined(first: Pair, second: Pair, *, cap: _Parts | None = None) -> _Parts:
    """The trivial combination: the first answer if it is strictly surer, else the second; the union of both supports."""
    one, other = first[1], second[1]
    both = Prediction(
        question_id=one.question_id,
        answer=one.answer if one.confidence > other.confidence else other.answer,
        paragraphs=one.paragraphs | other.paragraphs,
        sentences=one.sentences | other.sentences,
    )
    return _scored(both, _label((first, second)), cap=cap)


def _best(parts: Sequence[_Parts]) -> _Parts:
    return _Parts(*map(best, zip(*parts, strict=True)))


def _scores(parts: Mapping[str, _Parts], *, missing: tuple[str, ...] = (), extra: tuple[str, ...] = ()) -> Scores:
    per_record: dict[str, dict[str, float]] = {}
    for place, heading in enumerate(HEADINGS):
        for name in ("f1", "em") if heading in JOINT else ("f1", "em", "precision", "recall"):
            per_record[f"{heading}: {name}"] = {question_id: getattr(found[place], name) for question_id, found in parts.items()}
    found = {name: 100 * total(values.values()) / len(parts) for name, values in per_record.items()}
    official = {name: round(value, 1) for name, value in found.items()}
    return Scores(official=official, unrounded=found, per_record=per_record, missing=missing, extra=extra)
