"""Files in public formats → a folder of tables that ``generate`` and ``compose`` read.

A parser cuts each file into pieces; processes parse the pieces, and their rows are written in the order of the files to parts in
``OUT/.parts``. A part ends after ``PART_BYTES`` of text, when its place in the file is noted. A run that was stopped goes on after the last
part, also in the middle of a file. At the end the parts are merged into tables (:mod:`kgqa.runs.merging`), and ``import.json`` is written
last. A further import into the same folder adds its files.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from dataclasses import asdict, astuple, dataclass, field
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, EmptyResult, InterruptedRun, StorageError, WorkspaceError, WorkspaceMismatch, storage_errors
from kgqa.progress import Progress
from kgqa.runs.files import Watch, alone, file_hash, file_hashes, key_of, write_whole
from kgqa.runs.merging import merge, steps
from kgqa.runs.scratch import remove, scratch
from kgqa.settings.small_files import read_small
from kgqa.sources.formats import Parser, Piece, Service
from kgqa.sources.imported import MANIFEST, PARTS, VERSION
from kgqa.sources.streams import TextFile, require_files
from kgqa.version import __version__

JOURNAL, SOURCES = "journal.json", "sources.json"
PART_BYTES = 256 << 20
"""Text between two places at which a stopped import goes on."""
PART_ROWS = 200_000
"""Rows of a service that are written at once."""
PROCESSES_FROM = 16 << 20
"""Bytes of all files from which starting other processes pays."""
Parsed = tuple[dict[str, pa.Table], Counter[str], dict[str, str]]
"""Rows of a piece by table, and what was left out of it: reason → count, reason → the first example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What the card says about the files of one import."""

    format: str
    """Name of the format."""
    licence: str
    """Licence of the files."""
    attribution: str
    """A sentence for the card."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the format that differ from their defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Result of an import."""

    folder: Path
    rows: dict[str, int]
    """Table → rows, of all files in the folder."""
    skipped: list[dict[str, Any]]
    """What was left out: ``file``, ``reason``, ``count`` and ``example``, the file empty for rows that merging left out."""
    notes: list[str]
    """What is missing at the end of cut files."""
    reused: list[str]
    """Files that an earlier run had read whole."""


@dataclass(slots=True, kw_only=True)
class _State:
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


def run_import(
    parser: Parser | Service, files: Sequence[Path], out: Path, origin: Origin, *, workers: int, partial: bool, progress: Progress
) -> Imported:
    """Read ``files`` by ``parser``, or ask a service the queries in them, and write the tables of ``out`` anew. Raises KgqaError."""
    require_files(list(files))
    if not str(out).isprintable() or str(out) != os.fsencode(out).decode("utf-8", "replace"):
        raise StorageError(f"{out}: the name holds characters that cannot be printed; choose another --out.")
    with storage_errors(out):
        _check_folder(out)
        out.mkdir(parents=True, exist_ok=True)
        (out / PARTS).mkdir(exist_ok=True)
        with alone(out / MANIFEST):
            try:
                return _run(parser, files, out, origin, workers=workers, partial=partial, progress=progress)
            except KeyboardInterrupt:
                raise InterruptedRun(f"{out}: stopped; run the same command again to go on from the last part that was written.") from None


def _run(
    parser: Parser | Service, files: Sequence[Path], out: Path, origin: Origin, *, workers: int, partial: bool, progress: Progress
) -> Imported:
    watch = Watch(files)
    sources = _sources(out)
    progress.start("Hashing files", sum(path.stat().st_size for path in files), "bytes")
    reused = []
    states: list[tuple[Path, Path, _State]] = []
    for path in files:
        entry = {"file": path.name, "sha256": file_hash(path), "bytes": path.stat().st_size, "partial": partial, **asdict(origin)}
        progress.advance(path.stat().st_size)
        number = _place(sources, entry)
        if sources.get(number) != entry:
            sources[number] = entry
            write_whole(out / PARTS / SOURCES, json.dumps(sources, indent=1, ensure_ascii=False))
        key = key_of(VERSION, entry)
        state = _state(out / PARTS / number, key)
        if state.done:
            reused.append(path.name)
        states.append((path, out / PARTS / number, state))
    progress.finish(f"{len(reused)} of {len(files)} were read before" if reused else "")
    todo = [(path, place, state) for path, place, state in states if not state.done]
    if todo:
        size = sum(path.stat().st_size for path, _, _ in todo)
        progress.start("Parsing", size, "bytes")
        with _Processes(workers if size >= PROCESSES_FROM else 1) as submit:
            for path, place, state in todo:
                if isinstance(parser, Service):
                    _ask(parser, path, place, state)
                    progress.advance(path.stat().st_size)
                    continue
                text = TextFile(path, partial=partial, advance=progress.advance)
                _parse_file(parser, text, place, state, submit, 3 * workers)
        watch.check()
        progress.finish()
    return _merged(out, sources, workers, progress, reused)


