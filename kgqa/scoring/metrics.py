"""The metrics of ``kgqa evaluate``: how each reads gold and predictions, scores them, and prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgqa.metrics.dire import JOINT, SINGLE, dire, dire_probe, dire_probe_of_sufficiency, dire_sufficiency
from kgqa.metrics.drop import NAMES, drop, iirc
from kgqa.metrics.hotpotqa import hotpotqa
from kgqa.metrics.musique import musique
from kgqa.metrics.qangaroo import qangaroo
from kgqa.metrics.scores import Scores
from kgqa.metrics.squad import NoAnswer, squad, squad2
from kgqa.metrics.strategyqa import strategyqa
from kgqa.metrics.twowiki import twowiki
from kgqa.records import Instance
from kgqa.scoring import dire_gold, gold, predictions

Gold = Sequence[tuple[str, Any]]
"""Key of a question in predictions, and its gold, in the order of the set."""
PERCENT = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOptions:
    """Additional files of some metrics."""

    original: Sequence[Any] | None = None
    """Predictions on the unprobed set."""
    aliases: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    no_answer: NoAnswer | None = None
    missing_as_zero: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """An entry of ``--metric``: how gold and predictions are read and scored."""

    read: Callable[[Path], Any]
    """Predictions from the set's official file."""
    gold: Callable[[Instance], Any]
    score: Callable[[Gold, Any, MetricOptions], Scores]
    ids: Callable[[Any], Iterable[str]] = iter
    """Ids of the predicted questions."""
    key: Callable[[Instance], str] = lambda instance: instance.id
    """Key of a question in predictions."""
    several: bool = False
    """Whether a question has several instances in the set."""
    scale: float = 1.0
    """Factor of shares in the official script."""
    decimals: int | None = None
    """Decimals in the official script; None without rounding."""
    headline: tuple[str, ...]
    """The scores in the breakdown; a terminal has room for four."""


def _dire(metric: str, score: Callable[[Gold, Any, MetricOptions], Scores], **other: Any) -> Metric:
    return Metric(
        read=partial(predictions.read_dire, metric=metric),
        ids=lambda lines: (line.question_id for line in lines),
        score=score,
        scale=PERCENT,
        headline=tuple(f"{heading}: f1" for heading in (*SINGLE, JOINT[-1])),
        **other,
    )


def _dire_transform(metric: str, score: Callable[..., Scores], *, conditional: bool = False) -> Metric:
    def score_transform(labels: Gold, prediction: Any, options: MetricOptions) -> Scores:
        instances = [label.instance for _, label in labels]
        same_numbers = dire_gold.whole_numbers(prediction, [label for _, label in labels])
        return score(instances, same_numbers, original=options.original) if conditional else score(instances, same_numbers)

    return _dire(
        metric, score_transform, gold=dire_gold.dire_label, key=lambda instance: dire_gold.notes_of(instance)["question"], several=True
    )


def _by_id(score: Callable[..., Scores]) -> Callable[[Gold, Any, MetricOptions], Scores]:
    """A scorer of mappings by id, which takes no options."""
    return lambda labels, prediction, _: score(dict(labels), prediction)


def _by_type(score: Callable[..., Scores]) -> Callable[[Gold, Any, MetricOptions], Scores]:
    """DROP's scorer, or IIRC's, of gold answers with their types."""

    def score_typed(labels: Gold, prediction: Any, _: MetricOptions) -> Scores:
        answers = {key: [spans for spans, _ in typed_answers] for key, typed_answers in labels}
        return score(answers, prediction, types={key: [name for _, name in typed_answers] for key, typed_answers in labels})

    return score_typed


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "squad": Metric(
            read=predictions.read_texts, gold=gold.squad_answers, score=_by_id(squad),
            scale=PERCENT, headline=("exact_match", "f1"),
        ),
        "squad2": Metric(
            read=predictions.read_texts, gold=gold.squad_answers,
            score=lambda labels, predicted, options: squad2(
                dict(labels), predicted, no_answer=options.no_answer, missing_as_zero=options.missing_as_zero
            ),
            scale=PERCENT, headline=("exact", "f1"),
        ),
        "hotpotqa": Metric(
            read=predictions.read_hotpotqa, gold=gold.hotpotqa_question, score=_by_id(hotpotqa),
            headline=("em", "f1", "sp_f1", "joint_f1"),
        ),
        "musique": Metric(
            read=predictions.read_musique, gold=gold.musique_question, key=gold.official_id, several=True,
            ids=lambda lines: (line.id for line in lines),
            score=lambda labels, predicted, _: musique([question for _, question in labels], predicted),
            headline=("answer_f1", "support_f1", "group_answer_sufficiency_f1", "group_support_sufficiency_f1"),
        ),
        "dire": _dire("dire", _by_id(dire), gold=gold.hotpotqa_question),
        "dire-probe": _dire_transform("dire-probe", dire_probe, conditional=True),
        "dire-sufficiency": _dire_transform("dire-sufficiency", dire_sufficiency),
        "dire-probe-of-sufficiency": _dire_transform("dire-probe-of-sufficiency", dire_probe_of_sufficiency),
        "twowiki": Metric(
            read=predictions.read_twowiki, gold=gold.twowiki_question,
            score=lambda labels, predicted, options: twowiki(dict(labels), predicted, aliases=options.aliases),
            scale=PERCENT, headline=("f1", "sp_f1", "evi_f1", "joint_f1"),
        ),
        "drop": Metric(
            read=predictions.read_spans, gold=gold.drop_typed, score=_by_type(drop), scale=PERCENT, decimals=2, headline=NAMES,
        ),
        "iirc": Metric(
            read=predictions.read_spans, gold=gold.iirc_typed, score=_by_type(iirc), scale=PERCENT, decimals=2, headline=NAMES,
        ),
        "strategyqa": Metric(
            read=predictions.read_strategyqa, gold=gold.strategyqa_question, score=_by_id(strategyqa),
            headline=("Accuracy", "SARI", "Recall@10"),
        ),
        "qangaroo": Metric(
            read=predictions.read_texts, gold=gold.qangaroo_question, score=_by_id(qangaroo),
            scale=PERCENT, headline=("accuracy", "validated_accuracy"),
        ),
    }
)  # fmt: skip
