"""The lower end of Wilson's interval, for columns of counts; :mod:`kgqa.metrics.wilson` has the whole interval of one share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Z = 1.959963984540054
"""Of 95%: the normal distribution has 2.5% above it."""


def wilson_low(hits: npt.NDArray[np.integer], of: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """The lower end of the 95% interval (Wilson 1927) of ``hits / of``; 0 where ``of`` is 0."""
    n = np.maximum(of, 1)
    share = hits / n
    low = (share + Z * Z / (2 * n) - Z * np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))) / (1 + Z * Z / n)
    return np.where(of > 0, low, 0.0)
