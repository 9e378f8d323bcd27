"""RDF statements of a piece as a table: ``head``, ``property``, ``tail`` (an IRI) or ``text`` with ``language`` and ``datatype``.

N-Triples and Turtle are read by pyoxigraph. Most lines of N-Triples are so plain, without escapes and blank nodes, that one regular
expression over the whole piece reads them into columns, three times as fast; pyoxigraph gets the other lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows

if TYPE_CHECKING:
    import pyoxigraph

COLUMNS = ("head", "property", "tail", "text", "language", "datatype")
SCHEMA = dict.fromkeys(COLUMNS, pl.String)
NESTING = 200
"""Levels beyond which pyoxigraph's recursion may end the process."""
ENOUGH_STATEMENTS = 1_000
"""Statements from which a piece after the first shows what share of a file cannot be read."""
_IRI = r"<([A-Za-z][A-Za-z0-9+.-]*:[^<>\"\\\x00-\x20]*)>"
_PLAIN = (
    rf'^{_IRI}[ \t]+{_IRI}[ \t]+(?:{_IRI}|"([^"\\\r\n]*)"(?:@([A-Za-z]{{1,8}}(?:-[A-Za-z0-9]{{1,8}})*)|\^\^{_IRI})?)[ \t]*\.[ \t\r\n]*$'
)
"""A line of N-Triples without escapes, blank nodes and comments; the groups are the columns."""
_MARKS = re.compile(rb'"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|<[^<>\s]*>|#[^\n]*|<<|>>|[][()]')
"""Turtle's texts, IRIs and comments, which hold any sign, and the brackets outside of them."""


def line_statements(piece: Piece, rows: Rows) -> pl.DataFrame:
    """The statements of N-Triples or N-Quads. A line that is none is skipped; BrokenInput where most are none."""
    data, faults = _whole_lines(piece)
    plain_lines = _plain_lines(data)
    plain = plain_lines.filter(pl.col("head").is_not_null()).select(COLUMNS)
    other_lines = plain_lines.with_row_index("number", offset=piece.line).filter(pl.col("head").is_null())
    other_lines = other_lines.select("number", text=pl.col("line").str.strip_chars())
    other_lines = other_lines.filter((pl.col("text") != "") & ~pl.col("text").str.starts_with("#"))
    nested = other_lines.filter(pl.col("text").str.contains("<<", literal=True))  # nesting them crashes the parser
    if nested.height:
        rows.skip("statement about a statement", f"{piece.file}, line {nested['number'][0]}", nested.height)
        other_lines = other_lines.filter(~pl.col("text").str.contains("<<", literal=True))
    quads, more_faults = _line_quads(other_lines, plain.height)
    _count_faults(piece, sorted(faults + more_faults), plain.height + len(quads), rows)
    return pl.concat([plain, _table(quads, rows)]) if quads else plain


def turtle_statements(piece: Piece, rows: Rows) -> pl.DataFrame:
    """The statements of Turtle. One that cannot be read is skipped, and the parser goes on after it; BrokenInput where most cannot."""
    import pyoxigraph

    if (plain := _plain_statements(piece.data)) is not None:
        return plain
    check_nesting(piece)
    parser = iter(pyoxigraph.parse(piece.head + b"\n" + piece.data, pyoxigraph.RdfFormat.TURTLE, lenient=True))
    quads: list[pyoxigraph.Quad] = []
    faults: list[tuple[int, str]] = []
    while len(faults) < ENOUGH_STATEMENTS or len(faults) <= len(quads):
        try:
            quads.extend(parser)
            break
        except SyntaxError as error:
            faults.append((piece.line - 2 + (error.lineno or 2), str(error.msg)))
    _count_faults(piece, faults, len(quads), rows)
    return _table(quads, rows)


def check_nesting(piece: Piece) -> None:
    """BrokenInput for triples within triples, or brackets within brackets, so deep that they crash the parser."""
    depths = {b"<<": 0, b"[": 0, b"(": 0}
    for mark in _MARKS.finditer(piece.data):
        if mark[0][:1] in b"\"'<#" and mark[0] != b"<<":
            continue
        opening = {b">>": b"<<", b"]": b"[", b")": b"("}.get(mark[0])
        if opening is None:
            depths[mark[0]] += 1
        else:
            depths[opening] = max(0, depths[opening] - 1)
        if max(depths.values()) > NESTING:
            line = piece.line + piece.data.count(b"\n", 0, mark.start())
            raise BrokenInput(f"{piece.file}, line {line}: more than {NESTING} nested levels, more than any graph needs.")


