"""Row numbers, offsets and counts in 32 bits, which take half the memory of 64; a number that does not fit is an error."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kgqa.errors import InputError

MOST = int(np.iinfo(np.int32).max)


def check_fits(count: int, what: str, remedy: str) -> None:
    """Raise InputError for a ``count`` too large for 32 bits; the message names ``what`` is counted and the ``remedy``.

    >>> check_fits(3_000_000_000, "nodes on chains", "lower max_chains")
    Traceback (most recent call last):
    ...
    kgqa.errors.InputError: 3,000,000,000 nodes on chains are more than the 2,147,483,647 that can be numbered; lower max_chains.
    """
    if count > MOST:
        raise InputError(f"{count:,} {what} are more than the {MOST:,} that can be numbered; {remedy}.")


def narrow(numbers: npt.NDArray[np.integer], what: str, remedy: str) -> npt.NDArray[np.int32]:
    """The same numbers as int32. Raises InputError as :func:`check_fits` does if the largest does not fit."""
    check_fits(int(numbers.max(initial=0)), what, remedy)
    return numbers.astype(np.int32)
