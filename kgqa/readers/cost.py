"""What fitting and reading in folds will take, measured by a few steps of training and a few questions read."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import InterruptedRun
from kgqa.progress import Silent
from kgqa.readers.answers import answer_spans, candidate_spans, is_option
from kgqa.readers.specification import Specification
from kgqa.readers.transformer.examples import right_candidate
from kgqa.records import Instance
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting
from kgqa.training.task import TOKENS

TRIED = 8
"""Questions that the measurement reads."""
MOST = 200
"""Questions that these are taken from."""
STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Readers of one kind that are fitted to some questions, in folds or once, and read others."""

    name: str
    reader: Specification
    judged: Sequence[Instance]
    train: Sequence[Instance] | None
    """Questions to train on; None: cross-fitted."""
    beside: Mapping[str, Sequence[Instance]] = field(default_factory=lambda: MappingProxyType({}))
    weight: float = 1.0
    """Its cost a character, of that of the reader of everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Estimated time and tokens of an audit with readers."""

    seconds: float
    tokens: int
    """That go through networks, in training and reading, of all jobs."""
    questions: int
    passes: float
    """How often the judged questions' tokens are read."""

    def __str__(self) -> str:
        """The estimate in one line, with minutes and tokens."""
        minutes = max(1, round(self.seconds / 60))
        return (
            f"about {minutes:,} minute{'s' if minutes > 1 else ''}: {self.questions:,} questions, {self.tokens / 1e6:,.1f} million tokens "
            f"in {self.passes:,.0f} passes"
        )


def cost_of(jobs: Sequence[Job], *, folds: int, seeds: int) -> Cost:
    """How long all ``jobs`` take from the beginning, as this machine is now; folds that are done already are not taken off."""
    first = jobs[0]
    measured = _measured(first)
    share = (folds - 2) / folds
    characters = seconds = 0.0
    for job in jobs:
        training = job.reader.training
        read = _characters(job.judged) + sum(map(_characters, job.beside.values()))
        learned = _characters(job.judged) if job.train is None else _characters(job.train)
        fits = folds if job.train is None else 1
        part = share if job.train is None else 1 - 1 / folds
        count = max(1, round(part * len(job.judged if job.train is None else job.train)))
        epochs = min(training.epochs, (training.max_steps or 1 << 40) * training.batch / count)
        trained = fits * part * learned * epochs * job.weight
        in_dev = len(job.judged if job.train is None else job.train) / folds
        times = max(1.0, epochs * training.evaluations) * min(1.0, training.dev_questions / in_dev)
        dev = fits * learned / folds * times * job.weight
        characters += seeds * (trained + dev + read * job.weight)
        seconds += seeds * (trained * measured.train + (dev + read * job.weight) * measured.read)
    return Cost(
        seconds=seconds, tokens=round(characters * measured.tokens), questions=len(first.judged),
        passes=characters / max(1, _characters(first.judged)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """For each character of a question and its paragraphs."""

    train: float
    """Seconds; so is ``read``."""
    read: float
    tokens: float


def _measured(job: Job) -> _Measured:
    asked = _spread([each for each in (job.train or job.judged) if each.answerable], MOST)
    # Of questions whose answers no paragraph states nothing can be learned, and so no speed.
    some = _spread([each for each in asked if is_option(each) or _is_stated(each)] or asked, TRIED)
    size = max(1, len(some) // STEPS)
    points: list[dict[str, object]] = []
    settings = job.reader.training.model_copy(update={"epochs": STEPS, "max_steps": STEPS, "batch": size, "checkpoint_seconds": 1e6})
    with tempfile.TemporaryDirectory(prefix="kgqa-") as name:
        folder = Path(name)
        reader = job.reader.make()
        fitting = Fitting(place=folder / "fit", settings=settings, seed=0, progress=Silent(), record=points.append)
        try:
            reader.fit(of_list(some), None, fitting)
        except InterruptedRun:  # it names a folder that goes with it
            raise InterruptedRun("stopped while the cost was measured; run the same command again to start again.") from None
        begin = time.perf_counter()
        read = sum(1 for _ in reader.predict(of_list(some), Silent()))
        seconds = time.perf_counter() - begin
        tokens = sum(_tokens(path) for path in folder.rglob("*.arrow"))
    characters = _characters(some)
    # The first step makes ready what the others use.
    speeds = [float(str(point["examples_per_second"])) for point in points if "examples_per_second" in point]
    speed = speeds[-1] if speeds else read / seconds
    return _Measured(train=read / speed / characters, read=seconds / characters, tokens=tokens / characters)


def _is_stated(instance: Instance) -> bool:
    if not instance.candidates:
        return any(answer_spans(instance))
    right = right_candidate(instance)
    return any(owner == right for owner, *_ in candidate_spans(instance))


def _tokens(path: Path) -> int:
    with pa.memory_map(str(path)) as file:
        return int(pc.sum(pa.ipc.open_file(file).read_all().column(TOKENS)).as_py() or 0)


def _spread(instances: Sequence[Instance], count: int) -> list[Instance]:
    step = max(1, len(instances) // count)
    return list(instances[::step][:count])


def _characters(instances: Iterable[Instance]) -> int:
    return sum(len(each.question) + sum(len(paragraph.text) for paragraph in each.paragraphs) for each in instances)
