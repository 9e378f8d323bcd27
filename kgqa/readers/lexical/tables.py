"""The Parquet files of a saved reader."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.runs.files import write_parquet


def write_table(table: pa.Table, path: Path) -> None:
    """One Parquet table of a saved reader."""
    with storage_errors(path):
        write_parquet(table, path)


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """What :func:`write_table` wrote, its columns in one piece. Raises MissingInput, BrokenInput where it has other columns or nulls."""
    if not path.is_file():
        raise MissingInput(f"{path}: this part of the reader is missing; train it again.")
    try:
        with storage_errors(path), path.open("rb") as file:
            table = pq.read_table(file)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise BrokenInput(f"{path}: this is not a whole Parquet file; train the reader again.") from None
    if table.schema.remove_metadata() != schema or any(column.null_count for column in table.columns):
        raise BrokenInput(f"{path}: its columns are not those of this reader; train the reader again.")
    return table.combine_chunks()
