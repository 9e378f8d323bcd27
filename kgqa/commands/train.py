"""``kgqa train``: train a reader on a question set; an interrupted run resumes."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kgqa.cluster.opening import for_networks, opened_engine, run_group
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
from kgqa.readers.own import OwnReader
from kgqa.readers.registry import reader_descriptions
from kgqa.readers.specification import Specification, specification
from kgqa.runs.files import Watch, check_is_local, file_hashes, files_below, key_of, new_folder, write_whole
from kgqa.settings.cluster import is_cluster
from kgqa.settings.defaults import SEED
from kgqa.settings.small_files import read_small
from kgqa.settings.training import OF_TIME_AND_MEMORY
from kgqa.training import record
from kgqa.training.checkpoints import STATE
from kgqa.training.device import device_of
from kgqa.training.extra import NETWORKS, RECORDS, require_readers
from kgqa.training.processes import is_first_process, is_only_process
from kgqa.training.questions import of_split
from kgqa.training.reader import Fitting, Reader
from kgqa.training.run_database import run_database
from kgqa.training.tracking import check_tracker, tracked

RUN, SAVED, FIT, MANIFEST = "run.json", "reader", "fit", "manifest.json"
"""Files of a run: its configuration, the finished reader, intermediate files, and the manifest."""
NETWORK = ("encoder", "answerer_encoder", "layers", "positions", "marks", "head_layers", "bidirectional")
"""Settings that the networks of a run have for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Result of :func:`train`: the run's folder, steps and best dev score."""

    source: QuestionSet
    folder: Path
    reader: str
    questions: int
    """Questions of the train split."""
    faults: Counter[str] = field(default_factory=Counter)
    """Reason → number of questions that could not be used for training."""
    steps: int
    best: float | None
    """The reader's mean score on dev questions, from 0 to 1."""
    seconds: float
    connects: bool | None = None
    """Whether the reader connects paragraphs, if that depends on its encoder (``kgqa.list_readers``)."""
    tracking_fault: str = ""
    """Why the tracker lacks points, in a sentence; "" if it has all of them."""
    was_finished: bool = False
    """Whether the run was finished before."""


