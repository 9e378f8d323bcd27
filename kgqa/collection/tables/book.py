"""A table of judgements that is on disk before the annotator sees a confirmation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kgqa.collection.draw import DrawnSamples, Origin
from kgqa.collection.tables.table import Judgement, Table, line_of, read_table, table_text
from kgqa.errors import InputError, SettingsError, TableChanged, UnknownId
from kgqa.runs.files import alone, write_whole


class Book:
    """The table at one path, and one annotator who adds to it; other annotators' judgements are kept but not shown.

    Pages and processes may share a table: a lock guards each read and write.
    """

    def __init__(self, path: Path, drawn: DrawnSamples, *, reader: str) -> None:
        """Write the table, or an empty one, so that an unwritable path fails before anyone reads.

        Raises SettingsError for an invalid name, InputError for a table of other samples, StorageError, and the errors of
        :func:`read_table`.
        """
        if not reader.strip() or not reader.isprintable():
            raise SettingsError(f"reader {reader!r} is no name; give another --reader.")
        self.path = path
        self.reader = reader
        self._samples = drawn
        with alone(path):
            self._write(self._read())

    def judgements(self) -> dict[str, Judgement]:
        """Sample → this annotator's judgement. Raises the errors of :func:`read_table`."""
        return {judgement.sample: judgement for judgement in self._read().judgements if judgement.reader == self.reader}

    def store(self, judgement: Judgement, *, seen: str | None = None) -> dict[str, Judgement]:
        """Replace the annotator's judgement of a sample, and return all of this annotator's judgements. An empty judgement removes the row.

        The file is read first: it may have been edited by hand, or by another page. ``seen`` is the :func:`state` of the earlier judgement
        as the page shows it. Raises TableChanged if the row has changed since, StorageError, and the errors of :func:`read_table`.
        """
        own_judgement = replace(judgement, reader=self.reader)
        with alone(self.path):
            table = self._read()
            rows = {(judgement.sample, judgement.reader): judgement for judgement in table.judgements}
            earlier = rows.pop((own_judgement.sample, own_judgement.reader), None)
            if seen is not None and state(earlier) not in {seen, state(own_judgement)}:
                raise TableChanged(
                    f"{self.path}: the row of sample {own_judgement.sample} was changed by another page or by hand; load the page again to "
                    "see it."
                )
            if not own_judgement.empty:
                rows[own_judgement.sample, own_judgement.reader] = own_judgement
            self._write(replace(table, judgements=tuple(rows.values())))
            return {row.sample: row for row in rows.values() if row.reader == self.reader}

    def _read(self) -> Table:
        if not self.path.exists():
            return Table(origin=self._samples.origin, judgements=())
        table = read_table(self.path)
        check_origin(self.path, table.origin, self._samples.origin)
        check_samples(self.path, table, self._samples.splits)
        return replace(table, origin=self._samples.origin)

    def _write(self, table: Table) -> None:
        position = {sample: number for number, sample in enumerate(self._samples.splits)}
        ordered = sorted(table.judgements, key=lambda judgement: (position[judgement.sample], judgement.reader))
        write_whole(self.path, table_text(replace(table, judgements=tuple(ordered))))


def state(judgement: Judgement | None) -> str:
    """Fingerprint of a judgement; empty without one."""
    if judgement is None or judgement.empty:
        return ""
    return hashlib.sha256(line_of(judgement).encode("utf-8")).hexdigest()[:16]


def check_origin(path: Path, origin: Origin, expected: Origin) -> None:
    """Raise InputError if a table belongs to other samples than ``expected``; more or fewer samples of the same draw are fine."""
    if origin.content != expected.content:
        raise InputError(
            f"{path}: this table is of another dataset ({origin.dataset}, content {origin.content[:12]}) than {expected.dataset}, content "
            f"{expected.content[:12]}; give another --table, or the dataset as it was."
        )
    for name in ("seed", "split"):
        if getattr(origin, name) != getattr(expected, name):
            raise InputError(
                f"{path}: this table is of samples drawn with {name} {getattr(origin, name)}, not {getattr(expected, name)}; give "
                f"--{name} {getattr(origin, name)}, or another --table."
            )


def check_samples(path: Path, table: Table, drawn: Mapping[str, str]) -> None:
    """Raise UnknownId if the table names a sample that was not drawn."""
    for judgement in table.judgements:
        if judgement.sample not in drawn:
            raise UnknownId(
                f"{path}: sample {judgement.sample} is not among the {len(drawn):,} that were drawn; remove its line, or fix those at the "
                "top."
            )
