"""Settings of readers with a pretrained encoder."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kgqa.settings.base import Positive, Settings


class RankingSettings(Settings):
    """Encoder of questions."""

    encoder: Annotated[str, Field(min_length=1)] = "sentence-transformers/all-MiniLM-L6-v2"
    """A name on the Hugging Face hub, a folder, the run of a trained reader, or ``package:NAME``, an installed package."""
    question_tokens: Positive = 64
    """Maximum tokens of a question; longer ones are truncated."""


class EncoderSettings(RankingSettings):
    """Encoder of questions and paragraphs."""

    max_length: Positive | None = None
    """Tokens per window; by default the encoder's limit, at most 4,096."""
    stride: Positive = 64
    """Tokens shared by two windows of a long paragraph."""
    answer_tokens: Positive = 30
    """Maximum tokens of an answer."""


class SelectSettings(EncoderSettings):
    """Reader that selects paragraphs before it answers."""

    selected: Positive = 5
    """Paragraphs that the answerer reads."""
