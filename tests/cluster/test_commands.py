"""Commands on a cluster give the bytes of threads, also when they are killed."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import Nodes
from tests.command import COMMAND, environment, run_command
from tests.ports import free_port


def contents(workspace: Path) -> dict[str, bytes]:
    """All tables and datasets by path, without what names the engine and the seconds."""
    files = {
        path.relative_to(workspace).as_posix(): path.read_bytes()
        for folder in ("tables", "datasets")
        for path in (workspace / folder).rglob("*")
        if path.is_file() and path.suffix != ".json"
    }
    for path in (workspace / "datasets").rglob("manifest.json"):
        manifest = json.loads(path.read_bytes())
        files[path.parent.name] = json.dumps([manifest["files"], manifest["counts"], manifest["key"]]).encode()
    return files


@pytest.mark.parametrize(("command", "domain"), [("generate", "wikidata"), ("compose", "companies")])
def test_same_bytes_as_on_threads(cluster: Nodes, tmp_path: Path, command: str, domain: str) -> None:
    """Of ``medline`` the runs of test_kills.py say it."""
    arguments = [command, "--domain", domain, "--workspace"]
    threads = run_command(*arguments, tmp_path / "threads")
    assert threads.status == 0, threads.err
    nodes = run_command(*arguments, tmp_path / "nodes", "--cluster", cluster.address, seconds=300)
    assert nodes.status == 0, nodes.err
    assert "raylet" not in nodes.out + nodes.err
    assert contents(tmp_path / "nodes") == contents(tmp_path / "threads")
    (manifest,) = (tmp_path / "nodes" / "datasets").glob("*/manifest.json")
    assert json.loads(manifest.read_bytes())["passed"]["engine"] == "ray"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # Ray leaves the log of its client server open
def test_from_outside_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through Ray Client, on the loopback interface."""
    monkeypatch.setenv("KGQA_CLUSTER_SECONDS", "120")  # the head starts a process for each client
    monkeypatch.setenv("GRPC_ENABLE_FORK_SUPPORT", "0")  # without which that process sometimes dies at its start
    port = free_port()
    nodes = Nodes(ray_client_server_port=port)
    gc.collect()
    try:
        nodes.add()
        arguments: list[str | Path] = ["generate", "--domain", "medline", "--workspace"]
        here = run_command(*arguments, tmp_path / "here")
        assert here.status == 0, here.err
        there = run_command(*arguments, tmp_path / "there", "--cluster", f"ray://127.0.0.1:{port}", seconds=300)
        assert there.status == 0, there.err
    finally:
        nodes.end()
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    lines = [line for line in (there.out + there.err).splitlines() if line.startswith("On the cluster, ")]
    assert lines
    assert not any("sent" in line for line in lines)  # Ray Client does not tell


def test_a_plan_names_the_engine(cluster: Nodes, tmp_path: Path) -> None:
    planned = run_command("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", "--dry-run", "--cluster", cluster.address)
    assert planned.status == 0, planned.err
    assert "on the cluster (ray)" in planned.out


def test_a_cluster_that_is_away_ends_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_CLUSTER_SECONDS", "1")
    outcome = run_command("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", "--cluster", "127.0.0.1:9")
    outcome.sentence("no Ray cluster answered at 127.0.0.1:9 within 1 seconds", "KGQA_CLUSTER_SECONDS")
    assert not (tmp_path / "w").exists()


@pytest.mark.real_data
@pytest.mark.thorough
def test_killed_runs_go_on_to_the_same_bytes(cluster: Nodes, tmp_path: Path, real_data: Path, random_seed: int) -> None:
    """Drivers end by SIGKILL and SIGTERM once some stages are finished; the same command goes on."""
    arguments = ["generate", "--domain", "wikidata", "--source", str(real_data / "wikidata"), "--workspace"]
    whole = run_command(*arguments, tmp_path / "whole", seconds=900)
    assert whole.status == 0, whole.err
    stages = len(list((tmp_path / "whole" / "tables").glob("*.json")))
    killed_after = sorted(random.Random(random_seed).sample(range(1, stages), 3))
    for number, finished in zip((signal.SIGKILL, signal.SIGTERM, signal.SIGKILL), killed_after, strict=True):
        with subprocess.Popen(
            [*COMMAND, *arguments, str(tmp_path / "killed"), "--cluster", cluster.address], env=environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        ) as process:  # fmt: skip
            while len(list((tmp_path / "killed" / "tables").glob("*.json"))) < finished and process.poll() is None:
                time.sleep(0.02)
            os.kill(process.pid, number)
            process.communicate(timeout=300)
        assert process.returncode in (0, -number, 128 + number)
    again = run_command(*arguments, tmp_path / "killed", "--cluster", cluster.address, seconds=900)
    assert again.status == 0, again.err
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_the_file_of_a_domain_asks_for_the_cluster(cluster: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('cluster = "auto"\nextends = "wikidata"\nseed_domain = "wikidata"\n')
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    arguments = ["generate", "--domain", str(path), "--workspace", str(tmp_path / "w"), "--dry-run"]
    cases: list[tuple[list[str], bool]] = [([], True), (["--cluster", "none"], False)]
    for more, is_on_cluster in cases:
        planned = run_command(*arguments, *more)
        assert planned.status == 0, planned.err
        assert ("on the cluster (ray)" in planned.out) == is_on_cluster
