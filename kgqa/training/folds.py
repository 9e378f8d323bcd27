"""Folds of questions, by group: what belongs together is in one fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.arrays.draws import draw
from kgqa.errors import SettingsError

Folds = npt.NDArray[np.int16]


def folds_of(groups: Sequence[str], count: int, *, seed: int) -> Folds:
    """For each question its fold, from 0: one for each group, drawn from ``seed`` and the group's name, as even in questions as can be.

    The largest groups are dealt first, each to the fold with the fewest questions; groups of one size in a random order. So no fold has
    more questions than another by more than the largest group has. Memory: 100 bytes and its name a group. SettingsError where there are
    fewer groups than folds.
    """
    sizes = Counter(groups)
    if len(sizes) < count:
        raise SettingsError(
            f"{count} folds need at least as many groups of questions, and here are {len(sizes)}; give fewer folds, or more questions."
        )
    ordered = sorted(sizes, key=lambda group: (-sizes[group], draw(purpose="fold", seed=seed, id=group), group))
    filled = [0] * count
    fold: dict[str, int] = {}
    for group in ordered:
        fold[group] = min(range(count), key=filled.__getitem__)
        filled[fold[group]] += sizes[group]
    return np.fromiter((fold[group] for group in groups), np.int16, len(groups))
