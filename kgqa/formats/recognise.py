"""Recognising the format of a question set from its content, and its splits from the names of its files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from kgqa.errors import BrokenInput, InputError, MissingInput
from kgqa.formats.json import stream
from kgqa.formats.json.validate import validated
from kgqa.formats.registry import FILE_FORMATS, FOLDER_FORMATS, FORMATS, FileFormat, FlatRows, FolderFormat, find_format
from kgqa.formats.split_names import in_order, split_in
from kgqa.formats.text_files import JSON_SUFFIXES, is_file_of_texts, may_be_ignored, may_hold_texts

_MASKED = ".masked."
"""Part of the names of a masked twin's files, which are a separate set."""
_COMPRESSED = re.compile(r"\.jsonl?\.(7z|bz2|lz4|xz|zip|zst)", re.IGNORECASE)


def recognise(path: Path, option: str) -> str:
    """The name of the format of the file or folder ``path``; ``option``: how users name a format, for messages.

    Raises BrokenInput if no format is recognised, or if the files of a folder have several.
    """
    for name in FOLDER_FORMATS:
        if cast(FolderFormat, find_format(name)).is_folder(path):
            return name
    formats = {file: _recognise_file(file, option) for file in split_files(path).values()}
    if len(set(formats.values())) > 1:
        kinds = ", ".join(f"{file.name} is {name}" for file, name in formats.items())
        raise BrokenInput(f"{path}: its files are of several formats ({kinds}); give one of them.")
    return next(iter(formats.values()))


def split_files(path: Path) -> dict[str, Path]:
    """Split → file, for one file, or for the files of a folder whose names contain a split. Raises InputError for unclear names."""
    if not path.is_dir():
        return {split_in(path.name) or "test": path}
    files: dict[str, Path] = {}
    for file in _data_files(path):
        split = split_in(file.name)
        if split is None:
            raise BrokenInput(f"{file}: its name does not contain a split (train, dev or test); rename it, move it away, or give one file.")
        if split in files:
            raise BrokenInput(f"{path}: both {files[split].name} and {file.name} are its {split} split; give one of the files.")
        files[split] = file
    if not files:
        raise MissingInput(f"{path}: no file here is named train, dev or test ({', '.join(JSON_SUFFIXES)}); give one of its files.")
    return in_order(files)


def _data_files(folder: Path) -> list[Path]:
    """The files of a folder that hold questions, without masked twins unless all are."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    archives = (file for file in files if _COMPRESSED.fullmatch("".join(file.suffixes[-2:])) and split_in(file.name))
    unreadable = next((file for file in archives if not file.with_suffix("").exists() and not may_be_ignored(file)), None)
    if unreadable is not None:
        raise BrokenInput(f"{unreadable}: the only compressed files that kgqa reads are gzip files; decompress it, or move it away.")
    files = [file for file in files if file.name.endswith(JSON_SUFFIXES) and _holds_questions(file)]
    return [file for file in files if _MASKED not in file.name] or files


def _holds_questions(file: Path) -> bool:
    """Whether a JSON file holds questions; a name like that of a file of texts is not enough to exclude it."""
    if not may_hold_texts(file):
        return True
    if is_file_of_texts(file):
        return False
    try:
        record = stream.head(file)
    except InputError:
        return False
    return any(_recognises(name, record) for name in FILE_FORMATS)


def _recognise_file(file: Path, option: str) -> str:
    record: Mapping[str, Any] = stream.head(file)
    for name in FILE_FORMATS:
        if whole_file := getattr(find_format(name), "whole_file", None):
            record = whole_file(file, record)
    for name in FILE_FORMATS:
        if _recognises(name, record):
            return name
    for name in FOLDER_FORMATS:
        if isinstance(module := find_format(name), FlatRows) and isinstance(record, Mapping) and module.is_row(record):
            return name
    fields = ", ".join(list(record)[:6]) or "none"
    doubts = " ".join(_doubts(record)) if isinstance(record, Mapping) else ""
    raise BrokenInput(
        f"{file}: no known format has these fields ({fields}). {doubts}{' ' * bool(doubts)}Give one with {option}: {', '.join(FORMATS)}."
    )


def _recognises(name: str, record: Mapping[str, Any]) -> bool:
    return isinstance(record, Mapping) and cast(FileFormat, find_format(name)).recognises(record) and not _contradiction(name, record)


def _contradiction(name: str, record: Mapping[str, Any]) -> str:
    """The first error in ``record`` as a record of the format, if the format knows at most half of its fields; else empty.

    One key is no proof, since a file of another set may have it. A broken record of the format itself has most of the format's fields.
    """
    module = find_format(name)
    kind, fields = getattr(module, "RECORD", None), getattr(getattr(module, "Record", None), "__annotations__", {})
    shared_fields = len(record.keys() & fields.keys())
    # A file that is one object, such as a contrast set, has no field of a record.
    if kind is None or not shared_fields or 2 * shared_fields > len(record):
        return ""
    try:
        validated(record, kind, "")
    except InputError as error:
        return str(error).partition(";")[0].lstrip(", ")
    return ""


def _doubts(record: Mapping[str, Any]) -> Iterator[str]:
    """For each format that ``record`` resembles, a sentence why it is not of this format."""
    for name in FILE_FORMATS:
        module = cast(FileFormat, find_format(name))
        if module.recognises(record) and (contradiction := _contradiction(name, record)):
            yield f"It is not {name}, some of whose fields it has: {contradiction}."
        elif reason := getattr(module, "why_not", lambda _: "")(record):
            yield reason
