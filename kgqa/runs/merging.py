"""Rows of parsed files → the tables of an import: joined by ids and titles, each row once, sorted.

The rows are in Parquet files of one folder per source, each row with the ``position`` of its piece in the source's text
(:mod:`kgqa.runs.parts`). DuckDB runs the queries of ``merge.sql`` in bounded memory; what does not fit goes to its temporary folder. The
result does not depend on how the rows were cut into files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, StorageError
from kgqa.sources.rows import SCHEMAS

if TYPE_CHECKING:
    import duckdb

MEMORY = "1GiB"
"""Of DuckDB's buffers."""
BATCH_ROWS = 1 << 16
CREATED = {"prepare": "TABLE", "view": "VIEW"}
RESTRICTED = {"facts": "parsed_facts", "values": "parsed_values"}
"""Table → the view of its rows before those of relations that are not chosen are left out."""
PATTERN = re.compile(r"([*?[])")
"""Characters of a path that DuckDB would take for a pattern."""
REASONS = {
    "repeated document": "another record has the same document id, in a newer version or earlier in the files",
    "deleted document": "a later file withdraws the document",
    "empty document": "the document has no text",
    "link elsewhere": "the link leads to a page that is not in the files",
    "mention of an unknown entity": "the annotated entity is not in the files",
    "mention outside its text": "the mention's offsets are not in the document's text",
    "overlapping mention": "another mention begins earlier, or is longer, in the same place",
    "relation not chosen": "the relation is of no chosen class, or its record is not in the files (option property_classes)",
    "fact of an unknown entity": "the fact's head or tail is not in the files",
    "self-loop": "the fact connects an entity with itself",
    "value of an unknown entity": "the value's head is not in the files",
    "entity without a label": "it is kept, and called by the words of its id",
}
"""Reason → the sentence for rows that merging leaves out."""


@cache
def queries() -> dict[str, dict[str, str]]:
    """The queries of ``merge.sql``: ``prepare`` (tables and views), ``write`` and ``left out``, each name → query, in order."""
    text = Path(__file__).with_name("merge.sql").read_text(encoding="utf-8")
    result: dict[str, dict[str, str]] = {"prepare": {}, "write": {}, "left out": {}}
    for kind, name, query in re.findall(r"(?ms)^-- (prepare|view|write|left out): ([^\n]+)\n(.*?);\n", text):
        if kind in CREATED:
            result["prepare"][name] = f"CREATE {CREATED[kind]} {name} AS {query}"
        else:
            result[kind][name] = query
    return result


def merge(
    parts: Sequence[Path], out: Path, scratch: Path, *, threads: int = 1, advance: Callable[[int], object] = lambda _: None
) -> tuple[dict[str, int], dict[str, int]]:
    """Write the tables of an import to ``out``. Returns the rows of each table, and the rows that were left out for each reason.

    ``parts`` are files ``NUMBER/PART-TABLE.parquet``, with the number of the source. ``advance`` is called after each of :func:`steps`
    queries. BrokenInput where a part cannot be read.
    """
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "temp_directory": str(scratch),
        "threads": threads,
        "autoinstall_known_extensions": False,
    }
    con = duckdb.connect(config=settings)
    try:
        for name in SCHEMAS:
            _view(con, RESTRICTED.get(name, name), name, sorted(path for path in parts if path.stem.endswith(f"-{name}")))
        for query in queries()["prepare"].values():
            con.sql(query)
            advance(1)
        rows = {name: _write(con, query, out / f"{name}.parquet", advance) for name, query in queries()["write"].items()}
        skip_counts = {reason: count for reason, query in queries()["left out"].items() if (count := _count(con, query))}
    except duckdb.IOException as error:
        raise StorageError(f"{scratch}: the merge cannot write here ({str(error).splitlines()[0]}); free some space.") from None
    except duckdb.InvalidInputException as error:
        raise BrokenInput(f"a part of the import is damaged ({str(error).splitlines()[0]}); import into another --out.") from None
    finally:
        con.close()
    return rows, skip_counts


def steps() -> int:
    """How often :func:`merge` calls ``advance``."""
    return len(queries()["prepare"]) + len(queries()["write"])


def _view(con: duckdb.DuckDBPyConnection, name: str, table: str, files: list[Path]) -> None:
    """A view of the rows of one table with their ``place``: number of the file, position of the piece in its text, row."""
    if files:
        # The rows of a piece are in one part, so the row's number in it orders them.
        file = "CAST(regexp_extract(filename, '([0-9]*)/[^/]*$', 1) AS INTEGER)"
        place = f"{{'file': {file}, 'position': position, 'row': file_row_number}} AS place"
        rows = con.read_parquet([PATTERN.sub(r"[\1]", str(path)) for path in files], filename=True, file_row_number=True)
        rows.project(f"* EXCLUDE (filename, file_row_number, position), {place}").create_view(name)
    else:
        place_type = pa.struct({"file": pa.int32(), "position": pa.int64(), "row": pa.int64()})
        con.register(name, SCHEMAS[table].append(pa.field("place", place_type)).empty_table())


def _write(con: duckdb.DuckDBPyConnection, query: str, path: Path, advance: Callable[[int], object]) -> int:
    """Stream the rows of a query to a Parquet file. Returns their number."""
    batches: pa.RecordBatchReader = con.sql(query).to_arrow_reader(BATCH_ROWS)
    schema = pa.schema([field.with_type(pa.large_string()) if field.name == "text" else field for field in batches.schema])
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
        for table in _regrouped(batches):
            rows += table.num_rows
            writer.write_table(table.cast(schema), row_group_size=BATCH_ROWS)
    advance(1)
    return rows


def _regrouped(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.Table]:
    """The same rows in tables of ``BATCH_ROWS``, so that the file's bytes do not depend on the engine's batches."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        while count >= BATCH_ROWS:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, BATCH_ROWS).combine_chunks()
            waiting, count = table.slice(BATCH_ROWS).to_batches(), count - BATCH_ROWS
    if count:
        yield pa.Table.from_batches(waiting).combine_chunks()


def _count(con: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(con.sql(query).fetchall()[0][0])
