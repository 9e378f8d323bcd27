"""A table of judgements that is written to disk before the annotator sees a confirmation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kgqa.errors import InputError, SettingsError, TableChanged, UnknownId
from kgqa.reviews.draw import Drawn, Origin
from kgqa.reviews.table import Judgement, Table, line_of, read_table, table_text
from kgqa.runs.files import alone, write_whole


class Book:
    """The table at one place, and one reader who adds to it; what other readers said there is kept and not shown.

    Pages and processes may share a table: each reads and writes it while no other does.
    """

    def __init__(self, path: Path, drawn: Drawn, *, reader: str) -> None:
        """Write the table, empty where there is none, so that a place that cannot be written is known before anybody reads.

        Raises SettingsError for a name that cannot be one, InputError for a table of other samples, StorageError, and as reading it does.
        """
        if not reader.strip() or not reader.isprintable():
            raise SettingsError(f"reader {reader!r} is no name; give another --reader.")
        self.path = path
        self.reader = reader
        self._drawn = drawn
        with alone(path):
            self._write(self._read())

    def judgements(self) -> dict[str, Judgement]:
        """Sample → what this reader says of it. Raises as the table's reading does."""
        return {each.sample: each for each in self._read().judgements if each.reader == self.reader}

    def store(self, judgement: Judgement, *, seen: str | None = None) -> dict[str, Judgement]:
        """Put a judgement into the table in place of an earlier one; one that says nothing leaves it. All of this reader then.

        The file is read first: it may have been mended by hand, or written by another page. ``seen`` is the :func:`state` of the earlier
        one as whoever judges knows it. Raises TableChanged where it is another one by now, StorageError, and as reading it does.
        """
        said = replace(judgement, reader=self.reader)
        with alone(self.path):
            table = self._read()
            kept = {(each.sample, each.reader): each for each in table.judgements}
            before = kept.pop((said.sample, said.reader), None)
            if seen is not None and state(before) not in {seen, state(said)}:
                raise TableChanged(
                    f"{self.path}: the row of sample {said.sample} was changed by another page or by hand; load the page again to see it."
                )
            if not said.empty:
                kept[said.sample, said.reader] = said
            self._write(replace(table, judgements=tuple(kept.values())))
            return {each.sample: each for each in kept.values() if each.reader == self.reader}

    def _read(self) -> Table:
        if not self.path.exists():
            return Table(origin=self._drawn.origin, judgements=())
        table = read_table(self.path)
        check_origin(self.path, table.origin, self._drawn.origin)
        check_samples(self.path, table, self._drawn.splits)
        return replace(table, origin=self._drawn.origin)

    def _write(self, table: Table) -> None:
        place = {sample: number for number, sample in enumerate(self._drawn.splits)}
        ordered = sorted(table.judgements, key=lambda each: (place[each.sample], each.reader))
        write_whole(self.path, table_text(replace(table, judgements=tuple(ordered))))


def state(judgement: Judgement | None) -> str:
    """Fingerprint of a judgement; empty without one."""
    if judgement is None or judgement.empty:
        return ""
    return hashlib.sha256(line_of(judgement).encode("utf-8")).hexdigest()[:16]


def check_origin(path: Path, found: Origin, wanted: Origin) -> None:
    """Raise InputError where a table is of other samples than those wanted; of fewer or more of the same draw it may be."""
    if found.content != wanted.content:
        raise InputError(
            f"{path}: this table is of another dataset ({found.dataset}, content {found.content[:12]}) than {wanted.dataset}, content "
            f"{wanted.content[:12]}; give another --table, or the dataset as it was."
        )
    for name in ("seed", "split"):
        if getattr(found, name) != getattr(wanted, name):
            raise InputError(
                f"{path}: this table is of samples drawn with {name} {getattr(found, name)}, not {getattr(wanted, name)}; give "
                f"--{name} {getattr(found, name)}, or another --table."
            )


def check_samples(path: Path, table: Table, drawn: Mapping[str, str]) -> None:
    """Raise UnknownId where the table names a sample that was not drawn."""
    for each in table.judgements:
        if each.sample not in drawn:
            raise UnknownId(
                f"{path}: sample {each.sample} is not among the {len(drawn):,} that were drawn; remove its line, or fix those at the top."
            )
