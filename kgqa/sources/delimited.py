"""Stream JSON lines and tab-separated files, gzip-compressed or plain, into Arrow tables, with the line of every fault.

A file is read in blocks of whole lines and each block is parsed by Arrow's own parsers. Only when a block is refused are its lines
looked at one by one, to name the faulty one; so the good path never runs Python per line. Memory: the parsed table plus one block.
"""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from kgqa.errors import BrokenInput, DuplicateId, MissingInput, shortened
from kgqa.progress import Advance

BLOCK_BYTES = 8 << 20
LINE_LIMIT = 256 << 20
"""A line longer than this is taken for a broken file, before it fills the memory."""


def find_file(folder: Path, name: str) -> Path:
    """The path of ``name`` in ``folder``, plain or with ``.gz``; exactly one of the two must be there."""
    if not folder.exists():
        raise MissingInput(f"{folder}: there is no such folder; give the folder with {name} as --source.")
    if not folder.is_dir():
        raise MissingInput(f"{folder}: this is a file; give the folder with {name} as --source.")
    plain, compressed = folder / name, folder / f"{name}.gz"
    if plain.exists() and compressed.exists():
        raise BrokenInput(f"{folder}: both {plain.name} and {compressed.name} are there; remove the wrong one.")
    for path in (plain, compressed):
        if path.is_file():
            return path
        if path.is_dir():
            raise MissingInput(f"{path}: this is a folder; this layout needs a file.")
    raise MissingInput(f"{folder}: {name} (or {name}.gz) is missing; this layout needs it.")


def read_json_lines(path: Path, fields: tuple[str, ...], *, advance: Advance = lambda _: None) -> pa.Table:
    """The text ``fields`` of a file of JSON objects, one a line, in file order, plus ``line`` (int64, from 1).

    Raises MissingInput for a field that is absent or null, BrokenInput for anything that is not such a file.
    """
    schema = pa.schema([(field, pa.string()) for field in fields])
    options = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    tables = [_schema(fields).empty_table()]
    for first_line, block in _blocks(path, advance):
        table = None
        # Only lines that begin an object go to Arrow's parser: it crashes on a bare null, and skips blank lines, which shifts line numbers.
        if block.startswith(b"{") and block.count(b"\n{") + 1 == block.count(b"\n"):
            with suppress(pa.ArrowInvalid, KeyError):
                table = pyarrow.json.read_json(
                    pa.BufferReader(block),
                    read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(block), 1)),
                    parse_options=options,
                ).select(list(fields))
        if table is None or table.num_rows != block.count(b"\n") or any(column.null_count for column in table.columns):
            table = _lines_one_by_one(path, first_line, block, fields)
        else:
            table = table.append_column("line", pa.array(range(first_line, first_line + table.num_rows)))
        tables.append(table)
    return pa.concat_tables(tables).combine_chunks()


def _schema(names: tuple[str, ...]) -> pa.Schema:
    """Schema of the rows: the text fields ``names``, and the line number."""
    return pa.schema([*((name, pa.string()) for name in names), ("line", pa.int64())])


def _lines_one_by_one(path: Path, first_line: int, block: bytes, fields: tuple[str, ...]) -> pa.Table:
    """Parse a block that Arrow refused or that has blank lines; raise at the first faulty line."""
    rows: list[dict[str, object]] = []
    for number, line in enumerate(block.split(b"\n"), start=first_line):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
            column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            raise BrokenInput(f"{where}{column}: this is not JSON ({reason}); fix or drop the line.") from None
        if not isinstance(record, dict):
            raise BrokenInput(
                f"{where}: expected an object with the fields {', '.join(fields)}, found {_kind(record)}; fix or drop the line."
            )
        for field in fields:
            if record.get(field) is None:
                raise MissingInput(f"{where}: the field {field!r} is missing; every record needs {', '.join(fields)}.")
            if not isinstance(record[field], str):
                raise BrokenInput(f"{where}: the field {field!r} must be text, found {_kind(record[field])}; write it in quotation marks.")
        if _has_surrogate(record, fields):
            raise BrokenInput(f"{where}: a text holds half of a surrogate pair, which is not a character; fix or drop the line.")
        rows.append({**{field: record[field] for field in fields}, "line": number})
    return pa.Table.from_pylist(rows, schema=_schema(fields))


def _kind(value: object) -> str:
    """What a value of JSON is, in words."""
    words = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}
    return words.get(type(value), "null")


def _has_surrogate(record: dict[str, object], fields: tuple[str, ...]) -> bool:
    return any("\ud800" <= character <= "\udfff" for field in fields for character in str(record[field]))


def read_tab_separated(
    path: Path,
    columns: tuple[str, ...],
    *,
    optional: tuple[str, ...] = (),
    header: bool = True,
    advance: Advance = lambda _: None,
) -> pa.Table:
    """The text ``columns`` of a tab-separated file, in file order, plus ``line`` (int64, from 1).

    With a header the columns are found by name and others are ignored; without one the file has exactly ``columns``. There is no
    quoting: a quotation mark is a character like any other. An empty cell is the empty text, and so is each of an ``optional`` column
    that the header lacks.
    """
    names: list[str] | None = None if header else list(columns)
    tables = []
    for first_line, block in _blocks(path, advance):
        start, body = first_line, block.removeprefix(codecs.BOM_UTF8) if first_line == 1 else block
        if names is None:
            head, _, body = body.partition(b"\n")
            names = head.decode("utf-8").rstrip("\r").split("\t")
            optional = tuple(column for column in optional if column not in names)
            columns = tuple(column for column in columns if column not in optional)
            for column in columns:
                if column not in names:
                    raise MissingInput(f"{path.name}, line 1: the column {column!r} is missing; found: {shortened(', '.join(names))}.")
                if names.count(column) > 1:
                    raise BrokenInput(f"{path.name}, line 1: the column {column!r} occurs twice; keep one.")
            start += 1
        if body:
            tables.append(_parse_rows(path, start, body, names).select([*columns, "line"]))
    if header and names is None:
        raise MissingInput(f"{path.name}: the file is empty; its first line must name the columns {', '.join(columns)}.")
    table = pa.concat_tables([_schema(columns).empty_table(), *tables]).combine_chunks()
    for column in optional:
        table = table.append_column(column, pa.repeat(pa.scalar("", pa.string()), table.num_rows))
    return table


