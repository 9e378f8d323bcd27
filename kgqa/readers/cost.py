"""Estimated cost of fitting and predicting in folds, measured on a few training steps and a few predictions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.parallel import Engine, Threads
from kgqa.errors import InterruptedRun
from kgqa.progress import Silent
from kgqa.readers.answers import answer_spans, candidate_spans, is_option, right_candidate
from kgqa.readers.specification import Specification
from kgqa.records import Instance
from kgqa.training.cross_fit import cross_fit_plan
from kgqa.training.folds import Fold
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting
from kgqa.training.task import TOKENS

TRIED = 8
"""Questions in the measurement."""
MOST = 200
"""Questions that the sample is drawn from."""
STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Readers of one kind, fitted in folds or once, that predict some questions."""

    name: str
    reader: Specification
    judged: Sequence[Instance]
    train: Sequence[Instance] | None
    """Questions to train on; None for cross-fitting."""
    beside: Mapping[str, Sequence[Instance]] = field(default_factory=lambda: MappingProxyType({}))
    weight: float = 1.0
    """Cost per character, relative to the reader that sees everything."""


def folds_of_job(job: Job, *, folds: int) -> list[Fold]:
    """The training questions of a job's readers, and what they read."""
    questions, beside = of_list(job.judged), {name: of_list(some) for name, some in job.beside.items()}
    train = None if job.train is None else of_list(job.train)
    return cross_fit_plan(questions, train=train, folds=folds, beside=beside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Estimated time and tokens of an audit with readers."""

    seconds: float
    tokens: int
    """Tokens that pass through networks, in training and prediction, over all jobs."""
    questions: int
    passes: float
    """Passes over the tokens of the judged questions."""
    elsewhere: bool = False
    """Whether the readers are fitted on a cluster, whose speed is not measured."""

    def __str__(self) -> str:
        """The estimate in one line, with minutes and tokens."""
        minutes = max(1, round(self.seconds / 60))
        machine = " of this machine" if self.elsewhere else ""
        return (
            f"about {minutes:,} minute{'s' if minutes > 1 else ''}{machine}: {self.questions:,} questions, "
            f"{self.tokens / 1e6:,.1f} million tokens in {self.passes:,.0f} passes"
        )


def cost_of(jobs: Sequence[Job], *, folds: int, seeds: int, engine: Engine | None = None) -> Cost:
    """The cost of all ``jobs`` from the start, at the machine's present speed; finished folds are not subtracted.

    With the ``engine`` of a cluster it is still that of this machine, on whatever device it has.
    """
    first, elsewhere = jobs[0], not isinstance(engine, Threads | None)
    speed = _measured_speed(_on_any_device(first) if elsewhere else first)
    inner_share = (folds - 2) / folds
    characters = seconds = 0.0
    for job in jobs:
        training = job.reader.training
        # Characters that pass through the network in prediction, training and evaluation; each pass has its own speed.
        predicted_characters = _characters(job.judged) + sum(map(_characters, job.beside.values()))
        training_characters = _characters(job.judged) if job.train is None else _characters(job.train)
        fits = folds if job.train is None else 1
        train_share = inner_share if job.train is None else 1 - 1 / folds
        count = max(1, round(train_share * len(job.judged if job.train is None else job.train)))
        epochs = min(training.epochs, (training.max_steps or 1 << 40) * training.batch / count)
        trained_characters = fits * train_share * training_characters * epochs * job.weight
        dev_questions = len(job.judged if job.train is None else job.train) / folds
        # A fit evaluates at least once, and on a sample if the dev fold is larger.
        evaluations = max(1.0, epochs * training.evaluations) * min(1.0, training.dev_questions / dev_questions)
        dev_characters = fits * training_characters / folds * evaluations * job.weight
        characters += seeds * (trained_characters + dev_characters + predicted_characters * job.weight)
        seconds += seeds * (trained_characters * speed.train + (dev_characters + predicted_characters * job.weight) * speed.read)
    return Cost(
        seconds=seconds, tokens=round(characters * speed.tokens), questions=len(first.judged),
        passes=characters / max(1, _characters(first.judged)), elsewhere=elsewhere,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Speed:
    """Seconds and tokens per character of a question with its paragraphs."""

    train: float
    """Seconds; so is ``read``."""
    read: float
    tokens: float


def _on_any_device(job: Job) -> Job:
    training = job.reader.training.model_copy(update={"device": "auto"})
    return replace(job, reader=replace(job.reader, training=training))


def _measured_speed(job: Job) -> _Speed:
    answerable = _spread([instance for instance in (job.train or job.judged) if instance.answerable], MOST)
    # Of questions whose answers no paragraph states nothing can be learned, and so no speed.
    sample = _spread([instance for instance in answerable if is_option(instance) or _is_stated(instance)] or answerable, TRIED)
    size = max(1, len(sample) // STEPS)
    points: list[dict[str, object]] = []
    settings = job.reader.training.model_copy(update={"epochs": STEPS, "max_steps": STEPS, "batch": size, "checkpoint_seconds": 1e6})
    with tempfile.TemporaryDirectory(prefix="kgqa-") as name:
        folder = Path(name)
        reader = job.reader.make()
        fitting = Fitting(place=folder / "fit", settings=settings, seed=0, progress=Silent(), record=points.append)
        try:
            reader.fit(of_list(sample), None, fitting)
        except InterruptedRun:  # it names a folder that goes with it
            raise InterruptedRun("stopped while the cost was measured; run the same command again to start again.") from None
        begin = time.perf_counter()
        prediction_count = sum(1 for _ in reader.predict(of_list(sample), Silent()))
        seconds = time.perf_counter() - begin
        tokens = sum(_tokens(path) for path in folder.rglob("*.arrow"))
    characters = _characters(sample)
    # The first step makes ready what the others use.
    speeds = [float(str(point["examples_per_second"])) for point in points if "examples_per_second" in point]
    speed = speeds[-1] if speeds else prediction_count / seconds
    return _Speed(train=prediction_count / speed / characters, read=seconds / characters, tokens=tokens / characters)


def _is_stated(instance: Instance) -> bool:
    if not instance.candidates:
        return any(answer_spans(instance))
    gold = right_candidate(instance)
    return any(owner == gold for owner, *_ in candidate_spans(instance))


def _tokens(path: Path) -> int:
    with pa.memory_map(str(path)) as file:
        return int(pc.sum(pa.ipc.open_file(file).read_all().column(TOKENS)).as_py() or 0)


def _spread(instances: Sequence[Instance], count: int) -> list[Instance]:
    step = max(1, len(instances) // count)
    return list(instances[::step][:count])


def _characters(instances: Iterable[Instance]) -> int:
    return sum(len(instance.question) + sum(len(paragraph.text) for paragraph in instance.paragraphs) for instance in instances)
