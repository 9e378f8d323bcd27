"""The files that a domain names as ``imports`` → an import in the workspace, from which the stages read.

The folder holds exactly what the domain names: an unchanged import is reused, a stopped one goes on, and what another version of the domain
imported is dropped.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from kgqa.arrays.parallel import Engine
from kgqa.commands.import_files import NEEDED, prepared_import, read_options
from kgqa.domains.files import inside
from kgqa.errors import BrokenInput, EmptyResult, InputChanged, InterruptedRun, KgqaError, SettingsError, require_packages, storage_errors
from kgqa.progress import Progress, Silent, Within
from kgqa.runs.domain import Domain
from kgqa.runs.files import Watch, file_hashes, key_of, write_whole
from kgqa.runs.importing import SOURCES, Origin, described, run_import
from kgqa.runs.runner import locked
from kgqa.runs.scratch import remove
from kgqa.runs.workspace import Workspace
from kgqa.settings.source import ImportSettings
from kgqa.sources.formats import Parser, Service
from kgqa.sources.imported import MANIFEST, PARTS, read_manifest
from kgqa.sources.registry import find_format

IMPORTING = "Importing the files that the domain names"
"""What a plan calls it."""
PATTERN = frozenset("*?[")
SERVERS = {"neo4j": ("uri", "NEO4J_URI")}
"""Format → the option that names a server which gets the user's password, and the variable that names it instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of ``imports``, checked."""

    name: str
    """Its number and format, for messages."""
    files: list[Path]
    parser: Parser | Service
    origin: Origin
    partial: bool
    watch: Watch
    """Of the files that its options name."""

    def sources(self) -> list[dict[str, Any]]:
        """How the import's manifest describes the files."""
        return [described(path, self.origin, partial=self.partial) for path in self.files]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """The import of a domain, without doing it."""

    files: dict[str, int]
    """File → bytes."""
    done: bool
    """Whether the workspace has it already."""


def entries(domain: Domain) -> list[Entry]:
    """What a domain imports; empty where it reads a source folder. Raises SettingsError, before any file is read."""
    at = domain.imports_in
    return [] if at is None else [_entry(at, number, entry) for number, entry in enumerate(domain.settings.imports, start=1)]


def import_entries(domain: Domain, to_import: Sequence[Entry], workspace: Workspace, *, engine: Engine, progress: Progress) -> None:
    """Make the folder ``domain.source`` from the entries, if there are any and it is not their import already. Raises KgqaError."""
    if (at := domain.imports_in) is None:
        return
    with locked(workspace):
        workspace.changes(domain=domain.settings.name, inputs={})  # refuses the workspace of another domain
        sources = _sources(to_import, progress)
        key = key_of(sources)
        if not is_current(domain.source, sources):
            workspace.bring_import(key)
        if is_current(domain.source, sources):
            progress.finish("imported before")
            workspace.keep_import(key)
            return
        progress.finish()
        _arrange(domain.source, sources)
        for entry in to_import:
            within = Within(progress, entry.name)
            with (
                _naming_entry(entry.name, at),
                suppress(*([] if entry is to_import[-1] else [EmptyResult])),
            ):  # relations alone hold no documents
                run_import(
                    entry.parser, entry.files, domain.source, entry.origin, engine=engine, partial=entry.partial, progress=within,
                    watch=entry.watch, more_follow=entry is not to_import[-1],
                )  # fmt: skip
        if not is_current(domain.source, sources):
            raise InputChanged(f"{at}: one of its imported files changed while it was read; run the same command again.")
        workspace.keep_import(key)


def plan_entries(domain: Domain) -> ImportPlan | None:
    """What :func:`import_entries` would do; None where it would do nothing. Writes nothing."""
    to_import = entries(domain)
    if not to_import:
        return None
    with storage_errors(domain.source):
        files = {path.name: path.stat().st_size for entry in to_import for path in entry.files}
        return ImportPlan(files=files, done=is_current(domain.source, _sources(to_import, Silent())))


def is_current(folder: Path, sources: Sequence[dict[str, Any]]) -> bool:
    """Whether the folder holds the import of exactly these files with these options, undamaged."""
    try:
        manifest = read_manifest(folder)
        hashes = {name: digest for name, digest in file_hashes(folder).items() if "/" not in name and name != MANIFEST}
    except (BrokenInput, OSError):
        return False
    return manifest is not None and manifest.get("sources") == list(sources) and manifest.get("sha256") == hashes