def _parse_rows(path: Path, first_line: int, body: bytes, names: list[str]) -> pa.Table:
    unique = [f"{name}\t{i}" if names.index(name) != i else name for i, name in enumerate(names)]
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(body),
            read_options=pyarrow.csv.ReadOptions(column_names=unique, use_threads=False, block_size=max(len(body), 1)),
            parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=False),
            convert_options=pyarrow.csv.ConvertOptions(column_types={name: pa.string() for name in unique}, strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        table = None
    if table is None or table.num_rows != body.count(b"\n"):
        for number, line in enumerate(body.removesuffix(b"\n").split(b"\n"), start=first_line):
            cells = line.count(b"\t") + 1
            if cells != len(names):
                raise BrokenInput(f"{path.name}, line {number}: expected {len(names)} cells between tabs, found {cells}; fix the line.")
            if b"\r" in line.removesuffix(b"\r"):
                raise BrokenInput(f"{path.name}, line {number}: the line contains a carriage return; remove it.")
        raise BrokenInput(f"{path.name}: the block that begins with line {first_line} cannot be read as tab-separated text; fix the file.")
    return table.append_column("line", pa.array(range(first_line, first_line + table.num_rows)))


def _blocks(path: Path, advance: Advance) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, each with the number of its first line; every block is valid UTF-8 and ends in a line feed."""
    line, tail = 1, b""
    is_compressed = path.suffix == ".gz"
    with path.open("rb") as raw:
        stream: IO[bytes] = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if is_compressed else raw
        at = 0
        while True:
            try:
                chunk = stream.read(BLOCK_BYTES)
            except EOFError:
                raise BrokenInput(f"{path.name}: the gzip file ends too early, it is truncated; download or compress it again.") from None
            except (gzip.BadGzipFile, zlib.error):
                raise BrokenInput(
                    f"{path.name}: this is not a whole gzip file; download or compress it again, or drop the .gz ending."
                ) from None
            advance(raw.tell() - at)
            at = raw.tell()
            if line == 1 and not tail:
                chunk = _without_byte_order_mark(path, chunk)
            end = chunk.rfind(b"\n") + 1
            if chunk and not end:
                tail += chunk
                if len(tail) > LINE_LIMIT:
                    raise BrokenInput(
                        f"{path.name}, line {line}: longer than {LINE_LIMIT >> 20} MiB, so these are not lines of records; check the file."
                    )
                continue
            block = tail + (chunk[:end] if chunk else b"\n" if tail else b"")
            tail = chunk[end:]
            if block:
                _check_text(path, line, block)
                yield line, block
                line += block.count(b"\n")
            if not chunk:
                return


def _without_byte_order_mark(path: Path, chunk: bytes) -> bytes:
    if chunk.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BrokenInput(f"{path.name}: this is UTF-16; save it as UTF-8.")
    if chunk.startswith(b"\x1f\x8b"):
        raise BrokenInput(f"{path.name}: this is gzip data without the .gz ending; rename it to {path.name}.gz.")
    return chunk.removeprefix(b"\xef\xbb\xbf")


def _check_text(path: Path, first_line: int, block: bytes) -> None:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + block.count(b"\n", 0, error.start)
        column = error.start - (block.rfind(b"\n", 0, error.start) + 1) + 1
        raise BrokenInput(f"{path.name}, line {line}, byte {column}: this is not UTF-8; save the file as UTF-8.") from None
    zero = block.find(b"\0")
    if zero >= 0:
        raise BrokenInput(f"{path.name}, line {first_line + block.count(bytes([10]), 0, zero)}: a zero byte; this is not a text file.")


def require_ids(table: pa.Table, column: str, path: Path, noun: str) -> None:
    """Raise MissingInput where there are no rows or ``column`` is empty, DuplicateId at the first value that an earlier line has used."""
    require_rows(table, path, noun)
    empty = pc.index(pc.equal(pc.utf8_trim_whitespace(table[column]), ""), True).as_py()
    if empty >= 0:
        raise MissingInput(f"{path.name}, line {table['line'][empty].as_py()}: {column!r} is empty; every row needs one.")
    if pc.count_distinct(table[column]).as_py() == table.num_rows:
        return
    first: dict[str, int] = {}
    for value, line in zip(table[column].to_pylist(), table["line"].to_pylist(), strict=True):
        if value in first:
            raise DuplicateId(
                f"{path.name}, line {line}: {noun} id {value} was already used in line {first[value]}; "
                "give one of them another id, or drop it."
            )
        first[value] = line


def require_rows(table: pa.Table, path: Path, noun: str) -> None:
    """Raise MissingInput if a required file has no rows."""
    if table.num_rows == 0:
        raise MissingInput(f"{path.name}: the file has no rows; at least one {noun} is needed.")
