"""``kgqa train``: train a reader on a question set; an interrupted run resumes."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgqa.errors import (
    BrokenInput,
    EmptyResult,
    InputError,
    KgqaError,
    MissingInput,
    RunMismatch,
    SettingsError,
    check_seed,
    storage_errors,
)
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.progress import Progress, Silent
from kgqa.readers import saved
from kgqa.readers.registry import READERS
from kgqa.readers.specification import Specification, specification
from kgqa.runs.files import Watch, file_hashes, files_below, key_of, new_folder, write_whole
from kgqa.settings.defaults import SEED
from kgqa.settings.small_files import read_small
from kgqa.settings.training import OF_TIME_AND_MEMORY
from kgqa.training import record
from kgqa.training.checkpoints import STATE
from kgqa.training.device import device_of
from kgqa.training.extra import NETWORKS, RECORDS, require_readers
from kgqa.training.processes import is_first_process
from kgqa.training.questions import of_split
from kgqa.training.reader import Fitting, Reader

RUN, SAVED, FIT, MANIFEST = "run.json", "reader", "fit", "manifest.json"
"""Files of a run: its configuration, the finished reader, intermediate files, and the manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Result of :func:`train`: the run's folder, steps and best dev score."""

    source: QuestionSet
    folder: Path
    reader: str
    questions: int
    """In the train split."""
    faults: Counter[str] = field(default_factory=Counter)
    """Why some could not be learned from."""
    steps: int
    best: float | None
    """The reader's mean score on dev questions, from 0 to 1."""
    seconds: float
    was_finished: bool = False
    """Whether there was nothing left to do."""


def list_readers() -> dict[str, str]:
    """Name of each reader that can be trained → its description."""
    return {name: kind.purpose for name, kind in READERS.items()}


