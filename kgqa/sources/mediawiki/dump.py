"""XML dumps of MediaWiki: pages-articles, with one revision a page or all of them, from any wiki in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Annotated
from xml.sax.saxutils import escape

from lxml import etree
from pydantic import Field

from kgqa.settings.base import Settings
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.mediawiki.disambiguation import lists_meanings, marked
from kgqa.sources.mediawiki.markup import template_name
from kgqa.sources.mediawiki.site import Site, read_site
from kgqa.sources.mediawiki.wikitext import PageText, read_text
from kgqa.sources.rows import Rows
from kgqa.sources.safe_xml import xml_parser
from kgqa.sources.streams import element_pieces

REDIRECT = re.compile(r"\s*#[^\W\d_]+(?:[ _][^\W\d_]+)?\s*:?\s*\[\[([^\[\]|\n]+)(?:\|[^\[\]]*)?\]\]")
REFERENCE = re.compile(r"&#(?:(\d{1,7})|[xX]([0-9a-fA-F]{1,6}));")
PAGE = re.compile(rb"<page[\s>].*?</page\s*>", re.DOTALL)


class MediaWikiDump(Settings):
    """Pages of a dump as documents, with the links in their texts."""

    site: str = ""
    """Name of the wiki, such as enwiki, if the dump has none or a wrong one."""
    namespaces: tuple[int, ...] = (0,)
    """Numbers of the namespaces whose pages become documents; 0: the articles."""
    characters: Annotated[int, Field(ge=0)] = 0
    """Maximum length of a text in characters, without headings; 0: the lead section, up to the first heading."""
    templates: Mapping[str, str] = Field(default_factory=dict)
    """Template → replacement text, such as ``lang:{2}`` for its second argument. All other templates are removed."""
    keep_disambiguations: bool = False
    """Keep disambiguation pages, which only list the meanings of a title, as documents."""
    disambiguation_templates: tuple[str, ...] = ()
    """Names of the templates that mark disambiguation pages in this wiki."""
    disambiguation_category: str = ""
    """Name of a category of disambiguation pages in this wiki."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The pages, some MiB at a time."""
        return element_pieces(text, "page", start)

    def parse(self, piece: Piece) -> Rows:
        """Documents, links and redirects of the pages."""
        site = read_site(piece.head, piece.file, self.site, self.namespaces)
        rows = Rows()
        texts = _Texts(piece)
        for page in texts.pages(rows):
            self._page(page, texts, site, rows)
        return rows

    def _page(self, page: etree._Element, texts: _Texts, site: Site, rows: Rows) -> None:
        number, title = page.findtext("id", ""), unicodedata.normalize("NFC", page.findtext("title", ""))
        id_ = f"{site.name}:{number}"
        revisions = page.findall("revision")
        redirect = page.find("redirect")
        if not number.isascii() or not number.isdigit() or not title:
            rows.skip("page without a number or title", id_)
        elif _namespace(page, title, site) not in site.content:
            rows.skip("page of another namespace", id_)
        elif redirect is not None and (target := redirect.get("title")):
            _redirect(title, target, id_, site, rows)
        elif not revisions:
            rows.skip("page without a revision", id_)
        elif (model := revisions[-1].findtext("model", "wikitext")) != "wikitext":
            rows.skip(f"page of {model}, not wikitext", id_)
        else:
            version = revisions[-1].findtext("id", "")
            self._document(id_, title, int(version) if re.fullmatch("[0-9]{1,18}", version) else 0, texts.of(revisions[-1]), site, rows)

    def _document(self, id_: str, title: str, version: int, raw: bytes, site: Site, rows: Rows) -> None:
        """The page of that title, whose text is ``raw``."""
        if not raw or raw.isspace():
            rows.skip("page without text", id_)
            return
        if raw.lstrip()[:1] == b"#" and (match := REDIRECT.match(plain(raw[:2000]))):
            _redirect(title, match[1], id_, site, rows)
            return
        text = self._text(raw, site, title)
        if not self.keep_disambiguations and self._disambiguates(raw, text, site, title):
            rows.skip("disambiguation page", id_)
            return
        for reason, count in text.skipped.items():
            rows.skip(reason, id_, count)
        if not text.text:
            rows.skip("page without running text before its first heading" if not self.characters else "page without running text", id_)
            return
        rows.document(id_, title, text.text, version=version)
        rows.page(site.name, title, document=id_)
        for link in text.links:
            rows.link(id_, link.start, link.end, site.name, link.title)

    def _text(self, raw: bytes, site: Site, title: str) -> PageText:
        """The lead, of which the rest of the page is no part unless something is open at the first heading; or so many characters."""
        shown = {template_name(name): text for name, text in self.templates.items()}
        if self.characters:
            return read_text(plain(raw), site, title, characters=self.characters, shown=shown)
        heading = raw.find(b"\n=")
        text = read_text(plain(raw[:heading] if heading >= 0 else raw), site, title, shown=shown)
        return read_text(plain(raw), site, title, shown=shown) if text.open and heading >= 0 else text

    def _disambiguates(self, raw: bytes, text: PageText, site: Site, title: str) -> bool:
        if marked(raw, self.disambiguation_templates, self.disambiguation_category):
            return True
        return text.announces and text.prose == 1 and lists_meanings(read_text(plain(raw), site, title, characters=len(raw)))


