"""What the recurrent readers can be told, with the papers' values as defaults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgqa.settings.base import Positive, Settings

Size = Annotated[int, Field(ge=1, le=4096)]
Dropout = Annotated[float, Field(ge=0, lt=1)]


class RecurrentSettings(Settings):
    """What all of them share."""

    answer: Literal["candidates", "span"] = "candidates"
    """Where questions have candidates: score each by its mentions, or extract a span, which is mapped to a candidate, as the papers do.
    Questions without candidates always get a span."""
    linked: bool = True
    """Whether a candidate's mentions are also those that the set itself marks, whatever they are called there; else only its own name."""
    max_length: Positive = 8192
    """Tokens of a superdocument; what is beyond is not read (Welbl et al. 2018, section 6.1)."""
    question_tokens: Positive = 64
    """Longer questions are cut."""
    answer_tokens: Positive = 15
    """The longest answer that is extracted."""
    beam: Annotated[int, Field(ge=1, le=100)] = 10
    """From so many starts the best span is sought."""
    words: Positive = 30_000
    """Words of the vocabulary, the most frequent ones of the training questions; others share a vector, and have their letters."""
    word_size: Size = 100
    """Numbers of a word's vector; of pretrained ones, after they were projected."""
    embeddings: Annotated[str, Field(min_length=1)] | None = None
    """Where words get their vectors: a GloVe text file, or an encoder as in the setting ``encoder`` of the transformer readers, of whose
    table a word gets the mean of its pieces. They stay as they are. By default vectors are drawn and learned."""
    letter_filters: Annotated[int, Field(ge=0, le=4096)] = 100
    """Filters over the letters of a word; 0: letters are not read."""
    hidden: Size = 20
    """Units of an LSTM in each direction."""
    dropout: Dropout = 0.2
    """The share of numbers that are hidden from each layer in training."""


class BidafSettings(RecurrentSettings):
    """BiDAF (Seo et al. 2017), as small as WikiHop's paper had it."""


class FastqaSettings(RecurrentSettings):
    """FastQA (Weissenborn et al. 2017), as WikiHop's paper had it."""

    max_length: Positive = 16_384
    """The paper has no limit; this one is beyond its longest question."""
    letter_filters: Annotated[int, Field(ge=0, le=4096)] = 0
    """The paper reads no letters."""
    hidden: Size = 50
    """Units of an LSTM in each direction."""
    dropout: Dropout = 0.3
    """The share of numbers that are hidden of each word's vector, the same ones at every place."""


class RnnSettings(RecurrentSettings):
    """The recurrent baseline of HotpotQA (Yang et al. 2018) and MuSiQue."""

    max_length: Positive = 4096
    """Tokens of a superdocument; its self-attention takes memory with their square."""
    answer_tokens: Positive = 30
    """The longest answer that is extracted."""
    hidden: Size = 80
    """Units of a GRU in each direction."""
    support_weight: Annotated[float, Field(ge=0, le=100)] = 1.0
    """What the losses of supporting paragraphs, of sentences and of answerability count beside the answer's."""
