"""How fast leads with their links are read from a dump of MediaWiki, beside a general parser of wikitext.

``python -m benchmarks.sources_mediawiki``

All have the same pages of the English file in memory, one core, and give for each article the text of its lead and the links in it. The
plain ways parse the XML with lxml, cut the wikitext at its first heading by a regular expression, and leave the rest to a library; their
links have no offsets.
"""

from __future__ import annotations

import bz2
import re
from collections.abc import Callable
from pathlib import Path

import mwparserfromhell
from lxml import etree

from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from kgqa.sources.formats import Piece
from kgqa.sources.mediawiki.dump import MediaWikiDump

TITLE = "Leads of Wikipedia with their links"
FILE = "enwiki-gensim-shortened.xml.bz2"
ROUNDS = 5
HEADING = re.compile(r"^=[^\n]*=[ \t]*$", re.MULTILINE)
INNERMOST = re.compile(r"\{\{[^{}]*\}\}|<ref[^>/]*/>|<ref[^>]*>.*?</ref>|<!--.*?-->", re.DOTALL)


def main() -> Section:
    """Measure on the English file."""
    folder = data_folder("sources/mediawiki")
    if folder is None:
        return Section(title=TITLE, skipped=absent("sources/mediawiki"))
    return Section(title=TITLE, tables=[measured(folder / FILE)])


def measured(path: Path) -> Table:
    """Pages a second of each way."""
    text = bz2.decompress(path.read_bytes())
    begin, end = text.index(b"<page>"), text.rindex(b"</page>") + len(b"</page>")
    piece = Piece(path.name, begin, 1, text[begin:end], text[:begin])
    pages, articles = piece.data.count(b"<page>"), len(leads(piece))
    dump = MediaWikiDump(keep_disambiguations=True)
    ways: dict[str, Callable[[], object]] = {
        "kgqa": lambda: dump.parse(piece),
        "lxml, then mwparserfromhell": lambda: [parsed(lead) for lead in leads(piece)],
        "lxml, templates stripped, then mwparserfromhell": lambda: [parsed(stripped(lead)) for lead in leads(piece)],
    }
    seconds = in_turn(ways, rounds=ROUNDS)
    rows = [
        [
            name,
            spread([pages / second for second in taken], 0),
            spread([articles / second for second in taken], 0),
            spread([len(piece.data) / second / 1e6 for second in taken], 1),
            spread(ratios(taken, seconds["kgqa"]), 1),
        ]
        for name, taken in seconds.items()
    ]
    note = f"{pages} pages with {articles} articles, the others redirects; {len(piece.data) / 1e6:.1f} MB. Medians of {ROUNDS} rounds."
    return Table(
        title="Leads with links, one core",
        columns=["way", "pages/s", "articles/s", "MB/s", "times the time of kgqa"],
        rows=rows,
        notes=[note],
    )


def leads(piece: Piece) -> list[str]:
    """Wikitext before the first heading of every page that is no redirect."""
    result = []
    for page in etree.fromstring(b"<pages>" + piece.data + b"</pages>"):
        if page.find("redirect") is None and page.findtext("ns") == "0":
            wikitext = page.findtext("revision/text") or ""
            heading = HEADING.search(wikitext)
            result.append(wikitext[: heading.start()] if heading else wikitext)
    return result


def parsed(lead: str) -> tuple[str, list[str]]:
    """Text and targets of the links by mwparserfromhell."""
    code = mwparserfromhell.parse(lead)
    return code.strip_code(), [str(link.title) for link in code.filter_wikilinks()]


def stripped(lead: str) -> str:
    """Without templates, references and comments, from the inside out."""
    while (shorter := INNERMOST.sub("", lead)) != lead:
        lead = shorter
    return lead


if __name__ == "__main__":
    print(main().plain())
