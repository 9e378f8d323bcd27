"""Settings of readers that write text, and of those that execute written steps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgqa.settings.base import Positive, Settings
from kgqa.settings.reader import SelectSettings


class Seq2SeqSettings(Settings):
    """Network that reads a text and writes another."""

    encoder: Annotated[str, Field(min_length=1)] = "sentence-transformers/all-MiniLM-L6-v2"
    """An encoder-decoder (BART, T5) or an encoder: a name on the Hugging Face hub, a folder, or ``package:NAME``. An encoder gets a decoder
    that is initialised from the same weights (Rothe et al. 2020)."""
    decoder_layers: Positive = 2
    """Layers of the decoder that an encoder gets: the first ones of the encoder."""
    copies: bool = True
    """Copy tokens from the source with a pointer network (See et al. 2017)."""
    tunes_embeddings: bool = False
    """Train an encoder's word embeddings too; with few examples this affects only the words that they contain."""
    source_tokens: Positive = 128
    """Maximum tokens of a source; longer ones are truncated."""
    target_tokens: Positive = 128
    """Maximum tokens of an output."""
    beams: Positive = 1
    """Beam width; 1: greedy decoding."""


class ProgramSettings(Seq2SeqSettings):
    """Network that reads a question with its paragraphs and writes the answer, or the arithmetic that gives it."""

    source_tokens: Positive = 512
    """Maximum tokens of question and paragraphs; longer ones are truncated."""
    target_tokens: Positive = 64
    """Maximum tokens of an output."""


class ExecutionSettings(SelectSettings):
    """Reader that decomposes a question and answers it step by step; the fields of ``SelectSettings`` configure its single-hop reader."""

    decompositions: Literal["predicted", "gold"] = "predicted"
    """``predicted``, or ``gold``: the dataset's own, an upper bound."""
    decomposer: Seq2SeqSettings | None = None
    """Settings of the decomposer; null: the encoder of the single-hop reader with defaults."""
    decomposer_epochs: Positive = 20
    decomposer_learning_rate: Annotated[float, Field(gt=0, le=10)] = 5e-4

    @property
    def writing(self) -> Seq2SeqSettings:
        """The settings of the decomposer, or its defaults."""
        return self.decomposer or Seq2SeqSettings(encoder=self.encoder)
