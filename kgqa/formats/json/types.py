"""Values of a wrong type with only one possible meaning: they are converted, noted, and written back unchanged.

Examples: a number for an id, ``"false"`` for false, ``"9"`` for 9, null for an optional field, and columns for a list of objects. A record
with such a field gets one more field, ``MARK``, with the original values. Formats keep it as they keep any unknown field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

MARK = "kgqa:types"
"""The field with the original values: field → value in the file."""
IDS = re.compile(r"(^|[_a-z])(id|ID|Id)$")
"""Matches names of fields that hold an id."""
_WHOLE_NUMBER = re.compile(r"\s*[-+]?[0-9]{1,18}\s*")
_WORDS = {"true": True, "false": False}
NOTHING = object()
"""Returned instead of a value for a field to remove."""


def mend(value: Any, place: Sequence[int | str], kind: str) -> bool:
    """Convert the field at ``place`` in ``value`` if it has one possible meaning; ``kind`` is the type of pydantic's error.

    >>> record = {"id": 7}
    >>> mend(record, ("id",), "string_type"), record
    (True, {'id': '7', 'kgqa:types': {'id': 7}})
    """
    holder = value
    for step in place[:-1]:
        # For a union type, pydantic's place contains the member of the union too.
        if (isinstance(holder, dict) and step in holder) or (isinstance(holder, list) and isinstance(step, int) and step < len(holder)):
            holder = holder[step]  # type: ignore[index]
    name = place[-1] if place else None
    if not isinstance(holder, dict) or name not in holder:
        return False
    original = holder[name]
    meaning = _meaning(str(name), original, kind)
    if meaning is original:
        return False
    if meaning is NOTHING:
        del holder[name]
    else:
        holder[name] = meaning
    holder.setdefault(MARK, {})[name] = original
    return True


def _meaning(name: str, value: Any, kind: str) -> Any:
    """``value`` converted to the expected type, NOTHING for null; ``value`` itself if its meaning is unclear."""
    if value is None:
        return NOTHING
    meaning = value
    if kind == "string_type" and isinstance(value, int) and not isinstance(value, bool) and IDS.search(name):
        meaning = str(value)
    elif kind == "bool_type" and isinstance(value, str):
        meaning = _WORDS.get(value.strip().lower(), value)
    elif kind == "bool_type" and isinstance(value, int) and value in {0, 1}:
        meaning = bool(value)
    elif (kind == "int_type" and isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value)) or (
        kind == "int_type" and isinstance(value, float) and value.is_integer()
    ):
        meaning = int(value)
    elif kind == "list_type" and isinstance(value, dict):
        meaning = _rows(value)
    return meaning


def _rows(columns: dict[str, Any]) -> Any:
    """``{"text": […], "start": […]}`` as a list of objects; ``columns`` itself if the lists differ in length."""
    lists = list(columns.values())
    if not lists or not all(isinstance(column, list) and len(column) == len(lists[0]) for column in lists):
        return columns
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def with_original_types(record: Any) -> Any:
    """``record`` with the original values of all converted fields, at any depth."""
    if isinstance(record, list):
        return [with_original_types(entry) for entry in record]
    if not isinstance(record, dict):
        return record
    originals = record.get(MARK)
    values = {name: with_original_types(value) for name, value in record.items() if name != MARK}
    if not isinstance(originals, dict):
        return values
    return values | {name: value for name, value in originals.items() if _has_meaning(values, name, value)}


def _has_meaning(record: Mapping[str, Any], name: str, original: Any) -> bool:
    """Whether the field still has the meaning of its ``original`` value."""
    if original is None:
        return name not in record or not record[name]
    if name not in record:
        return False
    kind = {str: "string_type", bool: "bool_type", int: "int_type", list: "list_type"}.get(type(record[name]), "")
    return bool(_meaning(name, original, kind) == record[name])


def encode(record: Any) -> str:
    """``record`` as JSON, with the original values of converted fields."""
    text = json.dumps(record, ensure_ascii=False)
    return json.dumps(with_original_types(record), ensure_ascii=False) if f'"{MARK}"' in text else text
