"""Numbers in English texts: figures, number words and their multiples, with a unit where one follows.

Not read: ordinals (``21st``), decades (``1990s``), numbers within words (``B2``), and signs, since a hyphen before a figure mostly joins
(``10-5``). ``one`` counts, although it is often no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from kgqa.readers.numbers.units import BEFORE, YEARS, symbols

_UNITS = "one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES, _TENS = f"zero {_UNITS} {_TEENS}".split(" "), _ROUND.split(" ")
WORDS = {word: value for value, word in enumerate(_ONES)} | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
MULTIPLES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
FIRST_YEAR, LAST_YEAR = 1000, 2999
_FIGURES = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_PLURAL = re.compile(r" [a-z]{4,}s\b")
"""A noun that is counted, as in ``1500 soldiers``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberMention:
    """A number in a text."""

    value: float
    unit: str
    """Its symbol; "" without a unit. The unit of a calendar year is :data:`YEARS`, so that it is compared with durations."""
    is_year: bool
    """Whether it is a calendar year: four plain figures without a unit or a counted noun."""
    start: int
    """In characters of the text; so is ``end``, which is exclusive. The unit is outside."""
    end: int


def number_mentions(text: str) -> list[NumberMention]:
    """The numbers of a text, from left to right.

    >>> [(each.value, each.unit, each.is_year) for each in number_mentions("In 1990, twenty-one men ran 3.5 miles for $1,000.")]
    [(1990.0, 'years', True), (21.0, '', False), (3.5, 'mi', False), (1000.0, '$', False)]
    """
    return [_mention(match) for match in _expression().finditer(text)]


def parsed_number(text: str) -> NumberMention | None:
    """The number that a whole answer is, with or without its unit; None for any other text.

    >>> parsed_number("3,500 km").value, parsed_number("about 3 of them")
    (3500.0, None)
    """
    mentions = number_mentions(text)
    if len(mentions) != 1:
        return None
    rest = (text[: mentions[0].start] + text[mentions[0].end :]).strip(" \t\n-.")
    return mentions[0] if not rest or rest.lower() in symbols() else None


def number_text(value: float) -> str:
    """A number as answers write it: without separators, and without the digits that a floating-point sum adds.

    >>> number_text(1500.0), number_text(0.1 + 0.2)
    ('1500', '0.3')
    """
    rounded = float(f"{value:.10g}")
    return str(int(rounded)) if rounded.is_integer() else str(rounded)


@cache
def _expression() -> re.Pattern[str]:
    tens, ones = "|".join(_TENS), "|".join(_ONES[1:10])
    words = rf"(?:{tens})[- ](?:{ones})|{'|'.join(sorted(WORDS, key=len, reverse=True))}"
    units = "|".join(re.escape(word) for word in sorted(symbols(), key=lambda word: (-len(word), word)))
    return re.compile(
        rf"(?:(?P<sign>[{re.escape(BEFORE)}]) ?)?(?<![\w.,])(?P<number>(?P<figures>{_FIGURES})|(?P<words>{words}))"
        rf"(?P<multiples>(?:[ -](?:{'|'.join(MULTIPLES)})\b)*)(?:(?:[ \u00a0-]?(?P<unit>{units})(?!\w))|(?!\w))",
        re.IGNORECASE,
    )


def _mention(match: re.Match[str]) -> NumberMention:
    factor = 1.0
    for word in re.split(r"[ -]", match["multiples"].strip(" -").lower()) if match["multiples"] else ():
        factor *= MULTIPLES[word]
    if match["figures"]:
        value = float(match["figures"].replace(",", ""))
    else:
        value = float(sum(WORDS[word] for word in re.split(r"[- ]", match["words"].lower())))
    unit = symbols().get((match["unit"] or match["sign"] or "").lower(), "")
    is_plain = not unit and not match["multiples"] and len(match["number"]) == 4 and match["number"].isdecimal()
    is_year = is_plain and FIRST_YEAR <= value <= LAST_YEAR and not _PLURAL.match(match.string, match.end())
    return NumberMention(
        value=value * factor, unit=YEARS if is_year else unit, is_year=is_year, start=match.start("number"), end=match.end("multiples"),
    )  # fmt: skip
