"""Workers, nodes and drivers are killed at random moments; the same command ends with the same bytes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import Nodes
from tests.cluster.test_commands import contents
from tests.command import COMMAND, environment, run_command

FEW, MANY = 3, 25
COMMAND_LINE = ["generate", "--domain", "medline", "--workspace"]


@pytest.mark.slow
def test_runs_with_a_kill_give_the_same_bytes(cluster: Nodes, tmp_path: Path, random_seed: int, pytestconfig: pytest.Config) -> None:
    """What is killed goes round, so that a few kills have one of each kind; the moment, the victim and the signal are drawn."""
    assert run_command(*COMMAND_LINE, tmp_path / "whole").status == 0
    begin = time.monotonic()
    assert run_command(*COMMAND_LINE, tmp_path / "first", "--cluster", cluster.address, seconds=300).status == 0
    length = time.monotonic() - begin
    draws = random.Random(random_seed)
    for number in range(MANY if pytestconfig.getoption("--thorough") else FEW):
        kind = ("worker", "node", "driver")[number % 3]
        workspace = tmp_path / f"{number}"
        arguments = [*COMMAND_LINE, str(workspace), "--cluster", cluster.address]
        with subprocess.Popen(
            [*COMMAND, *arguments], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as driver:
            moment = draws.uniform(0.2, 1.0) * length
            time.sleep(moment)
            was_running = driver.poll() is None
            victim = _kill(kind, driver, cluster, draws)
            _, errors = driver.communicate(timeout=300)
        by_itself = driver.returncode == 0
        if not by_itself:
            assert kind == "driver", errors
            again = run_command(*arguments, seconds=300)
            assert again.status == 0, again.err
        assert contents(workspace) == contents(tmp_path / "whole"), (number, kind, moment)
        if missing := 3 - len(cluster.running):
            cluster.add(missing)
        how = "ended by itself" if by_itself else "ended when the command ran again"
        sys.stdout.write(f"{number}: {victim} after {moment:.1f} of {length:.1f} s{'' if was_running else ', too late'}; {how}\n")


def _kill(kind: str, driver: subprocess.Popen[str], cluster: Nodes, draws: random.Random) -> str:
    """Kill one process or node, and say which."""
    if kind == "driver":
        number = draws.choice([signal.SIGKILL, signal.SIGTERM])
        driver.send_signal(number)
        return f"driver by {number.name}"
    if kind == "node":
        cluster.kill_node(draws.choice(cluster.running))
        return "node"
    for attempt in range(200):  # parts of a small domain are short
        if driver.poll() is None and (workers := cluster.workers(busy=attempt < 150)):
            os.kill(draws.choice(workers), signal.SIGKILL)
            return "busy worker" if attempt < 150 else "worker"
        time.sleep(0.02)
    return "no worker"
