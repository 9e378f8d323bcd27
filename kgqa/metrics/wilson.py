"""Wilson's interval of a share (Wilson 1927): right for few cases too, and within 0 and 1, where a mean of so many draws is not."""

from __future__ import annotations

from math import sqrt

from kgqa.arrays.wilson import Z
from kgqa.errors import InputError
from kgqa.metrics.bootstrap import Interval


def wilson(count: int, of: int) -> Interval:
    """The share ``count / of`` with its 95% score interval; InputError where there is no case, or more that count than there are.

    >>> found = wilson(8, 10)
    >>> f"{found.mean:.2f} {found.low:.3f} {found.high:.3f}"
    '0.80 0.490 0.943'
    """
    if not 0 <= count <= of or not of:
        raise InputError(f"{count} of {of} is no share; give a number of cases above 0, and of those that count at most as many.")
    share = count / of
    middle = (share + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z / (1 + Z * Z / of) * sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    # At the ends rounding would leave the share outside by a last bit.
    return Interval(mean=share, low=min(max(0.0, middle - half), share), high=max(min(1.0, middle + half), share))
