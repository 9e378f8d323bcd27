"""Units of numbers in texts: word → symbol.

The units of length, area and mass are those that the recipes read (``kgqa/recipes/values/english.toml``); further ones are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import kgqa
from kgqa.settings.small_files import read_toml

ENGLISH = Path(kgqa.__file__).parent / "recipes" / "values" / "english.toml"
YEARS = "years"
"""The unit of durations in years, and of differences of calendar years."""
FURTHER: Mapping[str, tuple[str, ...]] = {
    YEARS: ("years", "year"),
    "months": ("months", "month"),
    "weeks": ("weeks", "week"),
    "days": ("days", "day"),
    "hours": ("hours", "hour"),
    "minutes": ("minutes", "minute"),
    "seconds": ("seconds", "second"),
    "yards": ("yards", "yard"),
    "points": ("points", "point"),
    "mph": ("mph", "miles per hour"),
    "km/h": ("km/h", "kilometres per hour", "kilometers per hour"),
    "%": ("%", "percent", "per cent"),
    "$": ("$", "dollars", "dollar"),
    "£": ("£",),
    "€": ("€", "euros", "euro"),
}
"""Symbol → words."""
BEFORE = "$£€"
"""Signs that precede their number."""


@cache
def symbols() -> Mapping[str, str]:
    """Word of a unit, in lower case → its symbol."""
    shipped = {word: symbol for symbol, unit in read_toml(ENGLISH)["units"].items() for word in (symbol, *unit["words"])}
    return {**shipped, **{word: symbol for symbol, words in FURTHER.items() for word in words}}