def _plain_lines(data: bytes) -> pl.DataFrame:
    """The lines with their columns, which are null where a line is not plain. ``data`` is UTF-8."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    if not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    lines = pl.Series("line", pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(data)))
    parts = lines.str.extract_groups(_PLAIN).struct.rename_fields(COLUMNS).struct.unnest()
    return parts.with_columns(lines, pl.col("language").str.to_lowercase())


def _plain_statements(data: bytes) -> pl.DataFrame | None:
    """The statements of Turtle that is nothing but plain lines of N-Triples, as that of DBpedia; else None."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    start = data.find(b"<")
    if start < 0 or data[:start].strip() or not re.match(_PLAIN, data[start : data.find(b"\n", start)].decode()):
        return None
    plain_lines = _plain_lines(data[start:].rstrip())
    return None if plain_lines["head"].null_count() else plain_lines.select(COLUMNS)


def _whole_lines(piece: Piece) -> tuple[bytes, list[tuple[int, str]]]:
    """The text with empty lines in place of those that are not UTF-8, and their numbers."""
    try:
        piece.data.decode()
    except UnicodeDecodeError:
        lines, faults = piece.data.split(b"\n"), []
        for place, line in enumerate(lines):
            try:
                line.decode()
            except UnicodeDecodeError:
                faults.append((piece.line + place, "it is not UTF-8"))
                lines[place] = b""
        return b"\n".join(lines), faults
    return piece.data, []


def _line_quads(lines: pl.DataFrame, other_count: int) -> tuple[list[pyoxigraph.Quad], list[tuple[int, str]]]:
    """The statements of these lines (columns number, text), and the lines that are none; not all, where most are none.

    ``other_count`` are statements that were read before.
    """
    import pyoxigraph

    syntax = pyoxigraph.RdfFormat.N_QUADS  # of which N-Triples are a part
    texts = lines["text"].to_list()
    try:
        # All at once, which is fast. But a text may span lines for a lenient parser; then there are fewer statements than lines.
        quads = list(pyoxigraph.parse("\n".join(texts), syntax, lenient=True))
        if len(quads) == len(texts):
            return quads, []
    except SyntaxError:
        pass
    quads, faults = [], []
    for number, text in zip(lines["number"].to_list(), texts, strict=True):
        try:
            quads.extend(pyoxigraph.parse(text, syntax, lenient=True))
        except SyntaxError as error:
            faults.append((number, str(error.msg)))
            if len(faults) >= ENOUGH_STATEMENTS and len(faults) > len(quads) + other_count:
                break
    return quads, faults


def _table(quads: Iterable[pyoxigraph.Quad], rows: Rows) -> pl.DataFrame:
    """The statements in columns. Those with blank nodes, or with a statement as the object, are skipped."""
    import pyoxigraph

    node, literal = pyoxigraph.NamedNode, pyoxigraph.Literal
    heads: list[str] = []
    properties: list[str] = []
    tails: list[str | None] = []
    texts: list[str | None] = []
    languages: list[str | None] = []
    datatypes: list[str | None] = []
    for quad in quads:
        subject, property_, value = quad.subject, quad.predicate.value, quad.object
        if type(subject) is not node:
            rows.skip("statement about a blank node", property_)
        elif type(value) is node:
            heads.append(subject.value)
            properties.append(property_)
            tails.append(value.value)
            texts.append(None)
            languages.append(None)
            datatypes.append(None)
        elif type(value) is literal:
            heads.append(subject.value)
            properties.append(property_)
            tails.append(None)
            texts.append(value.value)
            languages.append(value.language)
            datatypes.append(value.datatype.value)
        else:
            rows.skip("statement whose object is a blank node or a statement", property_)
    return pl.DataFrame(dict(zip(COLUMNS, (heads, properties, tails, texts, languages, datatypes), strict=True)), schema=SCHEMA)


def _count_faults(piece: Piece, faults: list[tuple[int, str]], whole: int, rows: Rows) -> None:
    """Skip what is no statement; BrokenInput where that is more than half."""
    if not faults:
        return
    line, message = faults[0]
    where = f"{piece.file}, line {line}"
    if len(faults) > whole and (not piece.position or len(faults) + whole >= ENOUGH_STATEMENTS):
        raise BrokenInput(
            f"{where}: this cannot be read ({_without_place(message)}), nor can more than half of what follows; check the file."
        )
    rows.skip("statement that cannot be read", where, len(faults))


def _without_place(message: str) -> str:
    """What a parser says without where it says so, which counts in the piece."""
    return re.sub(r"^Parser error .*?\bcolumns? \d+(?: and (?:line \d+ column )?\d+)?: ", "", message)
