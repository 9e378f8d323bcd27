"""Cut a text into pieces where a record ends, for formats whose records are neither lines nor XML elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.streams import PIECE_BYTES, RECORD_LIMIT

_SCRIPT = re.compile(
    rb"""\A(?:\s|//[^\n]*\n)*
    (?: (?:CREATE|MERGE|MATCH)\s*\( | CREATE\s+(?:CONSTRAINT|(?:[A-Z]+\s+)?INDEX)\s
      | UNWIND\s*[\[$] | LOAD\s+CSV\s | :(?:begin|param|auto)\s )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a script begins: a clause with its bracket, not a table with a column called "match"."""
_FIRST_BYTES = 4096


def record_pieces(
    text: Bytes, boundary: Callable[[bytes], int], start: int = 0, *, size: int = PIECE_BYTES, record: str = "record"
) -> Iterator[Piece]:
    """Pieces of a whole text, one of which begins at byte ``start``, the end of an earlier piece.

    ``boundary`` gives the end of the last whole record in bytes that begin with one, 0 for none. BrokenInput for a record beyond the limit
    of a line.
    """
    position, line, need, buffer = 0, 1, size, bytearray()
    for chunk in text.chunks():
        buffer += chunk
        while len(buffer) >= need:
            data = bytes(buffer)
            end = boundary(data)
            if not end:
                if len(buffer) > RECORD_LIMIT:
                    raise BrokenInput(f"{text.name}, line {line}: a {record} longer than {RECORD_LIMIT >> 20} MiB; no end was found.")
                need = 2 * len(buffer)  # so that a long record is searched a few times only
                break
            if position < start < position + end:
                end = start - position
            yield Piece(text.name, position, line, data[:end])
            position, line, need = position + end, line + data.count(b"\n", 0, end), size
            del buffer[:end]
    data = bytes(buffer)
    end = max(0, start - position)
    for first, last in ((0, end), (end, len(data))):
        if data[first:last]:
            yield Piece(text.name, position + first, line + data.count(b"\n", 0, first), data[first:last])


def first_bytes(text: Bytes) -> bytes:
    """The beginning of a text, at least 4 KiB where it has them. BrokenInput for a Cypher script."""
    first = b""
    for chunk in text.chunks():
        first += chunk
        if len(first) >= _FIRST_BYTES:
            break
    if text.name.lower().endswith((".cypher", ".cql")) or _SCRIPT.match(first):
        raise script_error(text)
    return first


def script_error(text: Bytes) -> BrokenInput:
    """The error for a Cypher script."""
    return BrokenInput(
        f"{text.name}: this is a Cypher script, which only a Neo4j server can run; load it into one (cypher-shell --file {text.name}) and "
        "import from that server (kgqa import neo4j)."
    )
