"""Files in public formats → a folder of tables that ``generate`` and ``compose`` read.

A parser cuts each file into pieces; processes, or the nodes of a cluster, parse them, and their rows go to parts in ``OUT/.parts``
(:mod:`kgqa.runs.parts`). A run that was stopped goes on after the last part, also in the middle of a file. At the end the parts are merged
into tables (:mod:`kgqa.runs.merging`), and ``import.json`` is written last. A further import into the same folder adds its files.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgqa.arrays.parallel import Engine, Threads, worker_threads
from kgqa.arrays.processes import Processes, advanced
from kgqa.errors import (
    BrokenInput,
    EmptyResult,
    InterruptedRun,
    KgqaError,
    SettingsError,
    StorageError,
    WorkspaceMismatch,
    storage_errors,
)
from kgqa.progress import Advance, Progress
from kgqa.runs.files import Watch, alone, file_hash, file_hashes, key_of, known_hash, parents_of, write_whole
from kgqa.runs.merging import merge, steps
from kgqa.runs.parts import JOURNAL, Encoder, Part, State, note_part, parse_file, read_state, resumed
from kgqa.runs.scratch import remove, scratch
from kgqa.settings.small_files import read_small
from kgqa.sources.formats import Parser, Service
from kgqa.sources.imported import MANIFEST, PARTS, VERSION, read_manifest
from kgqa.sources.rows import Rows
from kgqa.sources.streams import TextFile, require_files
from kgqa.version import __version__

SOURCES = "sources.json"
PATHS = "paths.json"
CONTENT = {"sha256", "bytes", "partial"}
"""Keys of a file's description that may change when the file does."""
PART_ROWS = 200_000
"""Rows of a service that are written at once."""
PROCESSES_FROM = 16 << 20
"""Bytes of all files from which starting other processes pays."""
MUCH_LONGER = 2
"""How many times longer than all other files a file must take for all processes to read it together."""


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
    """The result of an import: the folder, its row counts, and what was skipped."""

    folder: Path
    place: str
    """Where the tables lie, as users name it: the URL in an object store, else the folder."""
    rows: dict[str, int]
    """Table → rows, of all files in the folder."""
    skipped: list[dict[str, Any]]
    """What was left out: ``file``, ``reason``, ``count`` and ``example``, the file empty for rows that merging left out."""
    notes: list[str]
    """What is missing at the end of cut files."""
    reused: list[str]
    """Files that an earlier run had read whole."""


def run_import(
    parser: Parser | Service, files: Sequence[Path], out: Path, origin: Origin, *, engine: Engine, partial: bool, progress: Progress,
    watch: Watch | None = None, urls: Mapping[Path, str] = MappingProxyType({}), more_follow: bool = False,
) -> Imported:  # fmt: skip
    """Read ``files`` by ``parser``, or ask a service the queries in them, and write the tables of ``out`` anew.

    ``engine`` parses; in the place of threads, which cannot parse at the same time, come processes. ``watch`` notices when other files
    change that the parser reads, those of its options. ``urls`` says which files are copies of what an object store has. A file that
    changed takes the place of what an earlier import read of it with the same options. Raises KgqaError; a new folder is then removed,
    unless some files were read, which the same call uses again. ``more_follow``: other files follow, so that these may be without entities
    and documents, which is raised, but their rows are kept.
    """

    def waits(holder: str) -> None:
        progress.start("Waiting")
        progress.finish(f"{holder} imports into {out}; this import goes on when it has ended")
        progress.start(f"Waiting for the import of {holder} into {out}")

    require_files(list(files))
    if not str(out).isprintable() or str(out) != os.fsencode(out).decode("utf-8", "replace"):
        raise StorageError(f"{out}: the name contains characters that cannot be printed; choose another --out.")
    with storage_errors(out):
        if out.is_file():
            raise StorageError(f"{out}: this is a file; choose another --out.")
        with parents_of(out / PARTS), alone(out / MANIFEST, waits):
            _check_folder(out)  # within the lock, or the first files of another import would look like no import
            (out / PARTS).mkdir(exist_ok=True)
            try:
                return _run(parser, files, out, origin, watch or Watch(), urls, engine=engine, partial=partial, progress=progress)
            except KeyboardInterrupt:
                raise InterruptedRun(f"{out}: stopped; run the same command again to go on from the last part that was written.") from None
            except KgqaError as error:
                is_useless = (isinstance(error, EmptyResult) and not more_follow) or not any((out / PARTS).glob(f"*/{JOURNAL}"))
                if is_useless and not (out / MANIFEST).exists():
                    remove(out / PARTS)
                raise


