"""Scores of candidates from the scores of their mentions."""

from __future__ import annotations

import math

import pytest
import torch

from kgqa.readers.recurrent.spans import candidate_scores, with_independent_ends
from kgqa.readers.transformer.segments import LEAST


def test_a_candidate_scores_as_the_mean_of_its_mentions() -> None:
    """Two questions of three candidates: mentioned three times and once; and twice, never and once."""
    starts = torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, math.log(3.0), 5.0, -1.0]])
    numbers = {
        "mention_row": [0, 0, 0, 0, 1, 1, 1], "mention_candidate": [0, 0, 0, 1, 0, 0, 2],
        "mention_start": [0, 1, 2, 3, 0, 1, 3], "mention_end": [0, 1, 2, 3, 0, 1, 3], "candidates": [3, 3],
    }  # fmt: skip
    batch = {name: torch.tensor(values) for name, values in numbers.items()}
    scores = candidate_scores(with_independent_ends(starts, torch.zeros(2, 4)), batch)
    assert scores.tolist() == [
        pytest.approx([1.0, 1.0, LEAST]),
        pytest.approx([math.log(2.0), LEAST, -1.0], rel=1e-6),
    ]
