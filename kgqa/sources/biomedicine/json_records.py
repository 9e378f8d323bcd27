"""Records of a JSON file that is one array, or an object with one: cut into pieces of whole records."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.streams import PIECE_BYTES

FILE_LIMIT = 1 << 30
"""Bytes of JSON beyond which a file is refused, as it is read whole: annotated corpora are far smaller."""


class _Collection(msgspec.Struct, rename={"of_pubtator": "PubTator3"}):
    documents: list[msgspec.Raw] = []
    of_pubtator: list[msgspec.Raw] = []
    """What PubTator's interface calls them."""


def json_pieces(text: Bytes, start: int = 0, *, size: int = PIECE_BYTES) -> Iterator[Piece]:
    """Pieces of whole records, separated by commas. Memory: twice the file's text."""
    data = bytearray()
    for chunk in text.chunks():
        data += chunk
        if len(data) > FILE_LIMIT:
            raise BrokenInput(f"{text.name}: more than {FILE_LIMIT >> 30} GiB of JSON in one value; split it into several files.")
    whole = bytes(data)
    try:
        if whole.lstrip().startswith(b"["):
            records = msgspec.json.decode(whole, type=list[msgspec.Raw])
        else:
            collection = msgspec.json.decode(whole, type=_Collection)
            records = collection.documents or collection.of_pubtator
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BrokenInput(f"{text.name}: no JSON array, nor an object with one in documents ({error}); download the file again.") from None
    if not records:
        raise BrokenInput(f"{text.name}: no documents; this is a different kind of JSON; check the format and the file.")
    begin, end, line, counted_to = -1, 0, 1, 0
    for record in records:
        raw = bytes(record)
        first = whole.index(raw, end)
        end = first + len(raw)
        if first >= start:
            begin = first if begin < 0 else begin
        if 0 <= begin <= end - size:
            line, counted_to = line + whole.count(b"\n", counted_to, begin), begin
            yield Piece(text.name, begin, line, whole[begin:end])
            begin = -1
    if begin >= 0:
        yield Piece(text.name, begin, line + whole.count(b"\n", counted_to, begin), whole[begin:end])


def json_records(piece: Piece) -> list[msgspec.Raw]:
    """The records of a piece."""
    try:
        return msgspec.json.decode(b"[" + piece.data + b"]", type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BrokenInput(f"{piece.file}, line {piece.line}: no JSON ({error}); download the file again.") from None
