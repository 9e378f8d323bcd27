"""Functions of parts, for engines: some of them end a process or a node the first time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np


def total(part: tuple[int, int], values: np.ndarray) -> int:
    return int(values[slice(*part)].sum())


def writes(part: int, values: np.ndarray) -> None:
    values[part] = 0


def fails(part: int) -> int:
    raise ValueError(f"part {part}")


def process(part: int) -> int:
    time.sleep(0.5)  # long enough for each node to start a process
    return os.getpid()


def slept(part: float, values: np.ndarray) -> np.ndarray:
    time.sleep(part)
    return values + 1


def ends_a_process(part: int, marker: Path) -> int:
    if part == 3 and _first(marker):
        os.kill(os.getpid(), signal.SIGKILL)
    return part * part


def ends_a_node(part: int, marker: Path) -> int:
    """The parent of a worker is its node's main process."""
    if part == 3 and _first(marker):
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    return part * part


def ends_every_process(part: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def gpus(part: int) -> tuple[str, ...]:
    """The numbers of the GPUs that this part may use."""
    time.sleep(0.2)  # long enough for two parts to run at once
    return tuple(filter(None, os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")))


def asks_too_much(*_: object) -> None:
    import torch

    torch.empty(1 << 60)


def _first(marker: Path) -> bool:
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
