"""Pieces of formats whose records are several lines, with a line that ends each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.streams import PIECE_BYTES, RECORD_LIMIT, line_pieces


def block_pieces(text: Bytes, last_line: re.Pattern[bytes], start: int = 0) -> Iterator[Piece]:
    """Pieces of whole records, cut after a match of ``last_line``; the last piece is what remains, whole or not."""
    rest: Piece | None = None
    for lines in line_pieces(text, start, size=PIECE_BYTES):
        piece = lines if rest is None else Piece(rest.file, rest.position, rest.line, rest.data + lines.data)
        end = max((match.end() for match in last_line.finditer(piece.data)), default=0)
        if end:
            yield Piece(piece.file, piece.position, piece.line, piece.data[:end])
        elif len(piece.data) > RECORD_LIMIT:
            raise BrokenInput(
                f"{piece.file}, line {piece.line}: a record longer than {RECORD_LIMIT >> 20} MiB; this is a different format."
            )
        line = piece.line + piece.data.count(b"\n", 0, end)
        rest = Piece(piece.file, piece.position + end, line, piece.data[end:]) if end < len(piece.data) else None
    if rest is not None:
        yield rest
