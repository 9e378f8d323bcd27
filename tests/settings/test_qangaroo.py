"""Settings of the recipe that do not go together are told so."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kgqa.settings.qangaroo import EvidenceSettings, QangarooSettings


def test_what_chains_may_not_lead_through_has_a_name() -> None:
    with pytest.raises(
        ValidationError, match="through_end_points = false needs endpoint_kind, the kind of entity that chains must not pass through"
    ):
        QangarooSettings.model_validate({"traversal": {"through_end_points": False}})
    result = QangarooSettings.model_validate({"traversal": {"through_end_points": False}, "endpoint_kind": "drug"})
    assert (result.traversal.through_end_points, result.entity_kinds) == (False, ("drug",))
    assert QangarooSettings().traversal.through_end_points


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_support": 0}, {"min_confidence": 0}, {"min_confidence": 1.1}, {"grade": -0.1}, {"grade": 1.01}, {"margin": 2},
        {"better": "keep"}, {"odds": -1}, {"text": "paragraph"}, {"max_objects": 0}, {"text_lift": -1}, {"graded_share": 1.5},
        {"second_truth": -0.5}, {"hierarchy": "perhaps"}, {"use": 2}, {"odd": 1}, {"grade": float("nan")},
        {"grade": True}, {"min_support": True}, {"use": "no"}, {"hierarchy": 0}, {"max_objects": float("inf")}, {"odds": float("inf")},
    ],
    ids=str,
)  # fmt: skip
def test_what_evidence_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EvidenceSettings.model_validate(wrong)
