"""Where a network runs and how precisely, as it was asked for and as the machine has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgqa.errors import SettingsError
from kgqa.settings.training import TrainingSettings

if TYPE_CHECKING:
    import torch


KERNEL_CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""Variables that oneDNN, and torch's layer over it, look at when they are first used in a process."""
KERNELS = 64
"""On the CPU every shape of a batch has its own kernels, which oneDNN keeps: by default 1,024 in each of the caches, which are hundreds of
megabytes of kernels that are hardly used again. So many suffice for the layers of one step, which have their shapes in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device, and the numbers that are computed with there."""

    name: str
    """Name of the device: cpu or cuda."""
    bf16: bool

    @property
    def torch(self) -> torch.device:
        """As torch has it."""
        import torch

        return torch.device(self.name)

    def autocast(self) -> AbstractContextManager[object]:
        """What a forward pass runs in: matrix products in bfloat16 where it was asked for."""
        import torch

        return torch.autocast(self.name, dtype=torch.bfloat16, enabled=self.bf16)

    def __str__(self) -> str:
        """As run records have it, ``cpu, fp32``."""
        return f"{self.name}, {'bf16' if self.bf16 else 'fp32'}"


def device_of(settings: TrainingSettings) -> Device:
    """The device that ``settings`` ask for; SettingsError where the machine has none."""
    import torch

    for name in KERNEL_CACHES:
        os.environ.setdefault(name, str(KERNELS))
    there = torch.cuda.is_available()
    if settings.device == "cuda" and not there:
        raise SettingsError("--device cuda: no GPU that torch can use is here; leave it out, or give --device cpu.")
    name = "cpu" if settings.device == "cpu" or not there else "cuda"
    able = name == "cpu" or torch.cuda.is_bf16_supported(including_emulation=False)
    if settings.precision == "bf16" and not able:
        raise SettingsError("--precision bf16: this GPU has no bfloat16; give --precision fp32.")
    return Device(name=name, bf16=settings.precision == "bf16" or (settings.precision == "auto" and name == "cuda" and able))


def to_device(batch: Mapping[str, torch.Tensor], device: torch.device) -> dict[str, torch.Tensor]:
    """The tensors where the network is."""
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}
