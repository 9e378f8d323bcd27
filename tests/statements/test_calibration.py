"""Probabilities rise with scores, and are right on average."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.statements.calibration import Calibration, tenths


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans()), min_size=1, max_size=300))
def test_the_fit_is_monotone_and_has_the_mean_of_the_labels(pairs: list[tuple[float, bool]]) -> None:
    scores, true = np.array([score for score, _ in pairs]), np.array([is_true for _, is_true in pairs])
    fitted = Calibration.fitted(scores, true)
    assert (np.diff(fitted.probabilities) >= -1e-12).all()
    assert (np.diff(fitted.scores) >= 0).all()
    sizes = [len(part) for part in np.array_split(scores, min(100, len(scores)))]
    assert np.average(fitted.probabilities, weights=sizes) == pytest.approx(true.mean())
    found = fitted.of(np.linspace(0, 1, 50))
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= -1e-6).all()


def test_overconfident_scores_are_corrected_to_the_observed_share() -> None:
    rng = np.random.default_rng(3)
    scores = rng.uniform(0, 1, 20_000)
    true = rng.uniform(0, 1, 20_000) < scores / 2
    fitted = Calibration.fitted(scores[:10_000], true[:10_000])
    for row in tenths(fitted.of(scores[10_000:]), true[10_000:]):
        if row["pairs"] > 300:
            assert abs(row["predicted"] - row["observed"]) < 0.05


def test_without_anything_to_fit_scores_stay() -> None:
    assert Calibration.fitted(np.zeros(0), np.zeros(0, np.bool_)).of(np.array([0.0, 0.25, 1.0])).tolist() == [0.0, 0.25, 1.0]
