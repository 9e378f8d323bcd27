"""XML dumps of MediaWiki: pages-articles, with one revision a page or all of them, from any wiki in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Annotated

from lxml import etree
from pydantic import Field

from kgqa.settings.base import Settings
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.mediawiki.site import Site, read_site, xml_parser
from kgqa.sources.mediawiki.wikitext import read_text
from kgqa.sources.rows import Rows
from kgqa.sources.streams import element_pieces

REDIRECT = re.compile(r"\s*#[^\W\d_]+(?:[ _][^\W\d_]+)?\s*:?\s*\[\[([^\[\]|\n]+)(?:\|[^\[\]]*)?\]\]")
PAGE = re.compile(rb"<page[\s>].*?</page\s*>", re.DOTALL)


class MediaWikiDump(Settings):
    """Pages of a dump as documents, with the links in their texts."""

    site: str = ""
    """The wiki's name, such as enwiki, where the dump does not tell or tells a wrong one."""
    namespaces: tuple[int, ...] = (0,)
    """Numbers of the namespaces whose pages are documents; 0 has the articles."""
    characters: Annotated[int, Field(ge=0)] = 0
    """Length of the texts: 0 is the lead, up to the first heading; otherwise that many characters, headings left out."""
    keep_disambiguations: bool = False
    """Whether pages that only list the meanings of a title are documents."""
    disambiguation_templates: tuple[str, ...] = ()
    """Names of templates that make a page a disambiguation page in this wiki."""
    disambiguation_category: str = ""
    """Name of a category that does so."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The pages, some MiB at a time."""
        return element_pieces(text, "page", start)

    def parse(self, piece: Piece) -> Rows:
        """Documents, links and redirects of the pages."""
        site = read_site(piece.head, piece.file, self.site, self.namespaces)
        rows = Rows()
        for page in _pages(piece, rows):
            self._page(page, site, rows)
        return rows

    def _page(self, page: etree._Element, site: Site, rows: Rows) -> None:
        number, title = page.findtext("id", ""), page.findtext("title", "")
        id_ = f"{site.name}:{number}"
        if not number.isascii() or not number.isdigit() or not title:
            rows.skip("page without a number or title", id_)
            return
        title = unicodedata.normalize("NFC", title)
        if _namespace(page, title, site) not in site.content:
            rows.skip("page of another namespace", id_)
            return
        revisions = page.findall("revision")
        revision = revisions[-1] if revisions else None
        redirect = page.find("redirect")
        if redirect is not None and (target := redirect.get("title")):
            _redirect(title, target, id_, site, rows)
            return
        if revision is None:
            rows.skip("page without a revision", id_)
            return
        model = revision.findtext("model", "wikitext")
        if model != "wikitext":
            rows.skip(f"page of {model}, not wikitext", id_)
            return
        wikitext = unicodedata.normalize("NFC", revision.findtext("text", ""))
        if not wikitext.strip():
            rows.skip("page without text", id_)
            return
        if wikitext.lstrip()[0] == "#" and (match := REDIRECT.match(wikitext)):
            _redirect(title, match[1], id_, site, rows)
            return
        text = read_text(wikitext, site, title, characters=self.characters or None)
        for reason, count in text.skipped.items():
            rows.skip(reason, id_, count)
        if not text.text:
            rows.skip("page without running text before its first heading" if not self.characters else "page without running text", id_)
            return
        version = revision.findtext("id", "0")
        rows.document(id_, title, text.text, version=int(version) if version.isascii() and version.isdigit() else 0)
        for link in text.links:
            rows.link(id_, link.start, link.end, site.name, link.title)


def _pages(piece: Piece, rows: Rows) -> Iterator[etree._Element]:
    """The pages of a piece. One that is no XML is left out."""
    try:
        yield from etree.fromstring(b"<pages>" + piece.data + b"</pages>", xml_parser())
    except etree.XMLSyntaxError:
        for match in PAGE.finditer(piece.data):
            try:
                yield etree.fromstring(match[0], xml_parser())
            except etree.XMLSyntaxError:
                rows.skip("page that is not well-formed XML", f"{piece.file}, line {piece.line + piece.data.count(bytes([10]), 0, match.start())}")


def _namespace(page: etree._Element, title: str, site: Site) -> int:
    """Number of the page's namespace; dumps before 2010 tell it by the title alone."""
    number = page.findtext("ns", "")
    if re.fullmatch(r"-?\d{1,6}", number):
        return int(number)
    prefix, colon, _ = title.partition(":")
    return site.numbers.get(prefix.strip().lower(), 0) if colon else 0


def _redirect(title: str, target: str, id_: str, site: Site, rows: Rows) -> None:
    kind, leads_to = site.resolve(":" + unicodedata.normalize("NFC", target).lstrip(":"))
    if kind != "page":
        rows.skip("redirect to another namespace or wiki", id_)
    elif leads_to == title:
        rows.skip("redirect to itself", id_)
    else:
        rows.redirect(site.name, title, leads_to)
