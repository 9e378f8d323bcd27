"""Whether a table's judgements are of the samples that a dataset gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kgqa.collection.draw import Origin
from kgqa.collection.verdict_tables.table import Table
from kgqa.errors import InputError, UnknownId


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
