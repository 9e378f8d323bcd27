"""Inoculation: a few per cent of a probe to train on, so that a system is used to its contexts and still what it was (section 5).

The paper evaluates a system on a probe without training on it, after 1%, and after 5% of it. Only whole groups are given away: with one
instance of a question in training, its other instances would test nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgqa.arrays.draws import Reservoir

PERCENTAGES = (0, 1, 5)


def choose_groups(groups: Iterable[str], percent: int, *, seed: int) -> frozenset[str]:
    """``percent`` of the different ``groups``, rounded up; those of 1% are among those of 5%."""
    different = set(groups)
    chosen = Reservoir[str](-(-len(different) * percent // 100), purpose="inoculation", seed=seed)
    for group in different:
        chosen.add(group, group)
    return frozenset(chosen.values())
