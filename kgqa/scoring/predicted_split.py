"""The split that predictions are for, with its gold and what is known of its questions, and its scores."""

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
from kgqa.scoring.metrics import Beside, Gold, Metric

SPLIT_ORDER = ("dev", "test", "train")
"""Order of splits in a tie: the splits that systems are evaluated on come first."""
SHOWN = 60
"""Characters of an id that a message shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The gold of one split."""

    split: str
    gold: Gold
    traits: TraitsOf


def find_split(source: QuestionSet, metric: Metric, predictions: Any, path: Path, advance: Callable[[int], None]) -> Joined:
    """The split of which most questions are predicted; BrokenInput where none is. Those without a prediction are the scorer's business.

    Of the other splits nothing but the ids is looked at, since they may have no answers. With several splits the one that is found is read
    twice. Memory: gold and traits of one split; paragraphs are not kept.
    """
    predicted = set(metric.ids(predictions))
    if not predicted:
        raise BrokenInput(f"{path.name}: it holds no prediction; give a file that does.")
    splits = sorted(source.files, key=SPLIT_ORDER.index)
    best = splits[0] if len(splits) == 1 else _most_predicted(source, splits, metric, predicted, advance)
    if best is not None:
        joined = _collect(source, best, metric, advance)
        if not predicted.isdisjoint(key for key, _ in joined.gold):
            return joined
    example = next((metric.key(instance) for split in splits for instance in source.read(split)), "")
    raise BrokenInput(_mismatch(path, source, min(predicted), example))


def _most_predicted(
    source: QuestionSet, splits: Sequence[str], metric: Metric, predicted: set[str], advance: Callable[[int], None]
) -> str | None:
    """The split with most predicted questions, the first in a tie; None without any."""

    def keys(split: str) -> Iterator[str]:
        for instance in source.read(split):
            yield metric.key(instance)
            advance(1)

    shared = {split: len(predicted.intersection(keys(split))) for split in splits}
    best = max(splits, key=shared.__getitem__)
    return best if shared[best] else None


def _mismatch(path: Path, source: QuestionSet, here: str, there: str) -> str:
    if not there:
        return f"{source.path}: the set holds no question; give one that does."
    where = f"{path.name}: these are predictions for another set than {source.path.name}"
    looks = f"one looks like {there[:SHOWN]} there and {here[:SHOWN]} here"
    return f"{where}: no id is in both, {looks}; give the predictions for this set."


def _collect(source: QuestionSet, split: str, metric: Metric, advance: Callable[[int], None]) -> Joined:
    gold: list[tuple[str, Any]] = []
    traits = TraitsOf()
    seen: set[str] = set()
    for instance in source.read(split):
        key, right = metric.key(instance), metric.gold(instance)
        if key in seen and not metric.several:
            raise DuplicateId(f"{source.files[split].name}: id {key} is there twice; drop one of the questions.")
        seen.add(key)
        gold.append((key, right))
        traits.add(key, instance, _supporting(instance, right), united=isinstance(right, Label))
        advance(1)
    return Joined(split=split, gold=gold, traits=traits)


def _supporting(instance: Instance, right: Any) -> set[str]:
    """Keys of supporting paragraphs: ids, or names if instances of one question show them at different positions."""
    if isinstance(right, Label):
        return set(titles(right.instance.support))
    return {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}


def score(joined: Joined, metric: Metric, predictions: Any, beside: Beside, *, path: Path, dataset: Place) -> Scores:
    """The scores; the messages of the scorer are preceded by the files that it compares."""
    try:
        return metric.score(joined.gold, predictions, beside)
    except InputError as error:
        raise type(error)(f"{path.name} against {dataset.name}: {error}") from None