def _sources(to_import: Sequence[Entry], progress: Progress) -> list[dict[str, Any]]:
    """The descriptions of all files in order, each once."""
    progress.start("Hashing files", sum(path.stat().st_size for entry in to_import for path in entry.files), "bytes")
    result: list[dict[str, Any]] = []
    for entry in to_import:
        for source in entry.sources():
            if source not in result:
                result.append(source)
            progress.advance(source["bytes"])
    return result


def _arrange(folder: Path, sources: Sequence[dict[str, Any]]) -> None:
    """Keep the parts of an earlier import that came from these files, in the order of ``sources``; remove the others.

    After a kill between two steps, parts may be in the place of another file; their journal names their own, so they are read again.
    """
    parts = folder / PARTS
    try:
        earlier = dict(json.loads((parts / SOURCES).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        earlier = {}
    old = {name: source for name, source in earlier.items() if (parts / name).is_dir()}
    new = {f"{number:05d}": source for number, source in enumerate(sources)}
    if list(new.items())[: len(earlier)] == list(earlier.items()) or not (parts / SOURCES).is_file():
        return
    (folder / MANIFEST).unlink(missing_ok=True)  # until all are merged, the folder is no import
    write_whole(parts / SOURCES, json.dumps(new, indent=1, ensure_ascii=False))
    reusable = {}
    for name, source in new.items():
        if (place := next((place for place, other in old.items() if other == source), None)) is not None:
            reusable[name] = (parts / place).rename(parts / f"kept-{place}")
    for path in parts.iterdir():
        if path.name != SOURCES and path not in reusable.values():
            remove(path)
    for name, path in reusable.items():
        path.rename(parts / name)


def _entry(at: Path, number: int, entry: ImportSettings) -> Entry:
    """Raises SettingsError for what the format does not have, or files that are not there or are elsewhere."""
    name = f"entry {number} of imports ({entry.format})"
    with _naming_entry(name, at):
        require_packages("an import", "sources", *NEEDED)
        fields = find_format(entry.format).model().model_fields
        if (server := SERVERS.get(entry.format)) and server[0] in entry.options:
            raise SettingsError(
                f"a domain file must not set the server, because your password is sent to it; leave out {server[0]!r} and set {server[1]}."
            )
        options: dict[str, Any] = {}
        for option, value in entry.options.items():
            if option in fields and Path in (fields[option].annotation, *get_args(fields[option].annotation)):
                options[option] = _file(at, f"the option {option!r} of {name}", str(value))
            elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
                options |= read_options(entry.format, [f"{option}={value}"])
            else:
                options[option] = value
        parser, origin, watch = prepared_import(entry.format, options, licence=entry.licence, attribution=entry.attribution)
        files = [file for pattern in entry.files for file in _files(at, name, pattern)]
    return Entry(name=name, files=list(dict.fromkeys(files)), parser=parser, origin=origin, partial=entry.partial, watch=watch)


def _files(at: Path, key: str, name: str) -> Iterator[Path]:
    """The files that a name or a pattern stands for, sorted."""
    if not PATTERN & set(name) or (at.parent / name).is_file():
        yield _file(at, key, name)
        return
    inside(at, key, name)  # refuses a pattern that leads out of the folder
    files = [file for match in sorted(glob.glob(name, root_dir=at.parent)) if (file := inside(at, key, match)) is not None]
    if not files:
        raise SettingsError(f"no file matches {name!r} in the folder of this domain; correct the pattern.")
    yield from files


def _file(at: Path, key: str, name: str) -> Path:
    file = inside(at, key, name)
    if file is None:
        raise SettingsError(f"there is no file {name!r} in the folder of this domain; correct the name, or put the file there.")
    return file


@contextmanager
def _naming_entry(entry: str, at: Path) -> Iterator[None]:
    """Say of which entry an error is."""
    try:
        with storage_errors(at):
            yield
    except InterruptedRun:
        raise
    except KgqaError as error:
        text = str(error).replace("with --partial", "with partial = true")
        raise type(error)(text if text.startswith(f"{at}: ") else f"{at}: {entry}: {text}") from None
