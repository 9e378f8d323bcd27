"""The log of a run in its own folder, as JSON lines: what the run is, its points, and its end. The database is filled from it.

A line that a kill cut short is ignored. When a run resumes from an earlier step, later points are removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, storage_errors
from kgqa.runs.files import write_whole

FILE = "log.jsonl"
VERSION = 1
NUMBER = (int, float)
LARGEST = 1 << 53
"""No number of a run is larger."""
MEASURES = ("loss", "score", "examples_per_second")
END = {"seconds": NUMBER}
POINT = {"part": (str,), "step": (int,), **END}
RUN = {"uid": (str,), "started": NUMBER, "sessions": (int,), **END}
"""Kind of line → its required fields and their types."""
Point = dict[str, Any]
"""``part``, ``step``, ``seconds``, and measures."""


@dataclass(slots=True, kw_only=True)
class RunLog:
    """The content of a log."""

    run: dict[str, Any] | None = None
    """None if there is no log yet."""
    points: list[Point] = field(default_factory=list)
    seconds: float = 0.0
    """Duration of the run up to the last line."""


def read(path: Path) -> RunLog:
    """The log in a file, empty if there is none. Raises BrokenInput with the line if it is not a log of this version."""
    log = RunLog()
    if not path.exists():
        return log
    for number, line in _lines(path):
        kind = line.pop("kind", None)
        if kind == "run" and line.get("version") == VERSION and _has(line, RUN):
            log.run = line
        elif kind == "point" and log.run is not None and _has(line, POINT | _field_types(line)):
            add(log.points, line)
        elif kind != "end" or log.run is None or not _has(line, END):
            raise BrokenInput(
                f"{path}, line {number}: this is not the log of a run of this version; move the file away to begin a new log."
            )
        log.seconds = max(log.seconds, float(line["seconds"]))
    return log


def _has(line: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> bool:
    values = {name: line.get(name) for name in kinds}
    numbers = (value for value in values.values() if isinstance(value, int | float))
    return all(type(values[name]) in kind for name, kind in kinds.items()) and all(-LARGEST <= value <= LARGEST for value in numbers)


def _field_types(line: Mapping[str, Any]) -> dict[str, tuple[type, ...]]:
    return {name: NUMBER for name in MEASURES if line.get(name) is not None}


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with storage_errors(path):
        lines = path.read_bytes().split(b"\n")[:-1]
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise BrokenInput(f"{path}, line {number}: this is not a JSON object; move the file away to begin a new log.")
        yield number, value


def add(points: list[Point], point: Point) -> int:
    """Append a point, or merge it into the point of the same step and part; return its index."""
    for index in range(len(points) - 1, -1, -1):
        if points[index]["part"] == point["part"]:
            if points[index]["step"] == point["step"]:
                points[index] = points[index] | point
                return index
            break  # the steps of a part rise
    points.append(point)
    return len(points) - 1


def write(path: Path, run: Mapping[str, Any], points: Sequence[Point]) -> None:
    """Rewrite the log with these points. Raises StorageError."""
    write_whole(path, "".join([_line("run", {"version": VERSION, **run}), *(_line("point", point) for point in points)]))


def append(path: Path, kind: str, line: Mapping[str, Any]) -> None:
    """Append a line: a ``point``, or the ``end`` of a session. Raises StorageError."""
    with storage_errors(path), path.open("ab", buffering=0) as file:
        file.write(_line(kind, line).encode("utf-8", "backslashreplace"))


def _line(kind: str, line: Mapping[str, Any]) -> str:
    return json.dumps({"kind": kind, **line}, ensure_ascii=False) + "\n"
