"""``kgqa runs`` as users meet it: the list, one run, two beside each other, and one sentence for each mistake."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import TrainingError
from kgqa.training import record
from tests.conftest import Cli
from tests.small_questions import questions, write_set

FACTS = {"reader": "ee", "dataset": "hotpotqa", "hashes": {"train.json": "ab"}, "device": "cpu"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: one that is done, one of another seed, dataset and rate, and one that failed."""
    folder = tmp_path_factory.mktemp("runs")
    first = record.RunFacts(**FACTS, seed=1, settings={"training": {"rate": 0.1, "batch": 16}}, versions={"kgqa": "1"})  # type: ignore[arg-type]
    with record.open_record(folder, run=folder / "ee-1", facts=first) as run:
        for step in range(1, 101):
            run.point({"step": step, "loss": 1 / step})
        run.point({"step": 55, "score": 0.5})
        run.point({"step": 60, "loss": 0.25, "score": 0.625})
    other = {**FACTS, "hashes": {"train.json": "cd"}}
    second = record.RunFacts(**other, seed=2, settings={"training": {"rate": 0.2, "batch": 16, "new": True}}, versions={"kgqa": "2"})  # type: ignore[arg-type]
    with record.open_record(folder, run=folder / "ee-2", facts=second) as run:
        run.point({"part": "reader", "step": 60, "loss": 0.5})
    with pytest.raises(TrainingError), record.open_record(folder, run=folder / "odd\x1b[31m", facts=first):
        raise TrainingError("the loss is nan in step 3; try a lower learning_rate.")
    return folder


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_RUNS", raising=False)
    monkeypatch.setenv("COLUMNS", "140")


def test_runs_are_listed(runs: Path, cli: Cli) -> None:
    result = cli("runs", runs)
    assert (result.status, result.err) == (0, "")
    rows = [line.split() for line in result.out.splitlines()]
    assert ["ee-1", "ee", "hotpotqa", "1", "60", "62.5", "finished", "0.0"] in rows
    assert ["ee-2", "ee", "hotpotqa", "2", "60", "–", "finished", "0.0"] in rows
    assert "failed: the loss is nan in step 3" in result.out
    assert "\x1b" not in result.out


