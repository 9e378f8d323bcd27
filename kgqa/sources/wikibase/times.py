"""Dates of Wikibase: ``+1952-03-11T00:00:00Z`` with a precision and a calendar, in JSON as it was entered, in RDF as XML Schema has it.

JSON keeps a Julian date as a Julian date and counts years without a year 0: -0044 is 44 BC. RDF has the same day in the Gregorian calendar
and with a year 0 (XML Schema 1.1: -0043 is 44 BC), if the precision allows either. Rows have what JSON has.
"""

from __future__ import annotations

import re

CALENDARS = {"Q1985727": "gregorian", "Q1985786": "julian"}
YEAR, MONTH, DAY = 9, 10, 11
"""Precisions; less than a year is a decade (8), a century (7) and so on to a billion years (0)."""
SECOND = 14
"""The finest precision."""
TIME = re.compile(r"([+-]?)(\d{1,16})-(\d\d)-(\d\d)T[\d:.]+(?:Z|[+-]\d\d:\d\d)?")


def json_time(text: str, precision: int) -> tuple[str, int]:
    """Date with the parts that the precision and the date itself know, and that precision. ValueError for what is no time."""
    year, month, day = _parts(text, precision)
    exactness = min(precision, YEAR if not month else MONTH if not day else precision)
    return _written(year, month, day, exactness), exactness


def rdf_time(text: str, precision: int | None = None, calendar: str = "gregorian") -> tuple[str, int | None]:
    """The same of a date in RDF, which is in the Gregorian calendar whatever ``calendar`` it was entered in.

    Without a precision the date is given to the day, although perhaps its year alone is known, and years are taken to be exact.
    ValueError for what is no time.
    """
    year, month, day = _parts(text, DAY if precision is None else precision)
    if precision is None or precision >= YEAR:
        year -= year <= 0  # XML Schema has a year 0.
    if precision is not None and precision >= DAY and calendar == "julian":
        year, month, day = julian(year, month, day)
    return _written(year, month, day, DAY if precision is None else precision), precision


def _parts(text: str, precision: int) -> tuple[int, int, int]:
    match = TIME.fullmatch(text)
    if not match or not 0 <= precision <= SECOND or int(match[3]) > 12 or int(match[4]) > 31:
        raise ValueError(text)
    year = int(match[2])
    return -year if match[1] == "-" else year, int(match[3]), int(match[4])


def _written(year: int, month: int, day: int, precision: int) -> str:
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    date = f"{sign}{abs(year):04d}"
    if precision >= MONTH:
        date += f"-{month:02d}"
    return date + f"-{day:02d}" if precision >= DAY else date


def julian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """The Julian date of a Gregorian one; neither has a year 0.

    >>> julian(1582, 10, 15)
    (1582, 10, 5)
    """
    # Day number of the Gregorian date, then the Julian date of that day (Richards 2013, in Explanatory Supplement to the Astronomical
    # Almanac, section 15.11); floor division keeps both right for years before the common era.
    before_march = (14 - month) // 12
    years = year + (year < 0) + 4800 - before_march
    day_number = day + (153 * (month + 12 * before_march - 3) + 2) // 5 + 365 * years + years // 4 - years // 100 + years // 400 - 32045
    quarter_days = 4 * (day_number + 1401) + 3
    fifth_days = 5 * (quarter_days % 1461 // 4) + 2
    month = (fifth_days // 153 + 2) % 12 + 1
    year = quarter_days // 1461 - 4716 + (14 - month) // 12
    return year - (year <= 0), month, fifth_days % 153 // 5 + 1
