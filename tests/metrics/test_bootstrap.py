"""Bootstrap intervals: seeded, around the mean, as wide as theory says, and about the scores, not about their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.errors import InputError
from kgqa.metrics.bootstrap import interval
from tests.metrics.drawing import seeds

SCORES = st.lists(st.floats(0, 1) | st.sampled_from((0.0, 0.5, 1.0)), min_size=1, max_size=30)


@given(SCORES, seeds)
def test_the_interval_lies_within_the_scores(scores: list[float], seed: int) -> None:
    found = interval(scores, rng=np.random.default_rng(seed))
    assert found.mean == pytest.approx(sum(scores) / len(scores))
    assert min(scores) - 1e-9 <= found.low <= found.high <= max(scores) + 1e-9
    assert interval(scores, rng=np.random.default_rng(seed)) == found


@given(SCORES, seeds)
def test_order_does_not_matter(scores: list[float], seed: int) -> None:
    again = sorted(scores, key=lambda score: (score * 7919) % 1)
    assert interval(again, rng=np.random.default_rng(seed)) == interval(scores, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("scores", [np.repeat([0.0, 1.0], [700, 300]), np.linspace(0, 1, 1000)], ids=["two values", "all distinct"])
def test_it_is_as_wide_as_the_normal_approximation_says(scores: np.ndarray) -> None:
    found = interval(scores.tolist(), rng=np.random.default_rng(1), resamples=20_000)
    half = 1.96 * scores.std() / np.sqrt(len(scores))
    assert found.low == pytest.approx(scores.mean() - half, abs=0.03 * half)
    assert found.high == pytest.approx(scores.mean() + half, abs=0.03 * half)


def test_drawing_in_batches_gives_every_resample(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(2).random(50).tolist()
    whole = interval(scores, rng=np.random.default_rng(3))
    monkeypatch.setattr("kgqa.metrics.bootstrap.BATCH", 170)
    assert interval(scores, rng=np.random.default_rng(3)) == whole


def test_without_scores_there_is_no_interval() -> None:
    with pytest.raises(InputError, match="no score"):
        interval([], rng=np.random.default_rng(0))
