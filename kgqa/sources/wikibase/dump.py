"""Wikidata's JSON dump: ``[``, one entity a line with a comma, ``]``; also one entity's JSON, and that of ``Special:EntityData``.

https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, defstruct

from kgqa.errors import BrokenInput
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import line_pieces
from kgqa.sources.wikibase import selection as reasons
from kgqa.sources.wikibase.selection import CONSTRAINT, ID, INSTANCE_OF, ITEM, RankedSelection, last_part
from kgqa.sources.wikibase.times import CALENDARS, json_time
from kgqa.sources.wikibase.whole import Peeked, checked_end

EARTH = "Q2"
TEXT_TYPES = {"string", "external-id", ""}
"""Data types of strings that are texts or identifiers; pages of a MediaWiki dump do not say the data type."""
BOUNDED = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


# Structs that Python's garbage collector need not visit, as they hold no circles; that saves a third of the time.


class Term(Struct, gc=False):
    """A label, description or alias."""

    value: str


class Link(Struct, gc=False):
    """A page about the entity."""

    title: str


class Value(
    Struct, gc=False, rename={"numeric_id": "numeric-id", "entity_type": "entity-type", "upper": "upperBound", "lower": "lowerBound"}
):
    """Every field of every kind of value that is no string."""

    id: str | None = None
    numeric_id: int | None = None
    entity_type: str = ""
    text: str | None = None
    language: str = ""
    time: str | None = None
    precision: int | float | None = None
    calendarmodel: str = ""
    amount: str | None = None
    unit: str = ""
    upper: str | None = None
    lower: str | None = None
    latitude: int | float | None = None
    longitude: int | float | None = None
    globe: str | None = None


class DataValue(Struct, gc=False):
    """A value with its type."""

    value: str | Value | int | float | bool | list[Any] | None
    type: str


class Snak(Struct, gc=False):
    """A property and its value, if the value is known."""

    snaktype: str = "value"
    datavalue: DataValue | None = None
    datatype: str = ""


class Statement(Struct, gc=False):
    """A property, a value and the rank among the property's statements."""

    mainsnak: Snak
    rank: str = "normal"


@dataclass(frozen=True, slots=True)
class Decoder:
    """Decoder of entities that reads what a selection asks for and passes over the rest."""

    decode: Callable[[bytes | Raw], Any]
    terms: tuple[tuple[str, str], ...]
    """Field of labels, aliases and descriptions → its language."""
    claims: tuple[tuple[str, str], ...] | None
    """Field of claims → its property; None where the claims are a dictionary."""


@lru_cache(maxsize=8)
def decoder(selection: RankedSelection) -> Decoder:
    """The decoder for a selection. Fields that it does not name are never built, which is where the speed comes from."""
    # PHP writes an empty map as [].
    empty = Annotated[list[Any], msgspec.Meta(max_length=0)]
    languages = {f"language_{number}": language for number, language in enumerate(selection.languages)}
    term = _fields("Terms", languages, Term)
    terms = _fields("TermLists", languages, list[Term])
    links = _fields("Links", {"chosen": selection.chosen_site or "-"}, Link)
    claims: Any = dict[str, list[Statement]]
    properties = None
    if selection.properties:
        properties = {id_: id_ for id_ in (*selection.properties, INSTANCE_OF, CONSTRAINT)}
        claims = _fields("Claims", properties, list[Statement])
    maps = {"labels": term, "descriptions": term, "aliases": terms, "sitelinks": links, "claims": claims}
    record = defstruct(
        "Record",
        [
            ("type", str, ""),
            ("id", str, ""),
            *((name, kind | empty | UnsetType, UNSET) for name, kind in maps.items()),
            ("entities", dict[str, Raw] | empty | UnsetType, UNSET),
            ("redirect", str | UnsetType, UNSET),
            ("missing", str | UnsetType, UNSET),
        ],
        gc=False,
    )
    return Decoder(msgspec.json.Decoder(record).decode, tuple(languages.items()), tuple(properties.items()) if properties else None)


def _fields(name: str, keys: dict[str, str], kind: Any) -> Any:
    """A struct with an optional field for each key of a JSON object."""
    return defstruct(name, [(field, kind | UnsetType, UNSET) for field in keys], rename=keys, gc=False)