def _place(sources: Mapping[str, dict[str, Any]], entry: Mapping[str, Any]) -> str:
    """The folder of a file's parts: that of an earlier import of the same file with the same options, else a new one."""
    return next((name for name, old in sources.items() if old == entry), f"{max(map(int, sources), default=-1) + 1:05d}")


def _parse_file(parser: Parser, text: TextFile, place: Path, state: _State, submit: Callable[..., Future[Parsed]], ahead: int) -> None:
    """Write the rows of a file in parts, from where the last run stopped."""
    waiting: deque[tuple[Piece, Future[Parsed]]] = deque()
    part: list[Parsed] = []
    begin = state.position

    def take() -> None:
        nonlocal part, begin
        piece, future = waiting.popleft()
        part.append(future.result())
        state.position = piece.position + len(piece.data)
        if state.position - begin >= PART_BYTES:
            _write_part(place, state, part)
            part, begin = [], state.position

    for piece in parser.pieces(text, state.position):
        waiting.append((piece, submit(_parse, parser, piece)))
        while len(waiting) > ahead:
            take()
    while waiting:
        take()
    state.notes = text.notes
    state.done = True
    _write_part(place, state, part)


def _ask(service: Service, path: Path, place: Path, state: _State) -> None:
    """Write the rows that a service gives for the queries of a file, from where the last run stopped."""
    part: list[Parsed] = []
    try:
        queries = read_small(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BrokenInput(f"{path.name}: this is not UTF-8, so it holds no queries; save the file as UTF-8.") from None
    for rows, token in service.pages(queries, state.token):
        whole = token != state.token
        part.append((rows.tables(), rows.skipped, rows.examples))
        if whole or sum(table.num_rows for tables, *_ in part for table in tables.values()) >= PART_ROWS:
            state.token = token
            _write_part(place, state, part, whole=whole)
            part = []
    state.done = True
    _write_part(place, state, part)


def _parse(parser: Parser, piece: Piece) -> Parsed:
    rows = parser.parse(piece)
    return rows.tables(), rows.skipped, rows.examples


def _write_part(place: Path, state: _State, parsed: list[Parsed], *, whole: bool = True) -> None:
    """Write the rows of some pieces, then note that they are there, unless they are not all that belong together."""
    place.mkdir(exist_ok=True)
    name = f"{state.parts:06d}"
    with ExitStack() as stack:
        writers: dict[str, pq.ParquetWriter] = {}
        for tables, skipped, examples in parsed:
            for table, rows in tables.items():
                if table not in writers:
                    writers[table] = stack.enter_context(
                        pq.ParquetWriter(place / f"{name}-{table}.parquet", rows.schema, compression="zstd")
                    )
                writers[table].write_table(rows)
            for reason, count in skipped.items():
                state.skipped[reason] = state.skipped.get(reason, 0) + count
                state.examples.setdefault(reason, examples[reason])
    state.parts += 1
    state.files |= {f"{name}-{table}.parquet": (place / f"{name}-{table}.parquet").stat().st_size for table in writers}
    if whole:
        write_whole(place / JOURNAL, json.dumps(asdict(state), ensure_ascii=False))


def _state(place: Path, key: str) -> _State:
    """How far an earlier run came with the same file and options; parts that it did not note are removed."""
    state = _read_state(place)
    if state is None or state.key != key:
        if place.exists():
            remove(place)
        return _State(key=key)
    for path in place.glob("*.parquet"):
        if path.name not in state.files:
            path.unlink()
    return state


def _read_state(place: Path) -> _State | None:
    """The journal of a file's parts; None where it, or a part that it names, is missing or damaged."""
    try:
        values = json.loads((place / JOURNAL).read_text(encoding="utf-8"))
        state = _State(**values)
        kinds = (str, int, str, int, bool, dict, dict, list, dict)
        whole = all(type(value) is kind for value, kind in zip(astuple(state), kinds, strict=True))
        whole = whole and state.position >= 0 and state.parts >= 0 and all(type(count) is int for count in state.skipped.values())
        whole = whole and state.skipped.keys() == state.examples.keys() and all(type(note) is str for note in state.notes)
        whole = whole and all((place / name).stat().st_size == size for name, size in state.files.items())
    except (OSError, ValueError, TypeError):
        return None
    return state if whole else None


def _sources(out: Path) -> dict[str, dict[str, Any]]:
    """Folder of parts → the file that it was made from, in the order of the imports."""
    path = out / PARTS / SOURCES
    try:
        sources = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        sources = None
    if not isinstance(sources, dict) or not all(
        re.fullmatch(r"\d{5}", name) and isinstance(entry, dict) and {"file", "format", "sha256", "licence"} <= entry.keys()
        for name, entry in sources.items()
    ):
        raise WorkspaceMismatch(f"{path}: this is not what an import wrote; choose another --out, or remove the folder.")
    return sources


def _merged(out: Path, sources: Mapping[str, dict[str, Any]], workers: int, progress: Progress, reused: list[str]) -> Imported:
    """Merge the parts of all files that were read whole, and replace the folder's tables."""
    states: dict[str, _State] = {}
    notes: list[str] = []
    for place, entry in sources.items():
        state = _read_state(out / PARTS / place)
        if state is None or not state.done:
            notes.append(f"{entry['file']}: an earlier import did not read this whole, so it is left out; import it again to add it.")
        else:
            states[place] = state
            notes += state.notes
    progress.start("Merging", steps(), "tables")
    with scratch(out / "tables") as folder:
        (folder / "tables").mkdir()
        (folder / "spill").mkdir()
        parts = [path for place, state in states.items() for path in (out / PARTS / place / name for name in state.files)]
        rows, left_out = merge(parts, folder / "tables", folder / "spill", threads=workers, advance=progress.advance)
        skipped = [
            {"file": sources[place]["file"], "reason": reason, "count": count, "example": state.examples[reason]}
            for place, state in states.items()
            for reason, count in sorted(state.skipped.items())
        ] + [{"file": "", "reason": reason, "count": count, "example": ""} for reason, count in left_out.items()]
        if not rows["entities"] and not rows["documents"]:
            reasons = "; ".join(f"{row['reason']} ({row['count']:,})" for row in skipped) or "none"
            raise EmptyResult(f"the files hold neither entities nor documents that the options keep; left out were: {reasons}.")
        manifest = {
            "version": VERSION,
            "kgqa": __version__,
            "sources": [sources[place] for place in states],
            "rows": rows,
            "skipped": skipped,
            "notes": notes,
            "sha256": file_hashes(folder / "tables"),
        }
        with suppress(FileNotFoundError):
            (out / MANIFEST).unlink()  # while tables are replaced, the folder is not whole
        for path in sorted((folder / "tables").iterdir()):
            path.replace(out / path.name)
        write_whole(out / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    progress.finish(", ".join(f"{count:,} {name}" for name, count in rows.items()))
    return Imported(folder=out, rows=rows, skipped=skipped, notes=notes, reused=reused)


def _check_folder(out: Path) -> None:
    """StorageError where ``out`` holds something that is no import."""
    if out.is_file():
        raise StorageError(f"{out}: this is a file; choose another --out.")
    if out.is_dir() and not (out / PARTS / SOURCES).is_file() and any(path.name != PARTS or any(path.iterdir()) for path in out.iterdir()):
        raise StorageError(f"{out}: the folder holds something that is no import; choose another --out.")


class _Processes:
    """Submit calls to processes, or make them at once where one worker is enough."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Callable[..., Future[Parsed]]:
        if self._workers == 1:
            return _at_once
        # Processes are started anew and not copied, since this one may have threads.
        self._executor = ProcessPoolExecutor(self._workers, mp_context=get_context("spawn"), initializer=_in_worker)
        return self._executor.submit

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise WorkspaceError(
                "a process that parsed a file was ended, perhaps for lack of memory; run the same command again with fewer --workers."
            ) from error


def _at_once(function: Callable[..., Parsed], *arguments: object) -> Future[Parsed]:
    future: Future[Parsed] = Future()
    future.set_result(function(*arguments))
    return future


def _in_worker() -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the main process, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main = parent_process()
    assert main is not None

    def end_with_main() -> None:
        main.join()
        os._exit(1)

    threading.Thread(target=end_with_main, daemon=True).start()
