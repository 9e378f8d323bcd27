"""BEIR's tables of judgements: one tab-separated file per split with the columns ``query-id, corpus-id, score``."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from pathlib import Path

from kgqa.errors import BrokenInput, DuplicateId, MissingInput
from kgqa.formats.json import stream
from kgqa.formats.split_names import in_order
from kgqa.records import SPLIT_NAMES

HEADER = ["query-id", "corpus-id", "score"]
Scores = dict[str, int]
"""Corpus id → score, in the order of the table."""
_SCORE = re.compile(r"-?[0-9]{1,9}")


def split_tables(folder: Path) -> dict[str, Path]:
    """Split → table. Raises MissingInput for a folder without tables, BrokenInput for two tables of one split."""
    result: dict[str, Path] = {}
    for stem, split in SPLIT_NAMES.items():
        path = folder / f"{stem}.tsv"
        if path.is_file() and result.setdefault(split, path) != path:
            raise BrokenInput(f"{folder}: both {result[split].name} and {path.name} are its {split} split; remove one of the files.")
    if not result:
        raise MissingInput(f"{folder}: no table here is named train.tsv, dev.tsv or test.tsv; choose a folder that has one.")
    return in_order(result)


def judgements(path: Path) -> dict[str, Scores]:
    """Query → the scores of its texts, in the order of the table; may be empty. Memory: the whole table.

    Raises InputError with file, line and field.
    """
    result: dict[str, Scores] = {}
    rows = _rows(path)
    location, header = next(rows, (path.name, []))
    if header != HEADER:
        raise BrokenInput(f"{location}: expected the header {', '.join(HEADER)}, separated by tabs; add it.")
    for location, row in rows:
        if len(row) != len(HEADER):
            raise BrokenInput(f"{location}: expected {len(HEADER)} fields separated by tabs, found {len(row)}; fix or drop the line.")
        query, text, score = row
        if not _SCORE.fullmatch(score):
            raise BrokenInput(f"{location}, field 'score': expected a whole number of at most 9 digits, found {score[:20]!r}; fix it.")
        scores = result.setdefault(query, {})
        if text in scores:
            raise DuplicateId(f"{location}: text {text!r} was already judged for question {query!r}; drop one of the lines.")
        scores[text] = int(score)
    return result


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Place and fields of each line that is not empty."""
    with stream.opened(path) as file:
        number = 0
        while line := file.readline(stream.RECORD_LIMIT + 1):
            number += 1
            location = f"{path.name}, line {number}"
            if len(line) > stream.RECORD_LIMIT:
                raise BrokenInput(f"{location}: longer than {stream.RECORD_LIMIT >> 20} MiB, so these are not judgements; check the file.")
            try:
                text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise BrokenInput(f"{location}, byte {error.start}: this is not UTF-8; save the file as UTF-8.") from None
            if text:
                yield location, _fields(text, location)


def _fields(line: str, location: str) -> list[str]:
    """The fields of a line. A field with a quotation mark is quoted as Python's csv module does, which BEIR's loader uses."""
    if '"' not in line:
        return line.split("\t")
    try:
        return next(csv.reader([line], delimiter="\t", strict=True))
    except csv.Error as error:
        raise BrokenInput(f"{location}: the quotation marks are not those of a table ({error}); fix or drop the line.") from None
