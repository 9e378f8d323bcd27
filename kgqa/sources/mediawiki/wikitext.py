"""The text of a page and where its links are in it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from html.entities import html5
from typing import NamedTuple

from kgqa.sources.mediawiki.lines import BLANK, CLOSE, OPEN, paragraphs, unspaced
from kgqa.sources.mediawiki.markup import CHARACTERS, GONE, LITERAL, Outline
from kgqa.sources.mediawiki.site import Site, plain_target

NUMBERS = 0xF0000
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
BLOCK = re.compile("br|p|div|li|[uod]l|d[td]|t[rdh]|table|blockquote|center|hr|h[1-6]|poem", re.IGNORECASE)
TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
RAISED = re.compile(r"<sup\b[^<>]*>([0-9+−-]{1,6})</sup\s*>", re.IGNORECASE)
POWERS = str.maketrans("0123456789+−-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
LINK = re.compile(r"\[\[([^\[\]|\n\x0e\x0f]*+)(\|(?:[^\[\]]++|\[(?!\[)|\](?!\]))*+)?\]\]")
WEB = re.compile(r"\[(?:(?:[a-z]{2,10}:)?//|mailto:)[^\s\[\]<>\"]*+(?:[^\S\n]*+([^\[\]\n]*+))?\]", re.IGNORECASE)
VARIANTS = re.compile(r"-\{([^{}]*+)\}-")
JOINERS = "\u200c\u200d"
LEVELS = 8
"""Links within links that are looked at; only captions of files have any."""


class Link(NamedTuple):
    """The characters ``start`` to ``end`` of a text lead to the page ``title``."""

    start: int
    end: int
    title: str


@dataclass(slots=True)
class PageText:
    """The text of a page, one paragraph or list item a line, with its links in order."""

    text: str
    links: list[Link]
    skipped: Counter[str]
    """Why links lead to no page that could be a document → how many."""
    prose: int
    """Paragraphs outside of lists."""
    items: int
    """Items of lists."""
    announces: bool
    """Whether the first paragraph ends with a colon."""
    open: bool
    """Whether a template, table, comment or tag is open at the end, so that what follows may belong to it."""


def read_text(wikitext: str, site: Site, title: str, *, characters: int | None = None, shown: Mapping[str, str] | None = None) -> PageText:
    """The lead of a page, which ends at the first heading, or about its first ``characters`` beyond headings, which are left out.

    A longer text is cut at the end of a word. ``shown`` gives the text of some templates (:attr:`Outline.shown`). ``wikitext`` has no
    control characters, as XML has none.
    """
    if characters is None:
        return _page_text(Outline(wikitext, title, shown=shown or {}), site)
    enough = 2 * characters
    while True:
        outline = Outline(wikitext, title, enough, shown or {})
        page = _page_text(outline, site)
        if len(page.text) >= characters or outline.complete:
            text, links = cut(page.text, page.links, characters)
            return replace(page, text=text, links=links)
        enough *= 2


def _page_text(outline: Outline, site: Site) -> PageText:
    body = unicodedata.normalize("NFC", outline.read())
    if "&" in body:
        body = ENTITY.sub(_character, body)
    if "-{" in body:
        body = VARIANTS.sub(_variant, body)
    if "<" in body:
        # 10<sup>9</sup> is not 109.
        body = RAISED.sub(_power, body)
        body = TAG.sub(_space, body)
    if not body.isascii():
        body = INVISIBLE.sub("", body)
    links = _Links(site)
    body = links.mark(body)
    if "[" in body or "]]" in body:
        body = WEB.sub(_label, body).replace("[[", "").replace("]]", "")
    lines = paragraphs(body)
    prose = [line.text for line in lines if not line.item]
    announces = bool(prose) and prose[0].rstrip(f" {CLOSE}").endswith((":", "："))
    text, places = links.place("\n".join(line.text for line in lines))
    if lost_count := links.marked - len(places):
        links.skipped["link in a caption, or in a line that only leads to other pages"] += lost_count
    return PageText(text, places, links.skipped, len(prose), len(lines) - len(prose), announces, outline.open)


@lru_cache(maxsize=4096)
def _decoded(entity: str) -> str:
    # html.unescape also reads the begin of a longer word as an entity: &notaword;.
    character = html.unescape(entity) if entity[1] == "#" else html5.get(entity[1:], entity)
    if character.isspace():
        return " "
    return LITERAL.get(character) or ("" if CONTROL.search(character) else character)


def _character(match: re.Match[str]) -> str:
    return _decoded(match[0])


def _variant(match: re.Match[str]) -> str:
    """Text of a rule for writing variants, as in Chinese and Serbian: ``-{text}-`` or ``-{variant:text;variant:text}-``."""
    flags, bar, rule = match[1].rpartition("|")
    if bar and not set(flags.strip()) <= set("AR"):
        return ""
    variant, colon, text = rule.partition(";")[0].partition(":")
    return text.strip() if colon and re.fullmatch(r"\s*[a-z-]{2,12}\s*", variant) else rule


def _power(match: re.Match[str]) -> str:
    return match[1].translate(POWERS)


def _space(match: re.Match[str]) -> str:
    return "\n\n" if BLOCK.fullmatch(match[1]) else ""


def _label(match: re.Match[str]) -> str:
    return match[1] or GONE


class _Links:
    """The links of a text while it is tidied: marks in the text, and their titles here."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._titles: list[str] = []
        self.skipped: Counter[str] = Counter()

    def mark(self, body: str) -> str:
        """The text with marks around the text of each link that leads to a page, and without files, categories and other languages."""
        for level in range(LEVELS):
            if "[[" not in body:
                break
            parts, last = [], 0
            for match in LINK.finditer(body):
                text, end = self._label_of(match, nested=level > 0), match.end()
                parts.append(body[last : match.start()])
                if text[-1:] == CLOSE and body[end : end + 1].isalpha():
                    last = _trail(body, end)
                    parts += (text[:-1], body[end:last], CLOSE)
                else:
                    parts.append(text)
                    last = end
            if not last:
                break
            body = "".join(parts) + body[last:]
        return body

    def _label_of(self, match: re.Match[str], *, nested: bool) -> str:
        """What a link shows in the text, with marks if it leads to a page."""
        target, label = match[1], match[2]
        if GONE in target:
            return target if label is None else label[1:]
        kind, title = self._site.resolve(target if target.isprintable() else target.translate(CHARACTERS))
        if kind == "nothing":
            return GONE
        shown = target.strip().removeprefix(":") if label is None else label.rpartition("|")[2]
        inner = shown.strip(BLANK)
        if not inner:
            # The "pipe trick", or a label that a template makes.
            shown = inner = pipe_trick(target)
        if nested and OPEN in shown:
            return shown
        if kind == "text":
            self.skipped["link to a section, another wiki or a page of another namespace"] += 1
            return shown
        before, _, after = shown.partition(inner)
        self._titles.append(title)
        return f"{before}{OPEN}{chr(NUMBERS + len(self._titles) - 1)}{inner}{CLOSE}{after}"

    @property
    def marked(self) -> int:
        """How many links have marks."""
        return len(self._titles)

    def place(self, text: str) -> tuple[str, list[Link]]:
        """The text without the marks, and the links where they are in it."""
        parts: list[str] = []
        links, length = [], 0
        for at, part in enumerate(text.split(OPEN)):
            if at:
                inside, _, after = part[1:].partition(CLOSE)
                if inside:
                    links.append(Link(length, length + len(inside), self._titles[ord(part[0]) - NUMBERS]))
                parts += (inside, after)
                length += len(inside) + len(after)
            else:
                parts.append(part)
                length += len(part)
        text = "".join(parts)
        return text.translate(CHARACTERS) if CONTROL.search(text) else text, links


def _trail(body: str, start: int) -> int:
    """End of the letters that follow a link and belong to it: ``[[town]]s``. Capitals begin something new."""
    end = start
    while end < len(body):
        character = body[end]
        letter = character.isalpha() and not character.isupper()
        if not (letter or character in JOINERS or unicodedata.category(character)[0] == "M") or unspaced(character):
            break
        end += 1
    return end


def pipe_trick(target: str) -> str:
    """What a target shows under an empty label: no namespace, nothing in brackets at the end, nothing behind a comma."""
    name = plain_target(target).lstrip(":")
    name = name.partition(":")[2].strip() or name
    bare = re.sub(r"\s*[(（][^()（）]*[)）]$", "", name)
    return bare if bare != name else name.partition(",")[0]


def cut(text: str, links: list[Link], characters: int) -> tuple[str, list[Link]]:
    """At most so many characters, up to the end of a word, and the links in them."""
    if len(text) <= characters:
        return text, links
    end = characters
    while end > 0 and not text[end].isspace():
        end -= 1
    text = text[: end or characters].rstrip()
    return text, [link for link in links if link.end <= len(text)]
