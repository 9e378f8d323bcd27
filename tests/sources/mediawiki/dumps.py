"""A small wiki of our own in the form of a MediaWiki dump (export-0.11)."""

from __future__ import annotations

from xml.sax.saxutils import escape

from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows, plain_rows

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo>
    <sitename>Probewiki</sitename>
    <dbname>probewiki</dbname>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Medium</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="4" case="first-letter">Probewiki</namespace>
      <namespace key="6" case="first-letter">Datei</namespace>
      <namespace key="14" case="first-letter">Kategorie</namespace>
      <namespace key="100" case="case-sensitive">Portal</namespace>
    </namespaces>
  </siteinfo>
"""


def page(
    title: str, text: str, *, number: int = 1, namespace: int = 0, redirect: str = "", model: str = "wikitext", extra: str = ""
) -> str:
    """One page."""
    leads_to = f'<redirect title="{escape(redirect)}" />' if redirect else ""
    return f"""<page>
    <title>{escape(title)}</title>
    <ns>{namespace}</ns>
    <id>{number}</id>
    {leads_to}
    {extra}
    <revision>
      <id>{number + 1000}</id>
      <contributor><username>Probe</username><id>9</id></contributor>
      <model>{model}</model>
      <format>text/x-wiki</format>
      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>
    </revision>
  </page>
"""


def piece(*pages: str, head: str = HEAD) -> Piece:
    """Pages as a piece of a dump."""
    return Piece("probe.xml", 0, 20, "  ".join(pages).encode(), head.encode())


def texts(rows: Rows) -> dict[str, str]:
    """Title → text."""
    return {title: text for _, title, _, text, _ in plain_rows(rows).get("documents", [])}


def links(rows: Rows) -> list[tuple[str, str]]:
    """Text and title of each link."""
    tables = plain_rows(rows)
    of = {id_: text for id_, _, _, text, _ in tables.get("documents", [])}
    return [(of[document][start:end], title) for document, start, end, _, title in tables.get("links", [])]
