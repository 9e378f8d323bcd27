"""Wilson's interval: values from the literature, its bounds, and what is not a share."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.wilson import Z
from kgqa.errors import InputError
from kgqa.metrics.wilson import wilson


@pytest.mark.parametrize(
    # Newcombe 1998, table I, method 3.
    ("count", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_intervals(count: int, of: int, low: float, high: float) -> None:
    found = wilson(count, of)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 10_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_it_holds_the_share_and_mirrors(case: tuple[int, int]) -> None:
    count, of = case
    found, mirrored = wilson(count, of), wilson(of - count, of)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert isclose(found.low, 1 - mirrored.high, abs_tol=1e-12)
    for end in {found.low, found.high} - {0.0, 1.0}:  # each end is where the share is just Z standard deviations away
        assert isclose(abs(found.mean - end), Z * (end * (1 - end) / of) ** 0.5, abs_tol=1e-9)


@pytest.mark.parametrize(("count", "of"), [(0, 0), (2, 1), (-1, 3)])
def test_what_is_no_share_is_refused(count: int, of: int) -> None:
    with pytest.raises(InputError, match=f"{count} of {of} is not a share"):
        wilson(count, of)
