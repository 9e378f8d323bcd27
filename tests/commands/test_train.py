"""``kgqa train`` and ``kgqa predict``: a run goes on or is done, and every mistake is one sentence that leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import InputError, KgqaError
from kgqa.training import extra, record
from tests.conftest import Cli, SmallDisk
from tests.contents import files, leftovers
from tests.small_questions import question, questions, write_set, write_toml

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import safetensors.torch  # noqa: E402

from kgqa.commands import train as command  # noqa: E402
from kgqa.readers.transformer.end_to_end import SpanReader  # noqa: E402
from kgqa.training import checkpoints, intermediate, loop  # noqa: E402
from kgqa.training.device import to_device  # noqa: E402


class Place:
    """A dataset, a reader's settings and where its run goes."""

    def __init__(self, folder: Path, encoder: str) -> None:
        self.folder, self.encoder = folder, encoder
        self.set = write_set(folder / "set", train=questions(12), dev=questions(6))
        self.run = folder / "run"

    def toml(self, reader: str = "ee", *, settings: str = "", name: str = "reader", **training: object) -> Path:
        return write_toml(self.folder / f"{name}.toml", reader, self.encoder, settings=settings, **training)

    def trained(self, reader: str = "ee", *, out: Path | None = None) -> Path:
        """A finished run."""
        kgqa.train(str(self.toml(reader, epochs=1)), self.set, out=out or self.run)
        return out or self.run

    def predictions(self, run: Path, name: str = "predictions") -> bytes:
        out = self.folder / f"{name}-{len(list(self.folder.iterdir()))}.json"
        kgqa.predict(run, self.set, out=out, split="dev", metric="dire")
        return out.read_bytes()


@pytest.fixture
def place(tmp_path: Path, tiny_encoder: str) -> Place:
    return Place(tmp_path, tiny_encoder)


def curve(run: Path) -> list[dict[str, Any]]:
    """The points of a run's log, without times and speeds."""
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text("utf-8").splitlines()]
    return [{name: value for name, value in line.items() if name not in {"seconds", "examples_per_second"}} for line in merged(lines)]


