"""Whether a page only lists the meanings of its title.

No dump says so in so many words: the templates that mark such pages have names of the wiki's own. Three signs hold in all languages: the
switch ``__DISAMBIG__``, a template with MediaWiki's own name for it, and the form of the page: one paragraph that ends with a colon, then a
list, and nothing else. Templates and a category of the wiki can be named beside them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from xml.sax.saxutils import escape

from kgqa.sources.mediawiki.wikitext import PageText

SWITCH = b"__DISAMBIG__"
WORD = re.compile(rb"isambig(?:uation)?\s*[|}]")
NAME_BYTES = 80
BREAKS = re.compile(rb"[{}|\n]")
ITEMS = 2
"""A list has at least so many items."""


def marked(raw: bytes, templates: Collection[str], category: str) -> bool:
    """Whether the page, escaped as in the dump, says that it is one, or has one of the templates or the category."""
    if SWITCH in raw or (b"isambig" in raw and any(_names_template(raw, match.start()) for match in WORD.finditer(raw))):
        return True
    return bool((templates or category) and _pattern(tuple(templates), category).search(raw))


def lists_meanings(page: PageText) -> bool:
    """Whether a whole page is one paragraph that ends with a colon, and a list."""
    return page.announces and page.prose == 1 and page.items >= ITEMS


def _names_template(raw: bytes, at: int) -> bool:
    """Whether what precedes is the begin of a template's name, not one of its parameters: {{disambig}}, {{place name disambiguation}}."""
    begin = raw.rfind(b"{{", max(0, at - NAME_BYTES), at)
    return begin >= 0 and not BREAKS.search(raw, begin + 2, at)


@lru_cache(maxsize=16)
def _pattern(templates: tuple[str, ...], category: str) -> re.Pattern[bytes]:
    """Finds templates by name, the category in any language's spelling of its namespace."""

    def spelled(name: str) -> str:
        words = escape(name).replace("_", " ").split()
        first, rest = (words[0][0], words[0][1:]) if words else ("", "")
        return rf"(?:{re.escape(first.upper())}|{re.escape(first.lower())})" + r"[\s_]+".join(map(re.escape, [rest, *words[1:]]))

    ways = []
    if templates:
        ways.append(rf"\{{\{{\s*(?:{'|'.join(map(spelled, templates))})\s*[|}}]")
    if category:
        ways.append(rf"\[\[\s*[^\[\]|:\n]+:\s*{spelled(category.rpartition(':')[2])}\s*[|\]]")
    return re.compile("|".join(ways).encode())
