"""Nodes, relationships, paths and maps of either store as plain data, in one shape.

::

    node          {"labels": ["Entity"], "properties": {"id": "Q45", …}}
    relationship  {"type": "FACT", "start": "Q45", "end": "Q597", "properties": {…}}
    path          {"nodes": [node, …], "relationships": [relationship, …]}

Properties are sorted by name. Nulls are left out, and so are empty lists, because the embedded store keeps them and a server does not.
``start`` and ``end`` are the ``key``, or otherwise the ``id``, of the end nodes if the same row holds them, and null if not. Engines' own
numbers of nodes are left out. A column of such values is text in JSON, and its field is marked with ``JSON_FIELD``. Columns of plain values
keep their type.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

JSON_FIELD = {b"kgqa": b"json"}
"""Metadata of a column of JSON."""
SCALARS = {str, int, float, bool, type(None)}


@dataclass(frozen=True, slots=True)
class Node:
    """A node as an engine gives it."""

    key: object
    """The engine's identifier of the node, which its relationships use."""
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship as an engine gives it."""

    type: str
    start: object
    end: object
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Walk:
    """A path as an engine gives it."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]


def table_of_values(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> pa.Table:
    """``columns`` of values, among them :class:`Node` and the like, as a table; ``names`` differ from each other."""
    rows = [_ends(row) for row in zip(*columns, strict=True)]
    arrays, fields = [], []
    for name, column in zip(names, columns, strict=True):
        array = None if any(map(_is_object, column)) else _plain_column(column)
        field_metadata = None
        if array is None:
            texts = [None if value is None else as_json(plain(value, ends)) for value, ends in zip(column, rows, strict=True)]
            array, field_metadata = pa.array(texts, pa.string()), JSON_FIELD
        arrays.append(array)
        fields.append(pa.field(name, array.type, metadata=field_metadata))
    return pa.table(arrays, schema=pa.schema(fields))


def all_scalars(values: Iterable[Any]) -> bool:
    """Whether no value needs conversion. Fast, because a projection has lists of thousands of values."""
    return set(map(type, values)) <= SCALARS


def holds_json(field: pa.Field) -> bool:
    """Whether a column is text that holds JSON."""
    return bool(field.metadata == JSON_FIELD)


def as_json(value: object) -> str:
    """``value`` as compact JSON, in UTF-8 and not in escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str)


def plain(value: Any, ends: Mapping[object, str | None]) -> Any:
    """``value`` as JSON data; numbers that JSON lacks, like infinity, become text."""
    if isinstance(value, Node | Relationship | Walk):
        return _plain_object(value, ends)
    if isinstance(value, Mapping):
        return {str(key): plain(part, ends) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, ends) for part in value]
    is_plain = value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else str(value)


def in_short(value: Any) -> Any:
    """``value`` with its decimal numbers as tables show them: three significant digits, and all those before the point.

    >>> in_short([0.04765306122448979, 1234.56, 2.5, 7])
    [0.0477, 1235.0, 2.5, 7]
    """
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.3g}") if abs(value) < 1000 else float(round(value))
    if isinstance(value, list | tuple):
        return [in_short(part) for part in value]
    return value


def _plain_object(value: Node | Relationship | Walk, ends: Mapping[object, str | None]) -> dict[str, Any]:
    if isinstance(value, Walk):
        return {name: [plain(part, ends) for part in getattr(value, name)] for name in ("nodes", "relationships")}
    if isinstance(value, Node):
        return {"labels": list(value.labels), "properties": _properties(value.properties, ends)}
    fields = {"type": value.type, "start": ends.get(value.start), "end": ends.get(value.end)}
    return {**fields, "properties": _properties(value.properties, ends)}


def _properties(properties: Mapping[str, Any], ends: Mapping[object, str | None]) -> dict[str, Any]:
    return {name: plain(properties[name], ends) for name in sorted(properties) if properties[name] not in (None, [])}


def _ends(row: Sequence[Any]) -> dict[object, str | None]:
    """The names of a row's nodes, by the engine's identifiers."""
    keys: dict[object, str | None] = {}

    def look(value: Any) -> None:
        if isinstance(value, Node):
            keys[value.key] = value.properties.get("key") or value.properties.get("id")
        elif isinstance(value, Walk):
            for node in value.nodes:
                look(node)
        elif isinstance(value, list | tuple):
            for part in () if all_scalars(value) else value:
                look(part)
        elif isinstance(value, Mapping):
            for part in value.values():
                look(part)

    for value in row:
        look(value)
    return keys


def _is_object(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return not all_scalars(value) and any(map(_is_object, value))
    return isinstance(value, Node | Relationship | Walk | Mapping)


def _plain_column(values: Sequence[Any]) -> pa.Array | None:
    """Values of one type as Arrow has it; None for those of several."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None
