"""Any graph in a Neo4j database, by the user's own Cypher.

Each query only reads, and names its columns as the tables do::

    facts      head, relation, tail (ids); also head_label, tail_label, head_kind, tail_kind, relation_label
    entities   id; also label, kind, description, aliases (a list, or one name); any other column is a value
    relations  id, label; also symmetric (true or false)
    documents  id, text; also title, about (the id of an entity)

An id is a text or a whole number. A value is a number, a date, a point, a text, or a list of them; a null is no value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import date
from typing import Any, Protocol

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import MissingInput, QueryError, suggestion
from kgqa.settings.base import Settings
from kgqa.sources.graphs.edge_list import add_edges, add_entities, add_relations
from kgqa.sources.graphs.words import nfc, relation_words
from kgqa.sources.rows import Rows
from kgqa.sources.tables import frame, normalised

COLUMNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "entities": (("id",), ("label", "kind", "description", "aliases")),
    "relations": (("id", "label"), ("symmetric",)),
    "facts": (("head", "relation", "tail"), ("head_label", "tail_label", "head_kind", "tail_kind", "relation_label")),
    "documents": (("id", "text"), ("title", "about")),
}
"""Query → the columns that it must return, and those that it may."""
EARTH = (4326, 4979)
"""Neo4j's numbers of the systems of latitude and longitude (WGS 84), of two and of three dimensions."""
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}[0-9:.Z+-]*(?:\[[^\]]*\])?")
"""A date with a time of day, which the store gives as text."""


class GraphStore(Protocol):
    """What runs the queries: :class:`kgqa.store.neo4j.connection.Neo4jStore`."""

    def tables(self, text: str) -> Iterator[pa.Table]:
        """All rows of a query that only reads, some at a time."""


class Neo4jGraph(Settings):
    """The queries. Each of them is one Cypher statement."""

    facts: str
    """Returns the facts."""
    entities: str = ""
    """Returns the entities. Without it they are the heads and tails of the facts."""
    relations: str = ""
    """Returns the labels of relations."""
    documents: str = ""
    """Returns texts."""
    kind: str = "entity"
    """Kind of the entities for which no column gives one."""
    symmetric: tuple[str, ...] = ()
    """Relations where (a, r, b) says the same as (b, r, a)."""
    label_from_id: bool = True
    """Make the label of what has none from its id, with spaces for underscores."""

    def pages(self, store: GraphStore, token: str = "") -> Iterator[tuple[Rows, str]]:
        """Rows of all queries, each with the token to go on after what was whole before: the number of queries that were read.

        QueryError for a query that does more than to read, MissingInput for one that does not return its columns.
        """
        queries = [(name, text) for name in COLUMNS if (text := getattr(self, name))]
        for number, (name, text) in enumerate(queries):
            if number < int(token or 0):
                continue
            try:
                for table in store.tables(text):
                    rows = Rows()
                    check_columns(name, table.column_names)
                    self._fill(name, table, rows)
                    yield rows, str(number)
            except QueryError as error:
                raise QueryError(f"query {name}: {error}") from None
            yield Rows(), str(number + 1)

    def _fill(self, name: str, table: pa.Table, rows: Rows) -> None:
        if name == "entities":
            self._entities(table, rows)
        elif name == "facts":
            texts = _texts(name, table, (*COLUMNS[name][0], *COLUMNS[name][1]))
            add_edges(rows, texts, f"query {name}", kind=self.kind, symmetric=self.symmetric, label_from_id=self.label_from_id,
                      with_entities=not self.entities)  # fmt: skip
        elif name == "relations":
            symmetric_flags = table["symmetric"].to_pylist() if "symmetric" in table.column_names else [False] * table.num_rows
            texts = _texts(name, table, ("id", "label"))
            symmetric = [id_ for id_, is_symmetric in zip(texts["id"].to_list(), symmetric_flags, strict=True) if is_symmetric is True]
            add_relations(rows, texts, (*self.symmetric, *symmetric), label_from_id=self.label_from_id)
        else:
            for number, row in enumerate(_texts(name, table, ("id", "text", "title", "about")).iter_rows(named=True)):
                if not row["id"] or not row["text"]:
                    rows.skip("document without an id or a text", row["id"] or f"row {number + 1} of a batch")
                else:
                    rows.document(row["id"], row.get("title", ""), row["text"], about=row.get("about") or None)

    def _entities(self, table: pa.Table, rows: Rows) -> None:
        texts = _texts("entities", table, ("id", "label", "kind", "description"))
        ids = texts["id"].to_list()
        if empty := ids.count(""):
            rows.skip("entity without an id", "query entities", empty)
        missing = [pl.lit("").alias(column) for column in ("label", "kind", "description") if column not in texts.columns]
        whole = texts.with_columns(missing).with_columns(kind=pl.when(pl.col("kind") == "").then(pl.lit(self.kind)).otherwise("kind"))
        add_entities(rows, whole.filter(pl.col("id") != ""), label_from_id=self.label_from_id)
        for column in table.column_names:
            if column in {"id", "label", "kind", "description"}:
                continue
            cells = [(id_, cell) for id_, cell in zip(ids, _cells(table, column), strict=True) if id_ and cell is not None]
            if column == "aliases":
                for id_, cell in cells:
                    for alias in cell if isinstance(cell, list) else [cell]:
                        if isinstance(alias, str) and alias.strip():
                            rows.name(id_, nfc(alias), "alias")
                continue
            if cells:
                rows.relation(column, "")
                if self.label_from_id:
                    rows.name(column, relation_words(column), "id")
            for id_, cell in cells:
                for part in cell if isinstance(cell, list) else [cell]:
                    if label := value_of_cell(part):
                        rows.value(id_, column, **label)
                    else:
                        rows.skip("property that is no value", f"{id_} {column}")


