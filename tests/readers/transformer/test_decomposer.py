"""The decomposer learns eight questions by heart, with and without a pointer, and says the same after it was saved."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from kgqa.errors import BrokenInput, EmptyResult
from kgqa.progress import Silent
from kgqa.readers.registry import find_reader
from kgqa.readers.transformer.decomposer import RewritingReader, decomposer, steps_sari
from kgqa.readers.transformer.encoder_decoder import load_encoder_decoder, saved_encoder_decoder
from kgqa.readers.transformer.end_to_end import end_to_end
from kgqa.settings.reader import SelectSettings
from kgqa.settings.seq2seq import Seq2SeqSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import of_list
from kgqa.training.reader import Prediction
from tests.readers.questions import fitting, two_hops

LEARNING = TrainingSettings(batch=8, epochs=50, learning_rate=5e-3, device="cpu", checkpoint_seconds=0)
QUESTIONS = of_list(two_hops())


def _settings(encoder: str, **given: object) -> Seq2SeqSettings:
    return Seq2SeqSettings.model_validate({"encoder": encoder, "target_tokens": 40, "tunes_embeddings": True, **given})


@pytest.fixture(scope="module")
def learned(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> RewritingReader:
    reader = decomposer("decomposer", _settings(tiny_encoder), LEARNING)
    reader.fit(QUESTIONS, None, fitting(tmp_path_factory.mktemp("fit"), LEARNING))
    return reader


@pytest.mark.slow
def test_it_learns_eight_questions_by_heart(learned: RewritingReader) -> None:
    found = list(learned.predict(QUESTIONS, Silent()))
    assert [each.id for each in found] == [each.id for each in QUESTIONS]
    assert all(steps_sari(instance, prediction) == 1 for instance, prediction in zip(QUESTIONS, found, strict=True))
    assert found[0].steps[1].depends_on == ("1",)


def test_saved_and_loaded_it_says_the_same(learned: RewritingReader, tmp_path: Path) -> None:
    learned.save(tmp_path)
    kind = find_reader("decomposer")
    again = kind.make("decomposer", kind.settings(), LEARNING)
    again.load(tmp_path)
    assert list(again.predict(QUESTIONS, Silent())) == list(learned.predict(QUESTIONS, Silent()))
    assert not [path for path in tmp_path.rglob("*") if path.suffix in {".bin", ".pt", ".pkl", ".pickle"}]
    with pytest.raises(BrokenInput, match="this is the reader decomposer, not single-hop"):
        find_reader("single-hop").make("single-hop", find_reader("single-hop").settings(), LEARNING).load(tmp_path)


def test_more_beams_find_what_one_finds_where_it_is_sure(learned: RewritingReader, tmp_path: Path) -> None:
    learned.save(tmp_path)
    state = json.loads((tmp_path / "reader.json").read_text("utf-8"))
    state["settings"]["beams"] = 3
    (tmp_path / "reader.json").write_text(json.dumps(state), "utf-8")
    beams = decomposer("decomposer", _settings("-"), LEARNING)
    beams.load(tmp_path)
    assert list(beams.predict(QUESTIONS, Silent())) == list(learned.predict(QUESTIONS, Silent()))


@pytest.mark.slow
def test_a_fit_that_was_stopped_goes_on_to_the_same_weights(tiny_encoder: str, tmp_path: Path) -> None:
    def fit(place: str, upto: int) -> list[dict[str, object]]:
        curve: list[dict[str, object]] = []

        def record(point: dict[str, object]) -> None:
            if "loss" in point:
                curve.append({name: point[name] for name in ("step", "loss")})
            if point["step"] == upto:
                raise KeyboardInterrupt

        few = LEARNING.model_copy(update={"epochs": 6, "batch": 4})
        reader = decomposer("decomposer", _settings(tiny_encoder), few)
        try:
            reader.fit(QUESTIONS, None, fitting(tmp_path / place, few, record))
        except KeyboardInterrupt:
            return curve
        reader.save(_made(tmp_path / f"{place}-saved"))
        return curve

    whole, first = fit("whole", -1), fit("killed", 7)
    second = fit("killed", -1)
    assert whole[: len(first)] == first
    assert whole[-len(second) :] == second
    weights, again = (load_file(tmp_path / f"{name}-saved" / "model.safetensors") for name in ("whole", "killed"))
    assert weights.keys() == again.keys()
    assert all(bool((weights[name] == again[name]).all()) for name in weights)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("copies", [True, False])
def test_it_trains_with_frozen_word_vectors_and_writes_no_more_than_it_may(tiny_encoder: str, tmp_path: Path, copies: bool) -> None:
    few = LEARNING.model_copy(update={"max_steps": 2})
    reader = decomposer("decomposer", _settings(tiny_encoder, copies=copies, tunes_embeddings=False, target_tokens=40), few)
    reader.fit(QUESTIONS, QUESTIONS, fitting(tmp_path, few))
    assert all(len(each.steps) >= 1 for each in reader.predict(QUESTIONS, Silent()))


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_it_stands_on_encoder_decoders(kind: str, tiny_encoder: str, tmp_path: Path) -> None:
    import torch
    from transformers import AutoTokenizer, BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder, eos_token="[SEP]", bos_token="[CLS]")
    tokenizer.save_pretrained(folder := tmp_path / kind)
    size = len(tokenizer)
    tokens: dict[str, Any] = {"pad_token_id": 0, "eos_token_id": tokenizer.eos_token_id}
    torch.manual_seed(1)
    if kind == "bart":
        layers: dict[str, Any] = {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
        heads: dict[str, Any] = {
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "decoder_start_token_id": tokenizer.eos_token_id,
        }
        bart = BartConfig(vocab_size=size, d_model=16, max_position_embeddings=80, **layers, **heads, **tokens)
        BartForConditionalGeneration(bart).save_pretrained(folder)
    else:
        t5 = T5Config(vocab_size=size, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, **tokens)
        t5.decoder_start_token_id = 0
        T5ForConditionalGeneration(t5).save_pretrained(folder)
    few = LEARNING.model_copy(update={"max_steps": 3})
    reader = decomposer("decomposer", _settings(str(folder), beams=2), few)
    reader.fit(QUESTIONS, None, fitting(tmp_path / "fit", few))
    reader.save(_made(tmp_path / "saved"))
    again = decomposer("decomposer", _settings("-"), few)
    again.load(tmp_path / "saved")
    assert list(again.predict(QUESTIONS, Silent())) == list(reader.predict(QUESTIONS, Silent()))


def test_a_network_saved_in_half_precision_is_trained_and_loaded_in_single(tiny_encoder: str, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    AutoModel.from_pretrained(tiny_encoder).half().save_pretrained(folder := str(tmp_path / "half"))
    AutoTokenizer.from_pretrained(tiny_encoder).save_pretrained(folder)
    read = load_encoder_decoder(_settings(folder))
    read.save(tmp_path / "saved")
    for made in (read, saved_encoder_decoder(tmp_path / "saved")):
        assert {each.dtype for each in made.network.parameters()} == {torch.float32}


def test_weights_that_are_not_there_are_a_sentence(tiny_encoder: str, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_encoder, tmp_path / "part")
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in sorted(weights) if "layer.0.attention" in name)
    save_file({name: each for name, each in weights.items() if name != lost}, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BrokenInput, match=r"its weights lack encoder\.layer\.0\.attention"):
        load_encoder_decoder(_settings(str(folder)))


def test_it_stands_on_the_encoder_of_a_trained_reader(tiny_encoder: str, tmp_path: Path) -> None:
    few = LEARNING.model_copy(update={"max_steps": 1})
    reader = end_to_end("ee", SelectSettings(encoder=tiny_encoder), few)
    reader.fit(QUESTIONS, None, fitting(tmp_path / "fit", few))
    reader.save(_made(tmp_path / "reader"))
    found = load_encoder_decoder(_settings(str(tmp_path / "reader")))
    assert found.network.get_encoder().config.num_hidden_layers == found.network.config.encoder.num_hidden_layers


def test_a_set_without_decompositions_teaches_nothing(tiny_encoder: str, tmp_path: Path) -> None:
    plain = of_list([replace(each, decomposition=None) for each in two_hops()])
    reader = decomposer("decomposer", _settings(tiny_encoder), LEARNING)
    with pytest.raises(EmptyResult, match="the set does not decompose the question: 8"):
        reader.fit(plain, None, fitting(tmp_path, LEARNING))


def test_scores_are_whole_for_the_right_steps_and_less_for_others() -> None:
    instance = two_hops(1)[0]
    right = Prediction(id="q0", answer="", steps=instance.decomposition or ())
    wrong = replace(right, steps=right.steps[:1])
    assert steps_sari(instance, right) == 1
    assert steps_sari(instance, wrong) < 1