def merged(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for line in lines:
        if line["kind"] == "point":
            key = line["part"], line["step"]
            found[key] = {**found.get(key, {}), **line}
    return list(found.values())


def test_train_then_predict_then_evaluate(place: Place, cli: Cli) -> None:
    result = cli("train", place.toml(), place.set, "--out", place.run)
    assert result.status == 0, result.err
    assert "12 questions, 6 steps, score on dev" in result.out
    assert sorted(path.name for path in place.run.iterdir() if not path.name.startswith(".")) == [
        "log.jsonl",
        "manifest.json",
        "reader",
        "run.json",
    ]
    again = cli("train", place.toml(), place.set, "--out", place.run)
    assert again.status == 0, again.err
    assert "this run was already finished; nothing was done." in again.out
    out = place.folder / "predictions.json"
    found = cli("predict", place.run, place.set, "--out", out, "--metric", "squad")
    assert found.status == 0, found.err
    assert "6 answers to dev" in found.out
    scored = cli("evaluate", place.set, out, "--metric", "squad")
    assert scored.status == 0, scored.err
    cli("predict", place.run, place.set, "--out", out).sentence("already there")


def test_workers_and_checkpointed_layers_do_not_change_a_byte(place: Place) -> None:
    kgqa.train(str(place.toml()), place.set, out=place.folder / "plain")
    plain = place.predictions(place.folder / "plain")
    for name, setting in (("helped", "workers = 2"), ("frugal", "gradient_checkpointing = true")):
        toml = place.folder / f"{name}.toml"
        toml.write_text(place.toml().read_text("utf-8").replace("[training]", f"[training]\n{setting}"), "utf-8")
        kgqa.train(str(toml), place.set, out=place.folder / name)
        assert place.predictions(place.folder / name) == plain
        assert curve(place.folder / name) == curve(place.folder / "plain")


class Killed(BaseException):
    """The process is gone."""


def dies(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, nth: int) -> None:
    """The process dies when this is called for the nth time; after that it lives."""
    inner, count = getattr(owner, name), 0

    def once(*given: Any, **more: Any) -> Any:
        nonlocal count
        count += 1
        if count == nth:
            raise Killed
        return inner(*given, **more)

    monkeypatch.setattr(owner, name, once)


@pytest.mark.slow
def test_a_recurrent_run_that_died_goes_on_to_the_same_bytes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between evaluations, of which those after the first must read with today's weights."""
    toml = place.folder / "reader.toml"
    lines = 'reader = "bidaf"\n[settings]\nhidden = 4\nword_size = 6\n[training]\nlearning_rate = 0.02\nbatch = 4\nepochs = 3\n'
    toml.write_text(f'{lines}evaluations = 2\npatience = 100\ndevice = "cpu"\ncheckpoint_seconds = 0\n', "utf-8")
    kgqa.train(str(toml), place.set, out=place.folder / "whole")
    wanted, lines_of_curve = place.predictions(place.folder / "whole"), curve(place.folder / "whole")
    for number, nth in enumerate((3, 6, 8)):
        run = place.folder / f"run{number}"
        with monkeypatch.context() as patched:
            dies(patched, loop, "to_device", nth)
            with pytest.raises(Killed):
                kgqa.train(str(toml), place.set, out=run)
        kgqa.train(str(toml), place.set, out=run)
        assert place.predictions(run) == wanted
        assert curve(run) == lines_of_curve


@pytest.mark.parametrize("reader", ["ee", pytest.param("sa", marks=pytest.mark.slow), pytest.param("numeric", marks=pytest.mark.slow)])
def test_a_run_that_died_anywhere_goes_on_to_the_same_bytes(reader: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """In tokenising, in steps, in saves, between the parts of a reader, while the reader is saved and before the run is concluded."""
    toml = place.toml(reader, checkpoint_seconds=0, batch=6, epochs=1, evaluations=2)
    kgqa.train(str(toml), place.set, out=place.folder / "whole")
    wanted, lines = place.predictions(place.folder / "whole"), curve(place.folder / "whole")
    deaths: list[tuple[Any, str, int]] = [
        (loop, "encode", 1), (loop, "encode", 2), (loop, "Objective", 1), (loop, "to_device", 1), (loop, "to_device", 2),
        (loop, "mean_score", 1), (checkpoints, "save_weights", 2), (safetensors.torch, "save_file", 3), (command, "new_folder", 1),
        (SpanReader, "save", 1), (command, "write_whole", 1), (command, "write_whole", 2),
    ]  # fmt: skip
    if reader == "sa":  # between its parts, and in the second
        deaths = [
            (intermediate, "write_whole", 1),
            (intermediate, "write_whole", 2),
            (loop, "to_device", 3),
            (loop, "encode", 3),
            (command, "new_folder", 1),
        ]
    for number, (owner, name, nth) in enumerate(deaths):
        run = place.folder / f"run{number}"
        with monkeypatch.context() as patched:
            dies(patched, owner, name, nth)
            with pytest.raises(Killed):
                kgqa.train(str(toml), place.set, out=run)
        if not (run / "manifest.json").exists() and not (run / "reader").exists():
            with pytest.raises(KgqaError):
                kgqa.predict(run, place.set, out=place.folder / "none")
        result = kgqa.train(str(toml), place.set, out=run)
        assert result.steps in {2, 4}, (name, nth)
        assert place.predictions(run) == wanted, (name, nth)
        assert curve(run) == lines, (name, nth)
        assert not (run / "fit").exists()
        shutil.rmtree(run)


@pytest.mark.slow
def test_a_run_with_dropout_that_died_after_an_evaluation_goes_on_to_the_same_bytes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps({**config, "hidden_dropout_prob": 0.3}), "utf-8")

    broken_encoder(place, change)
    toml = place.toml(checkpoint_seconds=0)
    kgqa.train(str(toml), place.set, out=place.folder / "whole")
    with monkeypatch.context() as patched:
        dies(patched, loop, "to_device", 6)
        with pytest.raises(Killed):
            kgqa.train(str(toml), place.set, out=place.run)
    kgqa.train(str(toml), place.set, out=place.run)
    assert curve(place.run) == curve(place.folder / "whole")
    assert place.predictions(place.run) == place.predictions(place.folder / "whole")


def test_a_kill_while_it_tidies_up_is_tidied_up(place: Place) -> None:
    place.trained()
    (place.run / "fit" / "checkpoints").mkdir(parents=True)
    assert kgqa.train(str(place.toml(epochs=1)), place.set, out=place.run).was_finished
    assert not (place.run / "fit").exists()


def test_a_reader_that_was_removed_is_made_again(place: Place) -> None:
    """Else the run says that it is finished, and its reader's reader that it is not."""
    before = place.predictions(place.trained())
    shutil.rmtree(place.run / "reader")
    assert not kgqa.train(str(place.toml(epochs=1)), place.set, out=place.run).was_finished
    assert place.predictions(place.run) == before


def killed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that died in its second step."""
    with monkeypatch.context() as patched:
        dies(patched, loop, "to_device", 2)
        with pytest.raises(Killed):
            kgqa.train(str(place.toml()), place.set, out=place.run)


Change = Callable[[Place], None]


def broken_encoder(place: Place, change: Callable[[Path], object]) -> None:
    folder = place.folder / "encoder"
    shutil.copytree(place.encoder, folder)
    change(folder)
    place.encoder = str(folder)


def remove(*names: str) -> Change:
    def change(folder: Path) -> None:
        for name in names:
            (folder / name).unlink(missing_ok=True)

    return lambda place: broken_encoder(place, change)


def write(name: str, text: bytes) -> Change:
    return lambda place: broken_encoder(place, lambda folder: (folder / name).write_bytes(text))


def pickled(place: Place) -> None:
    broken_encoder(place, lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"))


def cut(place: Place) -> None:
    broken_encoder(place, lambda folder: os.truncate(folder / "model.safetensors", 4000))


def half(place: Place) -> None:
    """The weights of a network without its layers."""
    from safetensors.torch import load_file, save_file

    def change(folder: Path) -> None:
        kept = {name: value for name, value in load_file(folder / "model.safetensors").items() if "layer.1" not in name}
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})

    broken_encoder(place, change)


def smaller(place: Place) -> None:
    """A network with fewer pieces than its tokenizer knows."""
    from transformers import BertConfig, BertModel

    def change(folder: Path) -> None:
        BertModel(
            BertConfig(vocab_size=20, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
        ).save_pretrained(folder)

    broken_encoder(place, change)


def other(config: Callable[[], Any]) -> Change:
    """A network of another kind with the same tokenizer."""

    def change(folder: Path) -> None:
        from transformers import AutoModel

        AutoModel.from_config(config()).save_pretrained(folder)  # type: ignore[no-untyped-call]

    return lambda place: broken_encoder(place, change)


def with_decoder() -> Any:
    from transformers import T5Config

    return T5Config(vocab_size=200, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)


def of_pictures() -> Any:
    from transformers import ViTConfig

    return ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=32)


def of_pictures_and_texts() -> Any:
    from transformers import CLIPConfig

    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    text = {**small, "vocab_size": 200, "bos_token_id": 0, "eos_token_id": 1}
    return CLIPConfig(text_config=text, vision_config={**small, "image_size": 32})


def other_shape(place: Place) -> None:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps({**config, "intermediate_size": 128}), "utf-8")

    broken_encoder(place, change)


def without_ends(place: Place) -> None:
    """A tokenizer that knows no token to begin a text with."""

    def change(folder: Path) -> None:
        path = folder / "tokenizer_config.json"
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "cls_token": None, "sep_token": None}), "utf-8")

    broken_encoder(place, change)


ENCODERS: dict[str, tuple[Change, list[str]]] = {
    "no tokenizer": (remove("tokenizer.json", "vocab.txt", "tokenizer_config.json"), ["there is no tokenizer here"]),
    "no weights": (remove("model.safetensors"), ["there is no model.safetensors"]),
    "no config": (remove("config.json"), ["there is no config.json"]),
    "pickled": (pickled, ["pickled weights", "safetensors"]),
    "cut": (cut, ["cannot be loaded"]),
    "half": (half, ["its weights lack"]),
    "smaller": (smaller, ["its tokenizer has 1", "its network 20"]),
    "other shape": (other_shape, ["its weights lack encoder.layer.0.", "config.json"]),
    "with a decoder": (other(with_decoder), ["an encoder with a decoder (t5)"]),
    "of pictures": (other(of_pictures), ["(vit) does not read plain texts"]),
    "of pictures and texts": (other(of_pictures_and_texts), ["(clip) does not read plain texts"]),
    "without ends": (without_ends, ["no token for the beginning or the end of a text"]),
    "config of garbage": (write("config.json", b"\x00{"), ["cannot be loaded"]),
    "config of nothing": (write("config.json", b"{}"), ["cannot be loaded"]),
    "config of an unknown kind": (write("config.json", b'{"model_type": "nonesuch"}'), ["cannot be loaded"]),
    "config with a text for a number": (write("config.json", b'{"model_type": "bert", "hidden_size": "x"}'), ["cannot be loaded"]),
    "tokenizer of garbage": (write("tokenizer.json", b"garbage"), ["cannot be loaded"]),
    "package": (lambda place: setattr(place, "encoder", "package:nothing"), ["package:nothing", "no installed package"]),
    "package of a path": (lambda place: setattr(place, "encoder", "package:../x"), ["no installed package"]),
    "no folder": (lambda place: setattr(place, "encoder", "./nothing"), ["there is no folder with an encoder"]),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_that_is_none_is_a_sentence_and_leaves_no_run(name: str, place: Place, cli: Cli) -> None:
    change, parts = ENCODERS[name]
    whole = place.encoder
    change(place)
    cli("train", place.toml(), place.set, "--out", place.run).sentence(*parts)
    assert not place.run.exists()
    assert not leftovers(place.folder)
    if name == "package":
        place.encoder = whole  # with another one the same folder can be begun
        assert cli("train", place.toml("question-only", epochs=1), place.set, "--out", place.run).status == 0


def test_an_encoder_in_half_precision_is_trained_in_full(place: Place) -> None:
    from transformers import AutoModel

    broken_encoder(place, lambda folder: AutoModel.from_pretrained(folder).half().save_pretrained(folder))
    kgqa.train(str(place.toml(epochs=1)), place.set, out=place.run)
    assert place.predictions(place.run)


def test_an_encoder_is_taken_from_a_run(place: Place, cli: Cli) -> None:
    from kgqa.readers.transformer.encoder import load_encoder

    before = load_encoder(place.encoder).network.state_dict()
    kgqa.train(str(place.toml(epochs=1)), place.set, out=place.run)
    trained = load_encoder(str(place.run)).network.state_dict()
    assert trained.keys() == before.keys()
    assert any(not trained[name].equal(before[name]) for name in before)
    place.encoder = str(place.run)
    second = place.folder / "second"
    assert cli("train", place.toml("context-only", epochs=1), place.set, "--out", second).status == 0
    weights = place.run / "reader" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    cli("train", place.toml("question-only", epochs=1), place.set, "--out", place.folder / "third").sentence("cannot be loaded")


def test_a_hub_that_cannot_be_reached_is_a_sentence_soon(place: Place, cli: Cli) -> None:
    begin = time.monotonic()
    outcome = cli("train", "ee", place.set, "--out", place.run, "--encoder", "nobody/nothing")
    assert "local_files_only" not in outcome.sentence("nobody/nothing", "cannot be loaded")
    assert time.monotonic() - begin < 60
    assert not place.run.exists()


def without(*answers: str) -> list[Any]:
    """Questions with other answers."""
    return [replace(each, answers=answers) for each in questions(4)]


SETS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "none": (lambda folder: folder / "nothing", ["nothing"]),
    "no train split": (lambda folder: write_set(folder / "s", dev=questions(4)), ["no train split", "kgqa split"]),
    "empty train split": (lambda folder: write_set(folder / "s", train=[]), ["the train split has no question"]),
    "no answers": (
        lambda folder: write_set(folder / "s", train=without()),
        ["none of the 4 training questions can be learned from", "its answer is hidden: 4"],
    ),
    "answers nowhere": (lambda folder: write_set(folder / "s", train=without("xyz")), ["no paragraph states the answer: 4"]),
    "too long": (
        lambda folder: write_set(folder / "s", train=[long(number) for number in range(4)]),
        ["no window holds all of the answer: 4"],
    ),
}


def long(number: int) -> Any:
    """A question whose answer is longer than a window."""
    result = question(number, shown=1)
    text = "city " * 300
    return replace(
        result, answers=(text.strip(),), paragraphs=(replace(result.paragraphs[0], text=text, sentences=None, supporting_sentences=None),)
    )


@pytest.mark.parametrize("name", SETS)
def test_a_set_without_lessons_is_a_sentence_and_leaves_no_run(name: str, place: Place, cli: Cli) -> None:
    made, parts = SETS[name]
    cli("train", place.toml(), made(place.folder), "--out", place.run).sentence(*parts)
    assert not place.run.exists()
    assert not (place.folder / "runs.sqlite").exists() or not kgqa.training_runs(place.folder).runs


def test_what_is_refused_when_a_run_goes_on_stays_in_the_record(place: Place, cli: Cli) -> None:
    command = ["train", place.toml(checkpoint_seconds=0), place.set, "--out", place.run]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "mean_score", refuse)
        cli(*command).sentence("is gone")
    assert place.run.exists()
    (run,) = kgqa.training_runs(place.folder).runs
    assert (run.status, run.sentence) == ("failed", "The file is gone.")
    assert cli(*command).status == 0


def refuse(*_: Any, **__: Any) -> float:
    """As where a file went away in the middle of training."""
    raise InputError("The file is gone.")


OPTIONS: dict[str, tuple[list[str], list[str]]] = {
    "epochs": (["--epochs", "0"], ["--epochs 0: it must be at least 1"]),
    "steps": (["--max-steps", "0"], ["--max-steps 0: it must be at least 1"]),
    "seed": (["--seed", "-1"], ["seed -1"]),
    "large seed": (["--seed", str(2**40)], ["seed"]),
    "device": (["--device", "tpu"], ['--device "tpu": it must be']),
    "precision": (["--precision", "fp8"], ['--precision "fp8": it must be']),
    "start": (["--start-from", "nothing"], ["nothing", "not a trained reader"]),
    "encoder": (["--encoder", ""], ["encoder"]),
    "several": (
        ["--epochs", "0", "--max-steps", "0", "--device", "tpu", "--encoder", ""],
        ["--epochs 0: it must be", "--max-steps 0: it must be", '--device "tpu": it must be', '--encoder "": it is empty'],
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_that_cannot_be_is_a_sentence_and_leaves_no_run(name: str, place: Place, cli: Cli) -> None:
    options, parts = OPTIONS[name]
    cli("train", place.toml(), place.set, "--out", place.run, *options).sentence(*parts)
    assert not place.run.exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_a_gpu_that_is_not_there_is_a_sentence(place: Place, cli: Cli) -> None:
    cli("train", place.toml(), place.set, "--out", place.run, "--device", "cuda").sentence("--device cuda", "no GPU")
    assert not place.run.exists()
    run = place.trained()
    cli("predict", run, place.set, "--out", place.folder / "p", "--device", "cuda", "--metric", "squad").sentence("--device cuda", "no GPU")
    assert not (place.folder / "p").exists()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["does not say which reader"]),
        ("reader = 3", ["does not say which reader"]),
        ('reader = "eee"', ["'eee' is not known", "ee"]),
        ("reader = ", ["this is not TOML"]),
        (f"reader = {'9' * 5000}", ["a number in it has thousands of digits"]),
        (f"reader = {'[' * 20_000}", ["nested too deeply"]),
        ('reader = "ee"\nmore = 1', ["'more' is not known"]),
        ('reader = "ee"\nsettings = 1', ["'settings' cannot be 1: it must be a section"]),
        ('reader = "ee"\n[settings]\nencodr = "x"', ["unknown setting 'settings.encodr'", "encoder"]),
        ('reader = "ee"\n[training]\nbatch = "x"', ["'training.batch' cannot be \"x\""]),
        ('reader = "ee"\n[training]\nlearning_rate = nan', ["learning_rate"]),
        ('reader = "ee"\n[training]\nclip = inf\nwarm_up = 1', ["warm_up"]),
        ('reader = "ee"\n[settings]\nmax_length = 5', ["max_length = 5"]),
    ],
)
def test_a_toml_that_says_something_else_is_a_sentence(text: str, parts: list[str], place: Place, cli: Cli) -> None:
    path = place.folder / "own.toml"
    path.write_text(text, "utf-8")
    cli("train", path, place.set, "--out", place.run, "--encoder", place.encoder).sentence(*parts)
    assert not place.run.exists()
    cli("train", place.folder / "none.toml", place.set, "--out", place.run).sentence("no such file")


def test_a_missing_extra_is_the_line_that_installs_it(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run = place.trained()
    monkeypatch.setattr(extra, "find_spec", lambda name: None if name in {"torch", "accelerate"} else name)
    line = "needs torch and accelerate, which is not installed; run: pip install 'kgqa[readers]'"
    for command_line in (
        ("train", place.toml(), place.set, "--out", place.folder / "new"),
        ("predict", run, place.set, "--out", place.folder / "p", "--metric", "squad"),
    ):
        outcome = cli(*command_line)
        assert (outcome.status, outcome.err) == (2, f"kgqa: kgqa {command_line[0]} {line}\n")
    assert not (place.folder / "new").exists()


def test_a_run_of_something_else_is_a_sentence_and_stays(place: Place, cli: Cli) -> None:
    run, before = place.trained(), {}
    before = files(run)
    cli("train", place.toml("context-only", epochs=1), place.set, "--out", run).sentence("started with another reader")
    cli("train", place.toml(epochs=1), place.set, "--out", run, "--seed", "9").sentence("another seed")
    cli("train", place.toml(epochs=2), place.set, "--out", run).sentence("another epochs")
    other = write_set(place.folder / "other", train=questions(5))
    cli("train", place.toml(epochs=1), other, "--out", run).sentence("started with another")
    cli("train", place.toml(epochs=1), place.set, "--out", run, "--start-from", run).sentence("another start_from")
    cli("train", place.toml(epochs=1), place.set, "--out", place.set).sentence("--out")
    (place.folder / "mine").mkdir()
    (place.folder / "mine" / "x").write_text("x")
    cli("train", place.toml(epochs=1), place.set, "--out", place.folder / "mine").sentence("not a run of kgqa train")
    assert files(place.folder / "mine") == {"x": b"x"}
    assert files(run) == before
    assert cli("train", place.toml(epochs=1, batch_tokens=64, checkpoint_seconds=1), place.set, "--out", run).status == 0


def test_a_finished_run_edited_by_hand_is_a_sentence(place: Place, cli: Cli) -> None:
    run = place.trained("question-only")
    for name in ("manifest.json", "run.json"):
        whole = (run / name).read_bytes()
        for text in ("", "[]", "null", "{", "\xff", '"x"', "{}", "[" * 100_000):
            (run / name).write_bytes(text.encode("latin-1"))
            cli("train", place.toml("question-only", epochs=1), place.set, "--out", run).sentence(str(run), "choose another --out")
        (run / name).write_bytes(whole)
    assert cli("train", place.toml("question-only", epochs=1), place.set, "--out", run).status == 0


def test_numbers_that_cannot_be_in_a_manifest_are_a_sentence(place: Place, cli: Cli) -> None:
    run = place.trained("question-only")
    text = (run / "manifest.json").read_text("utf-8")
    for name in ("steps", "seconds", "questions"):
        for value in ("Infinity", "1e999", "NaN", "1" + "0" * 400, "null", '"x"'):
            changed = re.sub(rf'"{name}": [0-9.]+', f'"{name}": {value}', text)
            assert changed != text
            (run / "manifest.json").write_text(changed, "utf-8")
            cli("train", place.toml("question-only", epochs=1), place.set, "--out", run).sentence(str(run), "choose another --out")


@pytest.mark.parametrize(
    "text",
    [
        "x\n", "[]\n", '{"kind": "point"}\n', '{"kind": "run", "version": 9}\n', "\xff\n",
        '{"kind": "run", "version": 1, "uid": "x", "started": 1, "sessions": "x", "seconds": 1}\n',
        '{"kind": "run", "version": 1, "uid": "x", "started": "x", "sessions": 1, "seconds": 1}\n',
        '{"kind": "run", "version": 1, "uid": "x", "started": 1, "sessions": 1, "seconds": "x"}\n',
        '{"kind": "run", "version": 1, "uid": "x", "started": 1, "sessions": 1, "seconds": 1e999}\n',
        '{"kind": "run", "version": 1, "uid": "x", "started": 1, "sessions": 1, "seconds": 1' + "0" * 400 + "}\n",
        "[" * 100_000 + "\n",
    ],
)  # fmt: skip
def test_a_log_edited_by_hand_is_a_sentence(text: str, place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(place, monkeypatch)
    (place.run / "log.jsonl").write_bytes(text.encode("latin-1"))
    cli("train", place.toml(), place.set, "--out", place.run).sentence("log.jsonl, line 1")


def test_predicting_what_cannot_be_is_a_sentence(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    out = place.folder / "p.json"
    killed(place, monkeypatch)
    cli("predict", place.run, place.set, "--out", out, "--metric", "squad").sentence("not finished", "kgqa train")
    cli("predict", place.folder / "nothing", place.set, "--out", out, "--metric", "squad").sentence("no run of kgqa train")
    cli("train", place.toml(), place.set, "--out", place.folder / "new", "--start-from", place.run).sentence("not a trained reader")
    assert not (place.folder / "new").exists()
    run = place.trained(out=place.folder / "done")
    cli("predict", run, place.set, "--out", out, "--split", "test", "--metric", "squad").sentence("--split test", "train, dev")
    cli("predict", run, place.set, "--out", out, "--metric", "nothing").sentence("'nothing' is not known")
    with monkeypatch.context() as context:
        context.setattr("kgqa.commands.predict.write_predictions", None)  # said before anything is read
        cli("predict", run, place.set, "--out", out, "--metric", "dire-probe").sentence(
            "it was not made by one of DiRe's transforms", "kgqa contrast"
        )
    cli("predict", run, write_set(place.folder / "none", dev=[]), "--out", out, "--metric", "squad").sentence("dev split has no question")
    cli("predict", run, place.set, "--out", place.folder / "no" / "p", "--metric", "squad").sentence("no folder")
    (run / "reader" / "reader.json").write_text("{}")
    cli("predict", run, place.set, "--out", out, "--metric", "squad").sentence("reader.json", "train the reader again")
    assert not out.exists()


def test_a_run_starts_from_a_finished_one_of_the_same_reader(place: Place, cli: Cli) -> None:
    first, other, new = (
        place.trained(out=place.folder / "first"),
        place.trained("question-only", out=place.folder / "other"),
        place.folder / "new",
    )
    cli("train", place.toml(), place.set, "--out", new, "--start-from", other).sentence("this is the reader question-only, not ee")
    assert not new.exists()
    kgqa.train(str(place.toml(epochs=1, learning_rate=1e-12, weight_decay=0)), place.set, out=new, start_from=first)
    assert answers(place, new) == answers(place, first)
    again = cli("train", place.toml(epochs=1, learning_rate=1e-12, weight_decay=0), place.set, "--out", new, "--start-from", first)
    assert (again.status, "nothing was done" in again.out) == (0, True)
    second = place.folder / "elsewhere" / "first"
    kgqa.train(str(place.toml(epochs=2)), place.set, out=second)
    cli("train", place.toml(epochs=1, learning_rate=1e-12, weight_decay=0), place.set, "--out", new, "--start-from", second).sentence(
        "another start_from"
    )
    cli("train", place.toml(), place.set, "--out", place.folder / "x", "--start-from", first, "--encoder", "another").sentence(
        f"its encoder is {place.encoder}, not another"
    )
    cli("train", "tf-idf", place.set, "--out", place.folder / "x", "--start-from", first).sentence("tf-idf counts")
    assert not (place.folder / "x").exists()


def test_what_comes_next_can_be_done(place: Place, cli: Cli) -> None:
    held_out = write_set(place.folder / "held out", train=questions(12), test=questions(6))
    result = cli("train", "random", held_out, "--out", place.run)
    (line,) = [line for line in result.out.splitlines() if line.startswith("Next: kgqa predict")]
    arguments = shlex.split(line.removeprefix("Next: kgqa predict"))
    assert arguments[2:4] == ["--split", "test"]
    assert cli("predict", *arguments[:-1], place.folder / "p.json", "--metric", "squad").status == 0
    cli("predict", place.run, held_out, "--out", place.folder / "q.json").sentence("--split dev", "train, test")


def answers(place: Place, run: Path) -> dict[str, str]:
    out = place.folder / f"answers-of-{run.name}.json"
    kgqa.predict(run, place.set, out=out, split="dev", metric="squad")
    content: dict[str, str] = json.loads(out.read_text("utf-8"))
    return content


def test_a_loss_that_is_not_finite_is_a_sentence_and_keeps_the_checkpoint(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    step, gradients = 0, loop._Run._gradients

    def infinite(run: Any, rows: Any) -> Any:
        nonlocal step
        step += 1
        return gradients(run, rows) * (float("nan") if step == 3 else 1)

    with monkeypatch.context() as patched:
        patched.setattr(loop._Run, "_gradients", infinite)
        cli("train", place.toml(checkpoint_seconds=0), place.set, "--out", place.run).sentence(
            "the loss is nan in step 3", "q", "last checkpoint is kept"
        )
    assert (place.run / "fit" / "checkpoints" / "step-000000002").is_dir()
    assert cli("train", place.toml(checkpoint_seconds=0), place.set, "--out", place.run).status == 0


def test_two_trainers_in_one_folder(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(place, monkeypatch)
    facts = record.RunFacts(reader="ee", dataset="d", hashes={}, seed=1, settings={})
    with record.open_record(None, run=place.run, facts=facts):
        cli("train", place.toml(), place.set, "--out", place.run).sentence("another process trains in this folder")
    assert cli("train", place.toml(), place.set, "--out", place.run).status == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_signal_is_a_sentence_and_the_run_goes_on(
    number: signal.Signals, place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    kgqa.train(str(place.toml()), place.set, out=place.folder / "whole")
    move, before, step = to_device, signal.getsignal(number), 0

    def asks(*given: Any, **more: Any) -> Any:
        nonlocal step
        step += 1
        if step == 3:
            signal.raise_signal(number)
        return move(*given, **more)

    monkeypatch.setattr(os, "_exit", lambda status: (_ for _ in ()).throw(SystemExit(status)))
    with monkeypatch.context() as patched:
        patched.setattr(loop, "to_device", asks)
        cli("train", place.toml(), place.set, "--out", place.run).stopped(number, "stopped after step 3", "run the same command again")
    signal.signal(number, before)
    assert cli("train", place.toml(), place.set, "--out", place.run).status == 0
    assert place.predictions(place.run) == place.predictions(place.folder / "whole")
    assert curve(place.run) == curve(place.folder / "whole")


@pytest.mark.parametrize(
    "size",
    ["200k", pytest.param("700k", marks=pytest.mark.slow), *(pytest.param(size, marks=pytest.mark.thorough) for size in ("60k", "500k"))],
)
def test_a_full_disk_is_a_sentence_and_the_run_goes_on_with_more_room(size: str, place: Place, cli: Cli, small_disk: SmallDisk) -> None:
    kgqa.train(str(place.toml()), place.set, out=place.folder / "whole")
    small_disk.mount(f"size={size}")
    run = small_disk.path / "run"
    arguments = ("train", place.toml(checkpoint_seconds=0), place.set, "--out", run, "--runs", place.folder)
    cli(*arguments).sentence("the disk is full")
    small_disk.mount("size=20m")
    result = cli(*arguments)
    assert result.status == 0, result.err
    assert place.predictions(run) == place.predictions(place.folder / "whole")
    assert not leftovers(run)