def train(
    reader: str,
    dataset: str | Path,
    *,
    out: str | Path,
    seed: int = SEED,
    max_steps: int | None = None,
    epochs: int | None = None,
    encoder: str | None = None,
    device: str | None = None,
    precision: str | None = None,
    start_from: str | Path | None = None,
    runs: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train ``reader``, a name of :func:`list_readers` or a TOML file, on the train split of ``dataset``, in the folder ``out``.

    The dev split, if there is one, decides when to stop. If ``out`` has a run with the same arguments, it resumes; if that run is finished,
    nothing is done. ``encoder``, ``max_steps``, ``epochs``, ``device`` and ``precision`` override the TOML file. ``start_from``: a finished
    run of the same reader to initialise the weights from, as for inoculation (Liu et al. 2019). ``runs``: the database of runs, by default
    ``runs.sqlite`` next to ``out``; see :func:`kgqa.training_runs`. Memory: the network and its optimiser, one batch, 12 bytes per
    question. Raises KgqaError; then the last checkpoint is kept.
    """
    check_seed(seed)
    start = None if start_from is None else Path(start_from) / SAVED
    watch = Watch(() if start is None else files_below(start))
    training = {"max_steps": max_steps, "epochs": epochs, "device": device, "precision": precision}
    asked = specification(reader, settings={"encoder": encoder}, training=training)
    require_readers("kgqa train", needed=(*NETWORKS, *RECORDS) if asked.steps else RECORDS)
    if start is not None:
        _check_start(start, asked)
    source = open_dataset(dataset, format, paragraphs=paragraphs)
    folder = Path(out)
    source.check_outside(folder)
    if "train" not in source.files:
        raise MissingInput(f"{source.path}: this set has no train split, only {', '.join(source.files)}; make one with kgqa split.")
    with _undone(folder, runs):
        begun = _begin(folder, source, asked, seed, start)
        if (folder / MANIFEST).is_file() and (folder / SAVED).is_dir():
            return _as_it_was(folder, source, asked)
        return _fit(folder, source, asked, seed, start, begun, watch, runs=runs, progress=progress or Silent())


def _fit(
    folder: Path,
    source: QuestionSet,
    asked: Specification,
    seed: int,
    start: Path | None,
    begun: dict[str, Any],
    watch: Watch,
    *,
    runs: str | Path | None,
    progress: Progress,
) -> Trained:
    begin = time.perf_counter()
    made = asked.make()
    train_questions = of_split(source, "train")
    dev = of_split(source, "dev") if "dev" in source.files else None
    facts = record.RunFacts(
        reader=asked.name,
        dataset=source.name,
        hashes=source.hashes(),
        seed=seed,
        settings=asked.record(),
        device=str(device_of(asked.training)) if asked.steps else "",
    )
    with record.open_record(runs, run=folder, facts=facts) if is_first_process() else nullcontext() as run:
        parts: set[object] = set()

        def note(point: Mapping[str, Any]) -> None:
            # By the first point of a part all is read; what comes to the files later is not what was learned.
            if point.get("part") not in parts:
                _check_read(source, watch)
                parts.add(point.get("part"))
            if run:
                run.point(point)

        fitting = Fitting(
            place=folder / FIT,
            settings=asked.training,
            seed=seed,
            progress=progress,
            record=note,
            start=start,
        )
        made.fit(train_questions, dev, fitting)
        if not parts:
            _check_read(source, watch)
        fitted = getattr(made, "fitted", None)
        done = Trained(
            source=source,
            folder=folder,
            reader=asked.name,
            questions=len(train_questions),
            seconds=time.perf_counter() - begin,
            steps=fitted.steps if fitted else 0,
            best=fitted.best if fitted else None,
            faults=fitted.faults if fitted else Counter(),
        )
        if run:
            _save(folder, made)
            run.finish(score=done.best, steps=done.steps)
            _conclude(folder, done, begun)
    return done


def _check_read(source: QuestionSet, watch: Watch) -> None:
    """Raise InputChanged where the set, or the run to begin with, is not what was hashed."""
    source.watch.check()
    watch.check()


@contextmanager
def _undone(folder: Path, runs: str | Path | None) -> Iterator[None]:
    """Where the input or a setting is at fault and nothing was learned yet, a folder that was not there goes again, to be begun anew.

    So does the run's record, since nothing is left of it to look at, and the user was told why.
    """
    was_there = (folder / RUN).exists()
    try:
        yield
    except (InputError, SettingsError, EmptyResult):
        if not was_there and is_first_process() and (folder / RUN).exists() and not any(folder.glob(f"{FIT}/**/{STATE}")):
            with suppress(KgqaError):  # what was at fault is said first
                record.forget(runs, run=folder)
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _save(folder: Path, made: Reader) -> None:
    """The reader, in place of one whose run was killed before it was concluded."""
    with storage_errors(folder):
        if (folder / SAVED).exists():
            shutil.rmtree(folder / SAVED)
    with new_folder(folder / SAVED) as partial:
        partial.mkdir()
        made.save(partial)


def _conclude(folder: Path, done: Trained, begun: dict[str, Any]) -> None:
    """Write the manifest of the finished reader and delete intermediate files."""
    summary = {"questions": done.questions, "faults": dict(done.faults), "steps": done.steps, "best": done.best}
    text = json.dumps({**begun, **summary, "seconds": round(done.seconds, 3)}, indent=1, sort_keys=True)
    write_whole(folder / MANIFEST, text + "\n")
    shutil.rmtree(folder / FIT, ignore_errors=True)


def _check_start(start: Path, asked: Specification) -> None:
    """Raise KgqaError if the run ``start`` cannot initialise this reader."""
    if not asked.steps:
        raise SettingsError(f"--start-from: {asked.name} counts, and has no weights to begin with; leave it out.")
    there = saved.read(start, asked.name).get("settings", {})
    encoder = getattr(asked.settings, "encoder", None)
    if "encoder" in asked.settings.model_fields_set and isinstance(there, dict) and there.get("encoder") != encoder:
        raise SettingsError(f"--start-from {start.parent}: its encoder is {there.get('encoder')}, not {encoder}; leave the encoder out.")


def _begin(folder: Path, source: QuestionSet, asked: Specification, seed: int, start: Path | None) -> dict[str, Any]:
    """Say what the run is begun with; RunMismatch where it was begun with something else."""
    wanted = {
        **asked.record(), "seed": seed, "dataset": {"name": source.name, "format": source.format, "files": source.hashes()},
        "start_from": None if start is None else key_of(file_hashes(start)),
    }  # fmt: skip
    begun = {**wanted, "versions": record.reader_versions()}
    if not is_first_process():  # the first one says it
        return begun
    path = folder / RUN
    with storage_errors(path):
        if path.is_file():
            differs = _differences(_read(path), wanted)
            if differs:
                raise RunMismatch(
                    f"{folder}: this run was started with another {differs[0]}; choose another --out, or remove it to start again."
                )
        elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SettingsError(f"{folder}: this is already there and is no run of kgqa train; choose another --out.")
        folder.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            write_whole(path, json.dumps(begun, indent=1, sort_keys=True) + "\n")
    return begun


def _read(path: Path) -> dict[str, Any]:
    """A JSON object of ours. Raises BrokenInput."""
    try:
        found = json.loads(read_small(path))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BrokenInput(f"{path}: kgqa train did not write this; choose another --out, or remove {path.parent} to start again.")
    return found


def _differences(there: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Changed arguments that affect the result."""
    found = []
    for name, value in json.loads(json.dumps(wanted)).items():
        before = there.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            found += [each for each in {**value, **before} if value.get(each) != before.get(each) and each not in OF_TIME_AND_MEMORY]
        elif value != before:
            found.append(name)
    return found


def _as_it_was(folder: Path, source: QuestionSet, asked: Specification) -> Trained:
    path = folder / MANIFEST
    with storage_errors(path):
        found = _read(path)
    shutil.rmtree(folder / FIT, ignore_errors=True)  # which a kill may have left
    try:
        numbers = {name: float(found[name]) for name in ("questions", "steps", "seconds")}
        best = None if found["best"] is None else float(found["best"])
        if not all(map(math.isfinite, (*numbers.values(), best or 0.0))):
            raise ValueError("no number")
        return Trained(
            source=source, folder=folder, reader=asked.name, questions=int(found["questions"]), faults=Counter(found["faults"]),
            steps=int(found["steps"]), best=best, seconds=numbers["seconds"], was_finished=True,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, OverflowError):
        raise BrokenInput(f"{path}: kgqa train did not write this; choose another --out, or remove {folder} to start again.") from None
