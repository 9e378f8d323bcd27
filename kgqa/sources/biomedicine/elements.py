"""XML records of a piece, parsed without anything that XML could fetch or expand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import cast

from lxml import etree

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows
from kgqa.sources.safe_xml import xml_parser

NOT_WELL_FORMED = "record that is not well-formed XML"
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)")
_NAMESPACE = re.compile(rb"""\s(xmlns(?::[\w.-]+)?)\s*=\s*("[^"<]*"|'[^'<]*')""")


def elements(piece: Piece, *tags: str, rows: Rows, unread: tuple[bytes, bytes, bytes] | None = None) -> Iterator[etree._Element]:
    """The outermost elements of these names (without namespace) in a piece, in order.

    ``unread`` names a part at the end of each record that is left out before parsing, which is most of the work: what it begins after, the
    tag that ends the record, and the tags to close in between.
    Records that are not well-formed are skipped and counted in ``rows``; so are those nested deeper than 256 elements or with a text of
    more than 10 MB (limits of libxml2). BrokenInput for a document type declaration between or within records.
    """
    if declared := _DECLARATION.search(piece.data):
        line = piece.line + piece.data.count(b"\n", 0, declared.start())
        raise BrokenInput(f"{piece.file}, line {line}: a document type is declared within the records; remove the declaration.")
    data = _without(piece.data, *unread) if unread else piece.data
    # The records may use the prefixes that the root element declares.
    namespaces = b"".join(b" %s=%s" % pair for pair in dict(_NAMESPACE.findall(piece.head)).items())
    root = _parsed(data, namespaces)
    if root is not None:
        yield from (element for element in root.iterchildren() if local_name(element) in tags)
        return
    for start, end in _spans(data, tags):
        lines = data.count(b"\n", 0, start)
        # Empty lines in place of what precedes it, so that its elements keep their line numbers.
        record = _parsed(b"\n" * lines + data[start:end], namespaces)
        if record is None:
            rows.skip(NOT_WELL_FORMED, f"{piece.file}, line {piece.line + lines}")
        else:
            yield from record.iterchildren()


def where(piece: Piece, element: etree._Element) -> str:
    """File and line of an element of a piece."""
    return f"{piece.file}, line {piece.line - 1 + cast(int, element.sourceline)}"


def local_name(element: etree._Element) -> str:
    """Name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def clean(text: str | None) -> str:
    """The text in Unicode's NFC, with single spaces."""
    return unicodedata.normalize("NFC", " ".join(text.split())) if text else ""


def flat(element: etree._Element | None) -> str:
    """Text of an element without its inline markup, in NFC, with single spaces."""
    if element is None:
        return ""
    return clean("".join(element.itertext()) if len(element) else element.text)  # type: ignore[arg-type]


def _parsed(data: bytes, namespaces: bytes) -> etree._Element | None:
    """An element around the records, None where they are not well-formed."""
    try:
        return etree.fromstring(b"<records%s>%s</records>" % (namespaces, data), xml_parser())
    except etree.XMLSyntaxError:
        return None


def _without(data: bytes, begin: bytes, end: bytes, closing: bytes) -> bytes:
    """The records without what is between ``begin`` and ``end``; the line feeds stay, so that elements keep their line numbers."""
    parts: list[bytes] = []
    at = 0
    while (first := data.find(begin, at)) >= 0 and (last := data.find(end, first)) >= 0:
        first += len(begin)
        parts += data[at:first], closing, b"\n" * data.count(b"\n", first, last)
        at = last
    return b"".join((*parts, data[at:]))


def _spans(data: bytes, tags: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where each outermost element begins and ends."""
    names = b"|".join(re.escape(tag.encode()) for tag in tags)
    depth = start = 0
    for mark in re.finditer(rb"<(/?)(?:%s)(?=[\s/>])[^>]*>" % names, data):
        if mark[1]:
            depth -= 1
        elif not mark[0].endswith(b"/>"):
            start = start if depth else mark.start()
            depth += 1
        if depth == 0:
            yield (start if mark[1] else mark.start()), mark.end()
        depth = max(depth, 0)
