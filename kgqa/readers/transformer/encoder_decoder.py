"""A pretrained encoder-decoder, or an encoder that is given a decoder, with the tokenizer; by name, from a folder, or out of a package."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.readers.transformer.encoder import (
    check_pieces,
    is_trained,
    load_encoder,
    load_network,
    load_pretrained,
    load_tokenizer,
    make,
    place_of,
)
from kgqa.settings.seq2seq import Seq2SeqSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDecoder:
    """A network that reads tokens and writes tokens."""

    network: Any
    """A ``transformers.PreTrainedModel`` with ``get_encoder``, whose forward gives logits, hidden states and a cache."""
    tokenizer: Any
    start: int
    """The token that stands before all that is written; ``end`` the one after it."""
    end: int
    pad: int

    @property
    def longest(self) -> int:
        """Tokens that it can read, and write; T5 knows no limit."""
        configs = (self.network.config, self.network.get_encoder().config)
        positions = (int(getattr(config, "max_position_embeddings", 0) or 0) for config in configs)
        return min((each for each in positions if each), default=1024) - 2

    def save(self, folder: Path) -> None:
        """Its shape and its tokenizer; the weights are the reader's."""
        self.network.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def load_encoder_decoder(settings: Seq2SeqSettings) -> EncoderDecoder:
    """The pretrained network that ``settings`` name; a decoder's new weights are drawn. Raises MissingInput, BrokenInput."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    name = settings.encoder
    place = place_of(name)
    if not is_trained(Path(place)) and load_pretrained(AutoConfig, place, name).is_encoder_decoder:
        return _made(load_network(AutoModelForSeq2SeqLM, place, name), load_tokenizer(place, name), name)
    encoder = load_encoder(name)
    return _made(_with_decoder(encoder.network, settings, name), encoder.tokenizer, name)


def saved_encoder_decoder(folder: Path) -> EncoderDecoder:
    """A network of the shape saved in ``folder``, its weights still to be loaded. Raises MissingInput, BrokenInput."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    config = load_pretrained(AutoConfig, str(folder), str(folder))
    network = make(AutoModelForSeq2SeqLM, config, folder, weights=folder.parent)
    return _made(network, load_tokenizer(str(folder), str(folder)), str(folder))


def _with_decoder(encoder: Any, settings: Seq2SeqSettings, name: str) -> Any:
    """The encoder, and a decoder of the same kind that begins with its first layers; attention to what is read is new."""
    from transformers import AutoModelForCausalLM, EncoderDecoderModel

    config = deepcopy(encoder.config)
    config.is_decoder, config.add_cross_attention = True, True
    config.num_hidden_layers = min(settings.decoder_layers, config.num_hidden_layers)
    try:
        decoder = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    except (ValueError, TypeError) as error:
        raise BrokenInput(
            f"{name}: encoders of the kind {config.model_type} cannot be given a decoder; take BERT, RoBERTa, BART or T5."
        ) from error
    decoder.base_model.load_state_dict(encoder.state_dict(), strict=False)
    return EncoderDecoderModel(encoder=encoder, decoder=decoder)


def _made(network: Any, tokenizer: Any, name: str) -> EncoderDecoder:
    config = network.config
    begins, ends = (
        (tokenizer.cls_token_id, tokenizer.sep_token_id) if config.model_type == "encoder-decoder" else (None, tokenizer.eos_token_id)
    )
    start = begins if begins is not None else getattr(config, "decoder_start_token_id", None)
    start = tokenizer.pad_token_id if start is None else start
    if start is None or ends is None or tokenizer.pad_token_id is None:
        raise BrokenInput(f"{name}: its tokenizer lacks a token to begin, to end or to pad with; take BERT, RoBERTa, BART or T5.")
    check_pieces(tokenizer, int(network.get_input_embeddings().num_embeddings), name)
    # One that was saved in half precision is trained in single.
    return EncoderDecoder(network=network.float(), tokenizer=tokenizer, start=int(start), end=int(ends), pad=int(tokenizer.pad_token_id))
