"""Questions to train on and to judge: whole groups, drawn by name, up to the requested numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kgqa.arrays.draws import draw
from kgqa.errors import SettingsError
from kgqa.formats.question_set import QuestionSet
from kgqa.readers.registry import LLM
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


def material(questions: QuestionSet, settings: JudgingSettings, *, seed: int) -> Material:
    """Draw the questions of a set. Reads it twice; memory: the questions drawn, and the names of all groups.

    SettingsError where there are too few.
    """
    counts = {split: Counter(instance.group for instance in questions.read(split) if readable(instance)) for split in questions.files}
    test_split = next((split for split in ("dev", "test") if counts.get(split, Counter()).total() >= ENOUGH), None)
    if test_split is not None and counts.get("train", Counter()).total() >= ENOUGH:
        train = _draw(questions, ("train",), counts["train"], settings.train_questions, seed)
        sample = _draw(questions, (test_split,), counts[test_split], settings.questions, seed)
        groups = len({instance.group for instance in sample})
        learned = f"Readers learned from {len(train):,} questions of train and"
        if settings.reader == LLM:
            learned = f"The reader {LLM} learned nothing, and took its examples, if any, from {len(train):,} questions of train; readers"
        description = f"{learned} were tried on {len(sample):,} of {test_split}, of {groups:,} groups."
        _check(questions, min(groups, len({instance.group for instance in train})))
        return Material(train=train, judged=sample, how=description)
    all_counts: Counter[str] = sum(counts.values(), Counter())
    sample = _draw(questions, tuple(questions.files), all_counts, settings.questions, seed)
    groups = len({instance.group for instance in sample})
    _check(questions, groups)
    description = (
        f"The set has no train split to learn from beside {ENOUGH} questions to judge, so {len(sample):,} questions of {groups:,} groups "
        + (
            f"were read in {settings.folds} folds: none beside an example of its group; the reader {LLM} learned nothing."
            if settings.reader == LLM
            else f"were cross-fitted in {settings.folds} folds: none was read by a reader that had seen one of its group."
        )
    )
    return Material(train=None, judged=sample, how=description)


def readable(instance: Instance) -> bool:
    """Whether a reader has something to read, and somebody knows what is right."""
    return bool(instance.paragraphs) and (bool(instance.answers) or not instance.answerable)


def _check(questions: QuestionSet, groups: int) -> None:
    if groups < LEAST_GROUPS:
        raise SettingsError(
            f"{questions.path}: {groups} groups of questions with paragraphs and answers are too few for "
            f"meaningful figures; give a set with {LEAST_GROUPS} or more, or leave out --readers."
        )


def _draw(questions: QuestionSet, splits: Iterable[str], sizes: Counter[str], limit: int, seed: int) -> tuple[Instance, ...]:
    groups, total = set[str](), 0
    for group in sorted(sizes, key=lambda name: (draw(purpose="judged", seed=seed, id=name), name)):
        if total >= limit:
            break
        if total + sizes[group] <= limit or not groups:
            groups.add(group)
            total += sizes[group]
    return tuple(instance for split in splits for instance in questions.read(split) if readable(instance) and instance.group in groups)
