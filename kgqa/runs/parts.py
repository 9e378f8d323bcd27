"""The rows of one file of an import, in parts on disk, and the journal that says how far they go.

A part holds the rows of about ``PART_BYTES`` of text. The processes that parse its pieces write a Parquet file for each table, so no row
goes from one process to another; the column ``position``, of the piece in the text, says the order. A part counts when the journal names
its files; what a killed process left is removed.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.runs.files import Watch, write_whole
from kgqa.runs.scratch import remove
from kgqa.sources.formats import Parser, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import TextFile

JOURNAL = "journal.json"
PART_BYTES = 256 << 20
"""Text between two places at which a stopped import goes on."""
AHEAD = 3
"""Pieces that wait for each process."""
Submit = Callable[..., Future[Any]]
"""Calls a function with arguments in a certain process."""


@dataclass(slots=True, kw_only=True)
class State:
    """What is known of one file; ``OUT/.parts/FILE/journal.json``."""

    key: str
    position: int = 0
    token: str = ""
    """Of a service."""
    parts: int = 0
    done: bool = False
    skipped: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    """Part → bytes."""


@dataclass(slots=True)
class Written:
    """What one process wrote of a part."""

    files: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    examples: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Reason → the first example, after the position of its piece."""


class Part:
    """The files that one process writes of a part, ``NAME-TABLE.parquet``."""

    def __init__(self, place: Path, name: str) -> None:
        """A file is created in ``place`` when the first row of its table is added."""
        self._place, self._name = place, name
        self._open = ExitStack()
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._written = Written()

    def add(self, rows: Rows, position: int) -> None:
        """Write the rows of the piece at ``position``, which is after those of all earlier calls."""
        for table, values in rows.tables().items():
            numbered = values.append_column("position", pa.repeat(pa.scalar(position, pa.int64()), values.num_rows))
            if table not in self._writers:
                self._place.mkdir(exist_ok=True)
                path = self._place / f"{self._name}-{table}.parquet"
                self._writers[table] = self._open.enter_context(pq.ParquetWriter(path, numbered.schema, compression="zstd"))
            self._writers[table].write_table(numbered)
        for reason, count in rows.skipped.items():
            self._written.skipped[reason] = self._written.skipped.get(reason, 0) + count
            self._written.examples.setdefault(reason, (position, rows.examples[reason]))

    def close(self) -> Written:
        """Close the files, and return their sizes with the counts of skipped rows."""
        self._open.close()
        for table in self._writers:
            name = f"{self._name}-{table}.parquet"
            self._written.files[name] = (self._place / name).stat().st_size
        return self._written


_open: dict[str, Part] = {}
"""The part that this process writes."""


def add_piece(parser: Parser, piece: Piece, place: Path, name: str) -> None:
    """Parse a piece and write its rows to this process's files of a part."""
    try:
        rows = parser.parse(piece)
        _open.setdefault(name, Part(place, name)).add(rows, piece.position)
    except BaseException:
        abandon()
        raise


def close_part(name: str) -> Written:
    """End this process's files of a part."""
    return _open.pop(name).close() if name in _open else Written()


def abandon() -> None:
    """Close the files of this process after an error; no journal names them."""
    for part in _open.values():
        with suppress(OSError):
            part.close()
    _open.clear()


def at_once(function: Callable[..., object], *arguments: object) -> Future[object]:
    """A :data:`Submit` that calls the function in this process, without a pool."""
    future: Future[object] = Future()
    future.set_result(function(*arguments))
    return future


def parse_file(parser: Parser, text: TextFile, place: Path, state: State, watch: Watch, processes: Sequence[Submit], run: str) -> None:
    """Write the rows of a file in parts, from where the last run stopped. ``run`` is a name that no other run has.

    Raises InputChanged if the file, or another that the parser reads, is no longer as the ``watch`` saw it; then no part of it counts.
    Each piece goes to the process for which the fewest wait. The end of a part goes to all of them, and is noted when all earlier pieces
    are written.
    """
    waiting: deque[tuple[int, list[Future[Any]]]] = deque()
    busy: list[list[Future[Any]]] = [[] for _ in processes]
    begin = position = state.position
    number = state.parts

    def take() -> None:
        position, futures = waiting.popleft()
        results = [future.result() for future in futures]
        if position >= 0:
            state.position = position
            note_part(place, state, watch, results)

    def end_part(position: int) -> None:
        waiting.append((position, [submit(close_part, f"{number:06d}-{run}-{at}") for at, submit in enumerate(processes)]))

    for piece in parser.pieces(text, state.position):
        for futures in busy:
            futures[:] = [future for future in futures if not future.done()]
        at = min(range(len(processes)), key=lambda at: len(busy[at]))
        future = processes[at](add_piece, parser, piece, place, f"{number:06d}-{run}-{at}")
        busy[at].append(future)
        waiting.append((-1, [future]))
        position = piece.position + len(piece.data)
        if position - begin >= PART_BYTES:
            end_part(position)
            begin, number = position, number + 1
        while len(waiting) > AHEAD * len(processes):
            take()
    end_part(position)
    while len(waiting) > 1:
        take()
    state.notes, state.done = text.notes, True
    take()


def note_part(place: Path, state: State, watch: Watch, written: Iterable[Written], *, whole: bool = True) -> None:
    """Note that the files of a part are there, unless they are not all that belong together.

    Raises InputChanged if the input has changed: the part would otherwise count for a later run on the file that was put back.
    """
    watch.check()
    examples: dict[str, tuple[int, str]] = {}
    for files in written:
        state.files |= files.files
        for reason, count in files.skipped.items():
            state.skipped[reason] = state.skipped.get(reason, 0) + count
            examples[reason] = min(examples.get(reason, files.examples[reason]), files.examples[reason])
    for reason, (_, example) in examples.items():
        state.examples.setdefault(reason, example)
    state.parts += 1
    if whole:
        place.mkdir(exist_ok=True)
        write_whole(place / JOURNAL, json.dumps(asdict(state), ensure_ascii=False))


def resumed(place: Path, key: str) -> State:
    """How far an earlier run came with the same file and options; parts that it did not note are removed."""
    state = read_state(place)
    if state is None or state.key != key:
        if place.exists():
            remove(place)
        return State(key=key)
    for path in place.glob("*.parquet"):
        if path.name not in state.files:
            path.unlink()
    return state


def read_state(place: Path) -> State | None:
    """The journal of a file's parts; None where it, or a part that it names, is missing or damaged."""
    try:
        values = json.loads((place / JOURNAL).read_text(encoding="utf-8"))
        state = State(**values)
        kinds = (str, int, str, int, bool, dict, dict, list, dict)
        whole = all(type(value) is kind for value, kind in zip(astuple(state), kinds, strict=True))
        whole = whole and state.position >= 0 and state.parts >= 0 and all(type(count) is int for count in state.skipped.values())
        whole = whole and state.skipped.keys() == state.examples.keys() and all(type(note) is str for note in state.notes)
        whole = whole and all((place / name).stat().st_size == size for name, size in state.files.items())
    except (OSError, ValueError, TypeError):
        return None
    return state if whole else None
