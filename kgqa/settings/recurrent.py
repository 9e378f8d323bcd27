"""Settings of the recurrent readers, with the sizes of the papers' networks as defaults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgqa.settings.base import Positive, Settings

Size = Annotated[int, Field(ge=1, le=4096)]
Dropout = Annotated[float, Field(ge=0, lt=1)]


class RecurrentSettings(Settings):
    """Settings that all recurrent readers share."""

    answer: Literal["candidates", "span"] = "candidates"
    """How questions with candidates are answered: score the mentions of each of the ``candidates``, or extract a ``span`` and map it to a
    candidate, as in the papers. Other questions always get a span."""
    linked: bool = True
    """Use the mentions that the dataset marks, and a candidate's name in paragraphs without a marked mention of it; false: use only
    names."""
    max_length: Positive = 8192
    """Maximum tokens of a superdocument; the rest is truncated (Welbl et al. 2018, section 6.1)."""
    question_tokens: Positive = 64
    """Maximum tokens of a question; longer ones are truncated."""
    answer_tokens: Positive = 15
    """Maximum tokens of an extracted answer."""
    beam: Annotated[int, Field(ge=1, le=100)] = 10
    """Number of start positions considered for the best span. Larger values take more time."""
    words: Positive = 30_000
    """Vocabulary size: the number of most frequent words of the training questions that get a vector of their own. All other words share
    one vector, unless they are in the table of pretrained ones, but keep their characters."""
    word_size: Size = 100
    """Dimensions of a word vector, after the projection of pretrained vectors."""
    embeddings: Annotated[str, Field(min_length=1)] | None = None
    """Pretrained word vectors: a GloVe text file; or a static embedding model, or an encoder as in the setting ``encoder`` of the
    transformer readers, whose word pieces are averaged. They are frozen, except those of placeholders, marks and words that the table
    lacks. null: all vectors are learned."""
    letter_filters: Annotated[int, Field(ge=0, le=4096)] = 100
    """Number of convolution filters over the characters of a word; 0: no character features."""
    hidden: Size = 20
    """LSTM units per direction."""
    dropout: Dropout = 0.2
    """Dropout probability of each layer's input."""


class BidafSettings(RecurrentSettings):
    """BiDAF (Seo et al. 2017), with the small sizes of the WikiHop paper."""


class FastqaSettings(RecurrentSettings):
    """FastQA (Weissenborn et al. 2017), with the sizes of the WikiHop paper."""

    max_length: Positive = 16_384
    """Maximum tokens of a superdocument. The paper has no limit; this one exceeds its longest question."""
    letter_filters: Annotated[int, Field(ge=0, le=4096)] = 0
    """Number of convolution filters over the characters of a word; the paper uses none."""
    hidden: Size = 50
    """LSTM units per direction."""
    dropout: Dropout = 0.3
    """Dropout probability of word vectors, with one mask for all positions."""


class RnnSettings(RecurrentSettings):
    """The recurrent baseline of HotpotQA (Yang et al. 2018) and MuSiQue."""

    max_length: Positive = 4096
    """Maximum tokens of a superdocument; the memory of self-attention grows with the square of this."""
    answer_tokens: Positive = 30
    """Maximum tokens of an extracted answer."""
    hidden: Size = 80
    """GRU units per direction."""
    support_weight: Annotated[float, Field(ge=0, le=100)] = 1.0
    """Weight of the losses for supporting paragraphs, sentences and answerability, relative to the answer's loss."""
