"""Predictions of a network: computed in the order of the questions' lengths, returned in the questions' own order."""

from __future__ import annotations

import math
import socket
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.parallel import Engine
from kgqa.errors import OutOfMemory
from kgqa.formats.provenance import noted_sufficiency
from kgqa.progress import Progress, Silent
from kgqa.settings.training import TrainingSettings
from kgqa.training.batches import token_batches
from kgqa.training.device import Device, device_of, is_out_of_memory, to_device
from kgqa.training.encoded import EncodedSplit, encode
from kgqa.training.processes import Processes, is_only_process
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction, Reader
from kgqa.training.sent_task import SentTask
from kgqa.training.stopping import StopRequested
from kgqa.training.task import Batch, Task

Rows = npt.NDArray[np.int64]
TOKENS_AT_ONCE = 16384
FEWEST_PARTS, FEWEST_TOKENS = 32, 4096
"""Parts get smaller if there would be fewer, so that all threads are busy to the end; but no smaller than this many tokens."""
MOST_THREADS = 8
"""Maximum number of parts that a CPU reads in parallel."""


def predict_task(task: Task, questions: Questions, progress: Progress, settings: TrainingSettings) -> Iterator[Prediction]:
    """One Prediction per question, in their order, read where the questions say.

    Memory: the network; the activations of :data:`TOKENS_AT_ONCE` tokens, per thread; the reading of each question, without texts.
    """
    where = _Here(task, device_of(settings)) if questions.engine is None else _Nodes(task, questions.engine, settings)
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        readings = _readings(task, questions, Path(folder), where, progress, limit=TOKENS_AT_ONCE)
    yield from (task.answer(instance, reading) for instance, reading in zip(questions, readings, strict=True))


def predict_together(reader: Reader, questions: Questions, progress: Progress, settings: TrainingSettings) -> Iterator[Prediction]:
    """The reader's predictions; if ``accelerate launch`` or ``torchrun`` started several processes, each reads a part of the questions.

    Every process gets all predictions, and they are in memory then. ``settings`` name the device.
    """
    if is_only_process():
        return reader.predict(questions, progress)
    processes = Processes(device_of(settings))
    return iter(processes.gather(list(reader.predict(processes.part(questions), progress if processes.is_first else Silent()))))


def mean_score(
    task: Task, questions: Questions, folder: Path, processes: Processes, *, limit: int, is_asked: Callable[[], bool] = lambda: False
) -> float:
    """The mean of the task's own score over the questions that have one, of which each process reads a part. ``folder`` holds the encoded
    questions, or will hold them.

    If a transform of DiRe made several contexts of a question, each sufficiency label has the same weight. Of n facts one context has all,
    and 2^n - 2 have some, so a reader that finds nothing sufficient would nearly always be right.

    Raises StopRequested between two batches once ``is_asked``.
    """
    own = processes.part(questions)
    readings = _readings(task, own, folder, _Here(task, processes.device), Silent(), limit=limit, is_asked=is_asked)
    own_scores = [
        (noted_sufficiency(instance), task.score(instance, task.answer(instance, reading)))
        for instance, reading in zip(own, readings, strict=True)
    ]
    scores: dict[int | None, list[float]] = {}
    for label, score in processes.gather(own_scores):
        if not math.isnan(score):
            scores.setdefault(label, []).append(score)
    return float(np.mean([np.mean(score) for score in scores.values()])) if scores else 0.0


class _Where(Protocol):
    """Where parts are read."""

    device: str
    """cpu or cuda."""

    def readings(self, examples: EncodedSplit, parts: Sequence[Rows]) -> Generator[list[Any], None, None]:
        """The readings of each part, in order."""


class _Here:
    """This process."""

    def __init__(self, task: Task, device: Device) -> None:
        self._task, self._device, self.device = task, device, device.name

    def readings(self, examples: EncodedSplit, parts: Sequence[Rows]) -> Generator[list[Any], None, None]:
        """Read the parts, on a CPU some at a time. Raises OutOfMemory."""
        was_training = self._task.network.training
        _make_ready(self._task, self._device)
        with _threads(self._device) as threads:
            yield from (threads.map if threads else map)(lambda part: _read(examples.take(part), self._task, self._device), parts)
        self._task.network.train(was_training)


