"""Networks on three nodes: the predictions of one process, the cluster's GPUs, and nodes that lack what a network needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import kgqa  # noqa: E402
from kgqa.cluster import ray_engine  # noqa: E402
from kgqa.cluster.opening import for_networks, opened_engine  # noqa: E402
from kgqa.cluster.ray_engine import RayEngine  # noqa: E402
from kgqa.cluster.versions import network_versions  # noqa: E402
from kgqa.errors import ClusterError, OutOfMemory, SettingsError  # noqa: E402
from kgqa.progress import Silent  # noqa: E402
from kgqa.settings.cluster import SHARE  # noqa: E402
from kgqa.training import predicting  # noqa: E402
from tests.cluster import parts  # noqa: E402
from tests.cluster.conftest import Nodes  # noqa: E402
from tests.command import run_command  # noqa: E402
from tests.conftest import Cli  # noqa: E402
from tests.small_questions import questions, write_set, write_toml  # noqa: E402
from tests.training.test_sent_task import fitted, questions_of  # noqa: E402


@pytest.fixture
def engine(cluster: Nodes) -> Iterator[RayEngine]:
    with opened_engine(cluster=cluster.address) as opened:
        assert isinstance(opened, RayEngine)
        yield opened


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Path:
    """The folder of a finished run on the dataset beside it."""
    folder = tmp_path_factory.mktemp("run")
    dataset = write_set(folder / "set", train=questions(12), dev=questions(8))
    kgqa.train(str(write_toml(folder / "reader.toml", "ee", tiny_encoder, epochs=1)), dataset, out=folder / "run")
    return folder / "run"


@pytest.mark.parametrize(
    "name", ["bidaf", "ee", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("rnn", "sa", "program", "ex-ee"))]
)
def test_the_same_predictions(engine: RayEngine, name: str, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, asked = fitted(name, tiny_encoder, tmp_path), questions_of(name)
    monkeypatch.setattr(predicting, "FEWEST_TOKENS", 60)  # some parts
    network_engine = for_networks(engine, device="auto")
    assert network_engine is not None
    assert network_engine.device == "cpu"
    assert list(reader.predict(replace(asked, engine=network_engine), Silent())) == list(reader.predict(asked, Silent()))


def test_the_command(cluster: Nodes, run: Path, tmp_path: Path) -> None:
    for out, more in (("here", []), ("nodes", ["--cluster", cluster.address])):
        outcome = run_command("predict", run, run.parent / "set", "--out", tmp_path / out, "--metric", "dire", *more, seconds=300)
        assert outcome.status == 0, outcome.err
    assert (tmp_path / "nodes").read_bytes() == (tmp_path / "here").read_bytes()
    assert "On the cluster, Reading: " in outcome.err + outcome.out


def test_a_node_that_runs_out_of_memory_is_named(engine: RayEngine, tiny_encoder: str, tmp_path: Path) -> None:
    """The network asks for more memory than there is, on the nodes alone."""
    reader, asked = fitted("bidaf", tiny_encoder, tmp_path), questions_of("bidaf")
    assert hasattr(reader, "_task")
    reader._task.network.forward = parts.asks_too_much
    with pytest.raises(OutOfMemory, match=r"^the node \S+ has too little memory for the network and one question; give"):
        list(reader.predict(replace(asked, engine=engine.for_networks()), Silent()))


def test_no_gpu_though_asked(cluster: Nodes, run: Path, tmp_path: Path, cli: Cli) -> None:
    arguments = ["predict", run, run.parent / "set", "--metric", "dire", "--out", tmp_path / "p"]
    outcome = cli(*arguments, "--cluster", cluster.address, "--device", "cuda")
    outcome.sentence(f"--device cuda: the cluster at {cluster.address} has no GPU; leave it out, or start a node that has one.")
    assert not (tmp_path / "p").exists()


def test_a_node_without_torch_is_named_before_any_work(engine: RayEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "network_versions", lambda: {**network_versions(), "kgqa": "9"})  # the nodes have no such package
    with pytest.raises(ClusterError, match=r"the node \S+ \(\S+\) lacks kgqa, which networks need; run there: pip"):
        engine.for_networks()
    monkeypatch.setattr(ray_engine, "network_versions", lambda: {**network_versions(), "torch": "9"})
    with pytest.raises(ClusterError, match=r"the node .* has torch \S+ instead of 9; install the same versions on all nodes"):
        engine.for_networks()
    monkeypatch.setattr(ray_engine, "network_versions", lambda: {**network_versions(), "peft": "9"})  # which lora_rank needs
    with pytest.raises(ClusterError, match=r"the node .* has peft \S+ instead of 9; install the same versions on all nodes"):
        engine.for_networks()


@pytest.mark.parametrize("share", ["0", "2", "half"])
def test_what_is_no_share_of_a_gpu(engine: RayEngine, share: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARE, share)
    with pytest.raises(SettingsError, match=f"{SHARE} is '{share}'; set it to a share of a GPU from 0.01 to 1"):
        engine.for_networks()


def test_parts_have_cores(engine: RayEngine) -> None:
    assert engine.for_networks(cores=4).cores == 1  # all that a node has


@pytest.mark.slow
def test_each_part_has_a_gpu_or_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray believes what a node says about its GPUs. torch does not, so a network is refused here."""
    nodes = Nodes()
    try:
        nodes.add()
        nodes.add(num_gpus=2, num_cpus=4)
        with RayEngine(nodes.address) as engine:
            assert engine.workers == 5
            assert engine.for_networks("cpu").device == "cpu"
            alone = engine.with_resources(cores=1, share=1.0)
            assert (alone.workers, alone.device) == (2, "cuda")
            assert set(alone.map(parts.gpus, range(8))) == {("0",), ("1",)}
            shared = engine.with_resources(cores=1, share=0.5)
            assert shared.workers == 4
            assert list(engine.map(parts.gpus, range(8))) == [()] * 8
            for device in ("auto", "cuda"):
                with pytest.raises(ClusterError, match=r"the node \S+ \(\S+\) has a GPU that torch cannot use; .* or give --device cpu"):
                    engine.for_networks(device)
    finally:
        nodes.end()
