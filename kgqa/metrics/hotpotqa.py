"""HotpotQA as its official script scores it (Yang et al. 2018): answer, supporting sentences and both at once, between 0 and 1.

The paragraph level, which the script does not report, is in ``unrounded`` as ``paragraph_*``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kgqa.metrics.normalize import normalize
from kgqa.metrics.overlap import NOTHING, Overlap, joint, set_overlap, token_overlap
from kgqa.metrics.scores import Scores, mean, missing_parts, unmatched

Fact = tuple[str, int]
"""A paragraph's title and the place of a sentence in it, from 0."""
CLOSED = ("yes", "no", "noanswer")
NAMES = ("em", "f1", "prec", "recall")
OFFICIAL = tuple(f"{prefix}{name}" for prefix in ("", "sp_", "joint_") for name in NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotQAGold:
    """Gold of a question: answer and supporting facts."""

    answer: str
    support: frozenset[Fact]


@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotQAPrediction:
    """A system's prediction; a part is None if the file has none for this question."""

    answer: str | None = None
    support: frozenset[Fact] | None = None


def hotpotqa(gold: Mapping[str, HotpotQAGold], predictions: Mapping[str, HotpotQAPrediction]) -> Scores:
    """Means over all gold questions. A missing part counts 0 and makes the joint scores 0; unknown ids are ignored."""
    missing, extra = unmatched(gold, predictions)
    per_record: dict[str, dict[str, float]] = {}
    for key, question in gold.items():
        prediction = predictions.get(key, HotpotQAPrediction())
        answer = NOTHING if prediction.answer is None else answer_overlap(prediction.answer, question.answer)
        support = paragraphs = NOTHING
        if prediction.support is not None:
            support = set_overlap(prediction.support, question.support)
            paragraphs = set_overlap(titles(prediction.support), titles(question.support))
        record(per_record, key, {"": answer, "sp_": support, "joint_": joint(answer, support), "paragraph_": paragraphs})
    means = {name: mean(values) for name, values in per_record.items()}
    official = {name: means[name] for name in OFFICIAL}
    parts = missing_parts(gold, predictions, {"answer": "answer", "sp": "support"})
    return Scores(official=official, unrounded=means, per_record=per_record, missing=missing, missing_parts=parts, extra=extra)


def answer_overlap(prediction: str, gold: str) -> Overlap:
    """SQuAD's overlap, but F1, precision and recall are 0 where one side is yes, no or noanswer and the other side differs."""
    left, right = normalize(prediction), normalize(gold)
    if left != right and (left in CLOSED or right in CLOSED):
        return NOTHING
    return token_overlap(left.split(), right.split())


def titles(facts: frozenset[Fact]) -> frozenset[str]:
    """Titles of the paragraphs that contain these supporting sentences."""
    return frozenset(title for title, _ in facts)


def record(per_record: dict[str, dict[str, float]], key: str, parts: Mapping[str, Overlap]) -> None:
    """Put the four scores of each part under its prefix and HotpotQA's names."""
    for prefix, overlap in parts.items():
        for name, value in zip(NAMES, overlap, strict=True):
            per_record.setdefault(prefix + name, {})[key] = value
