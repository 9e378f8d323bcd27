"""Settings of the readers that judge a dataset in an audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from kgqa.settings.base import Positive, Settings

LEVELS = {
    "minimal": "question only, context only and one paragraph beside a reader of everything, one seed",
    "full": "the same with three seeds, and the DiRe score before and after the sufficiency transform",
}
"""Level of ``--readers`` → what it measures."""


class JudgingSettings(Settings):
    """Readers that judge a dataset in an audit."""

    questions: Positive = 1000
    """Maximum questions to judge, drawn by group. Larger values give narrower intervals and take more time."""
    train_questions: Positive = 4000
    """Maximum questions to train on if the set has a train split, drawn by group."""
    folds: Annotated[int, Field(ge=3, le=20)] = 5
    """Folds of the cross-fitting if the set has no train split; one of them is used for early stopping."""
    seeds: Annotated[int | None, Field(ge=1, le=20)] = None
    """Readers of each kind, with different seeds; null: 1 for ``minimal`` and 3 for ``full``."""
    max_facts: Annotated[int, Field(ge=2, le=6)] = 4
    """Maximum supporting paragraphs of a question in DiRe's transforms; questions with more are excluded, since n of them make 2^n - 2
    instances of the probe."""
    beside: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Additional readers to judge with: names, or ``module:Class``, whose code is imported."""
    reader: Literal["ee", "llm"] = "ee"
    """The full reader. It is compared with partial readers, and DiRe's scores use it. With ``llm``, the partial readers are also language
    models."""
    llm: Mapping[str, Any] = {}
    """Settings of the reader ``llm`` (``kgqa.settings.llm``)."""
    settings: Mapping[str, Any] = {}
    """Settings of every trained reader (``kgqa.settings.reader``)."""
    training: Mapping[str, Any] = {}
    """Training settings of every trained reader (``kgqa.settings.training``)."""

    def seed_count(self, level: str) -> int:
        """Number of readers of each kind at this level."""
        return self.seeds or (3 if level == "full" else 1)
