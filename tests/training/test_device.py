"""Memory does not grow with the number of shapes that batches have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kgqa.training.device import KERNEL_CACHES

pytest.importorskip("torch", reason="the extra [readers] is not installed")

SHAPES = """
import resource
from kgqa.settings.training import TrainingSettings
from kgqa.training.device import device_of
device = device_of(TrainingSettings(device="cpu", precision="bf16"))
import torch
layer = torch.nn.Linear(64, 64)
for count in range(1, 301):
    with device.autocast():
        layer(torch.ones(count, 64)).sum().backward()
    if count in (100, 300):
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
"""Prints the most KB that were in memory until 100 different shapes, and until 300."""


@pytest.mark.slow
def test_kernels_of_many_shapes_do_not_stay_in_memory() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in KERNEL_CACHES}
    done = subprocess.run([sys.executable, "-c", SHAPES], env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert after - before < 50_000