def _run(
    parser: Parser | Service, files: Sequence[Path], out: Path, origin: Origin, watch: Watch, urls: Mapping[Path, str], *, engine: Engine,
    partial: bool, progress: Progress,
) -> Imported:  # fmt: skip
    watch.add(files)
    sources = _sources(out)
    progress.start("Hashing files", sum(path.stat().st_size for path in files), "bytes")
    entries: list[tuple[str, Path, str]] = []
    for path in files:
        entry = described(path, origin, partial=partial, url=urls.get(path))
        progress.advance(path.stat().st_size)
        number = _place(sources, entry)
        sources[number] = entry
        entries.append((number, path, key_of(VERSION, entry)))
    paths = _paths(out) | {number: str(path.resolve()) for number, path, _ in entries}
    _write(out, sources, paths)
    todo: list[_File] = []
    reused = []
    for number, path, key in entries:
        state = resumed(out / PARTS / number, key)
        if state.done:
            reused.append(path.name)
        else:
            todo.append(_File(path, out / PARTS / number, state, watch, partial))
    coming = {number for number, *_ in entries}
    replaced = _replaced(coming, sources, paths)
    useless = _useless(coming, sources, paths, out)
    notes = [f"{len(reused)} of {len(files)} were read before"] if reused else []
    notes += [f"{MANIFEST} was damaged and is written anew"] if _is_damaged(out) else []
    notes += [f"{sources[number]['file']} takes the place of what was read of it before" for number in replaced]
    progress.finish("; ".join(notes))
    if todo:
        size = sum(file.size for file in todo)
        progress.start("Parsing", size, "bytes")
        if isinstance(parser, Service):
            for file in todo:
                _ask(parser, file)
                progress.advance(file.size)
        else:
            with _parsing_engine(engine, parser, size, progress) as parsing:
                _read_files(parser, todo, parsing, worker_threads(engine), progress)
        progress.finish()
    if replaced or useless:  # now that their files have been read again
        kept = sources.keys() - {*replaced, *useless}
        sources = {number: entry for number, entry in sources.items() if number in kept}
        _write(out, sources, {number: path for number, path in paths.items() if number in kept})
        for number in {*replaced, *useless}:
            remove(out / PARTS / number)
    return _merged(out, sources, worker_threads(engine), progress, reused)


def described(path: Path, origin: Origin, *, partial: bool, url: str | None = None) -> dict[str, Any]:
    """How the import's manifest describes a file, which may be a copy of what an object store has at ``url``."""
    entry = {"file": path.name, "sha256": file_hash(path), "bytes": path.stat().st_size, "partial": partial, **asdict(origin)}
    return entry if url is None else entry | {"url": url}


def check_import(folder: Path) -> None:
    """Raise BrokenInput if a table of an import is not the one that its manifest names; Parquet does not notice every flipped bit."""
    hashes = (read_manifest(folder) or {}).get("sha256")
    for name, digest in hashes.items() if isinstance(hashes, dict) else ():
        with storage_errors(folder):
            if (folder / name).is_file() and known_hash(folder / name) != digest:
                raise BrokenInput(
                    f"{folder / name}: this is not the table that {MANIFEST} names, so it was damaged or changed; import the files again."
                )


