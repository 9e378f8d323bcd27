"""One process, or several that ``accelerate launch`` started: who reads which examples, and how gradients come together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kgqa.errors import SettingsError
from kgqa.training.device import Device

if TYPE_CHECKING:
    import torch
    from accelerate import Accelerator


WAIT = timedelta(days=1)
"""That processes wait for each other; where one ends, ``accelerate launch`` ends the others."""


def is_first_process() -> bool:
    """Whether this one writes, of those that ``accelerate launch`` started; alone it always does."""
    return os.environ.get("RANK", "0") == "0"


def is_only_process() -> bool:
    """Whether it was started without others."""
    return os.environ.get("WORLD_SIZE", "1") == "1"


@contextmanager
def first_alone() -> Iterator[None]:
    """The first process does it while the others wait, who then find it done."""
    if is_only_process():
        yield
        return
    from accelerate import PartialState

    with PartialState().main_process_first():
        yield


class Processes:
    """The processes of a run, as ``accelerate`` set them up where there are several."""

    def __init__(self, device: Device) -> None:
        """Joins the others, where there are any."""
        self.device = device
        # accelerate keeps to one device for as long as Python runs, and one run after the other may be on different ones.
        self._accelerator = None if is_only_process() else accelerator_of(device)

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self._accelerator.num_processes) if self._accelerator else 1

    @property
    def number(self) -> int:
        """This one's, from 0."""
        return int(self._accelerator.process_index) if self._accelerator else 0

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes."""
        return self.number == 0

    def prepare(self, module: torch.nn.Module) -> torch.nn.Module:
        """The module on its device, with its gradients added up over all processes."""
        module = module.to(self.device.torch)
        return self._accelerator.prepare_model(module) if self._accelerator else module

    def share(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """This process's part of a batch, which may be empty."""
        return rows[self.number :: self.count]

    def synchronised(self, module: torch.nn.Module, *, last: bool) -> AbstractContextManager[Any]:
        """Gradients are added up over the processes in the ``last`` part of a step only."""
        return nullcontext() if last or not self._accelerator else self._accelerator.no_sync(module)

    def sum(self, value: float) -> float:
        """Sum of a value over all processes."""
        if not self._accelerator:
            return value
        import torch

        return float(self._accelerator.reduce(torch.tensor(value, dtype=torch.float64, device=self._accelerator.device), "sum"))

    def any(self, value: bool) -> bool:
        """Whether it is so in one of them."""
        return self.sum(float(value)) > 0 if self._accelerator else value

    def of_first(self, compute: Callable[[], float]) -> float:
        """What the first process computes, known to all, so that none decides otherwise."""
        if not self._accelerator:
            return compute()
        return self.sum(compute() if self.is_first else 0.0)

    def wait(self) -> None:
        """Until all are here."""
        if self._accelerator:
            self._accelerator.wait_for_everyone()


def accelerator_of(device: Device) -> Accelerator:
    """The others; precision is the device's own matter, whatever a configuration of accelerate says.

    Raises SettingsError where that divides the network itself among them, whose weights no process could save.
    """
    from accelerate import Accelerator
    from accelerate.utils import DistributedDataParallelKwargs, InitProcessGroupKwargs

    # What a batch has no labels for is not used in it.
    unused = DistributedDataParallelKwargs(find_unused_parameters=True)
    # The first one may tokenise, or select, for longer than the ten minutes after which the others would take it to be gone.
    patient = InitProcessGroupKwargs(timeout=WAIT)
    found = Accelerator(cpu=device.name == "cpu", mixed_precision="no", kwargs_handlers=[unused, patient])
    kind = found.distributed_type.name
    if kind != "NO" and not kind.startswith("MULTI_"):
        raise SettingsError(f"accelerate is configured for {kind}, and here each process has the whole network; launch with --multi_gpu.")
    return found
