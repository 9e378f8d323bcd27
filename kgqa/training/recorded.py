"""Recorded runs as read from a database: what each was, its outcome, and whether it still runs."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.errors import BrokenInput, UnknownId, suggestion
from kgqa.training.record import BEAT, LOCK
from kgqa.training.run_database import RunDatabase
from kgqa.training.run_log import MEASURES, NUMBER, Point

if TYPE_CHECKING:
    from sqlalchemy import Connection

STATUSES = {
    "running": "its process trains",
    "finished": "it is done",
    "interrupted": "the user stopped it; the same command goes on",
    "failed": "it ended for the reason that is given",
    "stopped": "its process is gone without a word, as one that is killed; the same command goes on",
}
"""Status → a sentence with its meaning."""
_TIMES, _LATEST = ("started", "heartbeat", "ended"), 2.5e11
"""Time columns, and roughly the last time that Python has a date for."""
_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("hashes", "settings", "versions"), (dict,)),
    **dict.fromkeys(("started", "heartbeat", "seconds"), (int, float)),
    **dict.fromkeys(("ended", "score"), (int, float, type(None))),
    **dict.fromkeys(("seed", "sessions", "steps"), (int,)),
    "score_step": (int, type(None)),
    **dict.fromkeys(("name", "folder", "host", "reader", "dataset", "device", "status", "sentence"), (str,)),
}
"""Column → allowed types; SQLite itself accepts any value in any column."""
SILENCE = 10 * BEAT
"""Seconds without a heartbeat after which a process on another machine counts as dead."""
_POINT_KINDS: Mapping[str, tuple[type, ...]] = {"part": (str,), "step": (int,), "seconds": NUMBER, "more": (dict,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A run as the database recorded it."""

    name: str
    """The name of its folder, with ``#2`` and so on if the database already had a run of that name."""
    folder: Path
    host: str
    """The machine of its last session."""
    reader: str
    dataset: str
    hashes: Mapping[str, str]
    """File of the dataset → SHA-256 of its bytes."""
    seed: int
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    device: str
    status: str
    """Status of the run, a key of ``STATUSES``."""
    sentence: str
    """The reason of a failure; else ""."""
    sessions: int
    """Number of sessions: the first start and each resumption."""
    started: float
    """Seconds since 1970, UTC; so are ``heartbeat`` and ``ended``."""
    heartbeat: float
    ended: float | None
    seconds: float
    """Total duration of its sessions."""
    steps: int
    """Steps of the part that was trained last."""
    score: float | None
    """The best dev score of the part that was measured last."""
    score_step: int | None
    curve: tuple[Point, ...] = ()
    """Empty in a list of runs."""


def read_runs(database: RunDatabase) -> tuple[RecordedRun, ...]:
    """All runs by start time, without curves. Raises MissingInput, BrokenInput, StorageError or StoreUnreachable."""
    from sqlalchemy import select

    from kgqa.training.run_tables import RUN

    with database.reading() as connection:
        rows = connection.execute(select(RUN).order_by(RUN.c.started, RUN.c.id)).mappings().all()
    return tuple(_run_of(row, database) for row in rows)


def read_named(database: RunDatabase, names: Iterable[str]) -> tuple[RecordedRun, ...]:
    """The runs of these names, in their order, with curves. Raises UnknownId for an unknown name."""
    from sqlalchemy import select

    from kgqa.training.run_tables import RUN

    runs = []
    with database.reading() as connection:
        recorded_names = connection.execute(select(RUN.c.name)).scalars().all()
        if not all(isinstance(name, str) for name in recorded_names):
            raise BrokenInput(f"{database.name}: the name of a run in it is invalid; choose another, or train again.")
        for name in names:
            if name not in recorded_names:
                raise UnknownId(
                    f"run {name!r} is not in {database.name}; {suggestion(name, recorded_names) if recorded_names else 'it has none.'}"
                )
            row = connection.execute(select(RUN).where(RUN.c.name == name)).mappings().one()
            runs.append(replace(_run_of(row, database), curve=_curve(connection, row["id"], database)))
    return tuple(runs)


def _curve(connection: Connection, number: int, database: RunDatabase) -> tuple[Point, ...]:
    from sqlalchemy import select

    from kgqa.training.run_tables import POINT

    kinds = {**_POINT_KINDS, **dict.fromkeys(MEASURES, (*NUMBER, type(None)))}
    rows = connection.execute(select(POINT).where(POINT.c.run == number).order_by(POINT.c.number)).mappings().all()
    for row in rows:
        for name, kind in kinds.items():
            if not isinstance(row[name], kind):
                raise BrokenInput(f"{database.name}: the {name} of a point in it is invalid; choose another, or train again.")
    return tuple(
        {
            **{name: row[name] for name in ("part", "step", "seconds")},
            **{name: row[name] for name in MEASURES if row[name] is not None},
            **row["more"],
        }
        for row in rows
    )


def _run_of(row: Mapping[Any, Any], database: RunDatabase) -> RecordedRun:
    for name, kinds in _KINDS.items():
        if (
            not isinstance(row[name], kinds)
            or (name in _TIMES and not 0 <= (row[name] or 0) < _LATEST)
            or (name == "status" and row[name] not in STATUSES)
        ):
            raise BrokenInput(f"{database.name}: the {name} of run {row['name']} in it is invalid; choose another, or train again.")
    folder = Path(row["folder"])
    if database.path is not None:
        folder = database.path.parent / folder
    status = row["status"]
    if status == "running" and not _is_alive(folder, row):
        status = "stopped"
    values = {name: row[name] for name in RecordedRun.__dataclass_fields__ if name not in {"folder", "status", "curve"}}
    return RecordedRun(folder=folder, status=status, **values)


def _is_alive(folder: Path, row: Mapping[Any, Any]) -> bool:
    """On this machine the lock in the run's folder tells; elsewhere, or without locks, the last heartbeat."""
    if row["host"] == socket.gethostname():
        with suppress(OSError):
            return _lock_is_held(folder / LOCK, row["uid"])
    return bool(time.time() - row["heartbeat"] < SILENCE)


def _lock_is_held(lock: Path, uid: str) -> bool:
    """Whether a process trains this run in this folder. Raises OSError if the lock cannot tell."""
    file = os.open(lock, os.O_RDONLY)
    try:
        if os.read(file, len(uid) + 1) != uid.encode():  # another run is in this folder now
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
    finally:
        os.close(file)