def _is_damaged(out: Path) -> bool:
    try:
        return (out / MANIFEST).is_file() and not read_manifest(out)
    except BrokenInput:
        return True


def _write(out: Path, sources: Mapping[str, Mapping[str, Any]], paths: Mapping[str, str]) -> None:
    for name, content in ((PATHS, paths), (SOURCES, sources)):
        write_whole(out / PARTS / name, json.dumps(content, indent=1, ensure_ascii=False))


def _replaced(entries: Collection[str], sources: Mapping[str, Mapping[str, Any]], paths: Mapping[str, str]) -> list[str]:
    """The folders of earlier files that one of the ``entries`` takes the place of: those at the same path with the same options."""

    def identity(number: str) -> str:
        same = {name: value for name, value in sources[number].items() if name not in CONTENT}
        return json.dumps([paths.get(number, number), same], sort_keys=True)

    coming = {identity(number) for number in entries}
    return [number for number in sources if number not in entries and identity(number) in coming]


def _useless(entries: Collection[str], sources: Collection[str], paths: Mapping[str, str], out: Path) -> list[str]:
    """The folders of earlier files at the path of one of the ``entries``, of which nothing could be read, as with other options."""
    coming = {paths[number] for number in entries}
    unread = [number for number in sources if number not in entries and paths.get(number) in coming]
    return [number for number in unread if (state := read_state(out / PARTS / number)) is None or not (state.done or state.files)]


