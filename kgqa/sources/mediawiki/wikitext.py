"""The text of a page and where its links are in it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from kgqa.sources.mediawiki.markup import CHARACTERS, GONE, LITERAL, Outline
from kgqa.sources.mediawiki.site import Site, plain_target

OPEN, CLOSE = "\x0e", "\x0f"
"""Around the text of a link, the first followed by one character for the link's number."""
NUMBERS = 0xF0000
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
BLOCKS = frozenset("br p div li ul ol dl dt dd tr td th table blockquote center hr h1 h2 h3 h4 h5 h6 poem".split())
LINK = re.compile(r"\[\[([^\[\]|\n\x0e\x0f]*+)(\|(?:[^\[\]]++|\[(?!\[)|\](?!\]))*+)?\]\]")
WEB = re.compile(r"\[(?:(?:[a-z]{2,10}:)?//|mailto:)[^\s\[\]<>\"]*+(?:[^\S\n]*+([^\[\]\n]*+))?\]", re.IGNORECASE)
VARIANTS = re.compile(r"-\{([^{}]*+)\}-")
SWITCH = re.compile(r"__[^\W\d_]+(?:_[^\W_]+)*__")
QUOTES = re.compile(r"('{2,})")
LIST = "*#:;"
# Scripts written without spaces between words, or with endings that are words of their own: letters after a link do not belong to it.
UNSPACED = ((0x0E00, 0x11FF), (0x1780, 0x17FF), (0x2E80, 0xABFF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
JOINERS = "\u200c\u200d"
LEVELS = 8
"""Links within links that are looked at; only captions of files have any."""
_FILL = r"[^\S\n]|[,;:/·•،؛、，；–—-]"
TIDY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"[^\S\n]*[(\[（](?:{_FILL})*\0(?:{_FILL}|\0)*[)\]）]"), GONE),  # brackets that have lost all they had
    (re.compile(rf"(?<=[(（])(?:{_FILL})*\0(?:{_FILL}|\0)*"), ""),  # the begin of what is in brackets
    (re.compile(r"(?:[^\S\n]|[,;:،؛、，；])*\0[\0\s]*(?=[)）])"), ""),  # its end
    (re.compile(r"([,;،؛、，；])[^\S\n]*\0[\0 ]*(?=[,;.،؛、，；。])"), ""),  # an item of a list
    (re.compile(r"[^\S\n]*\0[\0 ]*(?=[\s.,;:!?)،؛。、，；]|$)"), ""),
    (re.compile(r"\0+"), ""),
    (re.compile(r"[^\S\n]+"), " "),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """The characters ``start`` to ``end`` of a text lead to the page ``title``."""

    start: int
    end: int
    title: str


@dataclass(slots=True)
class PageText:
    """The text of a page, one paragraph or list item a line, with its links in order."""

    text: str
    links: list[Link]
    skipped: Counter[str] = field(default_factory=Counter)
    """Why links lead to no page that could be a document → how many."""


def read_text(wikitext: str, site: Site, title: str, *, characters: int | None = None) -> PageText:
    """The lead of a page, which ends at the first heading, or about its first ``characters`` beyond headings, which are left out.

    A longer text is cut at the end of a word.
    """
    wikitext = CONTROL.sub("", wikitext) if CONTROL.search(wikitext) else wikitext
    if characters is None:
        return _page_text(Outline(wikitext, title).read(), site)
    enough = 2 * characters
    while True:
        outline = Outline(wikitext, title, enough)
        page = _page_text(outline.read(), site)
        if len(page.text) >= characters or outline.complete:
            return _cut(page, characters)
        enough *= 2


def _page_text(body: str, site: Site) -> PageText:
    if "&" in body:
        body = ENTITY.sub(_character, body)
    if "-{" in body:
        body = VARIANTS.sub(_variant, body)
    if "<" in body:
        body = TAG.sub(_space, body)
    body = INVISIBLE.sub("", body)
    links = _Links(site)
    body = links.mark(body)
    if "[" in body:
        body = WEB.sub(_label, body)
        body = body.replace("[[", "").replace("]]", "")
    text = "\n".join(_paragraphs(body))
    if "__" in text:
        text = SWITCH.sub("", text)
    for pattern, instead in TIDY:
        text = pattern.sub(instead, text)
    return links.place(text)


@lru_cache(maxsize=4096)
def _decoded(entity: str) -> str:
    character = html.unescape(entity)
    if character.isspace():
        return " "
    return LITERAL.get(character) or (character if character == entity or not CONTROL.search(character) else "")


def _character(match: re.Match[str]) -> str:
    return _decoded(match[0])


def _variant(match: re.Match[str]) -> str:
    """Text of a rule for writing variants, as in Chinese and Serbian: ``-{text}-`` or ``-{variant:text;variant:text}-``."""
    flags, bar, rule = match[1].rpartition("|")
    if bar and not set(flags.strip()) <= set("AR"):
        return ""
    first = rule.split(";")[0]
    variant, colon, text = first.partition(":")
    return text.strip() if colon and re.fullmatch(r"\s*[a-z-]{2,12}\s*", variant) else rule


def _space(match: re.Match[str]) -> str:
    return "\n\n" if match[1].lower() in BLOCKS else ""


def _label(match: re.Match[str]) -> str:
    return match[1] or GONE


