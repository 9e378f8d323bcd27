"""One process, or several that ``accelerate launch`` started: which examples each reads, and how gradients are averaged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from kgqa.errors import SettingsError
from kgqa.training.device import Device
from kgqa.training.questions import Questions

if TYPE_CHECKING:
    import torch
    from accelerate import Accelerator

Value = TypeVar("Value")
WAIT = timedelta(days=1)
"""Timeout for processes that wait for each other; if one ends, ``accelerate launch`` ends the others."""


def is_first_process() -> bool:
    """Whether this is the process that writes, among those of ``accelerate launch``; a single process always does."""
    return os.environ.get("RANK", "0") == "0"


def is_only_process() -> bool:
    """Whether the process was started alone."""
    return os.environ.get("WORLD_SIZE", "1") == "1"


@contextmanager
def first_alone() -> Iterator[None]:
    """The first process runs the block while the others wait; they run it afterwards and find the work done."""
    if is_only_process():
        yield
        return
    from accelerate import PartialState

    with PartialState().main_process_first():
        yield


class Processes:
    """The processes of a run, as ``accelerate`` set them up if there are several."""

    def __init__(self, device: Device) -> None:
        """Join the other processes, if there are any."""
        self.device = device
        # accelerate keeps to one device for as long as Python runs, and one run after the other may be on different ones.
        self._accelerator = None if is_only_process() else accelerator_of(device)

    @property
    def count(self) -> int:
        """The number of processes."""
        return int(self._accelerator.num_processes) if self._accelerator else 1

    @property
    def number(self) -> int:
        """The rank of this process, from 0."""
        return int(self._accelerator.process_index) if self._accelerator else 0

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that writes files."""
        return self.number == 0

    def prepare(self, module: torch.nn.Module) -> torch.nn.Module:
        """The module on its device, with gradients averaged over all processes."""
        module = module.to(self.device.torch)
        return self._accelerator.prepare_model(module) if self._accelerator else module

    def share(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """This process's part of a batch, possibly empty."""
        return rows[self.number :: self.count]

    def synchronised(self, module: torch.nn.Module, *, last: bool) -> AbstractContextManager[Any]:
        """A context that averages gradients over the processes only in the ``last`` part of a step."""
        return nullcontext() if last or not self._accelerator else self._accelerator.no_sync(module)

    def sum(self, value: float | torch.Tensor) -> float:
        """Sum of a value over all processes. A tensor's is waited for."""
        if not self._accelerator:
            return float(value)
        import torch

        return float(self._accelerator.reduce(torch.as_tensor(value, dtype=torch.float64, device=self._accelerator.device), "sum"))

    def any(self, value: bool) -> bool:
        """Whether ``value`` is true in any process."""
        return self.sum(float(value)) > 0 if self._accelerator else value

    def part(self, questions: Questions) -> Questions:
        """This process's part of the questions: every n-th of them."""
        keep = np.zeros(questions.count, np.bool_)
        keep[self.share(questions.rows())] = True
        return questions.only(keep)

    def gather(self, values: Sequence[Value]) -> list[Value]:
        """The values of all processes in turn, one for each question of :meth:`part`: so they are in the order of all questions."""
        if not self._accelerator:
            return list(values)
        from accelerate.utils import gather_object

        parts: list[Sequence[Value]] = gather_object([list(values)])
        return [part[place] for place in range(max(map(len, parts))) for part in parts if place < len(part)]

    def wait(self) -> None:
        """Wait until all processes get here."""
        if self._accelerator:
            self._accelerator.wait_for_everyone()


def accelerator_of(device: Device) -> Accelerator:
    """An Accelerator for ``device``. Precision is the device's own, whatever accelerate's configuration says.

    Raises SettingsError if accelerate is configured to shard the network, because then no process could save its weights.
    """
    from accelerate import Accelerator
    from accelerate.utils import DistributedDataParallelKwargs, InitProcessGroupKwargs

    # What a batch has no labels for is not used in it.
    unused_parameters = DistributedDataParallelKwargs(find_unused_parameters=True)
    # The first one may tokenise, or select, for longer than the ten minutes after which the others would take it to be gone.
    long_timeout = InitProcessGroupKwargs(timeout=WAIT)
    accelerator = Accelerator(cpu=device.name == "cpu", mixed_precision="no", kwargs_handlers=[unused_parameters, long_timeout])
    kind = accelerator.distributed_type.name
    if kind != "NO" and not kind.startswith("MULTI_"):
        raise SettingsError(f"accelerate is configured for {kind}, and here each process has the whole network; launch with --multi_gpu.")
    return accelerator
