"""Batches for training from torch's ``DataLoader``: collated ahead of their steps, in other processes if the settings say so."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.errors import TrainingError
from kgqa.stop import NUMBERS
from kgqa.training.device import Device
from kgqa.training.encoded import EncodedSplit
from kgqa.training.task import Batch, Task

Rows = npt.NDArray[np.int64]
AHEAD = 4
"""Batches that each process has ready."""


class Collation:
    """The examples of a split as torch's map-style data set, whose keys are the rows of a batch."""

    def __init__(self, task: Task, examples: EncodedSplit) -> None:
        """A process that collates has both by being forked; nothing is pickled but rows and tensors."""
        self._task, self._examples = task, examples

    def __getitem__(self, rows: Rows) -> Batch:
        """The tensors of these rows."""
        return self._task.collate(self._examples.take(rows))


def batches(collation: Collation, parts: Iterator[Rows], *, workers: int, device: Device) -> Iterator[Batch]:
    """The tensors of all ``parts``, in order, whatever the number of ``workers``; in pinned memory for a GPU. Raises TrainingError."""
    import torch
    from torch.utils.data import DataLoader

    loader: DataLoader[Batch] = DataLoader(
        collation,  # type: ignore[arg-type]
        batch_size=None, sampler=parts, collate_fn=_as_it_is, num_workers=workers, prefetch_factor=AHEAD if workers else None,
        pin_memory=device.name == "cuda", worker_init_fn=_leave_signals, multiprocessing_context="fork" if workers else None,
        generator=torch.Generator(),  # it draws a seed, and a step's dropout must not depend on that
    )  # fmt: skip
    with warnings.catch_warnings():
        # From 3.12 on Python warns of forking with threads about; a child does nothing but collate.
        warnings.simplefilter("ignore", DeprecationWarning)
        iterator = iter(loader)
    try:
        yield from iterator
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        reason = " ".join(str(error).split())
        raise TrainingError(
            f"a process that prepares batches died ({reason}); give fewer workers, or more shared memory; the last checkpoint is kept."
        ) from error


def _as_it_is(batch: Any) -> Any:
    return batch


def _leave_signals(_: int) -> None:
    """Leave Ctrl-C to the process that trains, which still needs the batches of its last step, and be ended by it."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
