"""Calibration of scores into probabilities, on pairs that the model was not trained on.

Isotonic regression (Zadrozny and Elkan 2002), or a logistic curve (Platt 2000) if there are few pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BINS = 100
"""Number of bins of equal size into which scores are put before the fit."""
NEWTON = 20
"""Newton steps to fit the logistic curve."""
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A monotone step function from scores to probabilities, linear between its points."""

    scores: Numbers
    probabilities: Numbers

    @classmethod
    def fitted(cls, scores: npt.NDArray[np.floating], true: npt.NDArray[np.bool_]) -> Calibration:
        """The monotone least-squares fit; without any score, the identity on [0, 1].

        >>> fit = Calibration.fitted(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, True, False, True]))
        >>> fit.probabilities.tolist(), fit.of(np.array([0.15])).tolist()
        ([0.0, 0.5, 0.5, 1.0], [0.25])
        """
        if not len(scores):
            return cls(scores=np.array([0.0, 1.0]), probabilities=np.array([0.0, 1.0]))
        order = np.argsort(scores, kind="stable")
        parts = np.array_split(order, min(BINS, len(order)))
        values = [(float(true[part].mean()), len(part)) for part in parts]
        blocks: list[tuple[float, int, int]] = []
        for value, weight in values:
            blocks.append((value, weight, 1))
            # Pool adjacent violators: merge the last two bins while they do not ascend.
            while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
                (earlier, n, k), (later, m, j) = blocks[-2:]
                blocks[-2:] = [((earlier * n + later * m) / (n + m), n + m, k + j)]
        fitted = np.concatenate([np.full(count, value) for value, _, count in blocks])
        return cls(scores=np.array([float(scores[part].mean()) for part in parts]), probabilities=fitted)

    def of(self, scores: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
        """The probability of each of ``scores``."""
        probabilities: npt.NDArray[np.float32] = np.interp(scores, self.scores, self.probabilities).astype(np.float32)
        return probabilities


def logistic(scores: npt.NDArray[np.floating], labels: npt.NDArray[np.bool_], targets: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """The probabilities of ``targets`` by a logistic curve that is fitted to ``scores`` (Platt 2000) with Newton's method.

    It keeps the order of scores even if there are few pairs. Needs both true and false ``labels``.
    """
    slope, base = np.float64(1.0), np.float64(0.0)
    for _ in range(NEWTON):
        chance = 1 / (1 + np.exp(-(slope * scores + base)))
        errors, spread = chance - labels, chance * (1 - chance)
        gradient = np.array([(errors * scores).sum(), errors.sum()])
        cross_term = (spread * scores).sum()
        hessian = np.array([[(spread * scores**2).sum(), cross_term], [cross_term, spread.sum()]]) + 1e-6 * np.eye(2)
        slope, base = np.array([slope, base]) - np.linalg.solve(hessian, gradient)
    probabilities: npt.NDArray[np.float32] = (1 / (1 + np.exp(-(slope * targets + base)))).astype(np.float32)
    return probabilities


def tenths(probabilities: npt.NDArray[np.floating], labels: npt.NDArray[np.bool_]) -> list[dict[str, float]]:
    """The calibration table: for each tenth with pairs its start, the number of pairs, the mean prediction and the share of true pairs.

    >>> tenths(np.array([0.12, 0.18]), np.array([True, False]))
    [{'from': 0.1, 'pairs': 2, 'predicted': 0.15, 'observed': 0.5}]
    """
    tenth = np.minimum((probabilities * 10).astype(int), 9)
    return [
        {
            "from": number / 10,
            "pairs": int((tenth == number).sum()),
            "predicted": float(probabilities[tenth == number].mean()),
            "observed": float(labels[tenth == number].mean()),
        }
        for number in range(10)
        if (tenth == number).any()
    ]