class _Links:
    """The links of a text while it is tidied: marks in the text, and their titles here."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._titles: list[str] = []
        self._skipped: Counter[str] = Counter()

    def mark(self, body: str) -> str:
        """The text with marks around the text of each link that leads to a page, and without files, categories and other languages."""
        for level in range(LEVELS):
            if "[[" not in body:
                break
            parts, last = [], 0
            for match in LINK.finditer(body):
                shown, end = self._shown(match, nested=level > 0), match.end()
                parts.append(body[last : match.start()])
                if shown[:1] == OPEN and body[end : end + 1].isalpha():
                    last = _trail(body, end)
                    parts += (shown[:-1], body[end:last], CLOSE)
                else:
                    parts.append(shown)
                    last = end
            if not last:
                break
            body = "".join(parts) + body[last:]
        return body

    def _shown(self, match: re.Match[str], *, nested: bool) -> str:
        """What a link shows in the text, with marks if it leads to a page."""
        target, label = match[1], match[2]
        if GONE in target:
            return target if label is None else label[1:]
        kind, title = self._site.resolve(target.translate(CHARACTERS))
        if kind == "nothing":
            return GONE
        shown = target.strip().removeprefix(":") if label is None else label.rpartition("|")[2]
        if not shown.strip(f" \n\t{GONE}"):
            # The "pipe trick", or a label that a template makes.
            shown = pipe_trick(target)
        if nested and OPEN in shown:
            return shown
        if kind == "text":
            self._skipped["link to a section, another wiki or a page of another namespace"] += 1
            return shown
        self._titles.append(title)
        inner = shown.strip()
        before, _, after = shown.partition(inner)
        return f"{before}{OPEN}{chr(NUMBERS + len(self._titles) - 1)}{inner}{CLOSE}{after}"

    def place(self, text: str) -> PageText:
        """The text without the marks, and the links where they are in it."""
        parts, links, length, last = [], [], 0, 0
        begin, title, size = -1, "", len(text)
        position = 0
        while position < size:
            at = text.find(OPEN, position) if begin < 0 else text.find(CLOSE, position)
            if at < 0:
                break
            parts.append(text[last:at])
            length += at - last
            if begin < 0:
                begin, title = length, self._titles[ord(text[at + 1]) - NUMBERS]
                last = position = at + 2
            else:
                if length > begin:
                    links.append(Link(begin, length, title))
                begin = -1
                last = position = at + 1
        parts.append(text[last:])
        text = "".join(parts)
        return PageText(text.translate(CHARACTERS) if CONTROL.search(text) else text, links, self._skipped)


def _trail(body: str, start: int) -> int:
    """End of the letters that follow a link and belong to it: ``[[town]]s``. Capitals begin something new."""
    end = start
    while end < len(body):
        character = body[end]
        letter = character.isalpha() and not character.isupper()
        if not (letter or character in JOINERS or unicodedata.category(character)[0] == "M") or _unspaced(character):
            break
        end += 1
    return end


def _unspaced(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in UNSPACED)


def pipe_trick(target: str) -> str:
    """What a target shows under an empty label: no namespace, nothing in brackets at the end, nothing behind a comma."""
    name = plain_target(target).lstrip(":")
    name = name.partition(":")[2].strip() or name
    bare = re.sub(r"\s*[(（][^()（）]*[)）]$", "", name)
    return bare if bare != name else name.partition(",")[0]


def _paragraphs(body: str) -> list[str]:
    """Paragraphs and list items in order, each on one line and without marks of bold and italic type."""
    result: list[str] = []
    joins = False
    for line in body.split("\n"):
        line = line.strip(f" \t\r{GONE}")
        if not line or line.startswith("----"):
            joins = False
        elif line[0] in LIST:
            item = line.lstrip(LIST + " \t")
            # An indented line in italics before the text says which page is meant: "For the river, see ...".
            if item and (result or line[0] != ":" or not _italic(item)):
                result.append(plain_quotes(item))
            joins = False
        elif line[0] in "|}" or line.startswith(("{|", "{{")):
            joins = False  # rows of tables and templates that nothing closes
        elif joins:
            result[-1] += " " + plain_quotes(line)
        else:
            result.append(plain_quotes(line))
            joins = True
    return [line for line in result if line.strip(f" \t{GONE}")]


def _italic(item: str) -> bool:
    return item.startswith("''") and not item.startswith("'''") and item.rstrip(" ." + GONE).endswith("''")


def plain_quotes(line: str) -> str:
    """A line without the apostrophes that mean bold and italic type (MediaWiki's ``doQuotes``)."""
    if "''" not in line:
        return line
    if "'''" not in line:
        return line.replace("''", "")
    parts = QUOTES.split(line)
    texts, runs = parts[::2], [len(run) for run in parts[1::2]]
    for at, run in enumerate(runs):
        if run == 4 or run > 5:
            texts[at] += "'" * (run - 3 if run == 4 else run - 5)
            runs[at] = 3 if run == 4 else 5
    bold, italic = sum(run in {3, 5} for run in runs), sum(run in {2, 5} for run in runs)
    if bold % 2 and italic % 2:
        # One run of three is an apostrophe and italic type: l'''Iliade''. MediaWiki takes the first after a word of one letter, else the
        # first after another word, else the first.
        threes = [at for at, run in enumerate(runs) if run == 3]
        if threes:
            texts[min(threes, key=lambda at: (_before_quote(texts[at]), at))] += "'"
    return "".join(texts)


def _before_quote(text: str) -> int:
    if text[-1:] in {"", " "}:
        return 2
    return 0 if text[-2:-1] in {"", " "} else 1


def _cut(page: PageText, characters: int) -> PageText:
    """At most so many characters, up to the end of a word."""
    if len(page.text) <= characters:
        return page
    end = characters
    while end > 0 and not page.text[end].isspace():
        end -= 1
    end = len(page.text[:end or characters].rstrip())
    return PageText(page.text[:end], [link for link in page.links if link.end <= end], page.skipped)
