"""The encoder that other tests stand on is a whole one."""

from __future__ import annotations

from kgqa.readers.transformer.encoder import load_encoder


def test_tiny_encoder_loads_and_spells_any_word(tiny_encoder: str) -> None:
    encoder = load_encoder(tiny_encoder)
    ids = encoder.tokenizer("Who wrote #1 zyxw 2017?")["input_ids"]
    assert encoder.tokenizer.unk_token_id not in ids
    assert encoder.network(input_ids=encoder.tokenizer("the film", return_tensors="pt")["input_ids"]).last_hidden_state.shape[-1] == 32