def plain(raw: bytes) -> str:
    """Character data of XML as text."""
    text = raw.decode("utf-8", "replace")
    if "&" in text:
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
        if "&#" in text:
            text = REFERENCE.sub(_referred, text)
        text = text.replace("&amp;", "&")
    return text.replace("\r\n", "\n") if "\r" in text else text


def _referred(match: re.Match[str]) -> str:
    number = int(match[1]) if match[1] else int(match[2], 16)
    return chr(number) if number in {9, 10} or 32 <= number < 0xD800 or 0xE000 <= number < 0x110000 else ""


class _Texts:
    """Pages of a piece as XML, with the texts of the revisions beside it: they are nearly all of a dump, and most of each is not read."""

    def __init__(self, piece: Piece) -> None:
        self._texts: list[bytes] = []
        self._piece = piece

    def pages(self, rows: Rows) -> Iterator[etree._Element]:
        """The pages. One that is no XML is left out."""
        try:
            pages = list(etree.fromstring(self._skeleton(), xml_parser()))
        except etree.XMLSyntaxError:
            self._texts = []
        else:
            yield from pages
            return
        for match in PAGE.finditer(self._piece.data):
            try:
                yield etree.fromstring(match[0], xml_parser())
            except etree.XMLSyntaxError:
                line = self._piece.line + self._piece.data.count(b"\n", 0, match.start())
                rows.skip("page that is not well-formed XML", f"{self._piece.file}, line {line}")

    def of(self, revision: etree._Element) -> bytes:
        """The text of a revision, escaped as it is in the dump."""
        text = revision.find("text")
        if text is None:
            return b""
        if self._texts and (number := text.findtext("t")) is not None:
            return self._texts[int(number)]
        return escape(text.text or "").encode()

    def _skeleton(self) -> bytes:
        """The pages with a number in the place of each text. A text that has elements stays, and XML has its say about it."""
        data = self._piece.data
        parts, last, position = [b"<pages>"], 0, 0
        while (position := data.find(b"<text", position)) >= 0:
            begin = data.find(b">", position) + 1
            if not begin:
                break
            end = data.find(b"<", begin)
            if data[begin - 2 : begin - 1] != b"/" and data.startswith(b"</text", end):
                parts += (data[last:begin], b"<t>%d</t>" % len(self._texts))
                self._texts.append(data[begin:end])
                last = end
            position = begin
        parts += (data[last:], b"</pages>")
        return b"".join(parts)


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
