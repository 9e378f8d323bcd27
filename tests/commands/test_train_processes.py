"""``kgqa train`` as processes: one that is killed and goes on, and two that train one reader."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import kgqa
from tests.command import COMMAND, environment
from tests.commands.test_train_tracking import shown
from tests.small_questions import question, write_set, write_toml

pytest.importorskip("torch", reason="the extra [readers] is not installed")

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
OBEYED = 30
"""Seconds within which a run ends after a signal, on a busy machine too."""


def one_thread() -> dict[str, str]:
    return {**environment(), "OMP_NUM_THREADS": "1"}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    many = [question(number % 16, id=f"q{number}", shown=2 + number % 3) for number in range(60)]
    return write_set(tmp_path / "set", train=many[:48], dev=many[48:])


def curve(run: Path) -> list[dict[str, Any]]:
    """The last word on each step, without times and speeds."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for line in map(json.loads, (run / "log.jsonl").read_text("utf-8").splitlines()):
        if line["kind"] == "point":
            key = line["part"], line["step"]
            found[key] = {
                **found.get(key, {}),
                **{name: value for name, value in line.items() if name not in {"seconds", "examples_per_second"}},
            }
    return list(found.values())


def predictions(run: Path, dataset: Path) -> bytes:
    out = run.with_suffix(".predictions")
    kgqa.predict(run, dataset, out=out, metric="dire")
    return out.read_bytes()


def last_step(run: Path) -> int:
    """Of the last checkpoint."""
    places = ("checkpoints/step-*", "*/checkpoints/step-*")  # no **, which looks into folders that are about to go
    return max((int(path.name.split("-")[1]) for place in places for path in (run / "fit").glob(place)), default=0)


def trained(toml: Path, dataset: Path, run: Path, *, at_step: int = 0, with_signal: signal.Signals | None = None) -> int:
    """Train in a process of its own; stop it once it has kept this step."""
    process = subprocess.Popen(
        [*COMMAND, "train", str(toml), str(dataset), "--out", str(run)], env=one_thread(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    if with_signal is not None:
        end = time.monotonic() + 60
        while last_step(run) < at_step and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        process.send_signal(with_signal)
    sent = time.monotonic()
    _, said = process.communicate(timeout=300)
    if with_signal is not None:
        assert time.monotonic() - sent < OBEYED
    if with_signal in {signal.SIGINT, signal.SIGTERM} and process.returncode:
        assert process.returncode == 128 + with_signal, said
        assert len(said.decode().splitlines()) == 1, said
        assert b"again" in said
    return process.returncode


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["ee", pytest.param("sa", marks=pytest.mark.thorough)])
def test_a_run_that_is_killed_again_and_again_goes_on_to_the_same_bytes(
    reader: str, dataset: Path, tiny_encoder: str, tmp_path: Path, random_seed: int, pytestconfig: pytest.Config
) -> None:
    toml = write_toml(tmp_path / "reader.toml", reader, tiny_encoder, epochs=6, batch=2, checkpoint_seconds=0, patience=100)
    assert trained(toml, dataset, tmp_path / "whole") == 0
    steps = json.loads((tmp_path / "whole" / "manifest.json").read_text("utf-8"))["steps"]
    wanted, lines = predictions(tmp_path / "whole", dataset), curve(tmp_path / "whole")
    rng, kills = random.Random(random_seed), 4 if pytestconfig.getoption("--thorough") else 2
    for number in range(3):
        run, deaths = tmp_path / f"run{number}", 0
        for at_step in sorted(rng.sample(range(1, steps * 3 // 4), kills)):
            code = trained(toml, dataset, run, at_step=at_step, with_signal=SIGNALS[number])
            deaths += code != 0
            if code == 0:
                break
        assert deaths
        assert trained(toml, dataset, run) == 0
        assert predictions(run, dataset) == wanted
        assert curve(run) == lines


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["ee", pytest.param("sa", marks=pytest.mark.thorough)])
def test_two_processes_train_one_reader(reader: str, dataset: Path, tiny_encoder: str, tmp_path: Path) -> None:
    toml = write_toml(tmp_path / "reader.toml", reader, tiny_encoder, epochs=2, batch=5, batch_tokens=300, checkpoint_seconds=0)
    assert trained(toml, dataset, tmp_path / "one") == 0
    options: dict[str, Any] = {
        "num_processes": 2,
        "num_machines": 1,
        "mixed_precision": "no",
        "dynamo_backend": "no",
        "main_process_port": 20000 + os.getpid() % 20000,
    }
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", *(f"--{name}={value}" for name, value in options.items())]
    arguments = ["-m", "kgqa", "train", str(toml), str(dataset), "--out", str(tmp_path / "two"), "--track", "tensorboard"]
    process = subprocess.run([*launch, *arguments], env=one_thread(), capture_output=True, text=True, check=False, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    one, two = curve(tmp_path / "one"), curve(tmp_path / "two")
    tracked = shown(tmp_path / "two" / "tensorboard")  # to which only the first process writes
    assert sum(len(values) for tag, values in tracked.items() if tag.endswith("loss")) == len([point for point in two if "loss" in point])
    assert len(list((tmp_path / "two" / "tensorboard").glob("events.*"))) == 1
    assert [(point["part"], point["step"]) for point in one] == [(point["part"], point["step"]) for point in two]
    assert [point["loss"] for point in one if "loss" in point] == pytest.approx(
        [point["loss"] for point in two if "loss" in point], rel=2e-3
    )
    assert [run.status for run in kgqa.training_runs(tmp_path).runs] == ["finished", "finished"]
    assert not (tmp_path / "two" / "fit").exists()
    steps = [json.loads((tmp_path / name / "manifest.json").read_text("utf-8"))["steps"] for name in ("one", "two")]
    assert steps[0] == steps[1]
    assert process.stdout.count("Next: kgqa predict") == 1
    assert [point["score"] for point in one if "score" in point] == pytest.approx(
        [point["score"] for point in two if "score" in point], abs=0.1
    )
    wanted = predictions(tmp_path / "two", dataset)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={options['main_process_port'] + 1}"]
    out = tmp_path / "together"
    predict = ["-m", "kgqa", "predict", str(tmp_path / "two"), str(dataset), "--metric", "dire", "--device", "cpu", "--out", str(out)]
    process = subprocess.run([*torchrun, *predict], env=one_thread(), capture_output=True, text=True, check=False, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    assert out.read_bytes() == wanted
    assert process.stdout.count("Next: kgqa evaluate") == 1
