"""Wilson's interval of a share (Wilson 1927): valid for few cases too, and always within 0 and 1."""

from __future__ import annotations

import numpy as np

from kgqa.arrays.wilson import wilson_low
from kgqa.errors import InputError
from kgqa.metrics.bootstrap import Interval


def wilson(count: int, of: int) -> Interval:
    """The share ``count / of`` with its 95% score interval. Raises InputError if ``count`` is not from 0 to ``of``, or ``of`` is 0.

    >>> interval = wilson(8, 10)
    >>> f"{interval.mean:.2f} {interval.low:.3f} {interval.high:.3f}"
    '0.80 0.490 0.943'
    """
    if not 0 <= count <= of or not of:
        raise InputError(f"{count} of {of} is not a share; the first number must be between 0 and the second, and the second above 0.")
    share = count / of
    low, without = wilson_low(np.array([count, of - count]), np.array([of, of]))
    # Rounding can put the share outside its interval by the last bit.
    return Interval(mean=share, low=min(max(0.0, float(low)), share), high=max(min(1.0, 1 - float(without)), share))


def percent(count: int, of: int) -> Interval:
    """:func:`wilson` in percent."""
    return wilson(count, of).times(100)
