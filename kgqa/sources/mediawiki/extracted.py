"""JSON lines that WikiExtractor writes (``--json``), plain or with links (``--links``)."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from pydantic import Field

from kgqa.settings.base import Settings
from kgqa.sources.formats import Piece
from kgqa.sources.mediawiki.site import Site, read_site
from kgqa.sources.mediawiki.wikitext import Link, cut
from kgqa.sources.rows import Rows
from kgqa.sources.streams import json_line_pieces

ANCHOR = re.compile(r"""<a href=["']([^"'<>]*)["'][^<>]*>(.*?)</a>""", re.IGNORECASE)
# How version 2 writes headings and items of lists.
HEADING = "Section::::"
ITEM = re.compile(r"(?:BULLET|INDENT|NUMBERED|DESCRIPTION)?::::(?:- ?)?")
WEB = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)


class _Record(msgspec.Struct):
    id: str | int
    title: str
    text: str = ""
    url: str = ""
    revid: str | int = 0


class WikiExtractor(Settings):
    """Texts that WikiExtractor made of a dump as documents, with their links where it kept them."""

    site: str = ""
    """Name of the wiki, such as enwiki; empty: taken from the addresses of the pages."""
    characters: Annotated[int, Field(ge=0)] = 0
    """Maximum length of a text in characters; 0: no limit. WikiExtractor does not mark the end of the lead section."""

    pieces = staticmethod(json_line_pieces)

    def parse(self, piece: Piece) -> Rows:
        """Documents and links of the pages."""
        rows = Rows()
        decoder = msgspec.json.Decoder(_Record)
        for at, line in enumerate(piece.data.split(b"\n")):
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                rows.skip("line that is no page of WikiExtractor", f"{piece.file}, line {piece.line + at}")
                continue
            self._document(record, piece.file, rows)
        return rows

    def _document(self, record: _Record, file: str, rows: Rows) -> None:
        site = read_site(b"", file, self.site or site_of(record.url), (0,))
        title = unicodedata.normalize("NFC", html.unescape(record.title))
        id_ = f"{site.name}:{record.id}"
        text, links = linked_text(record.text, title, site)
        if self.characters:
            text, links = cut(text, links, self.characters)
        if not text:
            rows.skip("page without text", id_)
            return
        version = str(record.revid)
        rows.document(id_, title, text, version=int(version) if re.fullmatch("[0-9]{1,18}", version) else 0)
        rows.page(site.name, title, document=id_)
        for link in links:
            rows.link(id_, link.start, link.end, site.name, link.title)


@lru_cache(maxsize=1024)
def _host(host: str) -> str:
    language, _, project = host.removesuffix(".org").partition(".")
    return f"{language.replace('-', '_')}{'wiki' if project in {'wikipedia', ''} else project}" if host else ""


def site_of(address: str) -> str:
    """Name of the wiki at an address: enwiki for en.wikipedia.org, dewikivoyage for de.wikivoyage.org."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    return _host(host.removeprefix("www."))


def linked_text(text: str, title: str, site: Site) -> tuple[str, list[Link]]:
    """The text with a paragraph a line, without the title above it, and its links. Version 3 writes its tags as entities."""
    text = unicodedata.normalize("NFC", html.unescape(text) if "&" in text else text)
    lines = [line.strip() for line in text.split("\n")]
    if lines[0] == title:
        del lines[0]
    text = "\n".join(ITEM.sub("", line, count=1) if "::::" in line else line for line in lines if line and not line.startswith(HEADING))
    parts: list[str] = []
    links: list[Link] = []
    length = last = 0
    for match in ANCHOR.finditer(text):
        before, inside = text[last : match.start()], match[2].strip()
        start = length + len(before)
        kind, target = ("text", "") if WEB.match(match[1]) else site.resolve(":" + match[1])
        if kind == "page" and inside:
            links.append(Link(start, start + len(inside), target))
        parts += (before, inside)
        length, last = start + len(inside), match.end()
    return "".join(parts) + text[last:], links
