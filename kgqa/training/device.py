"""The device and precision of a network, from the settings and what the machine has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgqa.errors import SettingsError, TrainingError
from kgqa.settings.training import TrainingSettings

if TYPE_CHECKING:
    import torch


KERNEL_CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""Variables that oneDNN, and torch's layer over it, read when they are first used in a process."""
KERNELS = 64
"""On the CPU, oneDNN caches kernels for every batch shape: 1,024 per cache by default, hundreds of megabytes that are rarely used again.
This many suffice for the layers of one step, which share their shapes.
"""
WORKSPACE = ("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
"""Variable that cuBLAS reads when it is first used in a process, and a value with which its products are always the same."""
STAYS = "cpu_"
"""Beginning of the names of tensors that stay on the CPU: sizes that a network needs as numbers, for which it would wait on a GPU."""
_NO_MEMORY = re.compile(r"out of memory|ALLOC(ATION)?_FAILED|can't allocate memory|not enough memory", re.IGNORECASE)
"""How CUDA, cuBLAS, cuDNN and the CPU's allocator say it, as in ``CUBLAS_STATUS_ALLOC_FAILED``."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory did not suffice; only CUDA's own allocator has a type of error for it, others a sentence in a RuntimeError."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error)) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device and its precision."""

    name: str
    """Name of the device: cpu or cuda."""
    bf16: bool
    node: str = ""
    """The node of a cluster where it is; empty on this machine."""

    @property
    def torch(self) -> torch.device:
        """The device as torch's type."""
        import torch

        return torch.device(self.name)

    @property
    def owner(self) -> str:
        """Whose memory it uses, for messages."""
        machine = f"the node {self.node}" if self.node else "this machine"
        return machine if self.name == "cpu" else f"the GPU of {machine}" if self.node else "the GPU"

    def autocast(self) -> AbstractContextManager[object]:
        """The context of a forward pass: matrix products in bfloat16 if the settings say so."""
        import torch

        return torch.autocast(self.name, dtype=torch.bfloat16, enabled=self.bf16)

    def __str__(self) -> str:
        """The form in run records: ``cpu, fp32``."""
        return f"{self.name}, {'bf16' if self.bf16 else 'fp32'}"


@contextmanager
def numerics(settings: TrainingSettings) -> Iterator[None]:
    """Within it torch computes on a GPU as the settings ``tf32`` and ``deterministic`` say; afterwards as before.

    Raises TrainingError for an operation that torch cannot do deterministically.
    """
    import torch

    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.are_deterministic_algorithms_enabled()
    if settings.deterministic:
        os.environ.setdefault(*WORKSPACE)
    torch.set_float32_matmul_precision("high" if settings.tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = settings.tf32
    torch.use_deterministic_algorithms(settings.deterministic)
    try:
        yield
    except RuntimeError as error:
        if "deterministic implementation" not in str(error):
            raise
        raise TrainingError(f"{str(error).split('. ')[0]}; leave out deterministic.") from error
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]
        torch.use_deterministic_algorithms(before[2])


def device_of(settings: TrainingSettings) -> Device:
    """The device that ``settings`` request. Raises SettingsError if the machine lacks it."""
    import torch

    for name in KERNEL_CACHES:
        os.environ.setdefault(name, str(KERNELS))
    has_gpu = torch.cuda.is_available()
    if settings.device == "cuda" and not has_gpu:
        raise SettingsError("--device cuda: no GPU that torch can use is here; leave it out, or give --device cpu.")
    name = "cpu" if settings.device == "cpu" or not has_gpu else "cuda"
    has_bf16 = name == "cpu" or torch.cuda.is_bf16_supported(including_emulation=False)
    if settings.precision == "bf16" and not has_bf16:
        raise SettingsError("--precision bf16: this GPU has no bfloat16; give --precision fp32.")
    return Device(name=name, bf16=settings.precision == "bf16" or (settings.precision == "auto" and name == "cuda" and has_bf16))


def to_device(batch: Mapping[str, torch.Tensor], device: torch.device) -> dict[str, torch.Tensor]:
    """Copy the tensors to the network's device, except those that stay on the CPU."""
    return {name: tensor if name.startswith(STAYS) else tensor.to(device, non_blocking=True) for name, tensor in batch.items()}
