"""A Ray cluster of this machine: a head without cores, and nodes of one core each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

STORE = 200_000_000
ROOT = Path(__file__).parent.parent.parent


class Nodes:
    """The cluster; nodes can be added and end."""

    def __init__(self, **head: Any) -> None:
        """``head``: further arguments of Ray for the head."""
        from ray.cluster_utils import Cluster

        # Processes of nodes find the tests, whose functions they call.
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        own = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args={**own, **head})
        self.address: str = self._cluster.address
        self.running: list[Any] = []
        """Nodes with cores that were started and not killed."""

    def add(self, count: int = 1, **options: Any) -> Any:
        """Start nodes, and return the last."""
        for _ in range(count):
            node = self._cluster.add_node(**{"num_cpus": 1, "object_store_memory": STORE, **options})
            self.running.append(node)
        return node

    def refill(self) -> None:
        """Three nodes, in place of those that a test ended."""
        self.running = [node for node in self.running if node.all_processes["raylet"][0].process.poll() is None]
        while len(self.running) < 3:
            self.add()

    def busy(self) -> list[tuple[int, Any]]:
        """Processes that run a part now, each with its node."""
        nodes = {str(node.all_processes["raylet"][0].process.pid): node for node in self.running}
        found = []
        for place in Path("/proc").iterdir():
            with suppress(OSError):
                parent = (place / "stat").read_text().rpartition(")")[2].split()[1] if place.name.isdigit() else ""
                if parent in nodes and (place / "cmdline").read_bytes().startswith(b"ray::_call"):
                    found.append((int(place.name), nodes[parent]))
        return sorted(found, key=lambda worker: worker[0])

    def kill_node(self, node: Any) -> None:
        """As a machine that loses its power: the node's main process first, and its workers, which end with it."""
        self.running.remove(node)
        node.kill_raylet()

    def end_head(self) -> None:
        self._cluster.head_node.kill_gcs_server()
        self._cluster.head_node.kill_raylet()

    def end(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="package")
def nodes() -> Iterator[Nodes]:
    """Of all tests here: a cluster takes as long to start as most of them take."""
    started = Nodes()
    try:
        yield started
    finally:
        started.end()


@pytest.fixture
def cluster(nodes: Nodes) -> Nodes:
    """Three nodes."""
    nodes.refill()
    return nodes
