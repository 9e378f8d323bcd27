"""Bootstrap intervals on the official scale; each score has its own draws, whatever else is computed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kgqa.arrays.draws import draw
from kgqa.metrics.bootstrap import Interval, interval


def intervals(per_record: Mapping[str, Mapping[str, float]], *, scale: float, seed: int) -> dict[str, Interval]:
    """Score → mean and 95% interval of its values; questions with the same scores have the same one."""
    found = {}
    for name, values in per_record.items():
        rng = np.random.default_rng(draw(purpose=f"interval of {name}", seed=seed, id="all"))
        share = interval(values.values(), rng=rng)
        found[name] = Interval(mean=scale * share.mean, low=scale * share.low, high=scale * share.high)
    return found
