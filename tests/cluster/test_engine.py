"""The engine on a real cluster: results, faults of functions, and workers, nodes and heads that end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from kgqa.arrays.parallel import Engine, Threads
from kgqa.cluster import ray_engine
from kgqa.cluster.address import probe
from kgqa.cluster.opening import opened_engine
from kgqa.cluster.ray_engine import RayEngine
from kgqa.cluster.versions import versions
from kgqa.errors import ClusterError, SettingsError
from kgqa.progress import PartsSeen, Silent
from tests.cluster import parts
from tests.cluster.conftest import Nodes

SQUARES = [part * part for part in range(12)]


@pytest.fixture
def engine(cluster: Nodes) -> Iterator[Engine]:
    with opened_engine(cluster=cluster.address) as opened:
        yield opened


@pytest.mark.parametrize("name", ["threads", pytest.param("ray", marks=pytest.mark.slow)])
def test_results_come_in_the_order_of_the_parts(name: str, request: pytest.FixtureRequest) -> None:
    on: Engine = Threads(2) if name == "threads" else request.getfixturevalue("engine")
    values = np.arange(1000)
    bounds = [(at, at + 10) for at in range(0, 1000, 10)]
    assert list(on.map(parts.total, bounds, (values,))) == [int(values[slice(*part)].sum()) for part in bounds]
    with pytest.raises(ValueError, match="read-only"):
        list(on.map(parts.writes, [1], (values,)))
    with pytest.raises(ValueError, match="part 3"):
        list(on.map(parts.fails, [3]))
    assert on.name == name


def test_all_nodes_work(engine: Engine) -> None:
    assert engine.workers == 3
    assert len(set(engine.map(parts.process, range(12)))) == 3


def test_workers_bounds_the_parts_that_run_at_once(cluster: Nodes) -> None:
    with opened_engine(1, cluster.address) as engine:
        assert engine.workers == 1
        assert list(engine.map(parts.ends_a_process, range(3), (Path("unused"),))) == SQUARES[:3]


def test_parts_of_a_killed_process_run_again(engine: Engine, tmp_path: Path) -> None:
    assert list(engine.map(parts.ends_a_process, range(12), (tmp_path / "marker",))) == SQUARES
    assert (tmp_path / "marker").exists()


class Seeing(Silent):
    """Keeps what a cluster tells."""

    def __init__(self) -> None:
        self.seen: list[PartsSeen] = []

    def parts(self, seen: PartsSeen) -> None:
        self.seen.append(seen)


def test_progress_tells_what_is_done_what_ran_again_and_the_bytes(cluster: Nodes, tmp_path: Path) -> None:
    progress = Seeing()
    with opened_engine(cluster=cluster.address, progress=progress) as engine:
        assert list(engine.map(parts.ends_a_process, range(12), (tmp_path / "marker",))) == SQUARES
        assert [seen.done for seen in progress.seen] == [*range(1, 13), 12]
        assert [seen.ended for seen in progress.seen] == [False] * 12 + [True]
        last = progress.seen[-1]
        assert (last.total, last.workers) == (12, 3)
        assert last.again >= 1
        progress.seen.clear()
        values = np.arange(100_000)
        list(engine.map(parts.slept, iter([0.2] * 6), (values,)))
    last = progress.seen[-1]
    assert (last.done, last.total, last.again) == (6, None, 0)
    assert 1.2 <= last.busy <= 3 * last.seconds
    assert last.sent is not None
    assert values.nbytes <= last.sent < values.nbytes + 10_000  # shared values count once, not once per node
    assert last.received is not None
    assert 6 * values.nbytes <= last.received < 6 * values.nbytes + 60_000


def test_a_part_that_ends_every_process_ends_the_run(engine: Engine) -> None:
    with pytest.raises(ClusterError, match="workers failed 5 times on one part"):
        list(engine.map(parts.ends_every_process, [1]))
    assert list(engine.map(parts.total, [(0, 3)], (np.arange(3),))) == [3]


def test_parts_of_a_lost_node_run_again(cluster: Nodes, tmp_path: Path) -> None:
    with opened_engine(cluster=cluster.address) as engine:
        assert list(engine.map(parts.ends_a_node, range(12), (tmp_path / "marker",))) == SQUARES
        assert (tmp_path / "marker").exists()


def test_a_node_with_another_version_is_refused(cluster: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {**versions(), "kgqa": "9.9.9"}  # the nodes have the true one
    monkeypatch.setattr(ray_engine, "versions", lambda: here)
    with pytest.raises(ClusterError, match=rf"has kgqa {versions()['kgqa']} instead of 9\.9\.9; install the same versions on all nodes"):
        RayEngine(cluster.address)


def _open(address: str) -> None:
    with opened_engine(cluster=address):
        pass


def _run(engine: Engine, *, meanwhile: Callable[[], object]) -> None:
    for number, _ in enumerate(engine.map(time.sleep, [0.1] * 500)):
        if number == 3:
            meanwhile()


@pytest.mark.slow
def test_without_nodes_or_head_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "CHECK", 0.5)
    monkeypatch.setattr(ray_engine, "LOST", 2.0)
    nodes = Nodes()
    try:
        with pytest.raises(ClusterError, match="has no cores; start a node with"):
            RayEngine(nodes.address)
        node = nodes.add()
        with RayEngine(nodes.address) as engine, pytest.raises(ClusterError, match=r"no core for .* seconds; start one, and run the same"):
            _run(engine, meanwhile=node.kill_raylet)
        nodes.add()
        with RayEngine(nodes.address) as engine, pytest.raises(ClusterError, match=r"no head for .* seconds"):
            _run(engine, meanwhile=nodes.end_head)
    finally:
        nodes.end()


@pytest.mark.parametrize("address", ["nonsense", "ray://", "host:0", "host:99999", "user@host:1", "", "--help"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with (
        pytest.raises(SettingsError, match=r"is no address of a cluster; give auto, HOST:PORT or ray://HOST:PORT\."),
        opened_engine(cluster=address),
    ):
        pass


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9"])
def test_a_cluster_that_does_not_answer_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_CLUSTER_SECONDS", "1")
    with pytest.raises(ClusterError, match=rf"no Ray cluster answered at {address} within 1 seconds"):
        _open(address)


def test_auto_is_the_cluster_of_the_environment(cluster: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    assert probe("auto") == cluster.address
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    monkeypatch.setenv("KGQA_CLUSTER_SECONDS", "1")
    with pytest.raises(ClusterError, match=r"RAY_ADDRESS 127\.0\.0\.1:9: no Ray cluster answered at 127\.0\.0\.1:9 within 1 s"):
        probe("auto")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.cluster.opening.find_spec", lambda _: None)
    with (
        pytest.raises(SettingsError, match=r"Ray, which is not installed; run: pip install 'kgqa\[cluster\]'"),
        opened_engine(cluster="auto"),
    ):
        pass
