"""Sums and best places by segment are those of a loop over them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.readers.transformer.segments import LEAST, best_ends, segment_best, segment_logsumexp, segment_max, segment_mean  # noqa: E402


def mean_of_all(values: Any, segment: Any, count: int) -> Any:
    return segment_mean(values, segment, count, among=torch.ones_like(segment, dtype=torch.bool))


NUMBERS = st.floats(-60, 60, width=32)
SEGMENTS = st.lists(st.tuples(NUMBERS, st.integers(0, 5)), max_size=30)


@given(SEGMENTS)
def test_segments_equal_a_loop(drawn: list[tuple[float, int]]) -> None:
    values, segment = torch.tensor([each[0] for each in drawn]), torch.tensor([each[1] for each in drawn], dtype=torch.int64)
    largest, total, mean, best = (
        function(values, segment, 6).tolist() for function in (segment_max, segment_logsumexp, mean_of_all, segment_best)
    )
    for number in range(6):
        mine = [value for value, owner in drawn if owner == number]
        if not mine:
            assert (largest[number], total[number], mean[number], best[number]) == (
                pytest.approx(LEAST),
                pytest.approx(LEAST),
                0,
                len(drawn),
            )
            continue
        assert largest[number] == max(mine)
        assert total[number] == pytest.approx(max(mine) + math.log(sum(math.exp(value - max(mine)) for value in mine)), abs=1e-4)
        assert mean[number] == pytest.approx(sum(mine) / len(mine), abs=1e-4)
        assert best[number] == next(place for place, (value, owner) in enumerate(drawn) if owner == number and value == max(mine))


@given(SEGMENTS)
def test_gradients_are_numbers(drawn: list[tuple[float, int]]) -> None:
    values = torch.tensor([each[0] for each in drawn], requires_grad=True)
    segment = torch.tensor([each[1] for each in drawn], dtype=torch.int64)
    masked = values.masked_fill(segment == 0, LEAST)
    segment_logsumexp(masked, segment, 6).sum().backward()  # type: ignore[no-untyped-call]
    assert bool(torch.isfinite(values.grad).all())


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(-1, 2)), min_size=1, max_size=20), st.integers(1, 25))
def test_best_ends_equal_a_loop(drawn: list[tuple[float, float, int]], longest: int) -> None:
    places = [each[2] for each in drawn]  # a number that comes again after another one is another window, or another example
    starts, ends = torch.tensor([each[0] for each in drawn]), torch.tensor([each[1] for each in drawn])
    best, last = best_ends(starts, ends, torch.tensor(places), longest)
    for at, place in enumerate(places):
        able = [end for end in range(at, min(at + longest, len(places))) if set(places[at : end + 1]) == {place} and place >= 0]
        scores: list[Any] = [float(starts[at] + ends[end]) for end in able]
        assert float(best[at]) == (max(scores) if scores else pytest.approx(LEAST))
        assert int(last[at]) == (able[scores.index(max(scores))] if scores else at)
