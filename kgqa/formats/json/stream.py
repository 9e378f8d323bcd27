"""JSON files of records: a list, or one object a line, plain or gzip-compressed, streamed record by record, with the place of every fault.

The standard library's decoder reads a list element by element from a growing buffer. A streaming parser in C would do that too, but those
at hand turn half of a surrogate pair into a question mark without a word.
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
from kgqa.formats.json.validate import FOUND, Ids, Record, validated

CHUNK_BYTES = 1 << 20
RECORD_LIMIT = 256 << 20
"""A line or record longer than this is taken for a broken file, before it fills the memory."""
DOCUMENT_LIMIT = 1 << 30
"""A file that is one value is in memory whole; one longer than this is refused."""
PACKED = {
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
    """Each record of a JSON list or of JSON lines as ``kind``, and where it stands, as ``dev.json, record 3``. Memory: one record.

    Raises MissingInput for a file or field that is not there, BrokenInput for anything else that is not such a file.
    """
    empty = True
    for where, value in values(path):
        empty = False
        yield where, validated(value, kind, where)
    if empty:
        raise BrokenInput(f"{path.name}: the file holds no record; give one that does.")


def values(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON list or of JSON lines, and where each stands."""
    with opened(path) as file:
        yield from _values(path, file)


def _values(path: Path, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    return _elements(path, file) if _first_byte(file) == b"[" else _lines(path, file)


def members(path: Path, what: str) -> Iterator[tuple[str, str, Any]]:
    """The key and value of each member of a file that is one object, and where it stands; memory: one member, and all keys.

    ``what`` they are, as ``article``. Raises as :func:`records` does.
    """
    decoder, ids, number = _decoder(), Ids(), 0
    with opened(path) as stream:
        buffer = _Buffer(path, stream)
        buffer.take("{")
        while buffer.peek() != "}":
            number += 1
            where = f"{path.name}, {what} {number}"
            if number > 1:
                buffer.take(",")
            if buffer.peek() != '"':
                raise BrokenInput(f"{where}: expected a name in quotation marks; the file is damaged, fetch it again.")
            key = buffer.value(decoder, where)
            ids.add(key, where, may_be_empty=True)
            buffer.take(":")
            buffer.peek()
            yield where, key, buffer.value(decoder, where)
        buffer.take("}")
        if buffer.peek():
            raise BrokenInput(f"{path.name}: something follows the end of the object; the file is damaged, fetch it again.")


def document(path: Path, kind: TypeAdapter[Record]) -> Record:
    """A file that is one JSON value, as ``kind``; all of it is in memory. Raises as :func:`records` does."""
    with opened(path) as file:
        return _document(path, file, kind)


def _document(path: Path, file: IO[bytes], kind: TypeAdapter[Record]) -> Record:
    data = file.read(DOCUMENT_LIMIT + 1)
    if len(data) > DOCUMENT_LIMIT:
        raise BrokenInput(f"{path.name}: longer than {DOCUMENT_LIMIT >> 20} MiB, so this is no file of questions; give a smaller one.")
    text = _decoded(data.removeprefix(codecs.BOM_UTF8), path.name)
    try:
        value = _decoder().decode(text)
    except DECODING as error:
        raise _fault(error, path.name) from None
    _check_characters(text, value, path.name)
    return validated(value, kind, path.name)


def head(path: Path) -> dict[str, Any]:
    """The first record of a list or of lines, or the whole object where the file is one; to recognise its format by."""
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
    raise BrokenInput(f"{path.name}: the file holds no record; give one that does.")


def is_list(path: Path) -> bool:
    """Whether the file is one list, as far as its first character says."""
    with opened(path) as file:
        return _first_byte(file) == b"["


def check_rereadable(path: Path) -> None:
    """BrokenInput for a pipe or device, whose bytes come once."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BrokenInput(f"{path}: this is a pipe or device, and a file is read more than once; write it to a file first.")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked where they are gzip's, whatever the file is called."""
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such file.")
        if path.is_dir():
            raise BrokenInput(f"{path}: this is a folder; give a file.")
        check_rereadable(path)
        with path.open("rb") as raw:
            magic = raw.read(8)
            raw.seek(0)
            for start, what in PACKED.items():
                if magic.startswith(start):
                    raise BrokenInput(f"{path.name}: this is {what}, not JSON; unpack or convert it first.")
            packed = magic.startswith(b"\x1f\x8b")
            if path.suffix == ".gz" and not packed:
                raise BrokenInput(f"{path.name}: this is not gzip data although its name ends in .gz; fetch it again, or rename it.")
            try:
                yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
            except EOFError:
                raise BrokenInput(f"{path.name}: the gzip data end too early, the file is truncated; fetch it again.") from None
            except (gzip.BadGzipFile, zlib.error):
                raise BrokenInput(f"{path.name}: the gzip data are damaged; fetch the file again.") from None


def _first_byte(file: IO[bytes]) -> bytes:
    """The first byte that is no space; the file is read from its beginning afterwards."""
    start = file.read(CHUNK_BYTES).removeprefix(codecs.BOM_UTF8).lstrip()
    file.seek(0)
    return start[:1]


def _lines(path: Path, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    decoder = _decoder()
    number = 0
    while line := file.readline(RECORD_LIMIT + 1):
        number += 1
        where = f"{path.name}, line {number}"
        if len(line) > RECORD_LIMIT:
            raise BrokenInput(f"{where}: longer than {RECORD_LIMIT >> 20} MiB, so these are not lines of records.")
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = _decoded(line, where)
        if text.strip(SPACE):
            try:
                value = decoder.decode(text)
            except DECODING as error:
                raise _fault(error, where) from None
            _check_characters(text, value, where)
            yield where, _object(value, where)


def _elements(path: Path, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The elements of a JSON list; the buffer is doubled until it holds the whole of one, so that no byte is read more than a few times."""
    decoder = _decoder()
    buffer = _Buffer(path, file)
    buffer.take("[")
    number = 0
    while buffer.peek() != "]":
        number += 1
        where = f"{path.name}, record {number}"
        if number > 1:
            buffer.take(",")
        if buffer.peek() not in {"", "{"}:
            raise BrokenInput(f"{where}: expected an object; this is no list of records.")
        yield where, _object(buffer.value(decoder, where), where)
    buffer.take("]")
    if buffer.peek():
        raise BrokenInput(f"{path.name}: something follows the end of the list; the file is damaged, fetch it again.")


class _Buffer:
    """Decoded text of which a part was used already."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._at = "", 0
        self._bytes, self._before = 0, 0

    def peek(self) -> str:
        """The next character that is no space; empty at the end of the file."""
        while True:
            self._at = _SPACES.match(self._text, self._at).end()  # type: ignore[union-attr]  # it fits everywhere
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow():
                return ""

    def take(self, character: str) -> None:
        """Use ``character``, which must come next."""
        found = self.peek()
        if not found:
            raise BrokenInput(f"{self._path.name}: the file ends in the middle of its list, it is truncated; fetch it again.")
        if found != character:
            raise BrokenInput(f"{self._path.name}: expected {character!r} between two records, found {found!r}; the file is damaged.")
        self._at += 1

    def value(self, decoder: json.JSONDecoder, where: str) -> Any:
        """The next JSON value."""
        while True:
            before = self._before
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except DECODING as error:
                if isinstance(error, _RepeatedKey) or not self._grow():
                    raise _fault(error, where, before) from None
                if len(self._text) > RECORD_LIMIT:
                    raise BrokenInput(f"{where}: longer than {RECORD_LIMIT >> 20} MiB, so this is no record.") from None
            else:
                _check_characters(self._text, value, where, self._at, end)
                self._at = end
                return value

    def _grow(self) -> bool:
        """Read as much again as is there; False at the end of the file."""
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


def _check_characters(text: str, value: object, where: str, begin: int = 0, end: int | None = None) -> None:
    """Raise BrokenInput where a text of ``value``, written in ``text`` from ``begin`` to ``end``, holds half of a surrogate pair."""
    if _SURROGATE.search(text, begin, len(text) if end is None else end):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise BrokenInput(f"{where}: a text holds half of a surrogate pair, which is no character; fix or drop the record.") from None
        except RecursionError:
            raise BrokenInput(f"{where}: it is nested too deeply; fix or drop the record.") from None


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BrokenInput(f"{where}: expected an object, found {FOUND.get(type(value), type(value).__name__)}; fix or drop the record.")
    return value


def _decoded(data: bytes, where: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BrokenInput(f"{where}: this is UTF-16; save the file as UTF-8.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenInput(f"{where}, byte {error.start}: this is not UTF-8; save the file as UTF-8.") from None


class _RepeatedKey(Exception):
    """An object has this key twice, which JSON allows and of which every program makes something else."""


DECODING = (ValueError, RecursionError, _RepeatedKey)
"""What a decoder raises."""


def _fault(error: Exception, where: str, before: int = 0) -> InputError:
    """Where the JSON is wrong and how; ``before`` are the characters of the file that stood before the text."""
    match error:
        case RecursionError():
            return BrokenInput(f"{where}: it is nested too deeply; fix or drop the record.")
        case _RepeatedKey():
            return DuplicateId(f"{where}: the key {str(error)!r} is there twice in one object; drop one of them.")
        case json.JSONDecodeError():
            place = f"{where}, character {before + error.pos}"
            return BrokenInput(f"{place}: this is not JSON ({error.msg}); fix it, or fetch the file again.")
    if "integer string conversion" in str(error):  # Python's limit, in which it speaks of itself
        return BrokenInput(f"{where}: a number has more than {sys.get_int_max_str_digits():,} digits; fix or drop the record.")
    return BrokenInput(f"{where}: this is not JSON ({error}); fix it, or fetch the file again.")


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_repetition)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large a number")
    return value


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKey(next(key for number, key in enumerate(keys) if key in keys[:number]))
    return found
