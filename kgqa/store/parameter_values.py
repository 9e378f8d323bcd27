"""Check a user's values for query parameters: both stores must take them, and the embedded store must return them unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgqa.errors import QueryError

SMALLEST, LARGEST = -(2**63), 2**63 - 1
NOTHING = type(None)


def check_values(values: Mapping[str, Any], *, one_kind: bool) -> None:
    """Raise QueryError for a value that no store takes. With ``one_kind``, as in the embedded store, also for a list of several kinds.

    The embedded store crashes silently on some of these values, and gives all maps of a list the keys of the last one.
    """
    for name, value in values.items():
        try:
            _kind(value, one_kind=one_kind)
        except ValueError as error:
            raise QueryError(f"the value of the parameter ${name} {error}.") from None


def _kind(value: Any, *, one_kind: bool) -> object:
    """The kind of a value; values of one kind may share a list. Raises ValueError with the reason."""
    if isinstance(value, str):
        _check_text(value)
    if isinstance(value, int) and not SMALLEST <= value <= LARGEST:
        raise ValueError('is a number of more than 64 bits; give it as text, in quotation marks ("…")')
    if isinstance(value, Mapping):
        for key in value:
            _check_text(key)
        kinds = {key: _kind(part, one_kind=one_kind) for key, part in value.items()}
        if one_kind and NOTHING in kinds.values():
            raise ValueError("is a map with null in it, which the embedded store does not take; leave the key out")
        return frozenset(kinds.items())
    if isinstance(value, list | tuple):
        item_kinds = {_kind(part, one_kind=one_kind) for part in value} - {NOTHING}
        if one_kind and len(item_kinds) > 1:
            raise ValueError("is a list of values of several kinds, which the embedded store does not take; give it values of one kind")
        return list, frozenset(item_kinds)
    return float if type(value) is int else type(value)


def _check_text(value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"is a map with the key {value!r}; a key must be text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("is not text (UTF-8); give it in UTF-8") from None