def check_columns(query: str, names: list[str]) -> None:
    """MissingInput for a query that lacks a column, QueryError for one with a column that nothing reads."""
    required_columns, optional_columns = COLUMNS[query]
    for column in required_columns:
        if column not in names:
            raise MissingInput(
                f"query {query}: it returns no column {column!r} but {', '.join(names)}; write AS {column} behind one of them."
            )
    if query != "entities":
        for column in names:
            if column not in required_columns + optional_columns:
                raise QueryError(
                    f"it returns the column {column!r}, which is not used; {suggestion(column, required_columns + optional_columns)}"
                )


def value_of_cell(cell: Any) -> dict[str, Any] | None:
    """``kind``, ``value`` and what else :meth:`kgqa.sources.rows.Rows.value` takes; None for a map and the like."""
    if isinstance(cell, dict) and cell.get("srid") in EARTH:
        return {"kind": "coordinate", "value": f"{cell['y']!r},{cell['x']!r}"}
    if isinstance(cell, date) or (isinstance(cell, str) and _INSTANT.fullmatch(cell)):
        return {"kind": "time", "value": str(cell).partition("T")[0], "precision": 11, "calendar": "gregorian"}
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return {"kind": "quantity", "value": repr(cell)} if math.isfinite(cell) else None
    text = str(cell).lower() if isinstance(cell, bool) else nfc(cell) if isinstance(cell, str) else ""
    return {"kind": "text", "value": text} if text else None


def _texts(query: str, table: pa.Table, columns: tuple[str, ...]) -> pl.DataFrame:
    """Those of the columns that are there, as text; null is the empty text. QueryError for nodes, lists and values of several types."""
    texts = {}
    for column in columns:
        if column not in table.column_names:
            continue
        field, values = table.schema.field(column), table[column]
        if field.metadata or pa.types.is_nested(field.type) or pa.types.is_floating(field.type):
            raise QueryError(
                f"its column {column!r} has nodes, lists, decimal numbers or values of several types; return texts or whole "
                f"numbers, such as toString(n.{column}) AS {column} or labels(n)[0] AS {column}."
            )
        texts[column] = normalised(pc.fill_null(values.cast(pa.string()), ""))
    return frame(pa.table(texts))


def _cells(table: pa.Table, column: str) -> list[Any]:
    """The values of a column; those of several types and maps come as JSON."""
    values: list[Any] = table[column].to_pylist()
    if table.schema.field(column).metadata:
        return [None if value is None else json.loads(value) for value in values]
    return values
