"""Processes on nodes train one reader together, with the steps and the losses of two processes of ``torchrun``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra [readers] is not installed")

import kgqa
from kgqa.cluster.opening import opened_engine
from kgqa.cluster.ray_engine import RayEngine
from kgqa.errors import SettingsError
from kgqa.training import run_log
from tests.cluster.conftest import Nodes
from tests.command import COMMAND, environment, run_command
from tests.commands.test_train_processes import curve, last_step, one_thread, predictions
from tests.conftest import Cli
from tests.ports import free_port
from tests.small_questions import question, write_set, write_toml


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    many = [question(number % 16, id=f"q{number}", shown=2 + number % 3) for number in range(40)]
    return write_set(tmp_path / "set", train=many[:32], dev=many[32:])


def on_nodes(cluster: Nodes, toml: Path, dataset: Path, run: Path) -> list[str | Path]:
    return ["train", toml, dataset, "--out", run, "--cluster", cluster.address, "--processes", "2"]


def test_the_curve_of_two_processes_of_torchrun(cluster: Nodes, dataset: Path, tiny_encoder: str, tmp_path: Path) -> None:
    toml = write_toml(tmp_path / "reader.toml", "ee", tiny_encoder, epochs=2, batch=5, batch_tokens=300, checkpoint_seconds=0)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={free_port()}"]
    arguments = ["-m", "kgqa", "train", str(toml), str(dataset), "--out", str(tmp_path / "here")]
    process = subprocess.run([*torchrun, *arguments], env=one_thread(), capture_output=True, text=True, check=False, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    outcome = run_command(*on_nodes(cluster, toml, dataset, tmp_path / "nodes"), seconds=300)
    assert outcome.status == 0, outcome.err
    assert "Next: kgqa predict" in outcome.out
    assert "already finished" not in outcome.out + outcome.err
    here, nodes = curve(tmp_path / "here"), curve(tmp_path / "nodes")
    assert [(point["part"], point["step"]) for point in nodes] == [(point["part"], point["step"]) for point in here]
    for name in ("loss", "score"):
        values = [[point[name] for point in points if name in point] for points in (nodes, here)]
        assert values[0]
        assert values[0] == pytest.approx(values[1], rel=1e-5)
    assert len(curve(tmp_path / "nodes")) > 10
    assert {path.name for path in (tmp_path / "nodes").iterdir()} == {path.name for path in (tmp_path / "here").iterdir()}
    assert [run.status for run in kgqa.training_runs(tmp_path).runs] == ["finished", "finished"]
    assert predictions(tmp_path / "nodes", dataset)
    again = run_command(*on_nodes(cluster, toml, dataset, tmp_path / "nodes"), seconds=300)
    assert "this run was already finished" in again.out + again.err


def trainers(nodes: Nodes) -> list[int]:
    """Processes of the group."""
    raylets = {str(node.all_processes["raylet"][0].process.pid) for node in nodes.running}
    found = []
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            parent = (place / "stat").read_text().rpartition(")")[2].split()[1] if place.name.isdigit() else ""
            if parent in raylets and b"RayTrainWorker" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return sorted(found)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_is_killed_goes_on_from_the_last_checkpoint(
    cluster: Nodes, dataset: Path, tiny_encoder: str, tmp_path: Path, number: signal.Signals
) -> None:
    """A process of the group is killed, which starts the group again; or the command, which the same command does."""
    toml = write_toml(tmp_path / "reader.toml", "ee", tiny_encoder, epochs=8, batch=2, checkpoint_seconds=0, patience=100)
    run, command = tmp_path / "run", on_nodes(cluster, toml, dataset, tmp_path / "run")
    with subprocess.Popen(
        [*COMMAND, *map(str, command)], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        end = time.monotonic() + 120
        while last_step(run) < 8 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert process.poll() is None, process.communicate()
        os.kill(trainers(cluster)[-1] if number == signal.SIGKILL else process.pid, number)
        _, said = process.communicate(timeout=300)
    if number == signal.SIGKILL:
        assert process.returncode == 0, said
    else:
        assert process.returncode == 128 + number, said
        assert "run the same command again" in said.splitlines()[-1]
        end = time.monotonic() + 60
        while trainers(cluster) and time.monotonic() < end:
            time.sleep(0.1)
        assert not trainers(cluster)
        assert not list(run.glob(".ray-*"))
        outcome = run_command(*command, seconds=300)
        assert outcome.status == 0, outcome.err
    assert (run_log.read(run / run_log.FILE).run or {})["sessions"] == 2
    assert json.loads((run / "manifest.json").read_text("utf-8"))["steps"] == 8 * 16
    assert not list(run.glob(".*-*"))


def test_faults_of_a_reader_are_told_as_here(cluster: Nodes, tiny_encoder: str, tmp_path: Path) -> None:
    nothing = [question(number, answers=("nowhere",), shown=0) for number in range(9)]
    dataset = write_set(tmp_path / "set", train=nothing)
    toml = write_toml(tmp_path / "reader.toml", "ee", tiny_encoder, epochs=1)
    outcome = run_command(*on_nodes(cluster, toml, dataset, tmp_path / "run"), seconds=300)
    outcome.sentence("none of the 9 training questions can be learned from")
    assert not (tmp_path / "run").exists()


def test_what_cannot_be_is_one_sentence(cluster: Nodes, dataset: Path, tiny_encoder: str, tmp_path: Path, cli: Cli) -> None:
    toml = str(write_toml(tmp_path / "reader.toml", "ee", tiny_encoder, epochs=1))
    room = "--processes 9: the cluster has room for 3, each with 1 core; give a smaller number, or start a node"
    cases: list[tuple[str, list[str], str]] = [
        (toml, ["--processes", "2"], "--processes is for a cluster"),
        (toml, ["--cluster", "auto", "--processes", "0"], "--processes 0 is below 1"),
        ("majority", ["--cluster", "auto"], "counts, which takes no cluster"),
        (toml, ["--cluster", "ray://h:1"], "must run on a node of the cluster"),
        (toml, ["--cluster", "auto", "--track", "tensorboard"], "no credentials of yours"),
        (toml, ["--cluster", "auto", "--runs", "postgresql://u:p@h/n"], "is not sent to nodes"),
        (toml, ["--cluster", cluster.address, "--processes", "9"], room),
    ]
    for reader, more, sentence in cases:
        cli("train", reader, dataset, "--out", tmp_path / "run", *more).sentence(sentence)
        assert not (tmp_path / "run").exists()


def test_a_folder_that_nodes_do_not_see_is_refused(cluster: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened_engine(cluster=cluster.address) as engine:
        assert isinstance(engine, RayEngine)
        engine.check_folder(tmp_path)
        monkeypatch.setattr("kgqa.cluster.ray_engine._sees", elsewhere)
        with pytest.raises(SettingsError, match=r"the node \S+ \(\S+\) does not see .*; use a folder on a disk that all nodes have"):
            engine.check_folder(tmp_path)
    assert not list(tmp_path.iterdir())


def elsewhere(path: str) -> bool:
    """What a node without the disk finds."""
    return Path("/nowhere", path.lstrip("/")).exists()
