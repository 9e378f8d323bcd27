"""Entities of our own in the schema of Wikibase."""

from __future__ import annotations

import json
from typing import Any

from kgqa.sources.formats import Piece

WD = "http://www.wikidata.org/entity/"


def terms(**texts: str) -> dict[str, Any]:
    """Labels or descriptions; ``_`` in a language stands for ``-``."""
    return {key.replace("_", "-"): {"language": key.replace("_", "-"), "value": text} for key, text in texts.items()}


def aliases(**texts: list[str]) -> dict[str, Any]:
    return {key: [{"language": key, "value": text} for text in found] for key, found in texts.items()}


def statement(property_: str, kind: str, value: object, *, rank: str = "normal", datatype: str = "") -> dict[str, Any]:
    snak = {"snaktype": "value", "property": property_, "datavalue": {"value": value, "type": kind}}
    if datatype:
        snak["datatype"] = datatype
    return {"mainsnak": snak, "type": "statement", "id": f"x-{property_}", "rank": rank}


def thing(property_: str, id_: str, *, rank: str = "normal") -> dict[str, Any]:
    kind = {"Q": "item", "P": "property", "L": "lexeme"}[id_[0]]
    value = {"entity-type": kind, "numeric-id": int(id_[1:]), "id": id_}
    return statement(property_, "wikibase-entityid", value, rank=rank, datatype=f"wikibase-{kind}")


def no_value(property_: str, kind: str = "novalue", *, rank: str = "normal") -> dict[str, Any]:
    snak = {"snaktype": kind, "property": property_, "datatype": "wikibase-item"}
    return {"mainsnak": snak, "type": "statement", "id": f"x-{property_}", "rank": rank}


def moment(property_: str, time: str, precision: int, calendar: str = "Q1985727", **more: Any) -> dict[str, Any]:
    value = {"time": time, "timezone": 0, "before": 0, "after": 0, "precision": precision, "calendarmodel": WD + calendar}
    return statement(property_, "time", value, datatype="time", **more)


def amount(property_: str, number: str, unit: str = "1", **bounds: str) -> dict[str, Any]:
    value = {"amount": number, "unit": unit if unit == "1" else WD + unit, **bounds}
    return statement(property_, "quantity", value, datatype="quantity")


def place(property_: str, latitude: object, longitude: object, globe: str = "Q2") -> dict[str, Any]:
    value = {"latitude": latitude, "longitude": longitude, "altitude": None, "precision": 0.001, "globe": WD + globe}
    return statement(property_, "globecoordinate", value, datatype="globe-coordinate")


def entity(id_: str, *statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    claims: dict[str, list[Any]] = {}
    for found in statements:
        claims.setdefault(found["mainsnak"]["property"], []).append(found)
    kind = {"Q": "item", "P": "property", "L": "lexeme"}[id_[0]]
    return {"type": kind, "id": id_, "labels": {}, "descriptions": {}, "aliases": {}, "claims": claims, "sitelinks": {}, **more}


def dump(*entities: object) -> bytes:
    """The layout of the dump."""
    return ("[\n" + ",\n".join(json.dumps(found, ensure_ascii=False) for found in entities) + "\n]\n").encode()


def piece(data: bytes, *, position: int = 0, line: int = 1) -> Piece:
    return Piece("dump.json", position, line, data)
