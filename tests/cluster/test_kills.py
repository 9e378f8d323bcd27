"""Workers, nodes and drivers are killed at random moments; the same command ends with the same bytes."""

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
    """What is killed goes round, so that a few kills have one of each kind; the moment, the victim and the signal are drawn.

    Workers and nodes are killed while a part runs there. A run from which one was taken must end by itself.
    """
    assert run_command(*ARGUMENTS, tmp_path / "whole").status == 0
    begin = time.monotonic()
    with _started(tmp_path / "first", cluster) as driver:
        looks = sum(1 for _ in _looks(driver, cluster))
        driver.communicate(timeout=300)
    length = time.monotonic() - begin
    assert driver.returncode == 0
    assert looks > 5
    draws = random.Random(random_seed)
    for number in range(MANY if pytestconfig.getoption("--thorough") else FEW):
        kind = ("worker", "node", "driver")[number % 3]
        with _started(tmp_path / f"{number}", cluster) as driver:
            victim = _kill_driver(driver, draws, length) if kind == "driver" else _kill_part(kind, driver, cluster, draws, looks)
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


def _kill_driver(driver: subprocess.Popen[str], draws: random.Random, length: float) -> str:
    number, moment = draws.choice([signal.SIGKILL, signal.SIGTERM]), draws.uniform(0.1, 1.0) * length
    time.sleep(moment)
    if driver.poll() is not None:
        return "driver had ended"
    driver.send_signal(number)
    return f"driver by {number.name} after {moment:.1f} of {length:.1f} s"


def _kill_part(kind: str, driver: subprocess.Popen[str], cluster: Nodes, draws: random.Random, looks: int) -> str:
    """Kill a process that runs a part, or its node."""
    last = draws.randint(1, looks)
    for number, busy in enumerate(_looks(driver, cluster), start=1):
        if number == last:
            process, node = draws.choice(busy)
            if kind == "node":
                cluster.kill_node(node)
            else:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            return f"{kind} that ran a part, at look {number} of {looks}"
    return f"{kind}: no part ran any more at look {last}"
