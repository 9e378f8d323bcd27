"""``kgqa import``: dumps and other files in public formats → tables for ``generate`` and ``compose``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args, get_origin

from kgqa.cluster.opening import opened_engine
from kgqa.errors import SettingsError, require_packages
from kgqa.object_store.address import place_of, url_of
from kgqa.object_store.imports import import_to
from kgqa.object_store.mirror import local_copy
from kgqa.progress import Progress, Silent
from kgqa.runs.files import Watch, file_hash
from kgqa.runs.importing import Imported, Origin, run_import
from kgqa.settings.kinds import members
from kgqa.sources.formats import Parser, Service
from kgqa.sources.registry import FORMATS, describe_options, find_format, parser_of
from kgqa.sources.streams import require_files

NEEDED = ("duckdb", "indexed_bzip2", "lxml", "msgspec", "pyoxigraph", "SPARQLWrapper")
"""Packages of the extra ``sources``."""


def list_formats() -> dict[str, str]:
    """Name of each format that can be imported → its files."""
    return {name: entry.files for name, entry in FORMATS.items()}


def format_options(format: str) -> dict[str, tuple[str, str]]:  # noqa: A002 - what it is called everywhere
    """Option of a format → its default and its meaning. Raises SettingsError."""
    return describe_options(format)


def import_files(
    format: str,  # noqa: A002 - what it is called everywhere
    files: Sequence[str | Path],
    *,
    out: str | Path,
    options: Mapping[str, Any] = MappingProxyType({}),
    licence: str | None = None,
    attribution: str | None = None,
    partial: bool = False,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Import ``files`` of one ``format``, plain or packed by gzip, bzip2 or xz, into the folder ``out``.

    A file can be the URL of an object (:func:`kgqa.object_store.mirror.local_copy`), and ``out`` that of a prefix
    (:func:`kgqa.object_store.imports.import_to`). A folder that holds an import gets these files as well, and its tables are made anew of
    all. A stopped import goes on where it stopped. ``options`` are those of :func:`format_options`. ``licence`` and ``attribution`` are for
    the dataset card, by default the publisher's. ``partial`` reads a file that is cut up to its last whole record. The tables do not depend
    on ``workers`` and ``cluster`` (:func:`kgqa.cluster.opening.opened_engine`). Memory: some groups of pieces, 16 MiB each, per worker, and
    1 GiB to merge them. Raises KgqaError.
    """
    parser, origin, watch = prepared_import(format, options, licence=licence, attribution=attribution)
    if not files:
        raise SettingsError(f"no files are given; give files of the format {format}: {FORMATS[format].files}.")
    place, progress = place_of(out), progress or Silent()
    copies = [local_copy(file, progress=progress) for file in files]
    urls = {copy: url for file, copy in zip(files, copies, strict=True) if (url := url_of(file))}
    with opened_engine(workers, cluster, progress) as engine:

        def run(folder: Path) -> Imported:
            return run_import(
                parser, copies, folder, origin, engine=engine, partial=partial, progress=progress, watch=watch, urls=urls
            )  # fmt: skip

        return run(place) if isinstance(place, Path) else replace(import_to(place, run, progress), place=str(place))


def prepared_import(
    format: str,  # noqa: A002 - what it is called everywhere
    options: Mapping[str, Any],
    *,
    licence: str | None,
    attribution: str | None,
) -> tuple[Parser | Service, Origin, Watch]:
    """Parser of a format with these options, what the card says about its files, and a watch of the files that options name.

    Raises SettingsError.
    """
    file_format = find_format(format)
    if licence == "":
        raise SettingsError(f"the licence of the files in the format {format} is empty; give one, or leave it out for the publisher's.")
    require_packages("an import", "sources", *NEEDED)
    parser = parser_of(format, dict(options))
    watch = Watch(value for name in options if isinstance(value := getattr(parser, name), Path))
    origin = Origin(
        format=format,
        licence=file_format.licence if licence is None else licence,
        attribution=file_format.attribution if attribution is None else attribution,
        options={name: _recorded(getattr(parser, name)) for name in sorted(options)},
    )
    return parser, origin, watch


def _recorded(value: object) -> str:
    """An option as the manifest has it; a file with its hash, so that a changed one is read again."""
    if isinstance(value, Path):
        require_files([value])
        return f"{value.name} {file_hash(value)}"
    return str(value)


def read_options(format: str, texts: Sequence[str]) -> dict[str, Any]:  # noqa: A002 - what it is called everywhere
    """Options from ``name=value`` texts: several values as ``name=a,b``, a table as ``name=a:x,b:y``. Raises SettingsError."""
    fields = find_format(format).model().model_fields
    result: dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not separator:
            raise SettingsError(f"the option {text!r} has no value; write it as name=value.")
        if name in result:
            raise SettingsError(f"the option {name!r} is given twice; give it once, with comma-separated values.")
        annotation = fields[name].annotation if name in fields else None
        kind = get_origin(annotation)
        if kind is tuple or kind is list:
            result[name] = [_scalar(get_args(annotation)[0], part) for part in value.split(",") if part]
        elif kind is dict or kind is Mapping:
            pairs = [part.partition(":") for part in value.split(",") if part]
            if not all(middle for _, middle, _ in pairs):
                raise SettingsError(f"the option {name!r} takes names with values; write it as {name}=name:value,name:value.")
            result[name] = {key: worth for key, _, worth in pairs}
        else:
            result[name] = _scalar(annotation, value)
    return result


def _scalar(annotation: Any, text: str) -> object:
    """The true, false or number that a text stands for where the option takes one, else the text, which is refused there."""
    kinds = set(members(annotation))
    if bool in kinds and text in {"true", "false"}:
        return text == "true"
    for number in (int, float):
        if number in kinds and str not in kinds:
            with suppress(ValueError):
                return number(text)
    return text
