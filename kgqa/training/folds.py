"""Folds of questions; a group is never divided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.draws import draw
from kgqa.errors import SettingsError
from kgqa.training.questions import Questions

Folds = npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """The training, dev and predicted questions of one reader."""

    train: Questions
    dev: Questions | None
    read: Mapping[str, Questions]


def folds_of(groups: Sequence[str], count: int, *, seed: int) -> Folds:
    """For each question its fold, from 0, drawn per group from ``seed`` and the group's name; folds are as even in questions as possible.

    The largest groups are assigned first, each to the fold with the fewest questions; groups of equal size in random order. So the sizes of
    two folds differ by at most the size of the largest group. Memory: 100 bytes and the name per group. Raises SettingsError if there are
    fewer groups than folds.
    """
    sizes = Counter(groups)
    if len(sizes) < count:
        raise SettingsError(
            f"{count} folds need at least as many groups of questions, and here are {len(sizes)}; give fewer folds, or more questions."
        )
    groups_by_size = sorted(sizes, key=lambda group: (-sizes[group], draw(purpose="fold", seed=seed, id=group), group))
    sizes_of_folds = [0] * count
    fold: dict[str, int] = {}
    for group in groups_by_size:
        fold[group] = min(range(count), key=sizes_of_folds.__getitem__)
        sizes_of_folds[fold[group]] += sizes[group]
    return np.fromiter((fold[group] for group in groups), np.int16, len(groups))