class WikidataJson(RankedSelection):
    """Parser of the JSON dump, or of one entity's JSON."""

    property_classes: tuple[str, ...] = ()
    """Keep only properties that are a direct instance of (P31) one of these classes; empty: all. Their records must be in the files."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """Lines, or the whole file where it is one document over several lines."""
        peeked = Peeked(text)
        if not _several_lines(peeked.first):
            # An excerpt of the first lines of a dump has no bracket at its end.
            yield from checked_end(line_pieces(peeked, start), text, (b"]", b"}", b"},"))
        elif start == 0:
            yield peeked.whole("write one entity a line")

    def parse(self, piece: Piece) -> Rows:
        """Rows of the entities in a piece."""
        rows = self._rows()
        if piece.position == 0 and _several_lines(piece.data):
            self._document(piece, rows)
            return rows
        for number, line in enumerate(piece.data.split(b"\n"), piece.line):
            if record := line.strip(b"[], \t\r"):
                self.record(record, rows, f"line {number}")
        return rows

    def _rows(self) -> Rows:
        """Empty rows. With ``property_classes``, the records of properties choose the relations."""
        rows = Rows()
        if self.property_classes:
            rows.choose(None)
        return rows

    def record(self, data: bytes | Raw, rows: Rows, where: str, *, within: bool = False) -> None:
        """Rows of one entity, or of the entities in a document of ``Special:EntityData``, which are ``within``."""
        read = decoder(self)
        try:
            record = read.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            rows.skip(reasons.UNREADABLE, where)
            return
        if record.entities and not within:
            for id_, entity in record.entities.items():
                self.record(entity, rows, id_, within=True)
        elif record.missing is not UNSET:
            rows.skip(reasons.MISSING, record.id or where)
        elif record.redirect is not UNSET:
            rows.skip(reasons.REDIRECT, record.id or where)
        elif not ID.fullmatch(record.id):
            rows.skip(reasons.UNREADABLE, where)
        elif record.type == "item":
            self._item(record, read, rows)
        elif record.type == "property":
            if self.property_classes:
                if not set(self.property_classes).intersection(_objects(_statements(record, read, INSTANCE_OF))):
                    rows.skip(reasons.OTHER_PROPERTY, record.id)
                    return
                rows.choose(record.id)
            constraints = [constraint for constraint in _objects(_statements(record, read, CONSTRAINT)) if constraint]
            self.relation(rows, record.id, _labels(record.labels, read), constraints)
        else:
            rows.skip(reasons.LEXEME if record.type == "lexeme" else reasons.OTHER_RECORD, record.id)

    def _document(self, piece: Piece, rows: Rows) -> None:
        try:
            if piece.data.lstrip().startswith(b"["):
                records = msgspec.json.decode(piece.data, type=list[Raw])
            else:
                records = [msgspec.json.decode(piece.data, type=Raw)]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BrokenInput(f"{piece.file}: this is not JSON ({error}); download the file again.") from None
        for number_, record in enumerate(records, 1):
            self.record(record, rows, f"record {number_}")

    def _item(self, record: Any, read: Decoder, rows: Rows) -> None:
        if self.classes and not set(self.classes).intersection(_objects(_statements(record, read, INSTANCE_OF))):
            rows.skip(reasons.OTHER_CLASS, record.id)
            return
        aliases = {}
        if record.aliases:
            for field, language in read.terms:
                if values := getattr(record.aliases, field):
                    aliases[language] = [term.value for term in values]
        self.entity(rows, record.id, labels=_labels(record.labels, read), aliases=aliases, descriptions=_labels(record.descriptions, read))
        if record.sitelinks and self.chosen_site and record.sitelinks.chosen:
            self.page(rows, record.id, record.sitelinks.chosen.title)
        if not record.claims:
            return
        if read.claims is None:
            for property_, statements in record.claims.items():
                self._claims(record.id, property_, statements, rows)
        else:
            for property_ in self.properties:
                if statements := getattr(record.claims, property_):
                    self._claims(record.id, property_, statements, rows)

    def _claims(self, head: str, property_: str, statements: list[Statement], rows: Rows) -> None:
        preferred = len(statements) > 1 and not self.all_ranks and any(statement.rank == "preferred" for statement in statements)
        for statement in statements:
            if statement.rank == "deprecated":
                rows.skip(reasons.DEPRECATED, f"{head} {property_}")
            elif preferred and statement.rank != "preferred":
                rows.skip(reasons.LESSER_RANK, f"{head} {property_}")
            else:
                self._snak(head, property_, statement.mainsnak, rows)

    def _snak(self, head: str, property_: str, snak: Snak, rows: Rows) -> None:
        if snak.snaktype != "value" or snak.datavalue is None:
            reasons_by_type = {"novalue": reasons.NO_VALUE, "somevalue": reasons.SOME_VALUE}
            rows.skip(reasons_by_type.get(snak.snaktype, reasons.UNREADABLE_VALUE), f"{head} {property_}")
            return
        value, kind = snak.datavalue.value, snak.datavalue.type
        if isinstance(value, str):
            if snak.datatype not in TEXT_TYPES:
                rows.skip(reasons.OTHER_VALUE, f"{head} {property_}")
            elif not self.texts:
                rows.skip(reasons.TEXT_VALUE, f"{head} {property_}")
            else:
                rows.value(head, property_, "text", value)
        elif not isinstance(value, Value):
            rows.skip(reasons.OTHER_VALUE, f"{head} {property_}")
        elif kind == "wikibase-entityid":
            tail = object_id(value)
            if ITEM.fullmatch(tail):
                rows.fact(head, property_, tail)
            else:
                rows.skip(reasons.OTHER_OBJECT if tail else reasons.UNREADABLE_VALUE, f"{head} {property_}")
        elif kind == "monolingualtext" and not self.texts:
            rows.skip(reasons.TEXT_VALUE, f"{head} {property_}")
        elif write := WRITERS.get(kind):
            try:
                write(head, property_, value, rows)
            except (ValueError, KeyError, OverflowError):
                rows.skip(reasons.UNREADABLE_VALUE, f"{head} {property_}")
        else:
            rows.skip(reasons.OTHER_VALUE, f"{head} {property_}")


def _several_lines(data: bytes) -> bool:
    """Whether the first record goes on after its first line, as in JSON with indentation."""
    begin = re.match(rb"[\[\s]*", data)
    assert begin is not None
    first = data[begin.end() :].partition(b"\n")
    return bool(first[1]) and first[0].startswith(b"{") and not first[0].rstrip(b"], \t\r").endswith(b"}")


def _labels(terms: Any, read: Decoder) -> dict[str, str]:
    if not terms:
        return {}
    return {language: term.value for field, language in read.terms if (term := getattr(terms, field))}


def _statements(record: Any, read: Decoder, property_: str) -> list[Statement]:
    if not record.claims:
        return []
    return cast(list[Statement], (record.claims.get(property_) if read.claims is None else getattr(record.claims, property_)) or [])


def _objects(statements: list[Statement]) -> Iterator[str]:
    """Entities that the statements of one property name, except by deprecated statements."""
    for statement in statements:
        value = statement.mainsnak.datavalue
        if statement.rank != "deprecated" and value is not None and isinstance(value.value, Value):
            yield object_id(value.value)


def object_id(value: Value) -> str:
    """Id of an entity that is a value, which dumps of before 2016 give as a number."""
    if value.id is None and value.numeric_id is not None:
        return {"item": "Q", "property": "P"}.get(value.entity_type, "L") + str(value.numeric_id)
    return value.id or ""


def _time(head: str, property_: str, value: Value, rows: Rows) -> None:
    if value.time is None or value.precision is None:
        raise ValueError
    calendar = CALENDARS[last_part(value.calendarmodel)]
    text, precision = json_time(value.time, int(value.precision))
    rows.value(head, property_, "time", text, precision=precision, calendar=calendar)


def number(text: str | None) -> str:
    """A decimal number without its plus sign; empty for None. ValueError for what is no number."""
    if text is None:
        return ""
    if not BOUNDED.fullmatch(text):
        raise ValueError(text)
    return text.removeprefix("+")


def _quantity(head: str, property_: str, value: Value, rows: Rows) -> None:
    if value.amount is None:
        raise ValueError
    rows.value(
        head, property_, "quantity", number(value.amount), unit=last_part(value.unit), lower=number(value.lower), upper=number(value.upper)
    )


def degrees(value: float | None) -> str:
    """Degrees without an exponent or zeros at the end. ValueError for what is no finite number."""
    if value is None or not isfinite(value):
        raise ValueError(value)
    text = repr(float(value))
    text = format(Decimal(text), "f") if "e" in text else text
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _coordinate(head: str, property_: str, value: Value, rows: Rows) -> None:
    globe = last_part(value.globe or "")
    where = f"{degrees(value.latitude)},{degrees(value.longitude)}"
    rows.value(head, property_, "coordinate", where, unit="" if globe == EARTH else globe)


def _text(head: str, property_: str, value: Value, rows: Rows) -> None:
    if value.text is None:
        raise ValueError
    rows.value(head, property_, "text", value.text, unit=value.language)


WRITERS = {"time": _time, "quantity": _quantity, "globecoordinate": _coordinate, "monolingualtext": _text}
"""Type of a value → writer of its row."""