class _Nodes:
    """The nodes of a cluster, which need neither the reader's files nor the questions."""

    def __init__(self, task: Task, engine: Engine, settings: TrainingSettings) -> None:
        # Any other engine would move one network from all of its threads.
        assert hasattr(engine, "device"), engine
        self._task, self._engine, self._settings, self.device = task, engine, settings, str(engine.device)

    def readings(self, examples: EncodedSplit, parts: Sequence[Rows]) -> Generator[list[Any], None, None]:
        """Read the parts on the nodes. Raises OutOfMemory, ClusterError."""
        settings = self._settings.model_copy(update={"device": self.device})
        # Of a row by itself Arrow would send the whole file.
        tables = (examples.take(part).take(pa.array(range(len(part)))) for part in parts)
        # A task that looks something up in a file takes along what these examples need of it.
        task: Task = self._task.portable(examples.table) if hasattr(self._task, "portable") else self._task
        yield from self._engine.map(_read_on_node, tables, (SentTask(task), settings))


def _readings(
    task: Task,
    questions: Questions,
    folder: Path,
    where: _Where,
    progress: Progress,
    *,
    limit: int,
    is_asked: Callable[[], bool] = lambda: False,
) -> list[Any]:
    examples = encode(task, questions, folder, progress, what="questions")
    rows = questions.rows()
    position = np.zeros(questions.count, np.int64)
    position[rows] = np.arange(len(rows))
    reading_of_row: list[Any] = [None] * len(rows)
    progress.start("Reading", len(rows), "questions")
    if where.device == "cpu":
        limit = min(limit, TOKENS_AT_ONCE, max(FEWEST_TOKENS, int(examples.tokens[rows].sum()) // FEWEST_PARTS))
    # They depend on the questions alone: a batch's padding can change the last digit of a probability.
    parts = list(token_batches(rows, examples.tokens, limit=limit))[::-1]
    with closing(where.readings(examples, parts)) as by_part:
        for part, readings in zip(parts, by_part, strict=True):
            for row, reading in zip(part.tolist(), readings, strict=True):
                reading_of_row[position[row]] = reading
            progress.advance(len(part))
            if is_asked():
                raise StopRequested
    progress.finish(f"{len(rows):,} questions")
    return reading_of_row


def _read_on_node(examples: pa.Table, sent: SentTask, settings: TrainingSettings) -> list[Any]:
    """The readings of the examples, by a process of a node."""
    import torch

    device, task = replace(device_of(settings), node=socket.gethostname()), sent.task()
    if device.name == "cpu":
        torch.set_num_threads(1)  # as every thread of a local run
    _make_ready(task, device)
    return _read(examples, task, device)


def _make_ready(task: Task, device: Device) -> None:
    """Move the network to the device. Raises OutOfMemory."""
    try:
        task.network.to(device.torch).eval()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfMemory(f"{device.owner} has too little memory for the network; wait until it is free, or give --device cpu.") from None


def _read(examples: pa.Table, task: Task, device: Device) -> list[Any]:
    """The readings of the examples together, or in halves if there is too little memory. Raises OutOfMemory."""
    import torch

    with torch.inference_mode(), device.autocast():
        readings = _read_batch(task, task.collate(examples), device)
    if readings is not None:
        return list(readings)
    return [reading for half in _halves(len(examples), device) for reading in _read(examples.take(pa.array(half)), task, device)]


@contextmanager
def _threads(device: Device) -> Iterator[ThreadPoolExecutor | None]:
    """Threads that read one part each; None on a GPU.

    On a CPU two threads with a part each are faster than two threads on each matrix product: products of small networks end before a second
    thread has started. The predictions do not depend on the number of threads.
    """
    import torch

    if device.name != "cpu":
        yield None
        return
    count = torch.get_num_threads()
    pool = ThreadPoolExecutor(min(count, MOST_THREADS), "reading", lambda: torch.set_num_threads(1))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(count)


def _read_batch(task: Task, batch: Batch, device: Device) -> Sequence[Any] | None:
    """The network's readings; None if there is too little memory for the batch."""
    try:
        return task.read(to_device(batch, device.torch))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return None


def _halves(count: int, device: Device) -> tuple[range, range]:
    """The places of a part's examples in two halves. Raises OutOfMemory if it is a single question."""
    import torch

    if count == 1:
        raise OutOfMemory(
            f"{device.owner} has too little memory for the network and one question; give a smaller max_length, or --device cpu."
        )
    torch.cuda.empty_cache()
    return range(count // 2), range(count // 2, count)
