"""Data on a terminal: control characters and line breaks are shown, not sent."""

from __future__ import annotations

_VISIBLE = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_VISIBLE |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


def printable(text: str) -> str:
    """``text`` with every control character but line feed and tab replaced by a sign for it; the length stays, so offsets do."""
    return text.translate(_VISIBLE)


def as_line(text: str) -> str:
    """:func:`printable` with a sign for each line feed and tab too: a whole line, with its spaces."""
    return printable(text).translate({0x09: 0x2409, 0x0A: 0x240A})


def on_one_line(text: str) -> str:
    """:func:`printable` with every run of spaces, tabs and line ends as one space: an id or a name within a line."""
    return printable(" ".join(text.split()))
