"""JSON files of records: a list, or one object per line, plain or gzip-compressed, streamed record by record; errors name their place.

The standard library's decoder reads a list element by element from a growing buffer. The streaming parsers in C that we tried silently turn
half of a surrogate pair into a question mark.
"""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput, storage_errors
from kgqa.formats.json.validate import TYPE_NAMES, Ids, Record, validated

CHUNK_BYTES = 1 << 20
RECORD_LIMIT = 256 << 20
"""Longest line or record, in bytes; a longer one is refused as broken before it fills the memory."""
DOCUMENT_LIMIT = 1 << 30
"""Longest file, in bytes, that is one JSON value, since it is read whole."""
OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\x00": "xz data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"PAR1": "Parquet",
}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
SPACE = " \t\r\n"
_SPACES = re.compile(f"[{SPACE}]*")


def records(path: Path, kind: TypeAdapter[Record]) -> Iterator[tuple[str, Record]]:
    """Place, as ``dev.json, record 3``, and value of each record in a JSON list or in JSON lines. Memory: one record.

    Raises MissingInput for a missing file or field, BrokenInput for any other fault.
    """
    is_empty = True
    for location, value in values(path):
        is_empty = False
        yield location, validated(value, kind, location)
    if is_empty:
        raise BrokenInput(f"{path.name}: the file has no records; choose one that has.")


