"""Values of another type than the format's that can only mean one thing: they are read, noted, and written back.

A number for an id, ``"false"`` for false, ``"9"`` for 9, null for a field that may be missing, and columns for a list of objects. The
record that holds such a field gets one more, ``MARK``, with the value as it came; formats keep it with other fields that they do not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

MARK = "kgqa:types"
"""Field → the value as the file has it."""
IDS = re.compile(r"(^|[_a-z])(id|ID|Id)$")
"""How the names of fields end that hold an id."""
_WHOLE = re.compile(r"\s*[-+]?[0-9]{1,18}\s*")
_WORDS = {"true": True, "false": False}
NOTHING = object()
"""In place of a value: the field had better not be there."""


def mended(value: Any, place: Sequence[int | str], kind: str) -> bool:
    """Turn the field at ``place`` in ``value`` into what it can only mean, if there is such a thing; ``kind`` is pydantic's fault."""
    holder = value
    for step in place[:-1]:
        # Where a field may have several types, pydantic names the choice among them too.
        if (isinstance(holder, dict) and step in holder) or (isinstance(holder, list) and isinstance(step, int) and step < len(holder)):
            holder = holder[step]  # type: ignore[index]
    name = place[-1] if place else None
    if not isinstance(holder, dict) or name not in holder:
        return False
    given = holder[name]
    meant = _meant(str(name), given, kind)
    if meant is given:
        return False
    if meant is NOTHING:
        del holder[name]
    else:
        holder[name] = meant
    holder.setdefault(MARK, {})[name] = given
    return True


def _meant(name: str, given: Any, kind: str) -> Any:
    """What ``given`` means where something else was expected; itself where that is not known."""
    if given is None:
        return NOTHING
    meant = given
    if kind == "string_type" and isinstance(given, int) and not isinstance(given, bool) and IDS.search(name):
        meant = str(given)
    elif kind == "bool_type" and isinstance(given, str):
        meant = _WORDS.get(given.strip().lower(), given)
    elif kind == "bool_type" and isinstance(given, int) and given in {0, 1}:
        meant = bool(given)
    elif (kind == "int_type" and isinstance(given, str) and _WHOLE.fullmatch(given)) or (
        kind == "int_type" and isinstance(given, float) and given.is_integer()
    ):
        meant = int(given)
    elif kind == "list_type" and isinstance(given, dict):
        meant = _rows(given)
    return meant


def _rows(columns: dict[str, Any]) -> Any:
    """``{"text": […], "start": […]}`` as a list of objects; as it is where the lists are not of one length."""
    lists = list(columns.values())
    if not lists or not all(isinstance(each, list) and len(each) == len(lists[0]) for each in lists):
        return columns
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def as_given(record: Any) -> Any:
    """``record``, in all depths, with the values as they were given where that was noted."""
    if isinstance(record, list):
        return [as_given(each) for each in record]
    if not isinstance(record, dict):
        return record
    given = record.get(MARK)
    plain = {name: as_given(each) for name, each in record.items() if name != MARK}
    if not isinstance(given, dict):
        return plain
    return plain | {name: value for name, value in given.items() if _still(plain, name, value)}


def _still(record: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether the field still means what was given for it."""
    if value is None:
        return name not in record or not record[name]
    if name not in record:
        return False
    kind = {str: "string_type", bool: "bool_type", int: "int_type", list: "list_type"}.get(type(record[name]), "")
    return bool(_meant(name, value, kind) == record[name])


def encoded(record: Any) -> str:
    """``record`` as JSON, its values as they were given."""
    text = json.dumps(record, ensure_ascii=False)
    return json.dumps(as_given(record), ensure_ascii=False) if f'"{MARK}"' in text else text
