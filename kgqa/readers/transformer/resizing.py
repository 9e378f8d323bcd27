"""A pretrained encoder with fewer layers, with more positions than it was trained with, or with marks of paragraphs and sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kgqa.errors import SettingsError
from kgqa.readers.transformer.encoder import Encoder, bidirectional, load_encoder
from kgqa.settings.reader import EncoderSettings, RankingSettings

MARKS = 2
"""New pieces: the mark of a paragraph and that of a sentence."""
TABLE = "position_embeddings.weight"
"""End of the name of a table of learned positions; encoders with relative or rotary positions have none."""


def encoder_of(settings: EncoderSettings) -> Encoder:
    """The pretrained encoder, with the layers and positions of the settings, and with marks if they ask for them.

    Raises MissingInput, BrokenInput, SettingsError.

    New positions are copies of the learned ones, from the first to the last and again, which keeps how near two tokens are inside each
    copy (Beltagy et al. 2020, section 5). Attention stays whole, so memory grows with the square of the window.
    """
    encoder = _resized(pretrained(settings), settings)
    if settings.marks:
        if encoder.causal:
            raise SettingsError(
                f"marks = true: a token of {settings.encoder} does not see later ones, so a mark cannot represent the paragraph after it; "
                "leave marks out, or set bidirectional = true."
            )
        # They are no pieces of the tokenizer, so that no text can have them.
        encoder.network.resize_token_embeddings(encoder.rows + MARKS, mean_resizing=False)
    return encoder


def pretrained(settings: RankingSettings) -> Encoder:
    """The whole pretrained encoder, with the attention of the settings. Raises MissingInput, BrokenInput, SettingsError."""
    encoder = load_encoder(settings.encoder)
    return bidirectional(encoder, settings.encoder) if settings.bidirectional else encoder


def marks_of(encoder: Encoder) -> tuple[int, int]:
    """The numbers of ``[PP]`` and ``[SS]``, the last two, in an encoder that was made with them."""
    return encoder.rows - 2, encoder.rows - 1


def _resized(encoder: Encoder, settings: EncoderSettings) -> Encoder:
    if settings.layers is None and settings.positions is None:
        return encoder
    config = encoder.network.config
    weights = encoder.network.state_dict()
    changes: dict[str, Any] = {}
    if settings.layers is not None:
        if settings.layers > config.num_hidden_layers:
            raise SettingsError(f"layers = {settings.layers}: {settings.encoder} has {config.num_hidden_layers}; use at most that many.")
        changes |= _first_layers(config, settings.layers)
    if settings.positions is not None:
        changes |= _with_positions(encoder, weights, settings)
        encoder.tokenizer.model_max_length = settings.positions
    network = type(encoder.network)(type(config).from_dict({**config.to_dict(), **changes}))
    network.load_state_dict({name: weights[name] for name in network.state_dict()})
    return replace(encoder, network=network)


def _first_layers(config: Any, layers: int) -> dict[str, Any]:
    """Changes of the configuration that keep the first ``layers``; a list with an entry per layer is cut too."""
    lists = {
        name: value[:layers]
        for name, value in config.to_dict().items()
        if isinstance(value, list) and len(value) == config.num_hidden_layers
    }
    return {**lists, config.attribute_map.get("num_hidden_layers", "num_hidden_layers"): layers}


def _with_positions(encoder: Encoder, weights: dict[str, Any], settings: EncoderSettings) -> dict[str, Any]:
    """Changes of the configuration for more positions; the table in ``weights`` is replaced by a longer one."""
    import torch

    positions = settings.positions
    assert positions is not None
    names = [name for name in weights if name.endswith(TABLE)]
    if not names:
        raise SettingsError(
            f"positions = {positions}: {settings.encoder} ({encoder.network.config.model_type}) has no table of learned positions that "
            "could be extended; leave the setting out, or use an encoder that has one, such as BERT or RoBERTa."
        )
    if positions <= encoder.longest:
        raise SettingsError(f"positions = {positions}: {settings.encoder} reads {encoder.longest:,} tokens already; leave the setting out.")
    table = weights[names[0]]
    reserved_rows, learned_rows = table[: encoder.reserved], table[encoder.reserved : encoder.reserved + encoder.learned]
    tiles = learned_rows[torch.arange(positions) % len(learned_rows)]
    weights[names[0]] = torch.cat([reserved_rows, tiles])
    return {"max_position_embeddings": encoder.reserved + positions}
