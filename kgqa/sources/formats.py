"""The contract between a parser of a public format and the import that runs it over files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kgqa.sources.rows import Rows


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole records of a file: lines, or XML elements one after another."""

    file: str
    """Name of the file, for messages."""
    position: int
    """Offset of ``data`` in the decompressed UTF-8 text, in bytes."""
    line: int
    """Line number of the first byte of ``data``, from 1."""
    data: bytes
    """UTF-8."""
    head: bytes = b""
    """What the file says before its first record, such as a dump's ``<siteinfo>`` or a table's header; the same for all pieces."""


class Bytes(Protocol):
    """A file's text, decompressed and in UTF-8 whatever the file's encoding."""

    @property
    def name(self) -> str:
        """Name of the file, for messages."""

    def chunks(self) -> Iterator[bytes]:
        """The whole text. BrokenInput where the file is cut, packed badly or no text."""

    def broken(self, sentence: str) -> None:
        """Raise BrokenInput for a file that is cut, or note the sentence where what is whole is wanted."""


@runtime_checkable
class Service(Protocol):
    """A database that is asked instead of a file that is read. The files of an import hold the queries."""

    def pages(self, queries: str, token: str = "") -> Iterator[tuple[Rows, str]]:
        """The rows of a file of queries, some at a time, each with the token to go on from; equal tokens belong together."""


class Parser(Protocol):
    """One format. An instance is pickled to other processes, so it holds settings alone."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The records of a file from byte ``start`` on, in pieces of some MiB. ``start`` is the end of an earlier piece."""

    def parse(self, piece: Piece) -> Rows:
        """Rows of the records in a piece. BrokenInput, with file and line, for what cannot be read at all."""
