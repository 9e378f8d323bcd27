"""What readers that write text can be told, and those that execute what was written."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgqa.settings.base import Positive, Settings
from kgqa.settings.reader import SelectSettings


class Seq2SeqSettings(Settings):
    """A network that reads a text and writes another."""

    encoder: Annotated[str, Field(min_length=1)] = "sentence-transformers/all-MiniLM-L6-v2"
    """An encoder-decoder (BART, T5) or an encoder; its name on the Hugging Face hub, its folder, or ``package:NAME``. An encoder is given a
    decoder that begins with the same weights (Rothe et al. 2020)."""
    decoder_layers: Positive = 2
    """Of the decoder that an encoder is given: the encoder's first ones."""
    copies: bool = True
    """Whether tokens can be taken from the source, beside being written anew (See et al. 2017)."""
    tunes_embeddings: bool = False
    """Whether an encoder's word vectors are learned too; few examples teach only those of their own words."""
    source_tokens: Positive = 128
    """Longer texts are cut."""
    target_tokens: Positive = 128
    """The longest text that is written."""
    beams: Positive = 1
    """How many beginnings are kept while writing; 1: always the likeliest token."""


class ExecutionSettings(SelectSettings):
    """A reader that decomposes a question and answers it step by step; the fields of ``SelectSettings`` are for its single-hop reader."""

    decompositions: Literal["predicted", "gold"] = "predicted"
    """gold: those of the set, which says what better decompositions would bring."""
    decomposer: Seq2SeqSettings | None = None
    """None: by default, on the encoder of the single-hop reader."""
    decomposer_epochs: Positive = 20
    decomposer_learning_rate: Annotated[float, Field(gt=0, le=10)] = 5e-4

    @property
    def writing(self) -> Seq2SeqSettings:
        """The decomposer's."""
        return self.decomposer or Seq2SeqSettings(encoder=self.encoder)
