"""Where statements of N-Triples and Turtle end, without parsing them, so that a file can be cut between two subjects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_STATEMENT = re.compile(
    rb'''(?:
        [^"'<\#\\.]++
        | """ (?: [^"\\] | \\. | "(?!"") )*+ (?: """ | \Z )
        | \'\'\' (?: [^'\\] | \\. | '(?!'') )*+ (?: \'\'\' | \Z )
        | " (?: [^"\\\n] | \\. )*+ (?: " | \n | \Z )
        | ' (?: [^'\\\n] | \\. )*+ (?: ' | \n | \Z )
        | < [^<>"\s]*+ >?
        | \#[^\n]*+
        | \\.
        | \.(?![\s\#@<])
    )*+ \.(?=[\s\#@<])''',
    re.VERBOSE | re.DOTALL,
)
"""Up to a full stop that no number or name goes on after; texts, IRIs and comments are passed over."""
_LAST_LINE = re.compile(
    rb"""(?:
        [^"'<\#\\\n.]++
        | "(?:[^"\\\n]|\\.)*+"
        | '(?:[^'\\\n]|\\.)*+'
        | <[^<>"\s]*+>
        | \\.
        | \.(?!\s*+(?:\#|\Z))
    )*+ \.\s*+(?:\#.*+)?""",
    re.VERBOSE,
)
"""A line at whose end a statement ends, where no text spans lines."""
_SPACE = rb"(?:\s++|#[^\n]*+(?:\n|\Z))*+"
_SUBJECT = re.compile(_SPACE + rb"(\S*)")
_DECLARATION = rb"(@prefix\s+[^\s:]*:\s*<[^<>\s]*>\s*\.|@base\s*<[^<>\s]*>\s*\.|(?i:prefix)\s+[^\s:]*:\s*<[^<>\s]*>|(?i:base)\s*<[^<>\s]*>)"
_DIRECTIVE = re.compile(_SPACE + _DECLARATION)
_DIRECTIVE_LINE = re.compile(rb"(?m)^[ \t]*" + _DECLARATION)
_MAYBE = (re.compile(rb"prefix\s"), re.compile(rb"base\s*<"))
"""In lower case, one after the other: each begins with letters, which are searched for 40 times as fast as either of two."""


def line_end(data: bytes) -> int:
    """End of the last line before those of the last subject, which may go on after ``data``; of the last line if there is no other."""
    return _last_subject(data, _lines_backwards(data)) or data.rfind(b"\n") + 1


def statement_end(data: bytes) -> int:
    """The same for Turtle; 0 if no statement ends.

    Where no text of several lines is, a line that ends with a full stop ends a statement, so that only the last lines are looked at.
    """
    if _spans_no_lines(data):
        places = list(islice(_statements_backwards(data), 1))
        return (_last_subject(data, _statements_backwards(data)) or places[0]) if places and places[0] else 0
    ends, at = [0], 0
    while match := _STATEMENT.match(data, at):
        at = match.end()
        ends.append(at)
    return _last_subject(data, reversed(ends)) or ends[-1]


def directives(data: bytes) -> Iterator[bytes]:
    """The declarations of prefixes and bases, where statements begin, each on one line."""
    small = data.lower()
    places = [directive.start() for maybe in _MAYBE for directive in maybe.finditer(small)]
    if not places:
        return
    at = 0
    if _spans_no_lines(data) and all(data[data.rfind(b"\n", 0, place) + 1 : place].strip() in {b"", b"@"} for place in places):
        for line in _DIRECTIVE_LINE.finditer(data):
            yield b" ".join(line[1].split())
        return
    while True:
        if directive := _DIRECTIVE.match(data, at):
            yield b" ".join(directive[1].split())
            at = directive.end()
        elif match := _STATEMENT.match(data, at):
            at = match.end()
        else:
            return


def _spans_no_lines(data: bytes) -> bool:
    """Whether no text spans lines, so that every line begins outside of one."""
    return b'"""' not in data and b"'''" not in data


def is_whole(data: bytes) -> bool:
    """Whether Turtle that begins with a statement ends with one: nothing but space, comments and declarations follow the last."""
    at = 0
    data += b"\n"
    while match := _DIRECTIVE.match(data, at) or _STATEMENT.match(data, at):
        at = match.end()
    space = re.compile(_SPACE).match(data, at)
    return space is not None and space.end() == len(data)


def _lines_backwards(data: bytes) -> Iterator[int]:
    """Where lines begin, from after the last line feed back to the first."""
    at = len(data)
    while (at := data.rfind(b"\n", 0, at)) >= 0:
        yield at + 1
    yield 0


def _statements_backwards(data: bytes) -> Iterator[int]:
    """Where statements begin of which the one before ends its line, and at last 0."""
    end = data.rfind(b"\n")
    while end >= 0:
        start = data.rfind(b"\n", 0, end)
        if _LAST_LINE.fullmatch(data, start + 1, end):
            yield end + 1
        end = start
    yield 0


def _last_subject(data: bytes, places: Iterator[int]) -> int:
    """Of the ``places`` of statements, backwards and first the end of the last, where those of the last one's subject begin."""
    end = next(places, 0)
    subject = b""
    for place in places:
        match = _SUBJECT.match(data, place, end)
        here = match[1] if match else b""
        if not subject:
            subject = here
        elif here not in {subject, b""}:
            return end
        if place < end and subject:
            end = place
    return 0
