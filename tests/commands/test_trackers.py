"""``kgqa train --track`` with MLflow, trackio and Weights & Biases themselves, which keep a run in a folder here and send nothing.

trackio is not in the group of test packages, because it holds Pillow at an older version.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.training import tracking
from tests.command import run_command
from tests.small_questions import questions, write_set

Curve = list[tuple[int, float]]
"""Steps and values."""
TOML = """
reader = "fastqa"
[settings]
hidden = 4
word_size = 6
[training]
learning_rate = 0.02
batch = 4
epochs = 2
evaluations = 1
device = "cpu"
"""
WANDB_HEADER, WANDB_BLOCK, RECORD_HEADER = 7, 32768, 7
"""Bytes of Weights & Biases' file: before the first block, per block, and before each part of a record."""
FIRST_PARTS = {1, 2}
"""Kinds of parts that begin a record: the whole of it, and the first of several."""


def mlflow_curve(store: Path, run: str) -> tuple[Curve, Mapping[str, str]]:
    """The losses and the settings in MLflow's folder, where a metric's line is a time, a value and a step."""
    [folder] = store.glob(f"*/{run}")
    lines = [line.split() for line in (folder / "metrics" / "loss").read_text("utf-8").splitlines()]
    settings = {
        str(file.relative_to(folder / "params")): file.read_text("utf-8") for file in (folder / "params").rglob("*") if file.is_file()
    }
    return [(int(step), float(value)) for _, value, step in lines], settings


def trackio_curve(store: Path, run: str) -> tuple[Curve, Mapping[str, str]]:
    """The losses and the settings in trackio's database."""
    with sqlite3.connect(f"file:{store / tracking.PROJECT}.db?mode=ro", uri=True) as database:
        rows = database.execute("select step, metrics from metrics where run_name = ? order by id", (run,)).fetchall()
        [(settings,)] = database.execute("select config from configs where run_name = ?", (run,)).fetchall()
    database.close()
    losses = [(step, json.loads(values)["loss"]) for step, values in rows if "loss" in json.loads(values)]
    return losses, {name: str(value) for name, value in json.loads(settings).items()}


def wandb_curve(store: Path, run: str) -> tuple[Curve, Mapping[str, str]]:
    """The losses and the settings in the file that Weights & Biases writes offline."""
    wandb_internal_pb2: Any = import_module("wandb.proto.wandb_internal_pb2")  # made at import, so that mypy knows no names of it
    [file] = store.rglob(f"run-{run}.wandb")
    losses, settings = [], {}
    for content in _wandb_records(file.read_bytes()):
        record = wandb_internal_pb2.Record.FromString(content)
        for item in (*record.config.update, *record.run.config.update):
            settings[item.key or "/".join(item.nested_key)] = str(json.loads(item.value_json))
        values = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        if "loss" in values:
            losses.append((values["_step"], values["loss"]))
    assert not [*store.rglob("requirements.txt")]
    return losses, settings


def _wandb_records(content: bytes) -> Iterator[bytes]:
    """The records of a file in the format of LevelDB's log: a checksum, a length (2 bytes), a kind, and a part of a record."""
    place, parts = WANDB_HEADER, bytearray()
    while place + RECORD_HEADER <= len(content):
        room = WANDB_BLOCK - place % WANDB_BLOCK
        if room < RECORD_HEADER:  # no part begins at the end of a block
            place += room
            continue
        length, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        if kind in FIRST_PARTS:
            parts.clear()
        parts += content[place + RECORD_HEADER : place + RECORD_HEADER + length]
        place += RECORD_HEADER + length
        if kind in {1, 4}:  # the whole record, or its last part
            yield bytes(parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tracker", "settings_of", "read"),
    [
        ("mlflow", lambda store: {"MLFLOW_TRACKING_URI": store.as_uri(), "MLFLOW_ALLOW_FILE_STORE": "true"}, mlflow_curve),
        ("trackio", lambda store: {"TRACKIO_DIR": str(store)}, trackio_curve),
        ("wandb", lambda store: {"WANDB_MODE": "offline"}, wandb_curve),
    ],
)
def test_a_tracker_gets_the_losses_and_settings_of_a_run(
    tracker: str,
    settings_of: Callable[[Path], Mapping[str, str]],
    read: Callable[[Path, str], tuple[Curve, Mapping[str, str]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if find_spec(tracker) is None:
        pytest.skip(f"{tracker} is not installed")
    store, run = tmp_path / "store", tmp_path / "run"
    for name, value in settings_of(store).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "reader.toml").write_text(TOML, "utf-8")
    dataset = write_set(tmp_path / "set", train=questions(12), dev=questions(6))
    outcome = run_command("train", tmp_path / "reader.toml", dataset, "--out", run, "--track", tracker, cwd=tmp_path, seconds=600)
    assert outcome.status == 0, outcome.err
    assert "the tracker" not in outcome.out + outcome.err  # as in: got no points, or did not end as it should
    points: list[dict[str, Any]] = [json.loads(line) for line in (run / "log.jsonl").read_text("utf-8").splitlines()]
    logged: list[Any] = [(point["step"], pytest.approx(point["loss"])) for point in points if "loss" in point]
    assert logged
    losses, settings = read(run if tracker == "wandb" else store, json.loads((run / tracking.FILE).read_text("utf-8"))["run"])
    assert losses == logged
    assert settings["settings/training/batch"] == "4"
    kept = [file.read_bytes() for folder in (store, run / "wandb") if folder.exists() for file in folder.rglob("*") if file.is_file()]
    assert not any(b"--track" in content for content in kept)  # the command line, which may have a password
