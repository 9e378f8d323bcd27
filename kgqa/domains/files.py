"""The TOML files of a domain: found by name or path, followed along ``extends``, and merged. Files that they name are in their folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.errors import SettingsError, storage_errors, suggestion
from kgqa.settings.small_files import read_toml
from kgqa.settings.source import QUESTIONS

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The settings in the files of one domain, not yet validated."""

    path: Path
    """Path of the domain's TOML file."""
    built_in: dict[str, Any]
    """The built-in file at the end of ``extends``; empty if the last file is a user's."""
    own: dict[str, Any]
    """The user's files, merged; a file overrides those it extends. Empty for a built-in domain."""
    imports_in: Path | None = None
    """The user's file whose ``imports`` count, since theirs are in its folder."""

    @property
    def is_own(self) -> bool:
        """Whether it is a domain of the user's own."""
        return self.path.parent != FOLDER


def built_in() -> list[str]:
    """The names of the domains that kgqa brings, but for ``QUESTIONS``, which has no graph."""
    return sorted({path.stem for path in FOLDER.glob("*.toml")} - {QUESTIONS})


def read_files(domain: str) -> Files:
    """The files of the domain with this name or path. Raises SettingsError."""
    path = _find(domain)
    settings: dict[str, Any] = {}
    visited: set[str] = set()
    imports_in: Path | None = None
    at = path
    while at.parent != FOLDER:
        visited.add(os.path.realpath(at))
        raw = parse(at)
        base = raw.pop("extends", None)
        if "imports" in raw and imports_in is None:
            imports_in = at
        settings = merged(_moved(raw, at, path.parent), settings)
        if base is None:
            return Files(path=path, built_in={}, own=settings, imports_in=imports_in)
        at = _extended(at, base)
        if os.path.realpath(at) in visited:
            raise SettingsError(f"{at}: 'extends' leads back to this file; remove one of the two.")
    return Files(path=path, built_in=parse(at), own=settings, imports_in=imports_in)


def parse(path: Path) -> dict[str, Any]:
    """The content of one file. Raises SettingsError if it is not TOML, BrokenInput if it is not a regular file of moderate size."""
    try:
        raw = read_toml(path)
        return merged(raw, raw)  # a no-op that fails if dotted keys nest too deeply for merged()
    except RecursionError:
        raise SettingsError(f"{path}: this is not a domain, its lists or tables are nested too deeply; fix the file.") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}); choose another file.") from None


def merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """``base`` with the tables of ``change`` merged in, key by key."""
    result = dict(base)
    for key, value in change.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def _find(domain: str) -> Path:
    if domain in {*built_in(), QUESTIONS}:
        return FOLDER / f"{domain}.toml"
    path = Path(domain)
    if path.suffix == ".toml":
        with storage_errors(path):
            if not path.is_file():
                raise SettingsError(f"{path}: there is no such domain file; built in are: {', '.join(built_in())}.")
        return path
    raise SettingsError(
        f"domain {domain!r} is not known: {suggestion(domain, built_in())} For a domain of your own give the path of its .toml file."
    )


def _extended(path: Path, base: object) -> Path:
    """The file that ``extends`` in ``path`` names."""
    if not isinstance(base, str):
        raise SettingsError(f"{path}: 'extends' must be the name of a built-in domain or the path of a .toml file.")
    if base in {*built_in(), QUESTIONS}:
        return FOLDER / f"{base}.toml"
    file = inside(path, "extends", base)
    if file is None:
        raise SettingsError(f"{path}: extends {base!r}, which is neither a built-in domain ({', '.join(built_in())}) nor a file here.")
    return file


def _moved(raw: dict[str, Any], path: Path, folder: Path) -> dict[str, Any]:
    """``raw`` with the query files that it and its variants name, relative to the folder of ``path``, named relative to ``folder``."""
    raw = _queries_moved(raw, path, folder)
    variants = raw.get("variants")
    if not isinstance(variants, dict):
        return raw  # validation of the settings reports the fault
    moved = {
        name: _queries_moved(settings, path, folder) if isinstance(settings, dict) else settings for name, settings in variants.items()
    }
    return {**raw, "variants": moved}


def _queries_moved(raw: dict[str, Any], path: Path, folder: Path) -> dict[str, Any]:
    projection = raw.get("projection")
    if not isinstance(projection, dict) or not isinstance(projection.get("files"), list):
        return raw
    names = projection["files"]
    if not all(isinstance(name, str) for name in names):
        return raw  # validation of the settings reports the fault
    files = []
    for name in names:
        file = inside(path, "projection.files", name)
        if file is None:
            raise SettingsError(
                f"{path}: projection.files names {name!r}, but there is no such file in its folder; correct the name, or put it there."
            )
        files.append(os.path.relpath(file, folder))
    return {**raw, "projection": {**projection, "files": files}}


def inside(path: Path, key: str, name: str) -> Path | None:
    """The file ``name`` in the folder of the domain file ``path``, or None. Raises SettingsError if it lies elsewhere, also through a link.

    A domain may come from a stranger, so it may only read files in its own folder.
    """
    if "\0" in name:
        return None
    folder = os.path.realpath(path.parent)
    file = path.parent / name
    if os.path.isabs(name) or os.path.commonpath([folder, os.path.realpath(file)]) != folder:
        raise SettingsError(f"{path}: {key} names {name!r}, which is outside of this file's folder; move it into that folder.")
    with storage_errors(file):
        return file if file.is_file() else None
