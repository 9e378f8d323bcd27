"""The record of a run while it runs: what it is, its curve and how it ended, in the log of its folder and in the database of runs.

The log is written at once, the database every few seconds: where the database is locked for a while, or its server away, training goes on
and what is missing there is written later. A thread says every half a minute that the process lives. A run that goes on after it was
stopped or killed has one record: of its earlier points those count that lie before the step from which it goes on.
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
"""Held while the process lives, be it stopped how it may; holds the run's id."""
PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "safetensors", "sqlalchemy")
"""What a reader's figures can depend on beside what a dataset does."""
BEAT = 30.0
"""Seconds between two signs of life."""
OFTEN = 2.0
"""Seconds between two writes to the database."""
BRIEF = 1.0
"""Seconds that a locked database is waited for in the middle of training."""
_TRIES = 20


def reader_versions() -> dict[str, str]:
    """:func:`kgqa.runs.manifest.versions`, and those of the packages that readers use."""
    found = dict(versions())
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a run is."""

    reader: str
    dataset: str
    hashes: Mapping[str, str]
    """File of the dataset → SHA-256 of its bytes."""
    seed: int
    settings: Mapping[str, Any]
    """As resolved; what JSON has no form for is written as text."""
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=reader_versions)


def open(where: str | Path | None, *, run: Path, facts: Facts, beat: float = BEAT) -> Run:  # noqa: A001 - record.open, as files have it
    """Begin, or go on with, the record of the run in the folder ``run``, in the database ``where``.

    ``where``: as :func:`kgqa.training.run_database.run_database` takes it, by default ``runs.sqlite`` beside the folder. Use it as a
    context manager: what ends the block is how the run ended, unless that was said before. Raises SettingsError, StorageError or
    StoreUnreachable where nothing can be recorded, WorkspaceBusy where another process trains in the folder.
    """
    return Run(run_database(where, beside=Path(os.path.abspath(run)).parent), run, facts, beat=beat)


def forget(where: str | Path | None, *, run: Path) -> None:
    """Take the record of the run in the folder ``run`` out of the database, as of one that was refused before it learned anything.

    Raises as :func:`open` does; a run that has no record is none to forget.
    """
    from sqlalchemy import delete, select

    from kgqa.training.run_tables import POINT, RUN

    folder = Path(os.path.abspath(run))
    logged = run_log.read(folder / run_log.FILE).run
    if not logged:
        return
    with run_database(where, beside=folder.parent).writing() as connection:
        number = connection.execute(select(RUN.c.id).where(RUN.c.uid == logged["uid"])).scalar()
        connection.execute(delete(POINT).where(POINT.c.run == number))
        connection.execute(delete(RUN).where(RUN.c.id == number))


class Run:
    """The record of one run, by the process that does it."""

    def __init__(self, database: RunDatabase, folder: Path, facts: Facts, *, beat: float) -> None:
        """Everything is tried once, so that what cannot be recorded is known before anything is trained."""
        self._database, self._facts, self._folder = database, facts, Path(os.path.abspath(folder))
        self._log = self._folder / run_log.FILE
        self._beat, self._begun, self._guard, self._over = beat, time.monotonic(), threading.RLock(), threading.Event()
        self._status, self._sentence = "running", ""
        self._ended: float | None = None
        self._final: dict[str, Any] = {}
        self._fresh: set[tuple[str, int]] = set()
        with storage_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self._folder)
        try:
            self._begin()
        except BaseException:
            os.close(self._lock)
            raise
        self._signs = threading.Thread(target=self._give_signs, name="kgqa run record", daemon=True)
        self._signs.start()

    def _begin(self) -> None:
        logged = run_log.read(self._log)
        earlier = logged.run or {}
        self._points: list[Point] = logged.points
        self._before = logged.seconds
        self._uid = earlier.get("uid") or token_hex(8)
        self._started = earlier.get("started") or time.time()
        self._sessions = int(earlier.get("sessions", 0)) + 1
        self._in_database = 0
        with storage_errors(self._folder):
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, self._uid.encode(), 0)
        self._rewrite()
        self._save()

    @property
    def points(self) -> Sequence[Mapping[str, Any]]:
        """The curve so far."""
        return tuple(self._points)

    def point(self, measured: Mapping[str, Any]) -> None:
        """One more point of the curve: ``step``, in ``part`` where a reader has several, and what was measured, as ``loss`` and ``score``.

        It takes the place of what an earlier process said of the same step and later ones. With ``resumed`` it says, and measures nothing,
        that the part goes on from the step. Raises StorageError where the log cannot be written.
        """
        with self._guard:
            part, step = str(measured.get("part", "")), int(measured["step"])
            if measured.get("resumed"):
                self.resumed(step, part)
                return
            key = (part, step)
            self._forget(part, step if key in self._fresh else step - 1)
            self._fresh.add(key)
            values = {name: _plain(value) for name, value in measured.items() if name not in {"part", "step"}}
            point = {"part": part, "step": step, **values, "seconds": round(self._seconds(), 3)}
            self._in_database = min(self._in_database, run_log.add(self._points, point))
            run_log.append(self._log, "point", point)
            if time.monotonic() - self._saved >= OFTEN:
                self._save_if_possible()

    def resumed(self, step: int, part: str = "") -> None:
        """The part goes on from a checkpoint after ``step``: what an earlier process said of later steps does not count."""
        with self._guard:
            self._fresh.add((part, step))  # what is said of this step now stands beside what was said of it before
            self._forget(part, step)

    def _forget(self, part: str, step: int) -> None:
        kept = [point for point in self._points if point["part"] != part or point["step"] <= step]
        if len(kept) < len(self._points):
            same = next((place for place, pair in enumerate(zip(kept, self._points, strict=False)) if pair[0] is not pair[1]), len(kept))
            self._in_database = min(self._in_database, same)
            self._points = kept
            self._rewrite()

    def finish(self, *, score: float | None = None, steps: int | None = None) -> None:
        """It is done; ``score`` and ``steps`` are its best and their number where the curve does not say it.

        Raises KgqaError where the database cannot be written to even now; the log has it all, and a later :func:`open` makes up for it.
        """
        self._final = {"score": score, "steps": steps}
        self._end("finished", "", certain=True)

    def interrupted(self) -> None:
        """The user stopped it, and it can go on."""
        self._end("interrupted", "")

    def failed(self, sentence: str) -> None:
        """It ended early for a reason, which is said in a sentence."""
        self._end("failed", self._database.hide(sentence))

    def __enter__(self) -> Self:
        """Enter the run's record."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End as the block did, where nothing else was said."""
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
        return self._before + time.monotonic() - self._begun

    def _rewrite(self) -> None:
        known = {"uid": self._uid, "started": self._started, "sessions": self._sessions, "seconds": self._before, **self._known()}
        run_log.write(self._log, known, self._points)

    def _known(self) -> dict[str, Any]:
        facts = self._facts
        return {
            "reader": facts.reader,
            "dataset": facts.dataset,
            "hashes": dict(facts.hashes),
            "seed": facts.seed,
            "settings": _plain(facts.settings, self._database.hide_address),
            "versions": dict(facts.versions),
            "device": facts.device,
        }

    def _save_if_possible(self) -> None:
        with suppress(KgqaError):
            self._save(BRIEF)

    def _save(self, patience: float | None = None) -> None:
        """Put into the database what is not there yet."""
        self._saved = time.monotonic()
        with self._database.writing(*() if patience is None else (patience,)) as connection:
            new = self._save_run(connection)
            self._save_points(connection, self._in_database if not new else 0)
        self._in_database = len(self._points)

    def _save_run(self, connection: Connection) -> bool:
        """Insert or update the row; whether it is new."""
        from sqlalchemy import insert, select, update

        from kgqa.training.run_tables import RUN

        best = _best(self._points)
        given = {name: value for name, value in self._final.items() if value is not None}
        row = {
            **self._known(),
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
            **given,
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

        from kgqa.training.run_tables import MEASURES, POINT

        connection.execute(delete(POINT).where(POINT.c.run == self._id, POINT.c.number >= first))
        held = {"part", "step", "seconds", *MEASURES}
        rows = [
            {
                "run": self._id, "number": number, **{name: point.get(name) for name in ("part", "step", "seconds", *MEASURES)},
                "more": {name: value for name, value in point.items() if name not in held},
            }
            for number, point in enumerate(self._points[first:], start=first)
        ]  # fmt: skip
        if rows:
            connection.execute(insert(POINT), rows)

    def _place(self) -> str:
        """The folder, from the database's own where it is below that, so that both can be moved together."""
        beside = None if self._database.path is None else Path(os.path.abspath(self._database.path)).parent
        return str(self._folder.relative_to(beside)) if beside is not None and self._folder.is_relative_to(beside) else str(self._folder)


def _best(points: Sequence[Point]) -> Point | None:
    """The first point with the best score of the part that was measured last, which is the one that answers."""
    scored = [point for point in points if point.get("score") is not None]
    return max((point for point in scored if point["part"] == scored[-1]["part"]), key=lambda point: point["score"], default=None)


def _plain(value: Any, text: Callable[[str], str] = str) -> Any:
    """As JSON has it; no number where there is none, as JSON knows neither infinity nor NaN."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry, text) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, text) for entry in value]
    if isinstance(value, bool | int) or value is None:
        return value
    if not isinstance(value, str) and hasattr(value, "__float__"):
        return float(value) if math.isfinite(float(value)) else None
    return text(str(value))


def _locked(folder: Path) -> int:
    """The folder's lock, which the system takes from the process when it ends; WorkspaceBusy where another one holds it."""
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
