"""The assignment problem: pair rows and columns one to one so that the sum is as large as possible (Kuhn 1955, Munkres 1957)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def largest(values: Sequence[Sequence[float]] | NDArray[np.float64]) -> list[float]:
    """What each row gets in a pairing with the largest sum; 0 for a row without a partner. O(n² · m) at worst for n ≤ m rows and columns.

    Of equally good pairings it is the one that SciPy finds, with which DROP's script aligns spans: their sums may differ in the last bit.
    """
    table = np.asarray(values, dtype=np.float64)
    result = np.zeros(len(table))
    if table.size:
        rows, columns = _partners(-table)
        result[rows] = table[rows, columns]
    found: list[float] = result.tolist()
    return found


def _partners(costs: NDArray[np.float64]) -> tuple[Any, Any]:
    from scipy.optimize import linear_sum_assignment  # half a second, which most runs do not need

    rows, columns = linear_sum_assignment(costs)
    return rows, columns
