"""Kinds of value: what a setting takes, by its annotation, in words for those who write TOML and no Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from kgqa.errors import shortened

WHOLE, NUMBER, BOOLEAN, TEXT, LIST, TABLE = (
    "a whole number", "a number", "true or false", "a text, in quotation marks", "a list, in brackets", "a table, as { name = value }",
)  # fmt: skip

NULL = "null"
UNQUOTED = ", without quotation marks"
LARGEST = 2**63 - 1
"""Larger whole numbers fit no array."""
DEEPEST = 5
"""Levels of lists and tables that a message shows."""


def members(annotation: Any) -> Iterator[Any]:
    """The members of a union, or the annotation itself; without the metadata of ``Annotated``.

    >>> list(members(Annotated[int, "at least 1"] | None))
    [<class 'int'>, <class 'NoneType'>]
    """
    if get_origin(annotation) is Annotated:
        yield from members(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for member in get_args(annotation):
            yield from members(member)
    else:
        yield annotation


def kind_fault(annotation: Any, value: Any) -> str:
    """Why ``value`` is of another kind than the setting takes, without a full stop; empty if it is not, or if the kind is none of TOML's.

    A text is never a number, true is not 1, and 2.0 is no whole number.

    >>> kind_fault(int | None, "5")
    'it must be a whole number, without quotation marks'
    >>> kind_fault(tuple[float, ...], [0.5, True])
    'item 2: it must be a number'
    """
    faults = [_fault(member, value) for member in members(annotation)]
    if not all(faults):
        return ""
    if inside := next((fault for fault in faults if ": " in fault), ""):
        return inside  # an item of a list or table that may be there
    is_number = any(fault.startswith(NUMBER) for fault in faults)
    words = [fault for fault in dict.fromkeys(faults) if fault != NULL and not (is_number and fault.startswith(WHOLE))]
    unquoted = isinstance(value, str) and {WHOLE, NUMBER, BOOLEAN} & set(words)
    return f"it must be {listed(words)}{UNQUOTED if unquoted else ''}"


def listed(words: Sequence[str]) -> str:
    """``a, b or c``."""
    return " or ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])


def _fault(kind: Any, value: Any) -> str:
    """What one kind takes instead of ``value``; where it is the kind, but an item of it is not, the item and its fault."""
    if kind in _SCALARS:
        types, words = _SCALARS[kind]
        if isinstance(value, int) and abs(value) > LARGEST:
            return f"{words} of at most {LARGEST:,}" if int in types else words
        return "" if isinstance(value, types) and (kind is bool or not isinstance(value, bool)) else words
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        is_option = any(value == option and type(value) is type(option) for option in arguments)
        return "" if is_option else listed([toml(option) for option in arguments])
    if origin is tuple:
        return (
            _of_items(((f"item {number}", item) for number, item in enumerate(value, start=1)), arguments[0]) if _is_list(value) else LIST
        )
    if origin in {dict, Mapping}:
        return _of_items(value.items(), arguments[1]) if isinstance(value, Mapping) else TABLE
    is_section = isinstance(kind, type) and issubclass(kind, BaseModel)
    return TABLE if is_section and not isinstance(value, (Mapping, BaseModel)) else ""


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _of_items(items: Iterable[tuple[str, Any]], annotation: Any) -> str:
    """The first faulty item, and its fault."""
    return next((f"{name}: {fault}" for name, item in items if (fault := kind_fault(annotation, item))), "")


_SCALARS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    int: ((int,), WHOLE), float: ((int, float), NUMBER), bool: ((bool,), BOOLEAN), str: ((str,), TEXT), NoneType: ((NoneType,), NULL),
}  # fmt: skip


def toml(value: Any) -> str:
    """A value as TOML has it, truncated, for a message.

    >>> toml({"a": [True, "b", 0.5]})
    '{ a = [true, "b", 0.5] }'
    """
    return shortened(_toml(value, 0), 100)


def _toml(value: Any, depth: int) -> str:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if depth == DEEPEST:
        return "…"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(item, depth + 1) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml(item, depth + 1)}' for name, item in value.items())} }}" if value else "{}"
    try:
        return str(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of thousands of digits"
