"""How an audit lets readers judge a set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from kgqa.settings.base import Positive, Settings

LEVELS = {
    "minimal": "question only, context only and one paragraph beside a reader of everything, one seed",
    "full": "the same with three seeds, and the DiRe score before and after the sufficiency transform",
}
"""How much is measured → what that is."""


class JudgingSettings(Settings):
    """How many questions are judged, how often, and by what."""

    questions: Positive = 1000
    """Judged at most, drawn by group."""
    train_questions: Positive = 4000
    """Learned from at most, where the set has a train split; drawn by group."""
    folds: Annotated[int, Field(ge=3, le=20)] = 5
    """Where the set has no train split; one of them decides when to stop."""
    seeds: Annotated[int | None, Field(ge=1, le=20)] = None
    """Readers of each kind; 1 for minimal and 3 for full."""
    max_facts: Annotated[int, Field(ge=2, le=6)] = 4
    """Questions with more supporting paragraphs are left out of DiRe's transforms: n of them make 2^n - 2 instances of the probe."""
    settings: Mapping[str, Any] = {}
    """What every reader is told, as ``kgqa.settings.reader`` has it."""
    training: Mapping[str, Any] = {}
    """How every reader is trained, as ``kgqa.settings.training`` has it."""

    def seed_count(self, level: str) -> int:
        """Readers of each kind, at this level."""
        return self.seeds or (3 if level == "full" else 1)
