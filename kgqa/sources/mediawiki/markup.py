"""The first pass over wikitext: templates, tables, comments and tags with content of their own go, up to the end of the lead.

What goes leaves a mark, so that later steps can tidy up around it. Everything is found in one walk over the few places where such markup
begins or ends, so the time is linear in what is read, whatever is nested or left open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

GONE = "\0"
"""Stands for what was taken out. XML cannot hold it, nor the other control characters used here."""
# A character of markup that stands for itself, because it was written as an entity or between <nowiki> tags. Later steps do not see it.
LITERAL = dict(zip("&[]{}<>|'=*#:;_-!", "\x01\x02\x03\x04\x05\x06\x07\x08\x10\x11\x12\x13\x14\x15\x16\x17\x18", strict=True))
LITERALS = str.maketrans(LITERAL)
CHARACTERS = str.maketrans({mark: character for character, mark in LITERAL.items()})
# Tags of MediaWiki's extensions whose content is no running text.
SILENT = (
    "ref|references|gallery|math|chem|ce|timeline|score|hiero|graph|imagemap|syntaxhighlight|source|templatedata|templatestyles|mapframe|"
    "maplink|indicator|inputbox|categorytree|includeonly|style|script"
)
TOKEN = re.compile(
    rf"<!--|\{{\{{+|\}}\}}+|\n[ \t:]*\{{\||\n[ \t]*\|\}}(?!\}})|\n=|<(/?)table\b[^<>]*>|<(nowiki|pre|{SILENT})\b[^<>]*>", re.IGNORECASE
)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
ARGUMENT = re.compile(r"\|(?![^\[\]]*\]\])")
PLACE = re.compile(r"\{(\w+)\}")
PAGE_NAMES = frozenset({"PAGENAME", "FULLPAGENAME", "BASEPAGENAME", "SUBPAGENAME"})
ATTEMPTS = 3


def template_name(spelled: str) -> str:
    """Name of a template as all its spellings have it: a capital first letter, spaces."""
    name = spelled.replace("_", " ").strip()
    return name[:1].upper() + name[1:]


@dataclass(slots=True)
class _Open:
    """A template or table that is open."""

    kind: str
    count: int
    """Braces that are not closed yet."""
    start: int


@dataclass(slots=True)
class Outline:
    """Wikitext without templates, tables, comments and silent tags. Call :meth:`read` once."""

    text: str
    title: str
    enough: int | None = None
    """None: read the lead, up to the first heading. Otherwise read on beyond headings until there are so many characters."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """Name of a template → the text in its place, with {1} for its first argument and {name} for one with a name."""
    complete: bool = True
    """Whether everything was read that there is to read."""
    open: bool = False
    """Whether something was open at the end of the text."""
    _ignored: set[int] = field(default_factory=set)
    _out: list[str] = field(default_factory=list)
    _size: int = 0
    _last: int = 0
    _stack: list[_Open] = field(default_factory=list)
    _braces: int = 0
    """How many runs of braces are open."""
    _unclosed: set[str] = field(default_factory=set)

    def read(self) -> str:
        """The text. What is opened and never closed counts as text, as in MediaWiki, so the walk starts again without it."""
        self.text = "\n" + self.text
        if "{{!}}" in self.text:
            self.text = self.text.replace("{{!}}", "|")
        for _ in range(ATTEMPTS):
            end = self._walk()
            self.open = self.open or bool(self._stack or self._unclosed)
            if not self._stack:
                break
            self._ignored |= {mark.start for mark in self._stack}
        self._out.append(self.text[self._last : end])
        return "".join(self._out)

    def _walk(self) -> int:
        """Fill ``_out`` up to the end of what is read, and return that."""
        self._out, self._size, self._last, self._stack, self._braces = [], 0, 0, [], 0
        text, position = self.text, 0
        while match := TOKEN.search(text, position):
            start, position = match.span()
            mark = match[0]
            first = mark[0]
            if first == "{":
                if start not in self._ignored:
                    self._stack.append(_Open("{", len(mark), start))
                    self._braces += 1
            elif first == "}":
                position = self._close_braces(start, position)
            elif first == "<":
                position = self._tag(match)
            elif mark == "\n=":
                position = self._end_of_line(position)
                if not self._stack and COMMENT.sub("", text[start:position]).rstrip().endswith("=") and position - start > 3:
                    if self.enough is None or self._size + start - self._last >= self.enough:
                        self.complete = self.enough is None
                        return start
                    self._cut(start, position, "\n\n")
            elif mark[-1] == "|":
                if start not in self._ignored:
                    self._stack.append(_Open("|", 0, start))
            else:
                self._close_table(position)
        return len(text)

    def _end_of_line(self, start: int) -> int:
        end = self.text.find("\n", start)
        return end if end >= 0 else len(self.text)

    def _cut(self, start: int, end: int, instead: str = GONE) -> None:
        """Take out the characters from ``start`` to ``end``."""
        text_before = self.text[self._last : start]
        self._out += (text_before, instead)
        self._size += len(text_before)
        self._last = end

    def _close_braces(self, start: int, end: int) -> int:
        """Close as many templates as the run of closing braces does; returns where to go on."""
        stack, remaining = self._stack, end - start
        while remaining >= 2 and self._braces:
            # A table that a template opens and another closes does not concern the braces around both.
            depth = len(stack) - 1
            while stack[depth].kind != "{":
                depth -= 1
            mark = stack[depth]
            width = 3 if mark.count >= 3 and remaining >= 3 else 2
            del stack[depth + 1 :]
            remaining -= width
            mark.count -= width
            if mark.count < 2:
                stack.pop()
                self._braces -= 1
                if not stack:
                    begin = mark.start + mark.count
                    self._cut(begin, end - remaining, self._instead(begin, end - remaining))
        return end

    def _instead(self, start: int, end: int) -> str:
        """What stands for the template from ``start`` to ``end``: nothing, but for the page's own name and templates that are shown."""
        bar = self.text.find("|", start, end)
        name = template_name(self.text[start + 2 : bar if bar >= 0 else end - 2])
        if name in PAGE_NAMES:
            return self.title.translate(LITERALS)
        if name not in self.shown:
            return GONE
        values: dict[str, str] = {}
        inner = Outline(self.text[start + 2 : end - 2], self.title, enough=end).read()
        for argument in ARGUMENT.split(inner)[1:]:
            key, equals, value = argument.partition("=")
            is_named = equals and "[" not in key
            values[key.strip() if is_named else str(1 + sum(key_so_far.isdigit() for key_so_far in values))] = (
                value if is_named else argument
            ).strip()
        return PLACE.sub(lambda place: values.get(place[1], ""), self.shown[name])

    def _close_table(self, end: int) -> None:
        if self._stack and self._stack[-1].kind == "|":
            mark = self._stack.pop()
            if not self._stack:
                self._cut(mark.start, end, f"\n{GONE}")

    def _tag(self, match: re.Match[str]) -> int:
        """A comment, table or other tag; returns where to go on."""
        start, end = match.span()
        if match[0] == "<!--":
            return self._comment(start, end)
        if match[2]:
            return self._content(match[2].lower(), match)
        if match[1]:
            self._close_table(end)
        elif start not in self._ignored:
            self._stack.append(_Open("|", 0, start))
        return end

    def _comment(self, start: int, inner: int) -> int:
        text = self.text
        close = text.find("-->", inner)
        end = close + 3 if close >= 0 else len(text)
        self.open = self.open or close < 0
        if not self._stack:
            # A comment alone on its line goes with the line, otherwise it would end the paragraph.
            line = text.rfind("\n", self._last, start)
            alone = line >= 0 and not text[line:start].strip() and text[end : end + 1] in {"\n", ""}
            self._cut(line if alone else start, end, "")
        return end

    def _content(self, name: str, match: re.Match[str]) -> int:
        """A tag that takes its content along, or keeps it as it is. Without an end it is no tag."""
        start, end = match.span()
        inner = ""
        if not match[0].endswith("/>"):
            close = None if name in self._unclosed else re.compile(rf"</{name}\s*>", re.IGNORECASE).search(self.text, end)
            if close is None:
                self._unclosed.add(name)
                return end
            inner, end = self.text[end : close.start()], close.end()
        if not self._stack:
            self._cut(start, end, inner.translate(LITERALS) if name in {"nowiki", "pre"} else GONE)
        return end
