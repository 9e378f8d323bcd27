"""Text of packed files as a stream of UTF-8, and how it is cut into pieces of whole lines or whole XML elements.

Positions are offsets in the decompressed UTF-8 text. A file that is cut, damaged or something else than its name says raises BrokenInput;
with ``partial`` what is whole is read, and :attr:`TextFile.notes` says what is missing.
"""

from __future__ import annotations

import codecs
import gzip
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from kgqa.errors import BrokenInput, MissingInput
from kgqa.sources.formats import Bytes, Piece

CHUNK_BYTES = 1 << 20
PIECE_BYTES = 4 << 20
"""Size at which a piece ends after the record that reaches it."""
RECORD_LIMIT = 256 << 20
"""Bytes of one line or element beyond which the file is refused: no record of a public dump comes near it."""
HEAD_LIMIT = 16 << 20
TAG_LIMIT = 1 << 16
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
DECLARED = re.compile(rb"""^<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
WEB_PAGE = re.compile(rb"^\s*<(!doctype\s+html|html)\b", re.IGNORECASE)


@dataclass(slots=True)
class TextFile:
    """A file, plain or packed by gzip, bzip2 or xz."""

    path: Path
    partial: bool = False
    """Read a truncated file up to its last complete record."""
    advance: Callable[[int], object] = lambda _: None
    """Is told how many more bytes of the file itself have been read."""
    threads: int = 1
    """Cores that unpack bzip2."""
    notes: list[str] = field(default_factory=list)
    """What is missing at the end of a cut file."""

    @property
    def name(self) -> str:
        """Name of the file, for messages."""
        return self.path.name

    def chunks(self) -> Iterator[bytes]:
        """The text, about a MiB at a time."""
        raw_chunks = self._unpacked()
        first = next(raw_chunks, b"")
        while len(first) < 1024 and (more := next(raw_chunks, b"")):
            first += more
        if not first and not self.notes:
            raise BrokenInput(f"{self.name}: the file is empty once it is unpacked; pack it again, or leave it out.")
        encoding = self._encoding(first)
        if encoding is None:
            yield first.removeprefix(codecs.BOM_UTF8)
            yield from raw_chunks
            return
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            text = decoder.decode(first).removeprefix("\ufeff")
            # The records are cut from the text and parsed without the declaration, which would now be wrong.
            yield re.sub(r"""(^<\?xml[^>]*?encoding\s*=\s*["'])[^"']+""", r"\1utf-8", text, count=1).encode()
            for chunk in raw_chunks:
                yield decoder.decode(chunk).encode()
            yield decoder.decode(b"", True).encode()
        except UnicodeError as error:
            self.broken(f"this is not {encoding.upper()} to its end ({getattr(error, 'reason', error)}); download the file again")

    def broken(self, sentence: str) -> None:
        """Raise BrokenInput, or note the sentence where what is whole is wanted."""
        if not self.partial:
            raise BrokenInput(f"{self.name}: {sentence}, or read what is whole with --partial.")
        self.notes.append(f"{self.name}: {sentence}.")

    def _encoding(self, first: bytes) -> str | None:
        """The encoding to read by, None for UTF-8. BrokenInput for a web page or bytes that are no text."""
        if WEB_PAGE.match(first):
            raise BrokenInput(f"{self.name}: this is a web page, perhaps an error of the server; download the file again.")
        for mark, name in UTF16.items():
            if first.startswith(mark):
                return name
        if b"\0" in first[:1024]:
            raise BrokenInput(f"{self.name}: zero bytes; this is not text, or it is packed in a way other than gzip, bzip2 and xz.")
        declared = DECLARED.match(first.removeprefix(codecs.BOM_UTF8))
        name = declared[1].decode().lower() if declared else "utf-8"
        if name.startswith(("utf-16", "utf-32")):
            return None  # these bytes are not, or the declaration could not have been read
        try:
            "".encode(name)  # fails for what is no encoding of text
            codec = codecs.lookup(name)
        except LookupError:
            raise BrokenInput(f"{self.name}, line 1: the unknown encoding {name!r}; save the file as UTF-8.") from None
        return None if codec.name in {"utf-8", "ascii"} else codec.name

    def _unpacked(self) -> Iterator[bytes]:
        try:
            raw = self.path.open("rb")
        except FileNotFoundError:
            raise MissingInput(f"{self.path}: there is no such file; correct the name.") from None
        except IsADirectoryError:
            raise MissingInput(f"{self.path}: this is a folder; name its files.") from None
        with raw:
            start = raw.read(6)
            raw.seek(0)
            packing = next((name for magic, name in PACKED.items() if start.startswith(magic)), "")
            if not start:
                raise BrokenInput(f"{self.name}: the file is empty; download it again, or leave it out.")
            if (packing_of_name := ENDINGS.get(self.path.suffix, "")) and packing != packing_of_name:
                page = " but a web page, perhaps an error of the server" if WEB_PAGE.match(raw.read(1024)) else ""
                raise BrokenInput(
                    f"{self.name}: this is not a valid {packing_of_name} file{page}; download it again, or correct its extension."
                )
            stream, position = _decompress(raw, packing, self.threads)
            bytes_read = 0
            with stream:
                while True:
                    try:
                        chunk = stream.read(CHUNK_BYTES)
                    except EOFError:
                        self.broken(f"the {packing} file is cut; download it again")
                        return
                    except (OSError, zlib.error, lzma.LZMAError, RuntimeError, ValueError) as error:
                        if isinstance(error, OSError) and error.errno is not None:
                            raise
                        self.broken(f"the {packing} data are damaged or cut after {position():,} bytes; download the file again")
                        return
                    at = position() if chunk else os.fstat(raw.fileno()).st_size
                    self.advance(max(0, at - bytes_read))
                    bytes_read = max(bytes_read, at)
                    if not chunk:
                        return
                    yield chunk


def _decompress(raw: IO[bytes], packing: str, threads: int) -> tuple[IO[bytes], Callable[[], int]]:
    """The decompressed stream, and a function that says how many bytes of ``raw`` were read for it."""
    if packing == "gzip":
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw)), raw.tell
    if packing == "xz":
        return cast(IO[bytes], lzma.LZMAFile(raw)), raw.tell
    if packing == "bzip2":
        import indexed_bzip2

        # Blocks are decompressed side by side; Python's own module uses one core.
        stream: Any = indexed_bzip2.open(raw, parallelization=threads)
        return stream, lambda: stream.tell_compressed() // 8
    return raw, raw.tell


def line_pieces(text: Bytes, start: int = 0, *, size: int = PIECE_BYTES) -> Iterator[Piece]:
    """Pieces of whole lines from byte ``start`` on. A last line without a line feed is whole."""
    position, line = 0, 1
    parts: list[bytes] = []  # of the next piece
    length = whole = 0  # of them, and up to the end of their last line
    for chunk in text.chunks():
        # What an earlier run has read is only counted.
        before = min(len(chunk), max(0, start - position))
        if before:
            position, line = position + before, line + chunk.count(b"\n", 0, before)
        part = chunk[before:]
        whole = length + end if (end := part.rfind(b"\n") + 1) else whole
        parts.append(part)
        length += len(part)
        if length >= size and whole:
            data = b"".join(parts)
            piece = data[:whole]
            yield Piece(text.name, position, line, piece)
            position, line = position + whole, line + piece.count(b"\n")
            parts, length, whole = [data[whole:]], length - whole, 0
        elif length > RECORD_LIMIT:
            raise BrokenInput(
                f"{text.name}, line {line}: longer than {RECORD_LIMIT >> 20} MiB, so these are not lines of records; check the file."
            )
    if length:
        yield Piece(text.name, position, line, b"".join(parts))


def json_line_pieces(text: Bytes, start: int = 0) -> Iterator[Piece]:
    """Pieces of whole lines. A last line without a line feed that is no JSON is where the file was cut: BrokenInput, or it is left out."""
    for piece in line_pieces(text, start):
        data = piece.data
        if not data.endswith(b"\n") and (last := data[data.rfind(b"\n") + 1 :]).strip() and not _is_json(last):
            line = piece.line + data.count(b"\n")
            text.broken(f"line {line} ends within a record, so the file is cut; download it again")
            data = data[: data.rfind(b"\n") + 1]
        if data:
            yield Piece(piece.file, piece.position, piece.line, data)


def _is_json(line: bytes) -> bool:
    import msgspec

    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def element_pieces(text: Bytes, tag: str | tuple[str, ...], start: int = 0, *, size: int = PIECE_BYTES) -> Iterator[Piece]:
    """Pieces of whole elements ``tag``, the outermost where they are nested; ``head`` is what precedes the first in the file.

    Of several tags, the elements of each are records.

    The elements are found by their tags alone, so a record that is not well formed spoils only its own piece. Comments and CDATA sections
    with the same tags inside are not known as such.
    """
    elements = _Elements(text, tag)
    begin, end = -1, -1  # of the piece, in the buffer
    for chunk in text.chunks():
        elements.buffer += chunk
        for first, last in elements.whole():
            if elements.position + first >= start:
                begin, end = (first if begin < 0 else begin), last
        elements.check_size()
        if begin >= 0 and end - begin >= size:
            yield elements.piece(begin, end)
            elements.drop(end)
            begin = end = -1
        elif begin < 0 and not elements.depth and elements.head is not None:
            elements.drop(elements.scanned)
    if begin >= 0:
        yield elements.piece(begin, end)
    elements.check_end()


class _Elements:
    """A buffer of XML text, in which the outermost elements of one or several tags are found."""

    def __init__(self, text: Bytes, tag: str | tuple[str, ...]) -> None:
        tags = (tag,) if isinstance(tag, str) else tag
        self.text, self.tag = text, tags[0]
        self.buffer = bytearray()
        self.position, self.line = 0, 1
        """Of the buffer's first byte in the file."""
        self.head: bytes | None = None
        self.depth, self.opened, self.scanned = 0, 0, 0
        """Elements that are open, where the outermost of them begins, and how far the buffer was searched."""
        self._tail = bytearray()  # what was dropped last
        self._mark = re.compile(rb"<(/?)(?:" + "|".join(map(re.escape, tags)).encode() + rb")(?=[\s/>])[^<>]*>")

    def whole(self) -> Iterator[tuple[int, int]]:
        """Begin and end of each outermost element that ends in the unsearched part of the buffer."""
        for mark in self._mark.finditer(self.buffer, self.scanned):
            self.scanned = mark.end()
            if not mark[1]:
                if self.head is None:
                    self.head = bytes(self.buffer[: mark.start()])
                    _check_head(self.text, self.head)
                if not self.depth:
                    self.opened = mark.start()
                self.depth += 1
            if mark[1] or mark[0].endswith(b"/>"):
                self.depth -= 1
                if self.depth < 0:
                    raise BrokenInput(f"{self._where(mark.start())}: </{self.tag}> closes nothing; this is not XML of that kind.")
                if not self.depth:
                    yield self.opened, mark.end()
        # A tag that the end of the chunk cuts is searched again with the next.
        bracket = self.buffer.rfind(b"<", max(self.scanned, len(self.buffer) - TAG_LIMIT))
        self.scanned = bracket if bracket >= 0 and self.buffer.find(b">", bracket) < 0 else len(self.buffer)

    def piece(self, begin: int, end: int) -> Piece:
        """The elements from ``begin`` to ``end`` in the buffer."""
        line = self.line + self.buffer.count(b"\n", 0, begin)
        return Piece(self.text.name, self.position + begin, line, bytes(self.buffer[begin:end]), self.head or b"")

    def drop(self, end: int) -> None:
        """Take what is before ``end`` out of the buffer."""
        self.position += end
        self.line += self.buffer.count(b"\n", 0, end)
        self.scanned -= end
        self.opened -= end
        self._tail = (self._tail + self.buffer[max(0, end - TAG_LIMIT) : end])[-TAG_LIMIT:]
        del self.buffer[:end]

    def check_size(self) -> None:
        """BrokenInput if an element, or what precedes the first, is longer than that of any dump."""
        if self.head is None and len(self.buffer) > HEAD_LIMIT:
            raise BrokenInput(
                f"{self.text.name}: no <{self.tag}> in the first {HEAD_LIMIT >> 20} MiB; this is not a file of that kind; "
                "check the format and the file."
            )
        if self.depth and len(self.buffer) - self.opened > RECORD_LIMIT:
            where = self._where(self.opened)
            raise BrokenInput(
                f"{where}: a <{self.tag}> longer than {RECORD_LIMIT >> 20} MiB; no record is that long, so the file is damaged."
            )

    def check_end(self) -> None:
        """Whether the file ends as XML does: all elements closed, the root last."""
        if self.head is None:
            if self.buffer and not self._lacks_end(bytes(self.buffer)):
                raise BrokenInput(
                    f"{self.text.name}: no <{self.tag}> element; this is not a file of that kind; check the format and the file."
                )
            self.text.broken(f"the file ends before the first <{self.tag}>, so it is cut or of another kind; download it again")
        elif self.depth:
            line = self.line + self.buffer.count(b"\n", 0, self.opened)
            self.text.broken(f"the file ends within the <{self.tag}> of line {line}, so it is cut; download it again")
        elif root := self._lacks_end(self.head):
            self.text.broken(f"</{root.decode(errors='replace')}> is missing at the end, so the file is cut; download it again")

    def _lacks_end(self, head: bytes) -> bytes:
        """Name of the root element if nothing closes it, else b""."""
        root = _root(head)
        return b"" if b"</" + root in self._tail + self.buffer else root

    def _where(self, at: int) -> str:
        return f"{self.text.name}, line {self.line + self.buffer.count(bytes([10]), 0, at)}"


def _check_head(text: Bytes, head: bytes) -> None:
    if b"<!ENTITY" in head:
        raise BrokenInput(f"{text.name}: the file declares entities of its own, which are not expanded; expand them first.")


def _root(head: bytes) -> bytes:
    """Name of the document's root element."""
    root = re.search(rb"<([A-Za-z_][^\s>/]*)", re.sub(rb"(?s)<!--.*?-->", b"", head))
    return root[1] if root else b""


def unpacked_name(name: str) -> str:
    """The name of a file without the ending of its packing."""
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def require_files(paths: list[Path]) -> None:
    """MissingInput where one of the files is not there."""
    for path in paths:
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError):
            raise MissingInput(f"{path}: there is no such file; correct the name.") from None
        if not stat.S_ISREG(mode):
            what = "folder; name its files" if stat.S_ISDIR(mode) else "pipe or device; give a file"
            raise MissingInput(f"{path}: this is a {what}.")
