"""Pretrained encoder-decoders, or encoders with a new decoder, and their tokenizers."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, SettingsError
from kgqa.readers.transformer.encoder import (
    check_pieces,
    is_trained,
    load_encoder,
    load_network,
    load_pretrained,
    load_tokenizer,
    make_network,
    place_of,
)
from kgqa.settings.reader import LONGEST
from kgqa.settings.seq2seq import Seq2SeqSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDecoder:
    """A network that reads tokens and writes tokens."""

    network: Any
    """A ``transformers.PreTrainedModel`` with ``get_encoder``, whose forward gives logits, hidden states and a cache."""
    tokenizer: Any
    start: int
    """The token before every written text; ``end`` is the one after it."""
    end: int
    pad: int

    @property
    def longest(self) -> int:
        """Maximum number of tokens to read and to write; T5 has no limit of its own."""
        configs = (self.network.config, self.network.get_encoder().config)
        positions = (int(getattr(config, "max_position_embeddings", 0) or 0) for config in configs)
        return min((position for position in positions if position), default=LONGEST + 2) - 2

    def save(self, folder: Path) -> None:
        """Write the configuration and the tokenizer; the weights are the reader's."""
        self.network.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def load_encoder_decoder(settings: Seq2SeqSettings) -> EncoderDecoder:
    """Load the pretrained network of the ``settings``; the weights of a new decoder are random. Raises MissingInput, BrokenInput."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    name = settings.encoder
    place = place_of(name)
    if not is_trained(Path(place)) and load_pretrained(AutoConfig, place, name).is_encoder_decoder:
        return _checked_encoder_decoder(load_network(AutoModelForSeq2SeqLM, place, name), load_tokenizer(place, name), name)
    if settings.lora_rank:
        raise SettingsError(
            f"lora_rank = {settings.lora_rank}: the decoder that {name} gets is new and has to be trained as a whole; leave lora_rank out, "
            "or use BART or T5."
        )
    encoder = load_encoder(name)
    if encoder.causal:
        raise _no_decoder(name, encoder.network.config)
    return _checked_encoder_decoder(_with_decoder(encoder.network, settings, name), encoder.tokenizer, name)


def saved_encoder_decoder(folder: Path) -> EncoderDecoder:
    """A network of the configuration in ``folder``, its weights not yet loaded. Raises MissingInput, BrokenInput."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    config = load_pretrained(AutoConfig, str(folder), str(folder))
    network = make_network(AutoModelForSeq2SeqLM, config, folder, weights=folder.parent)
    return _checked_encoder_decoder(network, load_tokenizer(str(folder), str(folder)), str(folder))


def _with_decoder(encoder: Any, settings: Seq2SeqSettings, name: str) -> Any:
    """Add a decoder of the same kind, initialised with the encoder's first layers; its cross-attention is new."""
    from transformers import AutoModelForCausalLM, EncoderDecoderModel

    config = deepcopy(encoder.config)
    config.is_decoder, config.add_cross_attention = True, True
    config.num_hidden_layers = min(settings.decoder_layers, config.num_hidden_layers)
    try:
        decoder = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    except (ValueError, TypeError) as error:
        raise _no_decoder(name, config) from error
    decoder.base_model.load_state_dict(encoder.state_dict(), strict=False)
    return EncoderDecoderModel(encoder=encoder, decoder=decoder)


def _no_decoder(name: str, config: Any) -> BrokenInput:
    return BrokenInput(f"{name}: encoders of the type {config.model_type} cannot get a decoder; use BERT, RoBERTa, BART or T5.")


def _checked_encoder_decoder(network: Any, tokenizer: Any, name: str) -> EncoderDecoder:
    config = network.config
    begins, ends = (
        (tokenizer.cls_token_id, tokenizer.sep_token_id) if config.model_type == "encoder-decoder" else (None, tokenizer.eos_token_id)
    )
    start = begins if begins is not None else getattr(config, "decoder_start_token_id", None)
    start = tokenizer.pad_token_id if start is None else start
    if start is None or ends is None or tokenizer.pad_token_id is None:
        raise BrokenInput(
            f"{name}: its tokenizer has no token for the beginning, the end or the padding of a text; use BERT, RoBERTa, BART or T5."
        )
    check_pieces(tokenizer, int(network.get_input_embeddings().num_embeddings), name)
    # One that was saved in half precision is trained in single.
    return EncoderDecoder(network=network.float(), tokenizer=tokenizer, start=int(start), end=int(ends), pad=int(tokenizer.pad_token_id))
