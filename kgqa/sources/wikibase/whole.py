"""Files of lines that may be one document instead, which is then one piece, and that may be cut at their end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from kgqa.errors import BrokenInput
from kgqa.sources import streams
from kgqa.sources.formats import Bytes, Piece


class Peeked:
    """A file whose first lines have been read already, so that the file is opened once. Its chunks can be had once."""

    def __init__(self, text: Bytes) -> None:
        """Read up to the end of the first line that holds more than brackets."""
        self._text, self._chunks = text, text.chunks()
        chunks = []
        size = 0
        for chunk in self._chunks:
            chunks.append(chunk)
            size += len(chunk)
            if b"\n" in chunk.lstrip(b"[ \t\r\n") or size > streams.RECORD_LIMIT:
                break
        self.first = b"".join(chunks)

    @property
    def name(self) -> str:
        """Name of the file, for messages."""
        return self._text.name

    def chunks(self) -> Iterator[bytes]:
        """All chunks of the text, including the first ones that were read ahead."""
        return chain([self.first], self._chunks)

    def broken(self, sentence: str) -> None:
        """As the file itself does."""
        self._text.broken(sentence)

    def whole(self, advice: str) -> Piece:
        """The file as one piece. BrokenInput, with the advice, where it is longer than any record."""
        data = bytearray()
        for chunk in self.chunks():
            data += chunk
            if len(data) > streams.RECORD_LIMIT:
                raise BrokenInput(f"{self.name}: one document of more than {streams.RECORD_LIMIT >> 20} MiB; {advice}.")
        return Piece(self.name, 0, 1, bytes(data))


def checked_end(pieces: Iterator[Piece], text: Bytes, ends: tuple[bytes, ...]) -> Iterator[Piece]:
    """The pieces. A file that ends otherwise than by ``ends`` is cut: BrokenInput, or a note where what is whole is wanted."""
    last = None
    for piece in pieces:
        yield piece
        last = piece
    if last is not None and not last.data.rstrip().endswith(ends):
        line = last.line + last.data.rstrip().count(b"\n")
        text.broken(f"line {line}, the last, has no end, so the file is cut or of another format; download it again")
