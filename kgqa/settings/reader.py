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


class LoraSettings(Settings):
    """Low-rank matrices that are trained in place of a pretrained network's weights."""

    lora_rank: Annotated[int, Field(ge=0, le=1024)] = 0
    """Rank of the matrices that are trained in addition to the frozen weights of a pretrained network's linear layers (LoRA, Hu et al.
    2022). Larger values change more and take more memory. 0: all weights are trained."""
    lora_alpha: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """Scale of these matrices, whose product is multiplied by ``lora_alpha / lora_rank``; null: twice the rank."""

    @model_validator(mode="after")
    def _alpha_has_a_rank(self) -> Self:
        if self.lora_alpha is not None and not self.lora_rank:
            raise ValueError(f"lora_alpha = {self.lora_alpha:g} scales matrices that need a lora_rank; give one, or leave lora_alpha out")
        return self


class RankingSettings(LoraSettings):
    """Encoder settings of readers that rank texts against a question."""

    encoder: Annotated[str, Field(min_length=1)] = "sentence-transformers/all-MiniLM-L6-v2"
    """Encoder: a name on the Hugging Face hub, a folder, the run of a trained reader, or ``package:NAME``, an installed package."""
    question_tokens: Positive = 64
    """Maximum tokens of a question; longer ones are truncated."""
    bidirectional: bool = False
    """Let each token of a decoder-only encoder, such as Llama, see later tokens (BehnamGhader et al. 2024); false: as pretrained."""


class EncoderSettings(RankingSettings):
    """Encoder of questions and paragraphs."""

    layers: Positive | None = None
    """Number of the encoder's layers that are used, from the first one; with two encoders, of both. null: all. Fewer layers are faster and
    less accurate."""
    positions: Annotated[int, Field(gt=CONNECTED, le=LONGEST)] | None = None
    """Tokens that the encoder reads at once, if more than it was trained for. Its position embeddings are repeated, so that all paragraphs
    that fit share a window."""
    max_length: Positive | None = None
    """Tokens per window; null: the encoder's limit, at most 4,096. Larger windows hold more context and take more memory."""
    stride: Positive = 64
    """Tokens that two windows of a long paragraph share. Larger values split fewer answers between windows and take more time."""
    answer_tokens: Positive = 30
    """Maximum tokens of an extracted answer."""
    marks: bool = False
    """Insert a special token before each paragraph (``[PP]``) and before each sentence (``[SS]``) (Trivedi et al. 2020, appendix B.1)."""
    head_layers: Literal[1, 2] = 1
    """Layers of each output head; 2 as for HotpotQA in the Longformer paper (Beltagy et al. 2020)."""

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
    """Encoder of the answerer, which reads all selected paragraphs; null: the selector's."""
    folds: Annotated[int, Field(ge=1, le=20)] = 2
    """Parts of the training questions. In each part, a selector trained on the other parts selects the paragraphs for the answerer. 1: the
    final selector itself, which has been trained on these questions."""


class SelectSettings(OneParagraphSettings):
    """Reader that selects several paragraphs before it answers."""

    selected: Positive = 5
    """Number of selected paragraphs that the answerer reads."""


class BooleanSettings(EncoderSettings):
    """Reader that answers yes or no."""

    input: Literal["question", "decomposition", "last-step"] = "question"
    """Input besides the paragraphs. ``question``; ``decomposition``: the question and all of its steps; ``last-step``: only the last step
    (Geva et al. 2021, section 5.1). If the set has the answers of earlier steps, they replace references such as ``#1``."""
    context: bool = True
    """Read the paragraphs too."""
    question_tokens: Positive = 160
    """Maximum tokens of question and steps, and never more than a third of the window; longer ones are truncated."""


class LinkSettings(RankingSettings):
    """Reader that selects the links of a passage that a question needs."""

    max_length: Positive | None = None
    """Tokens per window of the passage; null: the encoder's limit, at most 4,096."""
    stride: Positive = 64
    """Tokens that two windows of a long passage share."""
    threshold: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Minimum probability of a selected link. Larger values select fewer links. null: the best threshold on dev, or 0.5 without dev, as in
    the paper."""


class ArticleSettings(RankingSettings):
    """Reader that ranks windows of linked articles."""

    window: Positive = 512
    """Tokens per window, including question and title; at most the encoder's limit."""
    step: Share = 0.25
    """Distance between the beginnings of two windows, as a share of a window's text. Smaller values give more windows, which overlap
    more."""
    article_windows: Positive = 64
    """Maximum windows per article; the text after them is not read."""


class LinkedSettings(LinkSettings, ArticleSettings):
    """IIRC's pipeline: links, windows of their articles, and a reader that answers from these and the passage."""

    links: Literal["selected", "gold", "none"] = "selected"
    """Links whose articles are read: ``selected`` by the model, ``gold`` (those that the dataset marks as needed, an upper bound), or
    ``none`` (only the passage is read)."""
    context: Literal["selected", "gold"] = "selected"
    """Context of the answerer: ``selected`` windows, or ``gold`` (the sentences that the dataset marks, an upper bound; questions without
    marked sentences get selected windows)."""
    read: Positive = 1
    """Windows per article that the answerer reads, best-ranked first."""
    answerer: Annotated[str, Field(min_length=1)] = "ee"
    """Reader that answers; any reader that reads paragraphs."""
    answering: Mapping[str, Any] = Field(default_factory=dict)
    """Settings of the answerer, besides those that all stages share: ``encoder``, ``question_tokens``, ``bidirectional``, ``lora_rank`` and
    ``lora_alpha``."""
    articles: Annotated[str, Field(min_length=1)] | None = None
    """JSON file of linked articles in IIRC's format, title → text; null: the articles that are shown with the questions."""
    beside: Mapping[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """Additional training datasets, path → weight. The paper's combined evaluation uses SQuAD 2.0 with 3 and DROP with 1."""
    beside_share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Maximum share of the additional datasets' questions among all training questions."""

    @model_validator(mode="after")
    def _no_context_without_links(self) -> Self:
        if self.links == "none" and self.context == "gold":
            raise ValueError("with links = none only the passage is read; leave out context = gold")
        return self
