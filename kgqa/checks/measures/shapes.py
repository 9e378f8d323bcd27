"""The shape of an answer, as a guess of its type."""

from __future__ import annotations

import re

from kgqa.formats.qangaroo import IS_PLACEHOLDER

OTHER = "phrase"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
SHAPES = {
    "yes or no": re.compile(r"yes|no|true|false", re.IGNORECASE),
    "year": re.compile(r"(?:1\d|20)\d\d"),
    "date": re.compile(rf"(?=.*\d).*\b(?:{_MONTHS})\b.*|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}", re.IGNORECASE | re.DOTALL),
    "number": re.compile(rf"[-+]?[$€£]?\d[\d,.]*(?:\s?%|\s\w+)?|{_NUMBERS}", re.IGNORECASE),
    "placeholder": IS_PLACEHOLDER,
    "identifier": re.compile(r"[A-Z]{1,3}\d[A-Z\d]{3,}"),
}
"""Tried in this order; then "name", then "phrase"."""
_SMALL = "of the and in for on a to at & de del della di da do dos du des la le les el al y e von van der den zu und bin ibn"
_JOINING = frozenset(_SMALL.split())
"""Words of a name that are written small."""


def shape_of(text: str) -> str:
    """The first shape that the whole text has; "name" where its words begin with capitals, "phrase" for everything else.

    >>> shape_of("1984"), shape_of("University of Iowa"), shape_of("a kind of engine")
    ('year', 'name', 'phrase')
    """
    text = text.strip()
    for name, pattern in SHAPES.items():
        if pattern.fullmatch(text):
            return name
    words = [word.strip("\"'“”‘’().,") for word in text.split()]
    capital = [not word[:1].islower() or word in _JOINING for word in words]
    return "name" if all(capital) and any(word[:1].isupper() for word in words) else OTHER
