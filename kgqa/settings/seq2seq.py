"""Settings of readers that write text, and of those that execute written steps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgqa.settings.base import Positive
from kgqa.settings.reader import LoraSettings, SelectSettings


class Seq2SeqSettings(LoraSettings):
    """Network that reads a text and writes another."""

    encoder: Annotated[str, Field(min_length=1)] = "sentence-transformers/all-MiniLM-L6-v2"
    """Pretrained encoder-decoder (BART, T5) or encoder: a name on the Hugging Face hub, a folder, or ``package:NAME``. An encoder gets a
    decoder that is initialised from the same weights (Rothe et al. 2020)."""
    decoder_layers: Positive = 2
    """Number of decoder layers for an encoder without a decoder; they are initialised from its first layers."""
    copies: bool = True
    """Copy tokens from the source with a pointer network (See et al. 2017)."""
    tunes_embeddings: bool = False
    """Train the word embeddings of an encoder too. With few examples this affects only the words in them."""
    source_tokens: Positive = 128
    """Maximum tokens of a source; longer ones are truncated."""
    target_tokens: Positive = 128
    """Maximum tokens of an output."""
    beams: Positive = 1
    """Beam width; 1: greedy decoding. Larger values take more time."""


class ProgramSettings(Seq2SeqSettings):
    """Network that reads a question with its paragraphs and writes the answer, or the arithmetic that gives it."""

    source_tokens: Positive = 512
    """Maximum tokens of question and paragraphs; longer ones are truncated."""
    target_tokens: Positive = 64
    """Maximum tokens of an output."""


class GenerativeSettings(Seq2SeqSettings):
    """Network that reads a question with its paragraphs and writes the answer."""

    source_tokens: Positive = 1024
    """Maximum tokens of question, choices and paragraphs; what comes after them is not read."""
    target_tokens: Positive = 32
    """Maximum tokens of an answer."""


class ExecutionSettings(SelectSettings):
    """Reader that decomposes a question and answers it step by step; the fields of ``SelectSettings`` configure its single-hop reader."""

    decompositions: Literal["predicted", "gold"] = "predicted"
    """Decompositions that are executed: ``predicted`` by the decomposer, or ``gold`` from the dataset, an upper bound."""
    decomposer: Seq2SeqSettings | None = None
    """Settings of the decomposer; null: the defaults, with the encoder of the single-hop reader."""
    decomposer_epochs: Positive = 20
    """Maximum passes over the training decompositions."""
    decomposer_learning_rate: Annotated[float, Field(gt=0, le=10)] = 5e-4
    """Peak learning rate of the decomposer."""

    @property
    def writing(self) -> Seq2SeqSettings:
        """The settings of the decomposer, or its defaults."""
        return self.decomposer or Seq2SeqSettings(encoder=self.encoder)
