"""What a network says about questions: read in the order of their lengths, told in their own."""

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
from kgqa.training.batches import within
from kgqa.training.device import Device, device_of, to_device
from kgqa.training.encoded import encode
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction
from kgqa.training.stopping import Asked
from kgqa.training.task import Batch, Task

Rows = npt.NDArray[np.int64]
TOKENS_AT_ONCE = 16384
FEWEST_PARTS, FEWEST_TOKENS = 32, 4096
"""Parts are smaller where else there would be fewer, so that all threads have some to the end; but not smaller than so many tokens."""
MOST_THREADS = 8
"""Parts that are read at the same time on a CPU."""


def predict_task(task: Task, questions: Questions, progress: Progress, settings: TrainingSettings) -> Iterator[Prediction]:
    """One Prediction for each question, in their order.

    Memory: the network, what :data:`TOKENS_AT_ONCE` tokens take in it, for each thread, and for each question what it found, without texts.
    """
    device = device_of(settings)
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        readings = _readings(task, questions, Path(folder), device, progress, limit=TOKENS_AT_ONCE)
    yield from (task.answer(instance, reading) for instance, reading in zip(questions, readings, strict=True))


def mean_score(
    task: Task, questions: Questions, folder: Path, device: Device, *, limit: int, is_asked: Callable[[], bool] = lambda: False
) -> float:
    """The mean of the task's own score over the questions that have one; ``folder`` is where the encoded questions are, or go.

    Raises Asked between two batches as soon as the user asks that it ends.

    Where a transform of DiRe made several contexts of a question, each label of sufficiency weighs the same: of n facts one context has
    them all, and 2^n - 2 have some, so that whoever finds nothing sufficient would be nearly always right.
    """
    readings = _readings(task, questions, folder, device, Silent(), limit=limit, is_asked=is_asked)
    scores: dict[int | None, list[float]] = {}
    for instance, reading in zip(questions, readings, strict=True):
        score = task.score(instance, task.answer(instance, reading))
        if not math.isnan(score):
            scores.setdefault(noted_sufficiency(instance), []).append(score)
    return float(np.mean([np.mean(each) for each in scores.values()])) if scores else 0.0


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
    place = np.zeros(questions.count, np.int64)
    place[rows] = np.arange(len(rows))
    found: list[Any] = [None] * len(rows)
    progress.start("Reading", len(rows), "questions")
    was_training = task.network.training
    try:
        task.network.to(device.torch).eval()
    except torch.OutOfMemoryError:
        raise OutOfMemory("The GPU has too little memory for the network; wait until it is free, or give --device cpu.") from None
    if device.name == "cpu":
        limit = min(limit, TOKENS_AT_ONCE, max(FEWEST_TOKENS, int(examples.tokens[rows].sum()) // FEWEST_PARTS))
    parts = list(within(rows, examples.tokens, limit=limit))[::-1]

    def read(part: Rows) -> list[Any]:
        with torch.inference_mode(), device.autocast():
            readings = _read(task, task.collate(examples.take(part)), device)
        return list(readings) if readings is not None else [each for half in _halves(part) for each in read(half)]

    with _threads(device) as threads:
        for part, readings in zip(parts, (threads.map if threads else map)(read, parts), strict=True):
            for row, reading in zip(part.tolist(), readings, strict=True):
                found[place[row]] = reading
            progress.advance(len(part))
            if is_asked():
                raise Asked
    task.network.train(was_training)
    progress.finish(f"{len(rows):,} questions")
    return found


@contextmanager
def _threads(device: Device) -> Iterator[ThreadPoolExecutor | None]:
    """Threads that read one part each; None where a GPU reads.

    On a CPU two threads with a part each are faster than both on every product of one part: those of small networks are over before a
    second thread has begun. And what is found does not depend on how many threads there are.
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


def _read(task: Task, batch: Batch, device: Device) -> Sequence[Any] | None:
    """What the network finds; None where the GPU has too little memory for so many at once."""
    import torch

    try:
        return task.read(to_device(batch, device.torch))
    except torch.OutOfMemoryError:
        return None


def _halves(part: Rows) -> tuple[Rows, Rows]:
    """A part in two. Raises OutOfMemory where it is a single question."""
    import torch

    if len(part) == 1:
        raise OutOfMemory("The GPU has too little memory for the network and one question; give a smaller max_length, or --device cpu.")
    torch.cuda.empty_cache()
    return part[: len(part) // 2], part[len(part) // 2 :]
