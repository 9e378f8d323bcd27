"""The split that predictions belong to, with its gold and the traits of its questions, and its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, DuplicateId, InputError
from kgqa.formats.huggingface.hub import Place
from kgqa.formats.question_set import QuestionSet
from kgqa.metrics.hotpotqa import titles
from kgqa.metrics.scores import Scores
from kgqa.records import Instance
from kgqa.scoring.breakdown import TraitsOf
from kgqa.scoring.dire_gold import Label
from kgqa.scoring.metrics import Gold, Metric, MetricOptions

SPLIT_ORDER = ("dev", "test", "train")
"""Order of splits in a tie: those that systems are evaluated on come first."""
SHOWN = 60
"""Characters of an id that a message shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSplit:
    """The gold of one split."""

    split: str
    gold: Gold
    traits: TraitsOf


def find_split(source: QuestionSet, metric: Metric, predictions: Any, path: Path, advance: Callable[[int], None]) -> GoldSplit:
    """The split with the most predicted questions. Raises BrokenInput if there is none; missing predictions are left to the scorer.

    Only the ids of the other splits are read, since they may lack answers. With several splits the chosen one is read twice. Memory: gold
    and traits of one split; paragraphs are not kept.
    """
    prediction = set(metric.ids(predictions))
    if not prediction:
        raise BrokenInput(f"{path.name}: it has no predictions; choose a file that has.")
    splits = sorted(source.files, key=SPLIT_ORDER.index)
    best = splits[0] if len(splits) == 1 else _most_predicted(source, splits, metric, prediction, advance)
    if best is not None:
        gold_split = _collect(source, best, metric, advance)
        if not prediction.isdisjoint(key for key, _ in gold_split.gold):
            return gold_split
    example = next((metric.key(instance) for split in splits for instance in source.read(split)), "")
    raise BrokenInput(_mismatch_message(path, source, min(prediction), example))


def _most_predicted(
    source: QuestionSet, splits: Sequence[str], metric: Metric, prediction: set[str], advance: Callable[[int], None]
) -> str | None:
    """The split with the most predicted questions, the first in a tie; None if there is none."""

    def keys(split: str) -> Iterator[str]:
        for instance in source.read(split):
            yield metric.key(instance)
            advance(1)

    shared_counts = {split: len(prediction.intersection(keys(split))) for split in splits}
    best = max(splits, key=shared_counts.__getitem__)
    return best if shared_counts[best] else None


def _mismatch_message(path: Path, source: QuestionSet, predicted_id: str, gold_id: str) -> str:
    if not gold_id:
        return f"{source.path}: the set has no questions; choose one that has."
    beginning = f"{path.name}: these are predictions for another set than {source.path.name}"
    examples = f"one looks like {gold_id[:SHOWN]} there and {predicted_id[:SHOWN]} here"
    return f"{beginning}: no id is in both, {examples}; give the predictions for this set."


def _collect(source: QuestionSet, split: str, metric: Metric, advance: Callable[[int], None]) -> GoldSplit:
    gold: list[tuple[str, Any]] = []
    traits = TraitsOf()
    keys: set[str] = set()
    for instance in source.read(split):
        key, answer = metric.key(instance), metric.gold(instance)
        if key in keys and not metric.several:
            raise DuplicateId(f"{source.files[split].name}: id {key} occurs twice; drop one of the questions.")
        keys.add(key)
        gold.append((key, answer))
        traits.add(key, instance, _supporting(instance, answer), united=isinstance(answer, Label))
        advance(1)
    return GoldSplit(split=split, gold=gold, traits=traits)


def _supporting(instance: Instance, gold: Any) -> set[str]:
    """Keys of supporting paragraphs: ids, or titles if the instances of one question show them at different positions."""
    if isinstance(gold, Label):
        return set(titles(gold.instance.support))
    return {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}


def score(gold_split: GoldSplit, metric: Metric, predictions: Any, options: MetricOptions, *, path: Path, dataset: Place) -> Scores:
    """The scores. An error of the scorer is prefixed with the names of both files."""
    try:
        return metric.score(gold_split.gold, predictions, options)
    except InputError as error:
        raise type(error)(f"{path.name} against {dataset.name}: {error}") from None
