"""Literals of RDF as values: dates, numbers, points and texts, by their datatypes (XML Schema 1.1, part 2; GeoSPARQL 1.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kgqa.sources.graphs.words import local_part, nfc

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBERS = frozenset(
    XSD + name
    for name in (
        "integer", "decimal", "double", "float", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger",
        "nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte",
    )
)  # fmt: skip
DATES = {XSD + "date": 11, XSD + "dateTime": 11, XSD + "dateTimeStamp": 11, XSD + "gYearMonth": 10, XSD + "gYear": 9}
"""Datatype of a date → the precision of its value; the time of a day is left out."""
TEXTS = frozenset({XSD + "string", XSD + "boolean", XSD + "anyURI", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"})
"""Datatypes whose literals are texts as they are, perhaps in a language."""
POINT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_NUMBER = re.compile(r"\+?(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_ZONE = r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
_DATE = {
    9: re.compile(rf"(-?)([0-9]{{4,12}}){_ZONE}"),
    10: re.compile(rf"(-?)([0-9]{{4,12}})-([0-9]{{2}}){_ZONE}"),
    11: re.compile(rf"(-?)([0-9]{{4,12}})-([0-9]{{2}})-([0-9]{{2}})(?:T[0-9:.]+)?{_ZONE}"),
}
_WKT = re.compile(r"(?:<([^<>]*)>\s*)?POINT\s*\(\s*([-+0-9.eE]+)\s+([-+0-9.eE]+)(?:\s+[-+0-9.eE]+)?\s*\)", re.IGNORECASE)
_CRS = "http://www.opengis.net/def/crs/"
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def value_of_literal(text: str, datatype: str, id_of: Callable[[str], str]) -> dict[str, Any] | None:
    """``kind``, ``value``, ``unit`` and what else :meth:`kgqa.sources.rows.Rows.value` takes; None where the text is not of its datatype.

    A number of a datatype of the graph's own, as DBpedia's ``kilometre``, has its local part as the unit. ``id_of`` gives the id of an
    IRI, for the globe of a point.
    """
    text = text.strip()
    if datatype in NUMBERS:
        number = _NUMBER.fullmatch(text)
        return {"kind": "quantity", "value": number[1]} if number else None
    if datatype in DATES:
        return _date(text, DATES[datatype])
    if datatype == POINT:
        return _point(text, id_of)
    if number := _NUMBER.fullmatch(text):
        return {"kind": "quantity", "value": number[1], "unit": local_part(datatype) if not datatype.startswith(XSD) else ""}
    return {"kind": "text", "value": nfc(text)} if text else None


def _date(text: str, precision: int) -> dict[str, Any] | None:
    match = _DATE[precision].fullmatch(text)
    if not match:
        return None
    sign, year, *parts = match.groups()
    if parts and not (1 <= int(parts[0]) <= 12 and (len(parts) == 1 or 1 <= int(parts[1]) <= _DAYS[int(parts[0]) - 1])):
        return None
    sign = sign or ("+" if len(year) > 4 else "")
    return {"kind": "time", "value": "-".join([sign + year, *parts]), "precision": precision, "calendar": "gregorian"}


def _point(text: str, id_of: Callable[[str], str]) -> dict[str, Any] | None:
    match = _WKT.fullmatch(text)
    if not match:
        return None
    system, longitude, latitude = match.groups()
    if system and system.startswith(_CRS) and not system.endswith("CRS84"):
        return None  # a system of its own, whose axes may be others
    try:
        if not (abs(float(latitude)) <= 90 and abs(float(longitude)) <= 360):
            return None
    except ValueError:
        return None
    globe = id_of(system) if system and not system.startswith(_CRS) else ""
    return {"kind": "coordinate", "value": f"{latitude},{longitude}", "unit": globe}
