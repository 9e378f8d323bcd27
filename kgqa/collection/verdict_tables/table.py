"""A table of judgements: tab-separated, one line per sample and annotator, with the samples' origin above.

Earlier versions of kgqa wrote them for one annotator; the tables of docs/readings are such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kgqa.collection.draw import MOST_SAMPLE, Origin
from kgqa.collection.verdicts import TABLE_MARKS, VERDICTS, Category
from kgqa.errors import MOST_SEED, BrokenInput, DuplicateId, InputError, MissingInput, UnknownId, storage_errors, suggestion
from kgqa.settings.small_files import read_small

TITLE = "# kgqa review 1"
"""The first line; the number is the version of the format."""
COLUMNS = ("sample", "reader", "verdict", "marks", "candidate", "note")
NUMBERS = {"seed": range(MOST_SEED + 1), "sample": range(1, MOST_SAMPLE + 1)}
"""Numeric fields of the origin → their allowed range."""
_LETTERS = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Judgement of one sample by one annotator."""

    sample: str
    reader: str
    verdict: str = ""
    """A key of ``VERDICTS``; empty if there is no verdict yet."""
    marks: tuple[str, ...] = ()
    """Keys of ``TABLE_MARKS``, in their order."""
    candidate: str = ""
    """The candidate that is as true as the answer, if the annotator names one."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Judgements of the samples of one draw, at most one per sample and annotator."""

    origin: Origin
    judgements: tuple[Judgement, ...]


def read_table(path: Path) -> Table:
    """The table in a file. Raises MissingInput, BrokenInput and DuplicateId with the line, and StorageError."""
    with storage_errors(path):
        if not path.is_file():
            raise MissingInput(f"{path}: there is no such file; give a table of verdicts.")
        try:
            lines = read_small(path).decode("utf-8-sig").replace("\r\n", "\n").split("\n")
        except UnicodeDecodeError:
            raise BrokenInput(f"{path}: this is not UTF-8 text, so it is not a table of verdicts; choose another file.") from None
    if lines[0] != TITLE:
        raise BrokenInput(f"{path}, line 1: a table of verdicts begins with {TITLE!r}; choose another file.")
    names = list(Origin.__dataclass_fields__)
    origin = _origin(path, names, lines[1 : 1 + len(names)])
    first = 2 + len(names)
    if lines[first - 1 : first] != ["\t".join(COLUMNS)]:
        raise BrokenInput(f"{path}, line {first}: expected the column names, {', '.join(COLUMNS)}, separated by tabs.")
    return Table(origin=origin, judgements=tuple(_rows(path, lines, first)))


def _origin(path: Path, names: list[str], lines: list[str]) -> Origin:
    values: dict[str, str] = {}
    for number, (name, line) in enumerate(zip(names, [*lines, *[""] * len(names)], strict=False), start=2):
        if not line.startswith(f"# {name}: "):
            raise BrokenInput(f"{path}, line {number}: expected '# {name}: ' and its value; fix the line or give another file.")
        values[name] = _plain(line.removeprefix(f"# {name}: "), path, number)
        if name in NUMBERS and not (re.fullmatch(r"[0-9]{1,10}", values[name]) and int(values[name]) in NUMBERS[name]):
            raise BrokenInput(
                f"{path}, line {number}: the {name} {values[name]!r} is not a number between {NUMBERS[name][0]} and {NUMBERS[name][-1]}; "
                "fix the line or give another file."
            )
    return Origin(
        dataset=values["dataset"], content=values["content"], split=values["split"], seed=int(values["seed"]), sample=int(values["sample"])
    )


def _rows(path: Path, lines: list[str], above: int) -> Iterator[Judgement]:
    line_of_key: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines[above:], start=above + 1):
        if not line:
            continue
        cells = [_plain(cell, path, number) for cell in line.split("\t")]
        if len(cells) != len(COLUMNS):
            raise BrokenInput(f"{path}, line {number}: it has {len(cells)} columns, not {len(COLUMNS)}; fix the line.")
        judgement = _judgement(cells, path, number)
        key = (judgement.sample, judgement.reader)
        if key in line_of_key:
            raise DuplicateId(
                f"{path}, line {number}: reader {judgement.reader} judged sample {judgement.sample} in line {line_of_key[key]} already; "
                "keep one of them."
            )
        line_of_key[key] = number
        yield judgement


def _judgement(cells: list[str], path: Path, number: int) -> Judgement:
    sample, reader, verdict, marks, candidate, note = cells
    if not sample or not reader:
        raise BrokenInput(f"{path}, line {number}: the {'reader' if sample else 'sample'} is empty; fix the line.")
    if verdict and verdict not in VERDICTS:
        raise BrokenInput(f"{path}, line {number}: the verdict {verdict!r} is not known; {suggestion(verdict, VERDICTS)}")
    mark_names = marks.split(",") if marks else []
    for mark in mark_names:
        if mark not in TABLE_MARKS:
            raise BrokenInput(f"{path}, line {number}: the mark {mark!r} is not known; {suggestion(mark, TABLE_MARKS)}")
    return Judgement(sample=sample, reader=reader, verdict=verdict, marks=in_order(mark_names, TABLE_MARKS), candidate=candidate, note=note)


def in_order(names: Iterable[str], known: Mapping[str, Category]) -> tuple[str, ...]:
    """The ``known`` ones among ``names``, once each and in the known order."""
    wanted_names = set(names)
    return tuple(name for name in known if name in wanted_names)


def _plain(text: str, path: Path, number: int) -> str:
    """The text of a cell, in which tabs, line ends and backslashes are escaped. Raises BrokenInput for an unknown escape."""
    if re.search(r"(?<!\\)(\\\\)*\\([^tnr\\]|$)", text):
        raise BrokenInput(f"{path}, line {number}: a backslash escapes nothing; write it twice, or \\t, \\n or \\r.")
    return re.sub(r"\\(.)", lambda match: _LETTERS[match[1]], text)


def check_origin(path: Path, origin: Origin, expected: Origin) -> None:
    """Raise InputError if a table belongs to other samples than ``expected``; more or fewer samples of the same draw are fine."""
    if origin.content != expected.content:
        raise InputError(
            f"{path}: this table is of another dataset ({origin.dataset}, content {origin.content[:12]}) than {expected.dataset}, content "
            f"{expected.content[:12]}; give another table, or the dataset as it was."
        )
    for name in ("seed", "split"):
        if getattr(origin, name) != getattr(expected, name):
            raise InputError(
                f"{path}: this table is of samples drawn with {name} {getattr(origin, name)}, not {getattr(expected, name)}; give tables "
                "of one draw."
            )


def check_samples(path: Path, table: Table, drawn: Mapping[str, str]) -> None:
    """Raise UnknownId if the table names a sample that was not drawn."""
    for judgement in table.judgements:
        if judgement.sample not in drawn:
            raise UnknownId(
                f"{path}: sample {judgement.sample} is not among the {len(drawn):,} that were drawn; remove its line, or fix those at the "
                "top."
            )