def values(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and value of each object in a JSON list or in JSON lines."""
    with opened(path) as file:
        yield from _values(path, file)


def _values(path: Path, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    return _elements(path, file) if _first_byte(file) == b"[" else _lines(path, file)


def members(path: Path, kind: str) -> Iterator[tuple[str, str, Any]]:
    """Place, key and value of each member of a file that is one object. Memory: one member and all keys.

    ``kind``: a word for a member in messages, as ``article``. Raises as :func:`records` does.
    """
    decoder, ids, number = _decoder(), Ids(), 0
    with opened(path) as stream:
        buffer = _Buffer(path, stream)
        buffer.take("{")
        while buffer.peek() != "}":
            number += 1
            location = f"{path.name}, {kind} {number}"
            if number > 1:
                buffer.take(",")
            if buffer.peek() != '"':
                raise BrokenInput(f"{location}: expected a name in quotation marks; the file is damaged; download it again.")
            key = buffer.value(decoder, location)
            ids.add(key, location, may_be_empty=True)
            buffer.take(":")
            buffer.peek()
            yield location, key, buffer.value(decoder, location)
        buffer.take("}")
        if buffer.peek():
            raise BrokenInput(f"{path.name}: there is extra data after the end of the object; the file is damaged; download it again.")


def document(path: Path, kind: TypeAdapter[Record]) -> Record:
    """The value in a file that is one JSON value. Memory: the whole file. Raises as :func:`records` does."""
    with opened(path) as file:
        return _document(path, file, kind)


def _document(path: Path, file: IO[bytes], kind: TypeAdapter[Record]) -> Record:
    data = file.read(DOCUMENT_LIMIT + 1)
    if len(data) > DOCUMENT_LIMIT:
        raise BrokenInput(f"{path.name}: longer than {DOCUMENT_LIMIT >> 20} MiB, so this is not a file of questions; give a smaller one.")
    text = _decoded(data.removeprefix(codecs.BOM_UTF8), path.name)
    try:
        value = _decoder().decode(text)
    except DECODING as error:
        raise _fault(error, path.name) from None
    _check_characters(text, value, path.name)
    return validated(value, kind, path.name)


def head(path: Path) -> dict[str, Any]:
    """The record that shows the file's format: the first one of a list or of lines, or the only object of the file."""
    with opened(path) as file:
        if _first_byte(file) == b"{":
            line = file.readline(RECORD_LIMIT)
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                file.seek(0)
                return _document(path, file, TypeAdapter(dict[str, Any]))
            return cast(dict[str, Any], value)
        for _, value in _values(path, file):
            return value
    raise BrokenInput(f"{path.name}: the file has no records; choose one that has.")


def is_list(path: Path) -> bool:
    """Whether the file's first character opens a list."""
    with opened(path) as file:
        return _first_byte(file) == b"["


def check_rereadable(path: Path) -> None:
    """Raise BrokenInput for a pipe or device, which cannot be read twice."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BrokenInput(f"{path}: this is a pipe or device, and a file is read more than once; write it to a file first.")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed if they are gzip data, whatever the file's name."""
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such file; correct the path.")
        if path.is_dir():
            raise BrokenInput(f"{path}: this is a folder; give a file.")
        check_rereadable(path)
        with path.open("rb") as raw:
            magic = raw.read(8)
            raw.seek(0)
            for start, kind in OTHER_KINDS.items():
                if magic.startswith(start):
                    raise BrokenInput(f"{path.name}: this is {kind}, not JSON; decompress or convert it first.")
            is_gzip = magic.startswith(b"\x1f\x8b")
            if path.suffix == ".gz" and not is_gzip:
                raise BrokenInput(f"{path.name}: this is not gzip data although its name ends in .gz; download it again, or rename it.")
            try:
                yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if is_gzip else raw
            except EOFError:
                raise BrokenInput(f"{path.name}: the gzip data end too early, the file is truncated; download it again.") from None
            except (gzip.BadGzipFile, zlib.error):
                raise BrokenInput(f"{path.name}: the gzip data are damaged; download the file again.") from None


def _first_byte(file: IO[bytes]) -> bytes:
    """The first byte after white space; the file is then rewound."""
    start = file.read(CHUNK_BYTES).removeprefix(codecs.BOM_UTF8).lstrip()
    file.seek(0)
    return start[:1]


def _lines(path: Path, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    decoder = _decoder()
    number = 0
    while line := file.readline(RECORD_LIMIT + 1):
        number += 1
        location = f"{path.name}, line {number}"
        if len(line) > RECORD_LIMIT:
            raise BrokenInput(f"{location}: longer than {RECORD_LIMIT >> 20} MiB, so these are not lines of records; check the file.")
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = _decoded(line, location)
        if text.strip(SPACE):
            try:
                value = decoder.decode(text)
            except DECODING as error:
                raise _fault(error, location) from None
            _check_characters(text, value, location)
            yield location, _object(value, location)


def _elements(path: Path, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and value of each element of a JSON list. The buffer doubles until it holds a whole element, so few bytes are decoded twice."""
    decoder = _decoder()
    buffer = _Buffer(path, file)
    buffer.take("[")
    number = 0
    while buffer.peek() != "]":
        number += 1
        location = f"{path.name}, record {number}"
        if number > 1:
            buffer.take(",")
        if buffer.peek() not in {"", "{"}:
            raise BrokenInput(f"{location}: expected an object; this is not a list of records.")
        yield location, _object(buffer.value(decoder, location), location)
    buffer.take("]")
    if buffer.peek():
        raise BrokenInput(f"{path.name}: there is extra data after the end of the list; the file is damaged; download it again.")


class _Buffer:
    """Decoded text of a file, and the position up to which it was used."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._at = "", 0
        self._bytes, self._before = 0, 0

    def peek(self) -> str:
        """The next character after white space; empty at the end of the file."""
        while True:
            self._at = _SPACES.match(self._text, self._at).end()  # type: ignore[union-attr]  # it fits everywhere
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow():
                return ""

    def take(self, character: str) -> None:
        """Use the next character, which must be ``character``."""
        actual = self.peek()
        if not actual:
            raise BrokenInput(f"{self._path.name}: the file ends in the middle of its list, it is truncated; download it again.")
        if actual != character:
            raise BrokenInput(f"{self._path.name}: expected {character!r} between two records, found {actual!r}; the file is damaged.")
        self._at += 1

    def value(self, decoder: json.JSONDecoder, location: str) -> Any:
        """The next JSON value of the text."""
        while True:
            offset = self._before
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except DECODING as error:
                if isinstance(error, _RepeatedKey) or not self._grow():
                    raise _fault(error, location, offset) from None
                if len(self._text) > RECORD_LIMIT:
                    raise BrokenInput(
                        f"{location}: longer than {RECORD_LIMIT >> 20} MiB, so this is not a record; check the file."
                    ) from None
            else:
                _check_characters(self._text, value, location, self._at, end)
                self._at = end
                return value

    def _grow(self) -> bool:
        """Read as much text as is left in the buffer, at least ``CHUNK_BYTES``; False at the end of the file."""
        chunk = self._file.read(max(CHUNK_BYTES, len(self._text) - self._at))
        try:
            text = self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            place = self._bytes + error.start
            raise BrokenInput(f"{self._path.name}, byte {place}: this is not UTF-8; save the file as UTF-8.") from None
        self._bytes += len(chunk)
        self._before += self._at
        self._text, self._at = self._text[self._at :] + text, 0
        return bool(chunk)


def _check_characters(text: str, value: object, location: str, begin: int = 0, end: int | None = None) -> None:
    """Raise BrokenInput if ``value``, whose JSON is ``text[begin:end]``, holds half of a surrogate pair."""
    if _SURROGATE.search(text, begin, len(text) if end is None else end):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise BrokenInput(
                f"{location}: a text holds half of a surrogate pair, which is not a character; fix or drop the record."
            ) from None
        except RecursionError:
            raise BrokenInput(f"{location}: it is nested too deeply; fix or drop the record.") from None


def _object(value: object, location: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BrokenInput(
            f"{location}: expected an object, found {TYPE_NAMES.get(type(value), type(value).__name__)}; fix or drop the record."
        )
    return value


def _decoded(data: bytes, location: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BrokenInput(f"{location}: this is UTF-16; save the file as UTF-8.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenInput(f"{location}, byte {error.start}: this is not UTF-8; save the file as UTF-8.") from None


class _RepeatedKey(Exception):
    """An object has this key twice; JSON allows that, and programs disagree about the meaning."""


DECODING = (ValueError, RecursionError, _RepeatedKey)
"""The exceptions of a decoder."""


def _fault(error: Exception, location: str, offset: int = 0) -> InputError:
    """The error to raise for a decoder's exception; ``offset`` counts the characters of the file before the decoded text."""
    match error:
        case RecursionError():
            return BrokenInput(f"{location}: it is nested too deeply; fix or drop the record.")
        case _RepeatedKey():
            return DuplicateId(f"{location}: the key {str(error)!r} occurs twice in one object; drop one of them.")
        case json.JSONDecodeError():
            place = f"{location}, character {offset + error.pos}"
            return BrokenInput(f"{place}: this is not JSON ({error.msg}); fix it, or download the file again.")
    if "integer string conversion" in str(error):  # Python's limit, in which it speaks of itself
        return BrokenInput(f"{location}: a number has more than {sys.get_int_max_str_digits():,} digits; fix or drop the record.")
    return BrokenInput(f"{location}: this is not JSON ({error}); fix it, or download the file again.")


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_repetition)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large a number")
    return value


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKey(next(key for number, key in enumerate(keys) if key in keys[:number]))
    return value
