"""The lines of a text after the markup is gone: apostrophes, marks of lists, and the brackets and commas around what was taken out."""

from __future__ import annotations

import re
from typing import NamedTuple

from kgqa.sources.mediawiki.markup import GONE

OPEN, CLOSE = "\x0e", "\x0f"
"""Around the text of a link, the first followed by one character for the link's number."""
BLANK = f" \t\r\n{GONE}"
OPENING, CLOSING = "([（【", ")]）】"
SEPARATORS = ",;،؛、，；"
FILL = " /:·•–—-" + SEPARATORS
"""What separates the items in brackets."""
STOPS = SEPARATORS + ".:!?。" + CLOSE
CONTEXT = 64
"""Characters before a gap that its repair may change."""
# Scripts written without spaces between words, or with particles that follow without one (Korean).
UNSPACED = ((0x0E00, 0x11FF), (0x1780, 0x17FF), (0x2E80, 0xABFF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
LIST = "*#:;"
SWITCH = re.compile(r"__[^\W\d_]+(?:_[^\W_]+)*__")
BAR = re.compile(r" [|·•] ")
QUOTES = re.compile(r"('{2,})")


class Line(NamedTuple):
    """A paragraph or an item of a list."""

    text: str
    item: bool


def paragraphs(body: str) -> list[Line]:
    """Paragraphs and items of lists in order, without marks of bold and italic type.

    Three kinds of line are left out: rows of tables and templates that nothing closes, lines of links to the next pages of a series, and,
    before the text, indented lines in italics, which say what other page may be meant.
    """
    result: list[tuple[list[str], bool]] = []
    joins = False
    for line in (line.strip(BLANK) for line in body.split("\n")):
        if not line or line.startswith("----"):
            joins = False
        elif line[0] in LIST:
            item = line.lstrip(LIST + BLANK)
            if item and (result or line[0] != ":" or not _italic(item)):
                result.append(([plain_quotes(item)], True))
            joins = False
        elif line[0] in "|}" or line.startswith(("{|", "{{")):
            joins = False
        elif joins:
            result[-1][0].append(plain_quotes(line))
        else:
            result.append(([plain_quotes(line)], False))
            joins = True
    tidied = (Line(_tidied(" ".join(parts)), item) for parts, item in result)
    return [line for line in tidied if line.text and not _navigation(line.text)]


def _tidied(line: str) -> str:
    if "__" in line:
        line = SWITCH.sub(_switch, line)
    line = " ".join(line.split())
    return tidy(line).strip() if GONE in line else line


def _switch(match: re.Match[str]) -> str:
    return GONE if match[0] == match[0].upper() else match[0]


def _italic(item: str) -> bool:
    return item.startswith("''") and not item.startswith("'''") and item.rstrip(" ." + GONE).endswith("''")


def _navigation(line: str) -> bool:
    """Whether half or more of what bars or dots separate are links and nothing else: "1910s | 1920s | 1930s"."""
    if CLOSE not in line or not BAR.search(line):
        return False
    parts = BAR.split(line)
    links = [part for part in parts if part.startswith(OPEN) and part.find(CLOSE) == len(part) - 1]
    return 2 * len(links) >= len(parts)


def unspaced(character: str) -> bool:
    """Whether words of the character's script are not separated by spaces."""
    return any(first <= ord(character) <= last for first, last in UNSPACED)


def tidy(line: str) -> str:
    """A line without the marks of what was taken out, and without the brackets, commas and spaces that are left around them.

    "Rome (\\0; Latin: \\0) is\\0 a city" becomes "Rome (Latin) is a city".
    """
    lines: list[str] = []
    left, *rest = line.split(GONE)
    for right in rest:
        left = _joined(left, right)
        if len(left) > 2 * CONTEXT:
            lines.append(left[:-CONTEXT])
            left = left[-CONTEXT:]
    return "".join(lines) + left


def _joined(left: str, right: str) -> str:
    """What was on the two sides of something that is gone."""
    bare, after = left.rstrip(FILL), right.lstrip(FILL)
    if after and after[0] in CLOSING:
        return bare[:-1].rstrip(" ") + after[1:] if bare and bare[-1] in OPENING else bare + after
    if bare and bare[-1] in OPENING:
        return bare + after
    bare, after = left.rstrip(" "), right.lstrip(" ")
    if not bare or not after:
        return bare + after
    if after[0] in STOPS:
        return (bare[:-1] if bare[-1] in SEPARATORS else bare) + after
    if left[-1] == " " or right[0] == " ":
        return f"{bare} {after}"
    # What stood between two words without a space was a dash, a number or a reference.
    between_words = (left[-1].isalnum() or left[-1] == CLOSE) and (right[0].isalnum() or right[0] == OPEN)
    return f"{left} {right}" if between_words and not unspaced(left[-1]) and not unspaced(right[0]) else left + right


def plain_quotes(line: str) -> str:
    """A line without the apostrophes that mean bold and italic type (MediaWiki's ``doQuotes``)."""
    if "''" not in line:
        return line
    if "'''" not in line:
        return line.replace("''", "")
    parts = QUOTES.split(line)
    texts, runs = parts[::2], [len(run) for run in parts[1::2]]
    for at, run in enumerate(runs):
        if run == 4:
            texts[at] += "'"
            runs[at] = 3
        elif run > 5:
            texts[at] += "'" * (run - 5)
            runs[at] = 5
    bold, italic = sum(run in {3, 5} for run in runs), sum(run in {2, 5} for run in runs)
    threes = [at for at, run in enumerate(runs) if run == 3]
    if bold % 2 and italic % 2 and threes:
        # One run of three is an apostrophe and italic type: l'''Iliade''. MediaWiki takes the first after a word of one letter, else the
        # first after another word, else the first.
        texts[min(threes, key=lambda at: (_before(texts[at]), at))] += "'"
    return "".join(texts)


def _before(text: str) -> int:
    """How well an apostrophe continues a text: 0 after a word of one letter, 1 after another, 2 after a space."""
    if text[-1:] in {"", " "}:
        return 2
    return 0 if text[-2:-1] in {"", " "} else 1
