"""Inoculation: training on a few per cent of a probe, so that a system gets used to its contexts (section 5).

The paper evaluates a system on a probe without training on it, and after training on 1% and 5% of it. Only whole groups move to training:
the other instances of a question seen in training would test nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgqa.arrays.draws import Reservoir

PERCENTAGES = (0, 1, 5)


def choose_groups(groups: Iterable[str], percent: int, *, seed: int) -> frozenset[str]:
    """``percent`` of the distinct ``groups``, rounded up; the groups for 1% are among those for 5%."""
    distinct = set(groups)
    sample = Reservoir[str](-(-len(distinct) * percent // 100), purpose="inoculation", seed=seed)
    for group in distinct:
        sample.add(group, group)
    return frozenset(sample.values())
