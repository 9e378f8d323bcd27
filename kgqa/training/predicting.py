"""Predictions of a network: computed in the order of the questions' lengths, returned in the questions' own order."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.errors import OutOfMemory
from kgqa.formats.provenance import noted_sufficiency
from kgqa.progress import Progress, Silent
from kgqa.settings.training import TrainingSettings
from kgqa.training.batches import token_batches
from kgqa.training.device import Device, device_of, is_out_of_memory, to_device
from kgqa.training.encoded import encode
from kgqa.training.processes import Processes, is_only_process
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction, Reader
from kgqa.training.stopping import StopRequested
from kgqa.training.task import Batch, Task

Rows = npt.NDArray[np.int64]
TOKENS_AT_ONCE = 16384
FEWEST_PARTS, FEWEST_TOKENS = 32, 4096
"""Parts get smaller if there would be fewer, so that all threads are busy to the end; but no smaller than this many tokens."""
MOST_THREADS = 8
"""Maximum number of parts that a CPU reads in parallel."""


def predict_task(task: Task, questions: Questions, progress: Progress, settings: TrainingSettings) -> Iterator[Prediction]:
    """One Prediction per question, in their order.

    Memory: the network; the activations of :data:`TOKENS_AT_ONCE` tokens, per thread; the reading of each question, without texts.
    """
    device = device_of(settings)
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        readings = _readings(task, questions, Path(folder), device, progress, limit=TOKENS_AT_ONCE)
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
    readings = _readings(task, own, folder, processes.device, Silent(), limit=limit, is_asked=is_asked)
    own_scores = [
        (noted_sufficiency(instance), task.score(instance, task.answer(instance, reading)))
        for instance, reading in zip(own, readings, strict=True)
    ]
    scores: dict[int | None, list[float]] = {}
    for label, score in processes.gather(own_scores):
        if not math.isnan(score):
            scores.setdefault(label, []).append(score)
    return float(np.mean([np.mean(score) for score in scores.values()])) if scores else 0.0


def _readings(
    task: Task,
    questions: Questions,
    folder: Path,
    device: Device,
    progress: Progress,
    *,
    limit: int,
    is_asked: Callable[[], bool] = lambda: False,
) -> list[Any]:
    import torch

    examples = encode(task, questions, folder, progress, what="questions")
    rows = questions.rows()
    position = np.zeros(questions.count, np.int64)
    position[rows] = np.arange(len(rows))
    reading_of_row: list[Any] = [None] * len(rows)
    progress.start("Reading", len(rows), "questions")
    was_training = task.network.training
    try:
        task.network.to(device.torch).eval()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfMemory(f"{device.owner} has too little memory for the network; wait until it is free, or give --device cpu.") from None
    if device.name == "cpu":
        limit = min(limit, TOKENS_AT_ONCE, max(FEWEST_TOKENS, int(examples.tokens[rows].sum()) // FEWEST_PARTS))
    parts = list(token_batches(rows, examples.tokens, limit=limit))[::-1]

    def read(part: Rows) -> list[Any]:
        with torch.inference_mode(), device.autocast():
            readings = _read_batch(task, task.collate(examples.take(part)), device)
        return list(readings) if readings is not None else [questions for half in _halves(part, device) for questions in read(half)]

    with _threads(device) as threads:
        for part, readings in zip(parts, (threads.map if threads else map)(read, parts), strict=True):
            for row, reading in zip(part.tolist(), readings, strict=True):
                reading_of_row[position[row]] = reading
            progress.advance(len(part))
            if is_asked():
                raise StopRequested
    task.network.train(was_training)
    progress.finish(f"{len(rows):,} questions")
    return reading_of_row


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


def _halves(part: Rows, device: Device) -> tuple[Rows, Rows]:
    """A part in two halves. Raises OutOfMemory if it is a single question."""
    import torch

    if len(part) == 1:
        raise OutOfMemory(
            f"{device.owner} has too little memory for the network and one question; give a smaller max_length, or --device cpu."
        )
    torch.cuda.empty_cache()
    return part[: len(part) // 2], part[len(part) // 2 :]
