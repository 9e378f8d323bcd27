"""Workers, nodes and drivers are killed at random steps; the same command ends with the same bytes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.conftest import Nodes
from tests.cluster.test_commands import contents
from tests.command import COMMAND, environment, run_command

FEW, MANY = 3, 25
ARGUMENTS = ["generate", "--domain", "medline", "--workspace"]
LOOK = 0.05
"""Seconds between two looks at what runs."""


def test_runs_with_a_kill_give_the_same_bytes(cluster: Nodes, tmp_path: Path, random_seed: int, pytestconfig: pytest.Config) -> None:
    """What is killed goes round, so that a few kills have one of each kind; the step, the victim and the signal are drawn.

    A step is a look at the cluster that finds a part that runs. A run from which a worker or a node was taken must end by itself.
    """
    assert run_command(*ARGUMENTS, tmp_path / "whole").status == 0
    with _started(tmp_path / "first", cluster) as driver:
        looks = sum(1 for _ in _looks(driver, cluster))
        driver.communicate(timeout=300)
    assert driver.returncode == 0
    assert contents(tmp_path / "first") == contents(tmp_path / "whole")
    assert looks > 5
    draws = random.Random(random_seed)
    for number in range(MANY if pytestconfig.getoption("--thorough") else FEW):
        kind = ("worker", "node", "driver")[number % 3]
        with _started(tmp_path / f"{number}", cluster) as driver:
            victim = _kill(kind, driver, cluster, draws, looks)
            _, errors = driver.communicate(timeout=300)
        by_itself = driver.returncode == 0
        if not by_itself:
            assert kind == "driver", errors
            again = run_command(*ARGUMENTS, tmp_path / f"{number}", "--cluster", cluster.address, seconds=300)
            assert again.status == 0, again.err
        assert contents(tmp_path / f"{number}") == contents(tmp_path / "whole"), (number, victim)
        cluster.refill()
        sys.stdout.write(f"{number}: {victim}; {'ended by itself' if by_itself else 'ended when the command ran again'}\n")


def _started(workspace: Path, cluster: Nodes) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *ARGUMENTS, str(workspace), "--cluster", cluster.address], env=environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def _looks(driver: subprocess.Popen[str], cluster: Nodes) -> Iterator[list[tuple[int, Any]]]:
    """The processes that run a part, at each look that finds some, until the driver ends."""
    while driver.poll() is None:
        if busy := cluster.busy():
            yield busy
        time.sleep(LOOK)


def _kill(kind: str, driver: subprocess.Popen[str], cluster: Nodes, draws: random.Random, looks: int) -> str:
    """Kill a process that runs a part, its node, or the command, at a drawn look that finds a part."""
    last, number_sent = draws.randint(1, looks), draws.choice([signal.SIGKILL, signal.SIGTERM])
    for number, busy in enumerate(_looks(driver, cluster), start=1):
        if number == last:
            process, node = draws.choice(busy)
            if kind == "node":
                cluster.kill_node(node)
            elif kind == "driver":
                driver.send_signal(number_sent)
            else:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            return f"{kind}, while a part ran, at look {number} of {looks}"
    return f"{kind}: no part ran any more at look {last}"
