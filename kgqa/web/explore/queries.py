"""Named queries on the page: what a form sends, what its rows hold, and the graph in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kgqa.errors import QueryError
from kgqa.store.base import check_runs_on
from kgqa.store.queries import Query
from kgqa.web.explore.picture import Edge, Picture, document_key, document_node, entity_key, entity_node
from kgqa.web.explore.stores import Graph

SHOWN = 200
"""Rows on the page; more are counted."""
DRAWN = 24
"""Rows in the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value: text, and where it leads if it is an id."""

    text: str
    keys: tuple[str, ...] = ()
    """Nodes that the value names; several where it is a list."""
    number: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a query returned."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    picture: Picture | None
    """None where the rows hold no ids."""


def ask(graph: Graph, query: Query, given: Mapping[str, str]) -> Answer:
    """Run ``query`` with what the form sent; empty fields take their defaults. Raises QueryError and QueryTimeout."""
    check_runs_on(query, graph.stores.name)
    filled = {name: text for name, text in given.items() if text != ""}
    missing = [parameter.name for parameter in query.params if parameter.default is None and parameter.name not in filled]
    if missing:
        raise QueryError(f"query {query.name}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} empty; fill in the form.")
    arguments = query.arguments(filled)
    table = graph.stores.run(query, arguments, seconds=graph.seconds)
    rows = table.slice(0, SHOWN).to_pylist()
    ids = [value for row in rows for cell in row.values() for value in _texts(cell)]
    asked = [value for argument in arguments.values() for value in _texts(argument)]
    entities, documents = graph.entities([*ids, *asked]), graph.documents([*ids, *asked])
    kinds = {name: _kind(table[name].slice(0, SHOWN), entities, documents) for name in table.column_names}
    cells = tuple(tuple(_cell(row[name], kinds[name]) for name in table.column_names) for row in rows)
    start = [entity_key(value) for value in asked if value in entities] + [document_key(value) for value in asked if value in documents]
    picture = _picture(rows, kinds, start, entities=entities, documents=documents) if any(kinds.values()) else None
    if picture is not None and not picture.nodes:
        picture = None
    return Answer(columns=tuple(table.column_names), rows=cells, total=table.num_rows, picture=picture)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list | tuple) else []


def _kind(column: pa.ChunkedArray, entities: Mapping[str, Any], documents: Mapping[str, Any]) -> str:
    """``e`` or ``d`` where every value of the column is the id of an entity or document, ``m`` where lists mix them, else empty."""
    values = [value for cell in column.to_pylist() for value in _texts(cell)]
    if not values:
        return ""
    if all(value in entities for value in values):
        return "e"
    if all(value in documents for value in values):
        return "d"
    mixed = pa.types.is_list(column.type) and all(value in entities or value in documents for value in values)
    return "m" if mixed else ""


def _keys(value: Any, kind: str) -> tuple[str, ...]:
    texts = _texts(value)
    if kind == "m":  # a chain: entities and documents in turn, from an entity
        return tuple(document_key(text) if at % 2 else entity_key(text) for at, text in enumerate(texts))
    make = document_key if kind == "d" else entity_key
    return tuple(make(text) for text in texts) if kind else ()


def _cell(value: Any, kind: str) -> Cell:
    if value is None:
        return Cell(text="")
    if isinstance(value, bool):
        return Cell(text="yes" if value else "no")
    if isinstance(value, int | float):
        return Cell(text=f"{value:,}", number=True)
    if isinstance(value, list):
        return Cell(text=" → ".join(map(str, value)), keys=_keys(value, kind))
    return Cell(text=str(value), keys=_keys(value, kind))


def _picture(
    rows: list[dict[str, Any]], kinds: Mapping[str, str], start: list[str], *, entities: Mapping[str, Any], documents: Mapping[str, Any]
) -> Picture:
    """Each row is a path through the ids in it, from the id that was asked about if the row does not hold it itself."""
    picture = Picture(layout="flow")
    numbers = [
        name for name in kinds if not kinds[name] and rows and isinstance(rows[0][name], int) and not isinstance(rows[0][name], bool)
    ]
    for row in rows[:DRAWN]:
        path = [key for name, kind in kinds.items() if kind for key in _keys(row[name], kind)]
        if not path:
            continue
        begin = [key for key in start if key not in path][:1]
        label = str(row.get("relation_label") or row.get("label") or "") if {"head", "tail"} <= row.keys() else ""
        if not label and "relation" in row and "tail" in row:
            label = str(row["relation"])
        # Where two ids were asked about, a number says something of both, not of the line from the first.
        if not label and len(path) + len(begin) == 2 and numbers and len(start) == 1:
            label = f"{row[numbers[0]]:,} {numbers[0]}"
        for layer, key in enumerate([*begin, *path]):
            _place(picture, key, layer, start, entities, documents)
        for before, after in zip([*begin, *path], path if begin else path[1:], strict=False):
            if before in picture.nodes and after in picture.nodes and before != after:
                picture.connect(Edge(source=before, target=after, kind="row", label=label))
    if len(rows) > DRAWN:
        picture.hidden = f"{len(rows) - DRAWN:,} more rows are not drawn."
    picture.root = next((key for key in start if key in picture.nodes), next(iter(picture.nodes), ""))
    if all(edge.source == picture.root for edge in picture.edges.values()):
        picture.layout = "tree"
    return picture


def _place(picture: Picture, key: str, layer: int, start: list[str], entities: Mapping[str, Any], documents: Mapping[str, Any]) -> None:
    name = key[2:]
    role = "start" if key in start else ""
    if key.startswith("e:") and name in entities:
        picture.add(entity_node(entities[name], layer=layer, role=role))
    elif key.startswith("d:") and name in documents:
        picture.add(document_node(documents[name], layer=layer, role=role))
