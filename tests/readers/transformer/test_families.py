"""Encoders of each family that readers are used with, as tiny random models with a tokenizer of their kind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.small_questions import CAPITALS, COUNTRIES, questions

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import pyarrow as pa  # noqa: E402
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

from kgqa.errors import SettingsError  # noqa: E402
from kgqa.readers.transformer.batch import ReadingBatch  # noqa: E402
from kgqa.readers.transformer.encoder import load_encoder  # noqa: E402
from kgqa.readers.transformer.examples import Targets, encode  # noqa: E402
from kgqa.readers.transformer.reading import ReadingTask, supervision_of  # noqa: E402
from kgqa.readers.transformer.resizing import encoder_of  # noqa: E402
from kgqa.readers.transformer.windows import Cutter  # noqa: E402
from kgqa.settings.reader import EncoderSettings  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, said  # noqa: E402

transformers: Any = pytest.importorskip("transformers")
TEXTS = [
    f"what is the capital of {c}? {c} is a country. The capital of {c} is {d}. yes no" for c, d in zip(COUNTRIES, CAPITALS, strict=True)
]
SIZES: Any = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def byte_level() -> tuple[Any, dict[str, str]]:
    """Byte-level BPE, as of RoBERTa, Longformer and ModernBERT: a piece may begin with the blank before its word."""
    special = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=list(special.values()), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer, special


def decoder_pieces() -> tuple[Any, dict[str, str]]:
    """Byte-level BPE, as of Qwen2: only an end of texts, no padding, and the blank before a word is a part of its piece's place."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer, {"eos_token": "<|endoftext|>"}


def llama_pieces() -> tuple[Any, dict[str, str]]:
    """The same with a beginning of texts, as of Llama 3."""
    tokenizer, _ = decoder_pieces()
    tokenizer.add_special_tokens(["<|begin_of_text|>"])
    return tokenizer, {"eos_token": "<|endoftext|>", "bos_token": "<|begin_of_text|>"}


def sentence_pieces() -> tuple[Any, dict[str, str]]:
    """Unigram pieces, as of DeBERTa-v3."""
    special = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=list(special.values()), unk_token="[UNK]", show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer, special


def roberta(pieces: int) -> Any:
    return transformers.RobertaConfig(vocab_size=pieces, max_position_embeddings=162, pad_token_id=1, type_vocab_size=1, **SIZES)


def longformer(pieces: int) -> Any:
    return transformers.LongformerConfig(
        vocab_size=pieces, max_position_embeddings=1202, attention_window=[8, 8], pad_token_id=1, type_vocab_size=1, **SIZES
    )


def modern(pieces: int) -> Any:
    return transformers.ModernBertConfig(
        vocab_size=pieces, max_position_embeddings=8192, pad_token_id=1, cls_token_id=0, sep_token_id=2, local_attention=16, **SIZES
    )


def deberta(pieces: int) -> Any:
    return transformers.DebertaV2Config(
        vocab_size=pieces, max_position_embeddings=160, relative_attention=True, position_buckets=16, norm_rel_ebd="layer_norm",
        share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0, pad_token_id=0, **SIZES,
    )  # fmt: skip


def llama(pieces: int) -> Any:
    return transformers.LlamaConfig(vocab_size=pieces, max_position_embeddings=2048, num_key_value_heads=1, **SIZES)


def qwen2(pieces: int) -> Any:
    return transformers.Qwen2Config(vocab_size=pieces, max_position_embeddings=2048, num_key_value_heads=1, **SIZES)


def big_bird(pieces: int) -> Any:
    return transformers.BigBirdConfig(vocab_size=pieces, max_position_embeddings=1024, block_size=4, num_random_blocks=1, **SIZES)


Make = Callable[[int], Any]
FAMILIES: dict[str, tuple[Callable[[], tuple[Any, dict[str, str]]], Make, int]] = {
    "roberta": (byte_level, roberta, 160),
    "longformer": (byte_level, longformer, 1200),
    "modernbert": (byte_level, modern, 8192),
    "deberta-v2": (sentence_pieces, deberta, 160),
    "llama": (llama_pieces, llama, 2048),
    "qwen2": (decoder_pieces, qwen2, 2048),
}
"""Kind → tokenizer, configuration, tokens that it reads at once."""


DECODERS = ("llama", "qwen2")