def list_readers() -> dict[str, str]:
    """Name of each reader that can be trained, built in or installed → its description, and whether it connects paragraphs."""
    return reader_descriptions()


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
    track: str | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    cluster: str | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train ``reader``, on the train split of ``dataset``, in the folder ``out``.

    ``reader`` is a name of :func:`list_readers`, a class of yours as ``module:Class``, which is imported, or a TOML file with one of them.

    The dev split, if there is one, decides when to stop. If ``out`` has a run with the same arguments, it resumes; if that run is finished,
    nothing is done. ``encoder``, ``max_steps``, ``epochs``, ``device`` and ``precision`` override the TOML file. ``start_from``: a finished
    run of the same reader to initialise the weights from, as for inoculation (Liu et al. 2019). ``runs``: the database of runs, by default
    ``runs.sqlite`` next to ``out``; see :func:`kgqa.training_runs`. ``track``: an experiment tracker, a key of
    :data:`kgqa.training.tracking.TRACKERS`, which gets the settings and the curve too. On a ``cluster``
    (:func:`kgqa.cluster.opening.opened_engine`), ``processes`` train the reader together, as under ``torchrun``; by default one on each
    GPU, or as many as there are cores for. All nodes must see ``out`` and the other paths. Memory: the network and its optimiser, one
    batch, 12 bytes per question. Raises KgqaError; then the last checkpoint is kept.
    """
    check_seed(seed)
    start = None if start_from is None else Path(start_from) / SAVED
    watch = Watch(() if start is None else files_below(start))
    training = {"max_steps": max_steps, "epochs": epochs, "device": device, "precision": precision}
    options = [name for name, value in {"encoder": encoder, **training}.items() if value is not None]
    request = specification(reader, settings={"encoder": encoder}, training=training, named=True, options=options)
    require_readers("kgqa train", needed=(*NETWORKS, *RECORDS) if request.steps else RECORDS)
    if track is not None:
        require_readers("--track", needed=NETWORKS)
        check_tracker(track)
    if start is not None:
        _check_start(start, request)
    folder = Path(out)
    check_is_local(folder)
    _check_cluster(cluster, request, runs, processes=processes, track=track)
    source = open_dataset(dataset, format, paragraphs=paragraphs, progress=progress)
    source.check_outside(folder)
    if "train" not in source.files:
        raise MissingInput(f"{source.path}: this set has no train split, only {', '.join(source.files)}; make one with kgqa split.")
    with _undone(folder, runs):
        start_record = _begin(folder, source, request, seed, start)
        if (folder / MANIFEST).is_file() and (folder / SAVED).is_dir():
            fault = "" if track is None else f"--track {track}: nothing was sent, as this run was already finished."
            return replace(_as_it_was(folder, source, request), tracking_fault=fault)
        if is_cluster(cluster):
            given = {
                "reader": reader, "dataset": dataset, "out": out, "seed": seed, "max_steps": max_steps, "epochs": epochs,
                "encoder": encoder, "precision": precision, "start_from": start_from, "format": format, "paragraphs": paragraphs,
                "runs": run_database(runs, beside=folder.parent).path,
            }  # fmt: skip
            _fit_on(str(cluster), given, request, processes=processes, folder=folder, progress=progress or Silent())
            return replace(_as_it_was(folder, source, request), was_finished=False)
        return _fit(folder, source, request, seed, start, start_record, watch, runs=runs, track=track, progress=progress or Silent())


def _check_cluster(
    cluster: str | None, request: Specification, runs: str | Path | None, *, processes: int | None, track: str | None
) -> None:  # fmt: skip
    """Raise SettingsError for what cannot be together with a cluster, or without one."""
    if processes is not None and processes < 1:
        raise SettingsError(f"--processes {processes} is below 1; give a larger number, or leave it out.")
    if not is_cluster(cluster):
        if processes is not None:
            raise SettingsError("--processes is for a cluster; give --cluster too, or start kgqa train with accelerate launch or torchrun.")
        return
    if not request.steps:
        raise SettingsError(f"--cluster: {request.name} counts, which takes no cluster; leave it out.")
    if isinstance(request.make(), OwnReader):
        raise SettingsError("--cluster is for readers of kgqa, but the code of this one is on this machine alone; leave it out.")
    if not is_only_process():
        raise SettingsError("--cluster starts the processes itself; start kgqa train without a launcher.")
    if str(cluster).startswith("ray://"):
        raise SettingsError("--cluster: kgqa train must run on a node of the cluster; start it there with auto or HOST:PORT.")
    if track is not None:
        raise SettingsError(f"--track {track}: the nodes of a cluster have no credentials of yours; leave out --track or --cluster.")
    if run_database(runs, beside=Path()).path is None:
        raise SettingsError("--cluster: the address of a database is not sent to nodes; give a folder or a file as --runs.")


def _fit_on(
    cluster: str, given: dict[str, Any], request: Specification, *, processes: int | None, folder: Path, progress: Progress
) -> None:  # fmt: skip
    """Train with the arguments ``given`` in processes on a cluster, whose first one finishes the run."""
    import torch

    with opened_engine(cluster=cluster, progress=progress) as engine:
        nodes = for_networks(engine, device=request.training.device, cores=torch.get_num_threads())
        assert nodes is not None
        run_group(nodes, _train_in_group, {**given, "device": nodes.device}, processes=processes, folder=folder, progress=progress)


def _train_in_group(**given: Any) -> None:
    train(**given)


def _fit(
    folder: Path,
    source: QuestionSet,
    request: Specification,
    seed: int,
    start: Path | None,
    start_record: dict[str, Any],
    watch: Watch,
    *,
    runs: str | Path | None,
    track: str | None,
    progress: Progress,
) -> Trained:
    begin = time.perf_counter()
    model = request.make()
    train_questions = of_split(source, "train")
    dev = of_split(source, "dev") if "dev" in source.files else None
    facts = record.RunFacts(
        reader=request.name,
        dataset=source.name,
        hashes=source.hashes(),
        seed=seed,
        settings=request.record(),
        device=str(device_of(request.training)) if request.steps else "",
    )
    with ExitStack() as stack:
        run = stack.enter_context(record.open_record(runs, run=folder, facts=facts)) if is_first_process() else None
        tracking = (
            stack.enter_context(
                tracked(track, folder, run=run.uid, facts=run.description, points=run.points, device=device_of(request.training))
            )
            if run and track is not None
            else None
        )
        parts: set[object] = set()

        def note(point: Mapping[str, Any]) -> None:
            # At the first point of a part the initial run has been read; later changes to it do not matter.
            if point.get("part") not in parts:
                watch.check()
                parts.add(point.get("part"))
            if run:
                run.point(point)
            if tracking:
                tracking.point(point)

        fitting = Fitting(
            place=folder / FIT,
            settings=request.training,
            seed=seed,
            progress=progress,
            record=note,
            start=start,
        )
        model.fit(train_questions, dev, fitting)
        if not parts:
            watch.check()
        fitted = getattr(model, "fitted", None)
        result = Trained(
            source=source,
            folder=folder,
            reader=request.name,
            questions=len(train_questions),
            seconds=time.perf_counter() - begin,
            steps=fitted.steps if fitted else 0,
            best=fitted.best if fitted else None,
            faults=fitted.faults if fitted else Counter(),
            connects=getattr(model, "connects", None),
        )
        if run:
            _save(folder, model)
            run.finish(score=result.best, steps=result.steps)
            _conclude(folder, result, start_record, _parameters(run.points))
    return replace(result, tracking_fault=tracking.fault if tracking else "")  # the tracker can also fail at its end


@contextmanager
def _undone(folder: Path, runs: str | Path | None) -> Iterator[None]:
    """Remove a new folder if the input or a setting is at fault before any training, so that the command can start over.

    The run's record is removed too: it would have no content, and the user has seen the error message.
    """
    was_there = (folder / RUN).exists()
    try:
        yield
    except (InputError, SettingsError, EmptyResult):
        if not was_there and is_first_process() and (folder / RUN).exists() and not any(folder.glob(f"{FIT}/**/{STATE}")):
            with suppress(KgqaError):  # the original error is reported first
                record.forget(runs, run=folder)
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _save(folder: Path, model: Reader) -> None:
    """Save the reader, replacing one whose run was killed before its end."""
    with storage_errors(folder):
        if (folder / SAVED).exists():
            shutil.rmtree(folder / SAVED)
    with new_folder(folder / SAVED) as partial:
        partial.mkdir()
        model.save(partial)


def _parameters(points: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Part of the reader → its numbers of ``all`` and of ``trained`` parameters, from the points at which training began."""
    begins = [point for point in points if "trained_parameters" in point]
    return {point["part"]: {"all": point["parameters"], "trained": point["trained_parameters"]} for point in begins}


