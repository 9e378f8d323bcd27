"""The rows of a graph as GraphML, which Gephi, yEd, igraph and NetworkX read: batch by batch, so that only rows and no XML are in memory.

Nodes have the names of :mod:`kgqa.store.kinds` (``e:Q597``, ``d:simple:53``), and ``type`` is the label of a node and the type of an edge.
GraphML has no lists and no nulls: lists are written as JSON, and nulls are left out. XML cannot hold most control characters: they are
replaced by the symbols for them (U+2400 and on), and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO
from xml.sax.saxutils import escape

import polars as pl
import pyarrow as pa

from kgqa.progress import Advance
from kgqa.sources.tables import frame
from kgqa.store.kinds import LOOKED_UP, NODES, RELATIONSHIPS

BATCH_ROWS = 20_000
TYPES = {"string": "string", "int64": "long", "bool": "boolean", "double": "double", "float": "double"}
"""Arrow's type → GraphML's; of a list it is that of its JSON, a string."""
PICTURED = {chr(code): chr(0x2400 + code) for code in range(32) if code not in {9, 10, 13}} | {
    "\ufffe": "\ufffd",
    "\uffff": "\ufffd",
}
"""Characters that XML 1.0 cannot hold → their visible replacements."""
_ILLEGAL = "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", **PICTURED}
_QUOTED = {**_TEXT, '"': "&quot;", "\t": "&#9;", "\n": "&#10;"}
"""Within an attribute a parser takes white space for blanks."""
HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
FOOT = "</graph>\n</graphml>\n"


def write(path: Path, rows: Mapping[str, pa.Table], *, about: Mapping[str, str] | None = None, advance: Advance = lambda _: None) -> int:
    """Write those of ``rows`` whose tables :mod:`kgqa.store.kinds` knows, and ``about`` the graph; how many characters were pictured.

    Every end of a relationship must be among the nodes.
    """
    graph_properties = dict(about or {})
    tables = {name: _without_search(rows[name]) for name in (*NODES, *RELATIONSHIPS) if name in rows}
    keys = _Keys(tables, graph_properties)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines((HEAD, *keys.declared(), '<graph edgedefault="directed">\n'))
        file.writelines(f'<data key="{keys["graph", name, "string"]}">{_clean(text)}</data>\n' for name, text in graph_properties.items())
        pictured = sum(character in PICTURED for text in graph_properties.values() for character in text)
        for name, table in tables.items():
            pictured += _write(file, name, table, keys, advance)
        file.write(FOOT)
    return pictured


class _Keys(dict[tuple[str, str, str], str]):
    """(``graph``, ``node`` or ``edge``; property; type) → the id of its ``key`` element.

    A property with several types has one key for each type.
    """

    def __init__(self, tables: Mapping[str, pa.Table], graph_properties: Mapping[str, str]) -> None:
        properties = [("graph", name, "string") for name in graph_properties]
        properties += [("node", "type", "string"), ("edge", "type", "string")]
        for name, table in tables.items():
            element, begin = ("node", 0) if name in NODES else ("edge", 2)
            properties += [(element, field.name, _type(field.type)) for field in [*table.schema][begin:]]
        super().__init__({key: f"p{number}" for number, key in enumerate(dict.fromkeys(properties))})

    def declared(self) -> Iterator[str]:
        """One ``key`` element for each property."""
        for (element, name, type_), key in self.items():
            yield f'<key id="{key}" for="{element}" attr.name="{name}" attr.type="{type_}"/>\n'


def _without_search(table: pa.Table) -> pa.Table:
    return table.drop_columns([LOOKED_UP]) if LOOKED_UP in table.column_names else table


def _write(file: IO[str], name: str, table: pa.Table, keys: _Keys, advance: Advance) -> int:
    """The elements of all rows of a table."""
    if name in NODES:
        element, properties = "node", [*table.schema]
        begin = pl.format(
            '<node id="{}"><data key="{}">{}</data>', *_name(name, NODES[name].key), *_type_of(keys, element, NODES[name].label)
        )
    else:
        kind, ends = RELATIONSHIPS[name], table.column_names[:2]
        element, properties = "edge", [*table.schema][2:]
        begin = pl.format(
            '<edge source="{}" target="{}"><data key="{}">{}</data>',
            *_name(kind.source, ends[0]), *_name(kind.target, ends[1]), *_type_of(keys, element, kind.type),
        )  # fmt: skip
    values = [_data(keys[element, field.name, _type(field.type)], field) for field in properties]
    line = pl.concat_str(begin, *values, pl.lit(f"</{element}>\n"))
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    pictured = 0
    for batch in _batches(table):
        file.writelines(batch.select(line=line)["line"])
        pictured += sum(batch.select(pl.col(*texts).str.count_matches(_ILLEGAL).sum()).row(0))
        advance(batch.height)
    return pictured


def _name(table: str, column: str) -> list[pl.Expr]:
    return [pl.concat_str(pl.lit(NODES[table].mark), _replaced(pl.col(column), _QUOTED))]


def _type_of(keys: _Keys, element: str, type_: str) -> list[pl.Expr]:
    return [pl.lit(keys[element, "type", "string"]), pl.lit(type_)]


def _batches(table: pa.Table) -> Iterator[pl.DataFrame]:
    """Convert lists to JSON."""
    for at in range(0, table.num_rows, BATCH_ROWS):
        batch = table.slice(at, BATCH_ROWS)
        for place, field in enumerate(batch.schema):
            if pa.types.is_list(field.type):
                texts = [_json(value) if value else None for value in batch[field.name].to_pylist()]
                batch = batch.set_column(place, field.name, pa.array(texts, pa.string()))
        yield frame(batch)


def _json(texts: list[str]) -> str:
    """``texts`` as JSON, with escapes for characters that XML cannot hold, so that none is lost."""
    return json.dumps(texts, ensure_ascii=False).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _data(key: str, field: pa.Field) -> pl.Expr:
    """The ``data`` element of one property, or an empty text for null."""
    value = pl.col(field.name).cast(pl.String)
    return pl.format('<data key="{}">{}</data>', pl.lit(key), _replaced(value, _TEXT)).fill_null("")


def _replaced(text: pl.Expr, by: Mapping[str, str]) -> pl.Expr:
    return text.str.replace_many(list(by), list(by.values()))


def _type(type_: pa.DataType) -> str:
    return TYPES.get(str(type_), "string")


def _clean(text: str) -> str:
    return escape(text.translate({ord(illegal): picture for illegal, picture in PICTURED.items()}), {"\r": "&#13;"})