def write_family(kind: str, folder: Path) -> str:
    """Write an encoder of the kind, and return the folder's name."""
    make_tokenizer, make_config, longest = FAMILIES[kind]
    tokenizer, special = make_tokenizer()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **special)
    fast.save_pretrained(folder)
    torch.manual_seed(1)
    transformers.AutoModel.from_config(make_config(len(fast))).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A kind, and a folder with an encoder of it."""
    return request.param, write_family(request.param, tmp_path_factory.mktemp(request.param))


def test_big_bird_keeps_its_attention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "big_bird", (byte_level, big_bird, 1024))
    encoder = load_encoder(write_family("big_bird", tmp_path))
    assert not encoder.causal
    assert encoder.network.attention_type == encoder.network.encoder.attention_type == "block_sparse"


@pytest.mark.slow
def test_nothing_is_reported_while_it_is_loaded(tmp_path: Path) -> None:
    folder = write_family("longformer", tmp_path)
    code = f"from kgqa.readers.transformer.encoder import load_encoder; load_encoder({folder!r})"
    environment = {**os.environ, "TRANSFORMERS_VERBOSITY": "info"}
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert "padded" not in outcome.stderr + outcome.stdout


def test_it_is_loaded_with_its_length(family: tuple[str, str]) -> None:
    kind, folder = family
    encoder = load_encoder(folder)
    assert encoder.network.config.model_type == kind
    longest = FAMILIES[kind][2]
    assert encoder.longest == longest
    cutter = Cutter(encoder, EncoderSettings(), options=False)
    assert cutter.longest == min(longest, 4096)
    assert cutter.packs == (longest > 1024)
    assert Cutter(encoder, EncoderSettings(max_length=8192), options=False).longest == longest


@pytest.mark.parametrize("marks", [False, True])
def test_spans_are_the_answers_in_its_pieces(family: tuple[str, str], marks: bool) -> None:
    marks = marks and family[0] not in DECODERS
    settings = EncoderSettings(encoder=family[1], marks=marks)
    some = questions(6)
    for row, instance in zip(encode(some, Cutter(encoder_of(settings), settings, options=True), Targets()).to_pylist(), some, strict=True):
        texts = {
            instance.paragraphs[row["paragraph"][first]].text[row["begin"][first] : row["end"][last]]
            for first, last in zip(row["span_first"], row["span_last"], strict=True)
        }
        assert {text.rstrip(".") for text in texts} == set(instance.answers)


@pytest.mark.parametrize("name", ["ee", pytest.param("sa", marks=pytest.mark.slow)])
def test_it_is_trained_saved_and_read_again(name: str, family: tuple[str, str], tmp_path: Path) -> None:
    some = questions(8)
    reader = fitted(name, family[1], tmp_path / "fit", some, settings={"layers": 1})
    found = said(reader, some)
    assert [each.id for each in found] == [each.id for each in some]
    assert said(again(reader, name, family[1], tmp_path / "saved"), some) == found


def test_its_states_depend_on_no_padding(family: tuple[str, str]) -> None:
    settings = EncoderSettings(encoder=family[1])
    some = [*questions(2, shown=1), *questions(2, shown=3)]
    task: Any = ReadingTask(encoder_of(settings), settings, supervision_of(some), Targets())
    task.network.eval()

    def states(these: list[Any]) -> Any:
        with torch.inference_mode():
            return task.network.hidden(ReadingBatch(**task.collate(pa.Table.from_batches([task.encode(these)]))))

    torch.testing.assert_close(states(some), torch.cat([states([each]) for each in some]), atol=1e-5, rtol=1e-4)


def test_positions_are_for_learned_ones(family: tuple[str, str]) -> None:
    kind, folder = family
    if kind not in {"roberta", "longformer"}:
        with pytest.raises(SettingsError, match=rf"\({kind}\) has no table of learned positions"):
            encoder_of(EncoderSettings(encoder=folder, positions=2048))
        return
    before, after = load_encoder(folder), encoder_of(EncoderSettings(encoder=folder, positions=2048))
    assert after.longest == 2048
    old, new = (each.network.embeddings.position_embeddings.weight for each in (before, after))
    assert torch.equal(new[: len(old)], old)
    assert torch.equal(new[len(old)], old[2])  # the first two are those of padding
    assert after.network(input_ids=torch.full((1, 2048), 9)).last_hidden_state.shape[1] == 2048


def test_marks_of_longformer_see_everything(family: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Global attention: the question, and what represents paragraphs and sentences (Beltagy et al. 2020)."""
    kind, folder = family
    settings = EncoderSettings(encoder=folder)
    some = questions(1)
    task: Any = ReadingTask(encoder_of(settings), settings, supervision_of(some), Targets())
    batch = ReadingBatch(**task.collate(pa.Table.from_batches([task.encode(some)])))
    masks: list[Any] = []
    forward = task.network.encoder.forward

    def spied(**inputs: Any) -> Any:
        masks.append(inputs.get("global_attention_mask"))
        return forward(**inputs)

    monkeypatch.setattr(task.network.encoder, "forward", spied)
    with torch.inference_mode():
        task.network.hidden(batch)
    if kind != "longformer":
        assert masks[0] is None
        return
    places = {*range(int(batch.question_tokens[0])), *batch.mark.tolist(), *batch.sentence.tolist()}
    assert len(batch.sentence) == 6
    assert set(masks[0][0].nonzero().flatten().tolist()) == places
