"""An encoder that is small enough to be trained in a second."""

from __future__ import annotations

from pathlib import Path

import pytest

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
SIGNS = "#.,;:?!'\"()-"
WORDS = (
    "the a an of in is was were and or to by from for with on at who what where when which whose did does do country city river capital "
    "born died wrote film book director author spouse mother father married founded company located population year name yes no"
)
POSITIONS = 160


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a random BERT (width 32, 2 layers, 160 positions) and its WordPiece tokenizer, which can spell any lower-cased word."""
    return write_encoder(tmp_path_factory.mktemp("tiny-encoder"), width=32)


@pytest.fixture(scope="session")
def other_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same of another width."""
    return write_encoder(tmp_path_factory.mktemp("other-encoder"), width=16)


def write_encoder(folder: Path, *, width: int) -> str:
    """Write the encoder, and return the folder's name."""
    torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")
    from transformers import BertConfig, BertModel, BertTokenizer

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SIGNS, *LETTERS, *("##" + letter for letter in LETTERS), *WORDS.split(" ")]
    vocabulary = list(dict.fromkeys(pieces))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    tokenizer = BertTokenizer(vocab=str(folder / "vocab.txt"), do_lower_case=True, model_max_length=POSITIONS)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=width, num_hidden_layers=2, num_attention_heads=2, intermediate_size=2 * width,
        max_position_embeddings=POSITIONS, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return str(folder)