def _conclude(folder: Path, result: Trained, start_record: dict[str, Any], parameters: Mapping[str, Mapping[str, int]]) -> None:
    """Write the manifest of the finished reader and delete intermediate files."""
    summary = {
        "questions": result.questions, "faults": dict(result.faults), "steps": result.steps, "best": result.best,
        "connects": result.connects, "parameters": parameters,
    }  # fmt: skip
    text = json.dumps({**start_record, **summary, "seconds": round(result.seconds, 3)}, indent=1, sort_keys=True)
    write_whole(folder / MANIFEST, text + "\n")
    shutil.rmtree(folder / FIT, ignore_errors=True)


def _check_start(start: Path, request: Specification) -> None:
    """Raise KgqaError if the run ``start`` cannot initialise this reader."""
    if not request.steps:
        raise SettingsError(f"--start-from: {request.name} counts, and has no weights to begin with; leave it out.")
    old = saved.read(start, request.name).get("settings", {})
    for name in (name for name in NETWORK if name in request.settings.model_fields_set and isinstance(old, dict)):
        before, value = old.get(name, type(request.settings).model_fields[name].default), getattr(request.settings, name)
        if before != value:
            raise SettingsError(f"--start-from {start.parent}: its {name} is {before}, not {value}; leave the {name} out.")


def _begin(folder: Path, source: QuestionSet, request: Specification, seed: int, start: Path | None) -> dict[str, Any]:
    """Write the arguments of the run. Raises RunMismatch if the folder has a run with others."""
    identity = {
        **request.record(), "seed": seed, "dataset": {"name": source.name, "format": source.format, "files": source.hashes()},
        "start_from": None if start is None else key_of(file_hashes(start)),
    }  # fmt: skip
    start_record = {**identity, "versions": record.reader_versions()}
    if not is_first_process():  # the first process compares and writes it
        return start_record
    path = folder / RUN
    with storage_errors(path):
        if path.is_file():
            differs = _differences(_read_record(path), identity)
            if differs:
                raise RunMismatch(
                    f"{folder}: this run was started with another {differs[0]}; choose another --out, or remove it to start again."
                )
        elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SettingsError(f"{folder}: this already exists and is not a run of kgqa train; choose another --out.")
        folder.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            write_whole(path, json.dumps(start_record, indent=1, sort_keys=True) + "\n")
    return start_record


def _read_record(path: Path) -> dict[str, Any]:
    """A JSON object written by this command. Raises BrokenInput."""
    try:
        content = json.loads(read_small(path))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise BrokenInput(f"{path}: kgqa train did not write this; choose another --out, or remove {path.parent} to start again.")
    return content


def _differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Changed arguments that affect the result."""
    names = []
    for name, value in json.loads(json.dumps(new)).items():
        before = old.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            names += [key for key in {**value, **before} if value.get(key) != before.get(key) and key not in OF_TIME_AND_MEMORY]
        elif value != before:
            names.append(name)
    return names


def _as_it_was(folder: Path, source: QuestionSet, request: Specification) -> Trained:
    path = folder / MANIFEST
    with storage_errors(path):
        content = _read_record(path)
    shutil.rmtree(folder / FIT, ignore_errors=True)  # which a kill may have left
    try:
        numbers = {name: float(content[name]) for name in ("questions", "steps", "seconds")}
        best = None if content["best"] is None else float(content["best"])
        if not all(map(math.isfinite, (*numbers.values(), best or 0.0))):
            raise ValueError("no number")
        return Trained(
            source=source, folder=folder, reader=request.name, questions=int(content["questions"]), faults=Counter(content["faults"]),
            steps=int(content["steps"]), best=best, seconds=numbers["seconds"], connects=content.get("connects"), was_finished=True,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, OverflowError):
        raise BrokenInput(f"{path}: kgqa train did not write this; choose another --out, or remove {folder} to start again.") from None
