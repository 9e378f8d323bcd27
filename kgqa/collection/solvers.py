"""Readers that try each new question, so that people write questions that readers cannot answer (Geva et al. 2021, section 3.1).

Some readers are fixed. Others are trained anew on the questions so far, so that they learn recurring patterns; each training is a run of
``kgqa train`` with its record. A question is refused if enough fixed readers are right, or all trained ones. Readers answer in a process of
their own and train in another, so no page waits for them.
"""

from __future__ import annotations

import logging
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kgqa.collection.project import Project
from kgqa.errors import KgqaError, SettingsError, TrainingError, storage_errors
from kgqa.formats import native
from kgqa.metrics.normalize import normalize
from kgqa.progress import Silent
from kgqa.readers.registry import find_reader
from kgqa.readers.specification import specification
from kgqa.readers.trained import READER, load_reader, reader_name
from kgqa.records import Instance
from kgqa.runs.files import new_folder
from kgqa.runs.manifest import MANIFEST
from kgqa.training.extra import NETWORKS, RECORDS, require_readers
from kgqa.training.questions import of_list
from kgqa.training.reader import Reader

QUESTIONS = "questions"
"""Folder of the questions of a training."""
AT_ONCE = 64
"""Questions that are answered together where many wait."""
POLL = 1.0
"""Seconds between two looks at a training."""
_AFTER = re.compile(r"after-(\d{8})")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverAnswer:
    """What one reader answers."""

    name: str
    """``fixed`` or ``trained`` with a number, from 1."""
    run: str
    """Folder of its run: as the project names it, or relative to the solvers' folder."""
    answer: str
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverResult:
    """What all readers answer to a question."""

    id: str
    answers: tuple[SolverAnswer, ...]
    refusal: str = ""
    """Why the question is refused, as a sentence for its author; empty if it is not."""

    def body(self) -> list[dict[str, Any]]:
        """The list ``solvers`` of a ``solve`` event."""
        return [asdict(answer) for answer in self.answers]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Solver:
    name: str
    run: str
    folder: Path