def test_the_variable_and_the_folder_in_which_one_is_are_looked_at(runs: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_RUNS", str(runs / "runs.sqlite"))
    listed = cli("runs").out
    assert "ee-2" in listed
    monkeypatch.delenv("KGQA_RUNS")
    monkeypatch.chdir(runs)
    assert cli("runs").out == listed


def test_a_plot_of_nothing_is_told_beside_json_too(tmp_path: Path, cli: Cli) -> None:
    kgqa.train("random", write_set(tmp_path / "set", train=questions(4)), out=tmp_path / "run")
    result = cli("runs", tmp_path, "--show", "run", "--json", "--plot", tmp_path / "curve.svg")
    assert json.loads(result.out)
    assert result.err.strip()
    assert not (tmp_path / "curve.svg").exists()


def test_one_run_is_shown_with_its_curve(runs: Path, cli: Cli, tmp_path: Path) -> None:
    result = cli("runs", runs, "--show", "ee-1", "--plot", tmp_path / "curve.svg")
    assert (result.status, result.err) == (0, "")
    for part in ("ee on hotpotqa, seed 1", "finished: it is done", "best dev score 62.5 at step 60", "training.rate", "0.1", "train.json"):
        assert part in result.out, part
    rows = [line.split() for line in result.out.splitlines()]
    assert ["60", "0.2500", "62.5"] in rows
    assert (tmp_path / "curve.svg").read_text("utf-8").startswith("<?xml")


def test_two_runs_are_compared(runs: Path, cli: Cli) -> None:
    result = cli("runs", runs, "--compare", "ee-1", "ee-2")
    assert (result.status, result.err) == (0, "")
    rows = [line.split() for line in result.out.splitlines()]
    for row in (["training.rate", "0.1", "0.2"], ["training.new", "–", "True"], ["seed", "1", "2"], ["kgqa", "1", "2"]):
        assert row in rows, row
    assert "training.batch" not in result.out
    assert "The datasets are not the same." in result.out
    same = cli("runs", runs, "--compare", "ee-1", "ee-1").out
    for part in ("The settings are the same.", "The versions are the same.", "The datasets are the same, byte for byte."):
        assert part in same, part


def test_curves_are_side_by_side(runs: Path) -> None:
    found = kgqa.training_runs(runs, compare=("ee-1", "ee-2")).comparison
    assert found is not None
    sides = {(part, step): (first.get("loss"), second.get("loss")) for part, step, first, second in found.curve}
    assert sides["", 60] == (0.25, None)
    assert sides["reader", 60] == (None, 0.5)
    assert found.settings == {"training.rate": (0.1, 0.2), "training.new": (None, True)}
    assert not found.same_data


def test_json_has_everything(runs: Path, cli: Cli) -> None:
    listed = json.loads(cli("runs", runs, "--json").out)
    assert [run["name"] for run in listed["runs"]][:2] == ["ee-1", "ee-2"]
    assert listed["comparison"] is None
    compared = json.loads(cli("runs", runs, "--compare", "ee-1", "ee-2", "--json").out)
    assert compared["comparison"]["settings"]["training.rate"] == [0.1, 0.2]
    assert compared["runs"][0]["curve"][0] == {"part": "", "step": 1, "seconds": compared["runs"][0]["curve"][0]["seconds"], "loss": 1.0}
    assert compared["runs"][0]["started"].endswith("+00:00")


def test_mistakes_are_one_sentence(runs: Path, cli: Cli, tmp_path: Path) -> None:
    cli("runs", tmp_path / "nowhere").sentence("there is no such folder")
    cli("runs", tmp_path).sentence("no runs are recorded here")
    cli("runs", runs / "ee-1").sentence("the folder of one run", "--show ee-1")
    cli("runs", runs, "--show", "ee-3").sentence("'ee-3'", "did you mean ee-")
    cli("runs", runs, "--show", "ee-1", "--compare", "ee-1", "ee-2").sentence("leave out one")
    cli("runs", runs, "--compare", "ee-1").sentence("--compare")
    cli("runs", runs, "--plot", tmp_path / "x.svg").sentence("--show")
    (tmp_path / "x.svg").touch()
    cli("runs", runs, "--show", "ee-1", "--plot", tmp_path / "x.svg").sentence("already there")
    (tmp_path / "text.sqlite").write_text("no database at all " * 100)
    cli("runs", tmp_path / "text.sqlite").sentence("no database of SQLite")
    with sqlite3.connect(tmp_path / "newer.sqlite") as connection:
        connection.execute("CREATE TABLE kgqa_schema AS SELECT 99 AS version")
    connection.close()
    cli("runs", tmp_path / "newer.sqlite").sentence("version 99")


@pytest.mark.parametrize("address", ["postgresql://me:hunter2@127.0.0.1:1/runs", "postgresql:/me:hunter2@h/x", "mysql://me:hunter2@h/x"])
def test_no_message_shows_a_password(address: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hunter2" not in cli("runs", address).sentence()
    monkeypatch.setenv("KGQA_RUNS", address)
    assert "hunter2" not in cli("runs").sentence()
    monkeypatch.setenv("KGQA_RUNS", "sqlite://")
    cli("runs").sentence("KGQA_RUNS is a database in memory")


def test_a_folder_that_cannot_be_written_to_is_read(runs: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(os.listdir(runs))
    mode = runs.stat().st_mode
    runs.chmod(0o555)
    try:
        assert cli("runs", runs).status == 0
    finally:
        runs.chmod(mode)
    assert sorted(os.listdir(runs)) == before
