"""Settings of readers with a pretrained encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from kgqa.settings.base import Positive, Settings, Share

LONGEST = 4096
"""Tokens that an encoder reads at once, at most, unless ``max_length`` asks for more."""
CONNECTED = 1024
"""An encoder that reads more tokens gets several paragraphs at once, and so can connect them; another gets one at a time."""


class RankingSettings(Settings):
    """Encoder of questions."""

    encoder: Annotated[str, Field(min_length=1)] = "sentence-transformers/all-MiniLM-L6-v2"
    """A name on the Hugging Face hub, a folder, the run of a trained reader, or ``package:NAME``, an installed package."""
    question_tokens: Positive = 64
    """Maximum tokens of a question; longer ones are truncated."""


class EncoderSettings(RankingSettings):
    """Encoder of questions and paragraphs."""

    layers: Positive | None = None
    """The first layers of the encoder, or of both, which are used; by default all."""
    positions: Annotated[int, Field(gt=CONNECTED, le=LONGEST)] | None = None
    """Tokens that the encoder reads at once, if more than it was trained for: its positions are repeated, so that all paragraphs that fit
    share a window."""
    max_length: Positive | None = None
    """Tokens per window; by default the encoder's limit, at most 4,096."""
    stride: Positive = 64
    """Tokens shared by two windows of a long paragraph."""
    answer_tokens: Positive = 30
    """Maximum tokens of an answer."""
    marks: bool = False
    """Put a mark of its own before each paragraph and before each sentence, ``[PP]`` and ``[SS]`` (Trivedi et al. 2020, appendix B.1)."""
    head_layers: Literal[1, 2] = 1
    """Layers of each head; 2 as for HotpotQA in Longformer's paper (Beltagy et al. 2020)."""

    @model_validator(mode="after")
    def _positions_are_used(self) -> Self:
        if self.positions is not None and self.max_length is not None and self.max_length <= CONNECTED:
            raise ValueError(
                f"positions = {self.positions} puts paragraphs into windows of more than {CONNECTED:,} tokens, and max_length = "
                f"{self.max_length} forbids it; leave one of them out"
            )
        return self


class OneParagraphSettings(EncoderSettings):
    """Reader that selects paragraphs before it answers; the encoder is the selector's."""

    answerer_encoder: Annotated[str, Field(min_length=1)] | None = None
    """The encoder of the answerer, which reads all selected paragraphs; by default the selector's."""
    folds: Annotated[int, Field(ge=1, le=20)] = 2
    """Parts of the training questions; in each one paragraphs are selected for the answerer by a selector trained on the other parts. 1: by
    the selector itself, which knows these questions."""


class SelectSettings(OneParagraphSettings):
    """Reader that selects several paragraphs before it answers."""

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


class LinkSettings(RankingSettings):
    """Reader that selects the links of a passage that a question needs."""

    max_length: Positive | None = None
    """Tokens per window of the passage; by default the encoder's limit, at most 4,096."""
    stride: Positive = 64
    """Tokens shared by two windows of a long passage."""
    threshold: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Probability above which a link is selected; null: the best one on dev, or 0.5 without dev, as in the paper."""


class ArticleSettings(RankingSettings):
    """Reader that ranks windows of linked articles."""

    window: Positive = 512
    """Tokens per window, with question and title; at most the encoder's limit."""
    step: Share = 0.25
    """From the beginning of a window to that of the next, as a share of its text."""
    article_windows: Positive = 64
    """Maximum windows per article; what comes after them is not read."""


class LinkedSettings(LinkSettings, ArticleSettings):
    """IIRC's pipeline: links, windows of their articles, and a reader that answers from these and the passage."""

    links: Literal["selected", "gold", "none"] = "selected"
    """``gold``: those that the dataset says are needed, an upper bound; ``none``: the passage alone is read."""
    context: Literal["selected", "gold"] = "selected"
    """``gold``: the sentences that the dataset marks, an upper bound; questions without marked sentences get selected windows."""
    read: Positive = 1
    """Windows that are read of each article."""
    answerer: Annotated[str, Field(min_length=1)] = "ee"
    """The reader that answers; any that reads paragraphs."""
    answering: Mapping[str, Any] = Field(default_factory=dict)
    """Its settings, apart from the encoder and ``question_tokens``, which all stages share."""
    articles: Annotated[str, Field(min_length=1)] | None = None
    """A file of linked articles in IIRC's form, title → text; null: those that the questions show."""
    beside: Mapping[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """Other datasets to train on, path → weight: SQuAD 2.0 with 3 and DROP with 1 in the paper's combined evaluation."""
    beside_share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Share of their questions in all training questions, as far as they have that many."""

    @model_validator(mode="after")
    def _no_context_without_links(self) -> Self:
        if self.links == "none" and self.context == "gold":
            raise ValueError("with links = none only the passage is read; leave out context = gold")
        return self