class Solvers:
    """The readers of a project; safe to use from several threads. Close it after use."""

    def __init__(self, project: Project, folder: Path) -> None:
        """``folder`` is for trainings, and those that it holds are used. Raises SettingsError and InputError for unusable readers."""
        settings = project.settings.solvers
        if settings is None:
            raise SettingsError(f"{project.path}: solvers: the project has none; add the table solvers.")
        self.settings, self.folder = settings, folder
        self._fixed = [
            _Solver(name=f"fixed {number}", run=run, folder=project.folder / run) for number, run in enumerate(settings.fixed, start=1)
        ]
        for solver in self._fixed:
            if not find_reader(reader_name(solver.folder)).answers:
                raise SettingsError(f"{project.path}: solvers.fixed: {solver.run} trained a reader that answers nothing; give another run.")
        if settings.fixed and settings.refuse_fixed > len(settings.fixed):
            raise SettingsError(
                f"{project.path}: solvers.refuse_fixed is {settings.refuse_fixed}, but there are {len(settings.fixed)} fixed readers; "
                "lower it, or add readers."
            )
        if not settings.fixed and not settings.trained:
            raise SettingsError(
                f"{project.path}: solvers: there are neither fixed nor trained readers; list runs under fixed, or set trained."
            )
        # A name, or a TOML file beside the project file.
        self._reader = str(project.folder / settings.reader) if settings.reader.endswith(".toml") else settings.reader
        if settings.trained:
            request = specification(self._reader, settings={}, training={})
            if not request.kind.answers:
                raise SettingsError(f"{project.path}: solvers.reader: {request.name} answers nothing; give another reader.")
            require_readers("a solver that is trained anew", needed=(*NETWORKS, *RECORDS) if request.steps else RECORDS)
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._training: _Training | None = None
        self._asked: dict[str, Instance] = {}
        self.trouble = ""
        """What went wrong with the last training, as a sentence; empty if nothing did."""
        self._trained = self._latest()

    @property
    def generation(self) -> int:
        """The number of questions that the trained readers learned from; 0 if there are none yet."""
        return 0 if not self._trained else int(self._trained[0].folder.parent.name.removeprefix("after-"))

    def questions(self, instances: Sequence[Instance]) -> list[SolverResult]:
        """The readers' answers to questions whose first answer is the right one. Waits for the readers. Raises KgqaError."""
        with self._lock:
            solvers = [*self._fixed, *self._trained]
        folders = [str(solver.folder) for solver in solvers]
        answers = self._call(_answers, folders, list(instances)) if solvers else []
        results = []
        for place, instance in enumerate(instances):
            gold = {normalize(answer) for answer in instance.answers}
            runs = tuple(
                SolverAnswer(name=solver.name, run=solver.run, answer=column[place], right=normalize(column[place]) in gold)
                for solver, column in zip(solvers, answers, strict=True)
            )
            results.append(SolverResult(id=instance.id, answers=runs, refusal=self._refusal(runs)))
        return results

    def _refusal(self, answers: Sequence[SolverAnswer]) -> str:
        fixed = [answer.right for answer in answers if answer.name.startswith("fixed")]
        trained = [answer.right for answer in answers if answer.name.startswith("trained")]
        if fixed and sum(fixed) >= self.settings.refuse_fixed:
            return f"{sum(fixed)} of {len(fixed)} readers answer the question, so it is too easy; write one that implies more."
        if trained and all(trained):
            return f"All {len(trained)} readers that learned from the questions so far answer it; write one of another kind."
        return ""

    def add(self, instances: Iterable[Instance]) -> None:
        """Count accepted questions, each once by its id; a training begins after every ``every`` of them. Does not wait for it."""
        with self._lock:
            self._asked.update((instance.id, instance) for instance in instances)
        self.look()

    def look(self) -> None:
        """Take the readers of a finished training, and begin one that is due."""
        with self._lock:
            if not self.settings.trained:
                return
            if self._training is not None and self._training.go_on():
                if self._training.trouble:
                    self.trouble = self._training.trouble
                    _log.warning("%s", self.trouble)
                else:
                    self._trained, self.trouble = self._latest(), ""
                self._training = None
            due = len(self._asked) // self.settings.every * self.settings.every
            if self._training is None and due > self.generation and not self.trouble_at(due):
                self._training = self._begin(due)

    def trouble_at(self, count: int) -> bool:
        """Whether a training on so many questions has failed."""
        return bool(self.trouble) and f"after-{count:08}" in self.trouble

    def _begin(self, count: int) -> _Training:
        place = self.folder / f"after-{count:08}"
        questions = place / QUESTIONS
        if not questions.exists():
            with new_folder(questions) as partial:
                native.write_folder({"train": list(self._asked.values())[:count]}, partial)
        commands = [
            [
                sys.executable, "-m", "kgqa", "train", self._reader, str(questions), "--out", str(place / f"trained-{number}"),
                "--seed", str(number - 1), "--runs", str(self.folder),
            ]
            for number in range(1, self.settings.trained + 1)
        ]  # fmt: skip
        return _Training(place, commands)

    def _latest(self) -> list[_Solver]:
        """The readers of the last training that is finished."""
        if not self.folder.is_dir():
            return []
        for place in sorted((path for path in self.folder.iterdir() if _AFTER.fullmatch(path.name)), reverse=True):
            runs = [place / f"trained-{number}" for number in range(1, self.settings.trained + 1)]
            if runs and all((run / MANIFEST).is_file() and (run / READER).is_dir() for run in runs):
                return [
                    _Solver(name=f"trained {number}", run=f"{place.name}/{run.name}", folder=run)
                    for number, run in enumerate(runs, start=1)
                ]
        return []

    def _call(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the process of the readers, which is started anew if it has died."""
        with self._lock:
            if self._pool is None:
                # Started anew and not copied, since this process has threads.
                self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            pool = self._pool
        try:
            return pool.submit(call, *arguments).result()
        except BrokenProcessPool:
            with self._lock:
                self._pool = None
            raise TrainingError(
                "the process of the solvers was killed, probably for lack of memory; use fewer or smaller readers."
            ) from None

    def close(self) -> None:
        """End the process of the readers, and a training; it goes on when its project is opened again."""
        with self._lock:
            if self._training is not None:
                self._training.stop()
                self._training = None
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)


class _Training:
    """Runs of ``kgqa train``, one after the other, each in a process with the lowest priority."""

    def __init__(self, place: Path, commands: list[list[str]]) -> None:
        self._place, self._commands = place, commands
        self._process: subprocess.Popen[bytes] | None = None
        self.trouble = ""

    def go_on(self) -> bool:
        """Start the next run if none is running; whether all are done, or one has failed."""
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return False
            self._process = None
            if status:
                self.trouble = f"{self._place}: {self._reason(status)}"
                return True
        if not self._commands:
            return True
        with storage_errors(self._place), (self._place / "log.txt").open("ab") as log:
            command = ["nice", "-n", "19", *self._commands.pop(0)]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603 - our own command
        return False

    def _reason(self, status: int) -> str:
        lines = (self._place / "log.txt").read_text("utf-8", "replace").strip().splitlines()
        return f"a solver could not be trained (status {status}): {lines[-1][:300] if lines else 'it said nothing'}"

    def stop(self) -> None:
        """End the run that is going on; it has its checkpoints."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


class SolverThread:
    """Asks the solvers about questions as they come, in a thread."""

    def __init__(self, solvers: Solvers, receive: Callable[[SolverResult], object], *, accepted: Iterable[Instance] = ()) -> None:
        """``receive`` gets each result, in this thread; ``accepted``: the questions so far, to train on."""
        self.solvers, self._receive = solvers, receive
        self._waiting: queue.SimpleQueue[Instance | None] = queue.SimpleQueue()
        self._latest: dict[str, Instance] = {}
        """The question of each id that was put last; results of an earlier one, which its author took back, are dropped."""
        self._ends = False
        solvers.add(accepted)
        self._thread = threading.Thread(target=self._loop, name="kgqa solvers", daemon=True)
        self._thread.start()

    def put(self, instance: Instance) -> None:
        """Ask about a question; returns at once."""
        self._latest[instance.id] = instance
        self._waiting.put(instance)

    def close(self) -> None:
        """Finish the questions that wait, and end the thread and the solvers' processes."""
        self._waiting.put(None)
        self._thread.join()
        self.solvers.close()

    def _loop(self) -> None:
        while not self._ends:
            instances = [instance for instance in self._next() if self._latest[instance.id] is instance]
            try:
                results = self.solvers.questions(instances) if instances else []
                accepted_questions: list[Instance] = []
                for instance, result in zip(instances, results, strict=True):
                    if self._latest[instance.id] is instance:
                        self._receive(result)
                        accepted_questions += [] if result.refusal else [instance]
                self.solvers.add(accepted_questions)
            except KgqaError as error:
                # The questions have no "solve" event, so they are asked about again when the project is opened again.
                self.solvers.trouble = str(error)
                _log.warning("%s", error)

    def _next(self) -> list[Instance]:
        """The questions that wait, at most ``AT_ONCE``; none after ``POLL`` seconds, so that trainings go on."""
        instances: list[Instance] = []
        try:
            while len(instances) < AT_ONCE:
                instance = self._waiting.get(timeout=POLL) if not instances else self._waiting.get_nowait()
                if instance is None:
                    self._ends = True
                    break
                instances.append(instance)
        except queue.Empty:
            pass
        return instances


_readers: dict[str, Reader] = {}
"""In the process of the readers: those that were loaded, by folder."""


def _answers(folders: Sequence[str], instances: Sequence[Instance]) -> list[list[str]]:
    """The answers of the readers in ``folders`` to each question (readers × questions)."""
    for folder in _readers.keys() - set(folders):
        del _readers[folder]
    questions = of_list(instances)
    for folder in folders:
        if folder not in _readers:
            _readers[folder] = load_reader(folder, what="a solver")
    return [[prediction.answer for prediction in _readers[folder].predict(questions, Silent())] for folder in folders]
