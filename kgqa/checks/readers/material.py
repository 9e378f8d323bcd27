"""Questions to train on and to judge: whole groups, drawn by name, up to the requested numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kgqa.arrays.draws import draw
from kgqa.errors import SettingsError
from kgqa.formats.question_set import QuestionSet
from kgqa.records import Instance
from kgqa.settings.judging import JudgingSettings

ENOUGH = 50
"""Questions of a split that it takes to learn from it, or to judge by it; with fewer, all splits are cross-fitted together."""
LEAST_GROUPS = 20
"""Groups of questions below which an interval over groups means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Questions for the readers; in memory during judging."""

    train: tuple[Instance, ...] | None
    """None: those that are judged are learned from as well, by cross-fitting."""
    judged: tuple[Instance, ...]
    how: str
    """A sentence for the report: splits, numbers of questions and groups."""


def material(found: QuestionSet, settings: JudgingSettings, *, seed: int) -> Material:
    """Draw the questions of a set. Reads it twice; memory: the questions drawn, and the names of all groups.

    SettingsError where there are too few.
    """
    counts = {split: Counter(instance.group for instance in found.read(split) if readable(instance)) for split in found.files}
    judged = next((split for split in ("dev", "test") if counts.get(split, Counter()).total() >= ENOUGH), None)
    if judged is not None and counts.get("train", Counter()).total() >= ENOUGH:
        train = _drawn(found, ("train",), counts["train"], settings.train_questions, seed)
        chosen = _drawn(found, (judged,), counts[judged], settings.questions, seed)
        groups = len({instance.group for instance in chosen})
        how = f"Readers learned from {len(train):,} questions of train and were tried on {len(chosen):,} of {judged}, of {groups:,} groups."
        _check(found, min(groups, len({instance.group for instance in train})))
        return Material(train=train, judged=chosen, how=how)
    whole: Counter[str] = sum(counts.values(), Counter())
    chosen = _drawn(found, tuple(found.files), whole, settings.questions, seed)
    groups = len({instance.group for instance in chosen})
    _check(found, groups)
    how = (
        f"The set has no train split to learn from beside {ENOUGH} questions to judge, so {len(chosen):,} questions of {groups:,} groups "
        f"were cross-fitted in {settings.folds} folds: none was read by a reader that had seen one of its group."
    )
    return Material(train=None, judged=chosen, how=how)


def readable(instance: Instance) -> bool:
    """Whether a reader has something to read, and somebody knows what is right."""
    return bool(instance.paragraphs) and (bool(instance.answers) or not instance.answerable)


def _check(found: QuestionSet, groups: int) -> None:
    if groups < LEAST_GROUPS:
        raise SettingsError(
            f"{found.path}: {groups} groups of questions with paragraphs and answers are too few for "
            f"meaningful figures; give a set with {LEAST_GROUPS} or more, or leave out --readers."
        )


def _drawn(found: QuestionSet, splits: Iterable[str], sizes: Counter[str], limit: int, seed: int) -> tuple[Instance, ...]:
    chosen, total = set[str](), 0
    for group in sorted(sizes, key=lambda name: (draw(purpose="judged", seed=seed, id=name), name)):
        if total >= limit:
            break
        if total + sizes[group] <= limit or not chosen:
            chosen.add(group)
            total += sizes[group]
    return tuple(each for split in splits for each in found.read(split) if readable(each) and each.group in chosen)
