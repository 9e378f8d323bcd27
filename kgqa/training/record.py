"""The record of a run while it runs: what it is, its curve and its end, in the log of its folder and in the database of runs.

The log is written at once, the database every few seconds. While the database is locked or its server is away, training continues, and
missing points are written later. A thread writes a heartbeat every half minute. A resumed run has one record: its earlier points count up
to the step at which it resumes.
"""

from __future__ import annotations

import fcntl
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kgqa.errors import InterruptedRun, KgqaError, WorkspaceBusy, storage_errors
from kgqa.formats.identifiers import free_name
from kgqa.runs.manifest import versions
from kgqa.training import run_log
from kgqa.training.run_database import RunDatabase, run_database
from kgqa.training.run_log import Point

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOCK = ".run.lock"
"""A lock that the process holds while it lives, however it ends; the file holds the run's id."""
PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "safetensors", "peft", "sqlalchemy")
"""Packages that a reader's scores can depend on, in addition to a dataset's."""
BEAT = 30.0
"""Seconds between two heartbeats."""
OFTEN = 2.0
"""Seconds between two writes to the database."""
BRIEF = 1.0
"""Seconds to wait for a locked database during training."""
_TRIES = 20


def reader_versions() -> dict[str, str]:
    """:func:`kgqa.runs.manifest.versions`, and those of the packages that readers use."""
    found_versions = dict(versions())
    for package in PACKAGES:
        try:
            found_versions[package] = version(package)
        except PackageNotFoundError:
            found_versions[package] = "not installed"
    return found_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The properties of a run that are known at its start."""

    reader: str
    dataset: str
    hashes: Mapping[str, str]
    """File of the dataset → SHA-256 of its bytes."""
    seed: int
    settings: Mapping[str, Any]
    """Resolved settings; values that JSON cannot hold are written as text."""
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=reader_versions)


def open_record(where: str | Path | None, *, run: Path, facts: RunFacts, beat: float = BEAT) -> Run:
    """Start, or continue, the record of the run in the folder ``run``, in the database ``where``.

    ``where``: as in :func:`kgqa.training.run_database.run_database`; by default ``runs.sqlite`` next to the folder. Use it as a context
    manager: the end of the block is the end of the run, unless :meth:`Run.finish` and its like said otherwise. Raises SettingsError,
    StorageError or StoreUnreachable if nothing can be recorded, WorkspaceBusy if another process trains in the folder.
    """
    return Run(run_database(where, beside=Path(os.path.abspath(run)).parent), run, facts, beat=beat)


def forget(where: str | Path | None, *, run: Path) -> None:
    """Remove the record of the run in the folder ``run`` from the database, for a run that was refused before it learned anything.

    Raises the errors of :func:`open_record`. A run without a record is ignored.
    """
    from sqlalchemy import delete, select

    from kgqa.training.run_tables import POINT, RUN

    folder = Path(os.path.abspath(run))
    run_record = run_log.read(folder / run_log.FILE).run
    if not run_record:
        return
    with run_database(where, beside=folder.parent).writing() as connection:
        run_id = connection.execute(select(RUN.c.id).where(RUN.c.uid == run_record["uid"])).scalar()
        connection.execute(delete(POINT).where(POINT.c.run == run_id))
        connection.execute(delete(RUN).where(RUN.c.id == run_id))


class Run:
    """The record of one run, kept by the process that trains."""

    def __init__(self, database: RunDatabase, folder: Path, facts: RunFacts, *, beat: float) -> None:
        """Try every write once, so that a run that cannot be recorded fails before training."""
        self._database, self._facts, self._folder = database, facts, Path(os.path.abspath(folder))
        self._log = self._folder / run_log.FILE
        self._beat, self._session_start, self._guard, self._over = beat, time.monotonic(), threading.RLock(), threading.Event()
        self._status, self._sentence = "running", ""
        self._ended: float | None = None
        self._final: dict[str, Any] = {}
        self._recorded_keys: set[tuple[str, int]] = set()
        with storage_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock_folder(self._folder)
        try:
            self._begin()
        except BaseException:
            os.close(self._lock)
            raise
        self._signs = threading.Thread(target=self._give_signs, name="kgqa run record", daemon=True)
        self._signs.start()

    def _begin(self) -> None:
        log = run_log.read(self._log)
        run_record = log.run or {}
        self._points: list[Point] = log.points
        self._earlier_seconds = log.seconds
        self._uid = run_record.get("uid") or token_hex(8)
        self._started = run_record.get("started") or time.time()
        self._sessions = int(run_record.get("sessions", 0)) + 1
        self._in_database = 0
        with storage_errors(self._folder):
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, self._uid.encode(), 0)
        self._rewrite()
        self._save()

    @property
    def points(self) -> Sequence[Mapping[str, Any]]:
        """The points of the curve so far."""
        return tuple(self._points)

    @property
    def uid(self) -> str:
        """The run's id, the same in all of its sessions."""
        return self._uid

    @property
    def description(self) -> Mapping[str, Any]:
        """What the run is, as recorded: reader, dataset, hashes, seed, settings, versions, device; without the database's address."""
        return self._run_fields()

    def point(self, measures: Mapping[str, Any]) -> None:
        """Add a point to the curve: ``step``, ``part`` for readers with several, and measures such as ``loss`` and ``score``.

        It replaces what an earlier process recorded for this and later steps. A point with ``resumed`` has no measures: the part resumes
        from this step. Raises StorageError if the log cannot be written.
        """
        with self._guard:
            part, step = str(measures.get("part", "")), int(measures["step"])
            if measures.get("resumed"):
                self.resumed(step, part)
                return
            key = (part, step)
            self._forget(part, step if key in self._recorded_keys else step - 1)
            self._recorded_keys.add(key)
            values = {name: _json_value(value) for name, value in measures.items() if name not in {"part", "step"}}
            point = {"part": part, "step": step, **values, "seconds": round(self._seconds(), 3)}
            self._in_database = min(self._in_database, run_log.add(self._points, point))
            run_log.append(self._log, "point", point)
            if time.monotonic() - self._saved >= OFTEN:
                self._save_if_possible()

    def resumed(self, step: int, part: str = "") -> None:
        """The part resumes from a checkpoint after ``step``: points of later steps from an earlier process do not count."""
        with self._guard:
            self._recorded_keys.add((part, step))  # what is said of this step now stands beside what was said of it before
            self._forget(part, step)

    def _forget(self, part: str, step: int) -> None:
        points = [point for point in self._points if point["part"] != part or point["step"] <= step]
        if len(points) < len(self._points):
            first_change = next(
                (place for place, pair in enumerate(zip(points, self._points, strict=False)) if pair[0] is not pair[1]), len(points)
            )
            self._in_database = min(self._in_database, first_change)
            self._points = points
            self._rewrite()

    def finish(self, *, score: float | None = None, steps: int | None = None) -> None:
        """Mark the run as finished; ``score`` and ``steps`` are its best score and its length, if the curve lacks them.

        Raises KgqaError if the database still cannot be written. The log is complete, and a later :func:`open_record` makes up for it.
        """
        self._final = {"score": score, "steps": steps}
        self._end("finished", "", certain=True)

    def interrupted(self) -> None:
        """Mark the run as stopped by the user; it can be resumed."""
        self._end("interrupted", "")

    def failed(self, sentence: str) -> None:
        """Mark the run as failed, with the reason in a sentence."""
        self._end("failed", self._database.hide(sentence))

    def __enter__(self) -> Self:
        """Enter the run's record."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the run as the block ended, unless its end is already recorded."""
        if self._over.is_set():
            return
        if error is None:
            self.finish()
        elif isinstance(error, KeyboardInterrupt | InterruptedRun):
            self.interrupted()
        else:
            self.failed(str(error) if isinstance(error, KgqaError) else f"{type(error).__name__}: {' '.join(str(error).split())[:500]}")

    def _end(self, status: str, sentence: str, *, certain: bool = False) -> None:
        if self._over.is_set():
            return
        self._over.set()
        self._signs.join()
        with self._guard:
            self._status, self._sentence, self._ended = status, sentence, time.time()
            line = {"status": status, "sentence": sentence, "ended": self._ended, "seconds": round(self._seconds(), 3)}
            try:
                try:
                    run_log.append(self._log, "end", {**line, **{name: value for name, value in self._final.items() if value is not None}})
                    self._save()
                except KgqaError as error:
                    if certain:
                        raise type(error)(f"the run is finished and in {self._log}, but not in the record of runs: {error}") from None
            finally:
                os.close(self._lock)

    def _give_signs(self) -> None:
        while not self._over.wait(self._beat):
            with self._guard:
                self._save_if_possible()

    def _seconds(self) -> float:
        return self._earlier_seconds + time.monotonic() - self._session_start

    def _rewrite(self) -> None:
        run_record = {
            "uid": self._uid,
            "started": self._started,
            "sessions": self._sessions,
            "seconds": self._earlier_seconds,
            **self._run_fields(),
        }
        run_log.write(self._log, run_record, self._points)

    def _run_fields(self) -> dict[str, Any]:
        facts = self._facts
        return {
            "reader": facts.reader,
            "dataset": facts.dataset,
            "hashes": dict(facts.hashes),
            "seed": facts.seed,
            "settings": _json_value(facts.settings, self._database.hide_address),
            "versions": dict(facts.versions),
            "device": facts.device,
        }

    def _save_if_possible(self) -> None:
        with suppress(KgqaError):
            self._save(BRIEF)

    def _save(self, patience: float | None = None) -> None:
        """Write to the database what it lacks."""
        self._saved = time.monotonic()
        with self._database.writing(*() if patience is None else (patience,)) as connection:
            is_new = self._save_run(connection)
            self._save_points(connection, self._in_database if not is_new else 0)
        self._in_database = len(self._points)

    def _save_run(self, connection: Connection) -> bool:
        """Insert or update the run's row; return whether it is new."""
        from sqlalchemy import insert, select, update

        from kgqa.training.run_tables import RUN

        best = _best(self._points)
        final_values = {name: value for name, value in self._final.items() if value is not None}
        row = {
            **self._run_fields(),
            "host": socket.gethostname(),
            "folder": self._place(),
            "status": self._status,
            "sentence": self._sentence,
            "sessions": self._sessions,
            "started": self._started,
            "heartbeat": time.time(),
            "ended": self._ended,
            "seconds": self._seconds(),
            "steps": self._points[-1]["step"] if self._points else 0,
            "score": None if best is None else best["score"],
            "score_step": None if best is None else best["step"],
            **final_values,
        }
        self._id = connection.execute(select(RUN.c.id).where(RUN.c.uid == self._uid)).scalar()
        if self._id is not None:
            connection.execute(update(RUN).where(RUN.c.id == self._id).values(**row))
            return False
        name = free_name(self._folder.name, set(connection.execute(select(RUN.c.name)).scalars()))
        connection.execute(insert(RUN).values(uid=self._uid, name=name, **row))
        self._id = connection.execute(select(RUN.c.id).where(RUN.c.uid == self._uid)).scalar()
        return True

    def _save_points(self, connection: Connection, first: int) -> None:
        from sqlalchemy import delete, insert

        from kgqa.training.run_tables import POINT

        connection.execute(delete(POINT).where(POINT.c.run == self._id, POINT.c.number >= first))
        columns = {"part", "step", "seconds", *run_log.MEASURES}
        rows = [
            {
                "run": self._id, "number": number, **{name: point.get(name) for name in ("part", "step", "seconds", *run_log.MEASURES)},
                "more": {name: value for name, value in point.items() if name not in columns},
            }
            for number, point in enumerate(self._points[first:], start=first)
        ]  # fmt: skip
        if rows:
            connection.execute(insert(POINT), rows)

    def _place(self) -> str:
        """The run's folder, relative to the database's folder if it is below that, so that both can be moved together."""
        database_folder = None if self._database.path is None else Path(os.path.abspath(self._database.path)).parent
        return (
            str(self._folder.relative_to(database_folder))
            if database_folder is not None and self._folder.is_relative_to(database_folder)
            else str(self._folder)
        )


def _best(points: Sequence[Point]) -> Point | None:
    """The first point with the best score of the part that was measured last: that part gives the answers."""
    scored_points = [point for point in points if point.get("score") is not None]
    return max(
        (point for point in scored_points if point["part"] == scored_points[-1]["part"]), key=lambda point: point["score"], default=None
    )


def _json_value(value: Any, text: Callable[[str], str] = str) -> Any:
    """``value`` in JSON's types. Infinity and NaN become None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {str(name): _json_value(entry, text) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(entry, text) for entry in value]
    if isinstance(value, bool | int) or value is None:
        return value
    if not isinstance(value, str) and hasattr(value, "__float__"):
        return float(value) if math.isfinite(float(value)) else None
    return text(str(value))


def _lock_folder(folder: Path) -> int:
    """Lock the folder; the system releases the lock when the process ends. Raises WorkspaceBusy if another process holds it."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    for _ in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)  # whoever lists the runs holds it for a moment
        except OSError:  # this file system has no locks
            return lock
        else:
            return lock
    os.close(lock)
    raise WorkspaceBusy(f"{folder}: another process trains in this folder; wait until it is done, or choose another --out.")
