"""Settings of readers with a pretrained encoder."""

from __future__ import annotations

from typing import Annotated, Literal

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


class BooleanSettings(EncoderSettings):
    """Reader that answers yes or no."""

    input: Literal["question", "decomposition", "last-step"] = "question"
    """``question``; ``decomposition``: the question and all of its steps; ``last-step``: the last step alone, with the answers of earlier
    steps in the places of ``#1``, where the set has them (Geva et al. 2021, section 5.1)."""
    context: bool = True
    """Whether it reads the paragraphs."""
    question_tokens: Positive = 160
    """Maximum tokens of question and steps; longer ones are truncated, also at a third of the window."""
