"""The rows that parsers of public formats make, and the tables they end up in.

A parser is a function of some whole records of a file, so any process can parse any part. Its rows may repeat and may name things that
another part defines. :mod:`kgqa.runs.merging` joins them into the tables of an import.

===========  ==========================================================================================================================
entities     ``id``, ``kind``, ``label``, ``description``
names        ``entity``, ``name``, ``source``: title, label or alias; of substances name, gene or synonym; id: the words of an entity's or
             relation's id, for one without a label
relations    ``id``, ``label``, ``symmetric`` (true: (a, r, b) says the same as (b, r, a))
facts        ``head``, ``relation``, ``tail``: ids
values       ``head``, ``relation``, ``kind`` (time, quantity, coordinate, text), ``value``, ``unit``, ``precision``, ``calendar``,
             ``lower``, ``upper``; see :data:`VALUES`
documents    ``id``, ``title``, ``about`` (an entity's id or null), ``text``, ``version`` (of several rows with one id the highest wins)
mentions     ``document``, ``start``, ``end`` (in characters of the document's text), ``entity``
links        ``document``, ``start``, ``end``, ``site``, ``title``: a hyperlink to the page of that title, as the file spells it
pages        ``site``, ``title``, ``entity``, ``document``: the entity that a page is about, the document made of it, or both; else null
redirects    ``site``, ``title``, ``target``: a page that stands for another
deleted      ``document``: ids of documents that a later file withdraws
chosen       ``relation``: of the files with such rows, the facts and values of other relations are left out; null chooses none
===========  ==========================================================================================================================

All text is NFC-normalised, except that the text of documents with ``mentions`` or ``links`` keeps its offsets.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from kgqa.errors import shortened
from kgqa.settings.source import NAME_SOURCES

TEXT, LONG, COUNT = pa.string(), pa.large_string(), pa.int64()
VALUES = {
    "time": "ISO 8601 with a sign before years beyond four digits or before the common era: 1952-03-11, 1952, -0044-03; the precision says "
    "which parts are known (9 year, 10 month, 11 day, 7 century, ...), the calendar is gregorian or julian",
    "quantity": "a decimal number as the source spells it, without a plus sign; unit is an entity's id, a symbol or empty; lower and upper "
    "bound it where the source does",
    "coordinate": "latitude and longitude in degrees, separated by a comma; the unit is the globe's entity id, empty for the Earth",
    "text": "a string as it is, an identifier or a name in one language; the unit is the language's code or empty",
}
"""Kind of value → how ``value`` is written."""
SCHEMAS = {
    "entities": pa.schema({"id": TEXT, "kind": TEXT, "label": TEXT, "description": TEXT}),
    "names": pa.schema({"entity": TEXT, "name": TEXT, "source": TEXT}),
    "relations": pa.schema({"id": TEXT, "label": TEXT, "symmetric": pa.bool_()}),
    "facts": pa.schema({"head": TEXT, "relation": TEXT, "tail": TEXT}),
    "values": pa.schema(
        {
            "head": TEXT,
            "relation": TEXT,
            "kind": TEXT,
            "value": TEXT,
            "unit": TEXT,
            "precision": pa.int32(),
            "calendar": TEXT,
            "lower": TEXT,
            "upper": TEXT,
        }
    ),
    "documents": pa.schema({"id": TEXT, "title": TEXT, "about": TEXT, "text": LONG, "version": COUNT}),
    "mentions": pa.schema({"document": TEXT, "start": COUNT, "end": COUNT, "entity": TEXT}),
    "links": pa.schema({"document": TEXT, "start": COUNT, "end": COUNT, "site": TEXT, "title": TEXT}),
    "pages": pa.schema({"site": TEXT, "title": TEXT, "entity": TEXT, "document": TEXT}),
    "redirects": pa.schema({"site": TEXT, "title": TEXT, "target": TEXT}),
    "deleted": pa.schema({"document": TEXT}),
    "chosen": pa.schema({"relation": TEXT}),
}
"""Table → its columns."""


class Rows:
    """Rows of all tables, collected by one call of a parser, with counts of what it left out."""

    def __init__(self) -> None:
        """Rows are added table by table with the methods below."""
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in SCHEMAS}
        self._batches: dict[str, list[pa.Table]] = {name: [] for name in SCHEMAS}
        self.skipped: Counter[str] = Counter()
        """Reason → records, statements or links that were left out."""
        self.examples: dict[str, str] = {}
        """Reason → the id or position of the first that was left out."""

    def entity(self, id_: str, label: str, *, kind: str = "entity", description: str = "") -> None:
        """An entity. An empty label stands for the id."""
        self._rows["entities"].append((id_, kind, label, description))

    def name(self, entity: str, name: str, source: str = "alias") -> None:
        """A name of an entity. ``source`` says what kind: title, label, alias, name, gene, synonym, or id, the words of its id."""
        assert source == "id" or source in NAME_SOURCES["import"], source
        self._rows["names"].append((entity, name, source))

    def relation(self, id_: str, label: str, *, symmetric: bool = False) -> None:
        """A relation with its label."""
        self._rows["relations"].append((id_, label, symmetric))

    def fact(self, head: str, relation: str, tail: str) -> None:
        """A fact between two entities."""
        self._rows["facts"].append((head, relation, tail))

    def choose(self, relation: str | None) -> None:
        """Keep only the facts and values of chosen relations, which other pieces of the same files may name; None chooses none."""
        self._rows["chosen"].append((relation,))

    def value(
        self,
        head: str,
        relation: str,
        kind: str,
        value: str,
        *,
        unit: str = "",
        precision: int | None = None,
        calendar: str = "",
        lower: str = "",
        upper: str = "",
    ) -> None:
        """A fact whose object is a date, number, place on a globe or text (:data:`VALUES`)."""
        assert kind in VALUES, kind
        self._rows["values"].append((head, relation, kind, value, unit, precision, calendar, lower, upper))

    def document(self, id_: str, title: str, text: str, *, about: str | None = None, version: int = 0) -> None:
        """A document, about an entity or none."""
        self._rows["documents"].append((id_, title, about, text, version))

    def mention(self, document: str, start: int, end: int, entity: str) -> None:
        """The characters ``start`` to ``end`` of the document's text mean the entity."""
        self._rows["mentions"].append((document, start, end, entity))

    def link(self, document: str, start: int, end: int, site: str, title: str) -> None:
        """The characters ``start`` to ``end`` of the document's text lead to the page of that title."""
        self._rows["links"].append((document, start, end, site, title))

    def page(self, site: str, title: str, entity: str | None = None, *, document: str | None = None) -> None:
        """A page with the entity that it is about, the document that was made of it, or both."""
        self._rows["pages"].append((site, title, entity, document))

    def redirect(self, site: str, title: str, target: str) -> None:
        """The page of the first title stands for that of the second."""
        self._rows["redirects"].append((site, title, target))

    def delete(self, document: str) -> None:
        """Withdraw a document that another file has."""
        self._rows["deleted"].append((document,))

    def batch(self, name: str, table: pa.Table) -> None:
        """Many rows of one table at once; its columns in any order."""
        self._batches[name].append(table.select(SCHEMAS[name].names).cast(SCHEMAS[name]))

    def skip(self, reason: str, where: str, count: int = 1) -> None:
        """Leave out a record, statement or link; ``where`` is its id or position."""
        self.skipped[reason] += count
        self.examples.setdefault(reason, shortened(where))

    def count(self) -> int:
        """The number of rows of all tables."""
        loose = sum(len(rows) for rows in self._rows.values())
        return loose + sum(int(batch.num_rows) for batches in self._batches.values() for batch in batches)

    def tables(self) -> dict[str, pa.Table]:
        """Table → its rows in Arrow; tables without rows are absent."""
        result = {}
        for name, rows in self._rows.items():
            schema, parts = SCHEMAS[name], [batch for batch in self._batches[name] if batch.num_rows]
            if rows:
                columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), schema.types, strict=True)]
                parts.insert(0, pa.Table.from_arrays(columns, schema=schema))
            if parts:
                result[name] = pa.concat_tables(parts)
        return result


def plain_rows(rows: Rows) -> dict[str, list[tuple[Any, ...]]]:
    """Table → its rows as tuples, for tests and small tools."""
    return {name: list(zip(*(column.to_pylist() for column in table.columns), strict=True)) for name, table in rows.tables().items()}
