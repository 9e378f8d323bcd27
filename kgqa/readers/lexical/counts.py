"""Counts of keys in a stream, and the Parquet tables of a saved reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.runs.files import write_parquet

ROOM = 1 << 20
"""Pending keys are added up once there are as many as counted ones, but at least this many."""


class Counts:
    """Counts of keys of one or more 64-bit columns. Memory: 16 bytes per column and 8 for the count, per distinct key."""

    def __init__(self, *columns: str) -> None:
        """``columns``: names of the parts of a key."""
        self._columns = columns
        self._counts = pl.DataFrame(schema={**dict.fromkeys(columns, pl.UInt64), "count": pl.Int64})
        self._pending: list[pl.DataFrame] = []
        self._pending_count = 0

    def add(self, *keys: npt.NDArray[np.uint64]) -> None:
        """Count these keys; repetitions count."""
        parts: dict[str, Any] = dict(zip(self._columns, keys, strict=True))
        self._pending.append(pl.DataFrame(parts, schema=dict.fromkeys(self._columns, pl.UInt64)).with_columns(count=pl.lit(1, pl.Int64)))
        self._pending_count += len(keys[0])
        if self._pending_count > max(ROOM, len(self._counts)):
            self._add_up()

    def _add_up(self) -> None:
        frames = [self._counts, *self._pending]
        self._counts = pl.concat(frames).group_by(*self._columns).agg(pl.col("count").sum())
        self._pending, self._pending_count = [], 0

    def table(self) -> pa.Table:
        """The columns and ``count``, int64, sorted by key."""
        self._add_up()
        return self._counts.sort(*self._columns).to_arrow()


def write_table(table: pa.Table, path: Path) -> None:
    """Write one Parquet table of a saved reader."""
    with storage_errors(path):
        write_parquet(table, path)


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """Read a table of :func:`write_table`, its columns in one chunk.

    Raises MissingInput, and BrokenInput if it has other columns or nulls.
    """
    if not path.is_file():
        raise MissingInput(f"{path}: this part of the reader is missing; train it again.")
    try:
        with storage_errors(path), path.open("rb") as file:
            table = pq.read_table(file)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise BrokenInput(f"{path}: this is not a complete Parquet file; train the reader again.") from None
    if table.schema.remove_metadata() != schema or any(column.null_count for column in table.columns):
        raise BrokenInput(f"{path}: its columns are not those of this reader; train the reader again.")
    return table.combine_chunks()