def _paths(out: Path) -> dict[str, str]:
    """Folder of parts → the path of the file that it was made from; it stays in this folder, and is in no manifest."""
    try:
        paths = json.loads((out / PARTS / PATHS).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return paths if isinstance(paths, dict) else {}


def _place(sources: Mapping[str, dict[str, Any]], entry: Mapping[str, Any]) -> str:
    """The folder of a file's parts: that of an earlier import of the same file with the same options, else a new one."""
    return next((name for name, old in sources.items() if old == entry), f"{max(map(int, sources), default=-1) + 1:05d}")


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    place: Path
    state: State
    watch: Watch
    partial: bool

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def read(self, parser: Parser, engine: Engine, advance: Advance, *, threads: int = 1) -> None:
        """Write the parts of the file. ``threads`` of this process unpack it."""
        text = TextFile(self.path, partial=self.partial, advance=advance, threads=threads)
        parse_file(parser, text, self.place, self.state, self.watch, engine, secrets.token_hex(4))


@contextmanager
def _parsing_engine(engine: Engine, parser: Parser, size: int, progress: Progress) -> Iterator[Engine]:
    """The engine for files of ``size`` bytes in all: parsers hold the interpreter lock, so threads are replaced by processes.

    A parser that reads a file of its options stays on this machine, where that file is.
    """
    reads_files = any(isinstance(value, Path) for value in vars(parser).values())
    if not isinstance(engine, Threads) and not reads_files:
        yield engine
    elif size < PROCESSES_FROM or worker_threads(engine) == 1:
        yield Threads(1)
    else:
        with Processes(worker_threads(engine), advance=progress.advance) as processes:
            yield processes


def _read_files(parser: Parser, files: Sequence[_File], engine: Engine, threads: int, progress: Progress) -> None:
    """Read each file here, and have its pieces parsed by all workers; but by one process alone, which then also unpacks it, if processes
    parse and one would not read it long after the others.
    """
    files = sorted(files, key=lambda file: -file.size)
    together = len(files)
    if isinstance(engine, Processes):
        sizes = [file.size for file in files]
        more = engine.workers - 1
        together = next((at for at, size in enumerate(sizes) if size * more <= MUCH_LONGER * sum(sizes[at + 1 :])), together)
    for file in files[:together]:
        file.read(parser, engine, progress.advance, threads=threads)
    for _ in engine.map(_read_alone, files[together:], (parser,)):
        pass


def _read_alone(file: _File, parser: Parser) -> None:
    """Read a file in a process of its own. Its parts go to the disk, so this is for processes of this machine alone."""
    file.read(parser, Threads(1), advanced)


def _ask(service: Service, file: _File) -> None:
    """Write the rows that a service gives for the queries of a file, from where the last run stopped."""
    path, place, state = file.path, file.place, file.state
    try:
        queries = read_small(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BrokenInput(f"{path.name}: this is not UTF-8, so it contains no queries; save the file as UTF-8.") from None
    encoder, rows = Encoder(), 0

    def note(*, whole: bool) -> None:
        part = Part(place, f"{state.parts:06d}")
        part.add(encoder.close())
        note_part(place, state, file.watch, part, whole=whole)

    for answer, token in _pages(service, queries, state.token, path.name):
        whole = token != state.token
        encoder.add(answer, state.parts)
        rows += answer.count()
        if whole or rows >= PART_ROWS:
            state.token = token
            note(whole=whole)
            encoder, rows = Encoder(), 0
    state.done = True
    note(whole=True)


def _pages(service: Service, queries: str, token: str, file: str) -> Iterator[tuple[Rows, str]]:
    """The pages of the queries in a file; a fault of the queries is said with its name."""
    try:
        yield from service.pages(queries, token)
    except SettingsError as error:
        raise SettingsError(f"{file}: {error}") from None


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
        raise WorkspaceMismatch(f"{path}: this was not written by an import; choose another --out, or remove the folder.")
    return sources


def _merged(out: Path, sources: Mapping[str, dict[str, Any]], workers: int, progress: Progress, reused: list[str]) -> Imported:
    """Merge the parts of all files that were read whole, and replace the folder's tables."""
    states: dict[str, State] = {}
    notes: list[str] = []
    for place, entry in sources.items():
        state = read_state(out / PARTS / place)
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
        skipped_rows = [
            {"file": sources[place]["file"], "reason": reason, "count": count, "example": state.examples[reason]}
            for place, state in states.items()
            for reason, count in sorted(state.skipped.items())
        ] + [{"file": "", "reason": reason, "count": count, "example": ""} for reason, count in left_out.items()]
        if not rows["entities"] and not rows["documents"]:
            reasons = [*(note.rstrip(".") for note in notes), *(f"{row['reason']} ({row['count']:,})" for row in skipped_rows)]
            raise EmptyResult(
                f"the files have neither entities nor documents that satisfy the options; reasons: {'; '.join(reasons) or 'none'}."
            )
        manifest = {
            "version": VERSION,
            "kgqa": __version__,
            "sources": [sources[place] for place in states],
            "rows": rows,
            "skipped": skipped_rows,
            "notes": notes,
            "sha256": file_hashes(folder / "tables"),
        }
        with suppress(FileNotFoundError):
            (out / MANIFEST).unlink()  # while tables are replaced, the folder is not whole
        for path in sorted((folder / "tables").iterdir()):
            path.replace(out / path.name)
        write_whole(out / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    progress.finish(", ".join(f"{count:,} {name}" for name, count in rows.items()))
    return Imported(folder=out, place=str(out), rows=rows, skipped=skipped_rows, notes=notes, reused=reused)


def _check_folder(out: Path) -> None:
    """StorageError where ``out`` holds something that is not an import, or one to which nothing can be added."""
    if (out / PARTS / SOURCES).is_file():
        return
    if (out / MANIFEST).is_file() and (out / "facts.parquet").is_file():
        raise StorageError(
            f"{out}: this is an import without {PARTS}, to which nothing can be added; import all files into another folder, or remove "
            "this one."
        )
    if any(path.name != PARTS or any(path.iterdir()) for path in out.iterdir()):
        raise StorageError(f"{out}: the folder holds something that is not an import; choose another --out.")
