"""What readers that stand on a pretrained encoder can be told."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kgqa.settings.base import Positive, Settings


class RankingSettings(Settings):
    """An encoder of questions."""

    encoder: Annotated[str, Field(min_length=1)] = "sentence-transformers/all-MiniLM-L6-v2"
    """A model's name on the Hugging Face hub, its folder, a trained reader's run, or ``package:NAME``, an installed package."""
    question_tokens: Positive = 64
    """Longer questions are cut."""


class EncoderSettings(RankingSettings):
    """An encoder of questions and paragraphs, and how it reads."""

    max_length: Positive | None = None
    """Tokens of a window; by default as many as the encoder reads, and 4,096 at most."""
    stride: Positive = 64
    """Tokens that two windows of a paragraph share, where it is too long for one."""
    answer_tokens: Positive = 30
    """The longest answer."""


class SelectSettings(EncoderSettings):
    """A reader that selects paragraphs before it reads."""

    selected: Positive = 5
    """How many paragraphs the answerer is shown."""
