"""Wikidata as MediaWiki XML (``pages-articles.xml``): pages whose text is the JSON of an entity."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.safe_xml import xml_parser
from kgqa.sources.streams import element_pieces
from kgqa.sources.wikibase import selection as reasons
from kgqa.sources.wikibase.dump import WikidataJson

PAGE = re.compile(rb"<page[\s>].*?</page\s*>", re.DOTALL)
ENTITY_MODELS = ("wikibase-item", "wikibase-property")


class WikidataXml(WikidataJson):
    """Parser of pages of MediaWiki XML with entities in JSON.

    This JSON does not say the data types of strings, so with ``texts`` web addresses and names of media files are texts, too.
    """

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The pages from byte ``start`` on; a page is never divided."""
        return element_pieces(text, "page", start)

    def parse(self, piece: Piece) -> Rows:
        """Rows of the entities of the pages in a piece."""
        from lxml import etree

        rows = self._rows()
        parser = xml_parser(huge_tree=True)
        for match in PAGE.finditer(piece.data):
            try:
                page = etree.fromstring(match[0], parser)
            except etree.XMLSyntaxError:
                line = piece.line + piece.data.count(b"\n", 0, match.start())
                rows.skip(reasons.UNREADABLE, f"line {line}")
                continue
            revisions = page.findall("revision")  # A dump with history has the oldest first.
            model = revisions[-1].findtext("model") if revisions else None
            title = page.findtext("title") or "page without title"
            if model in ENTITY_MODELS:
                self.record((revisions[-1].findtext("text") or "").encode(), rows, title)
            else:
                rows.skip(reasons.LEXEME if model == "wikibase-lexeme" else reasons.OTHER_RECORD, title)
        return rows
