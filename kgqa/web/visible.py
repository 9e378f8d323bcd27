"""The properties of nodes and relationships that are shown; those that only queries use are left out of tables and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INNER = frozenset({"row", "search", "common"})
"""Properties that only queries use: the place in a table, the folded names, and the ambiguity of the label."""
_THINGS = (frozenset({"labels", "properties"}), frozenset({"type", "start", "end", "properties"}))


def visible(value: Any) -> Any:
    """``value`` with all nodes and relationships in it without their ``INNER`` properties.

    >>> visible([{"labels": ["Entity"], "properties": {"id": "Q1", "row": 7}}, {"row": 7}])
    [{'labels': ['Entity'], 'properties': {'id': 'Q1'}}, {'row': 7}]
    """
    if isinstance(value, Mapping):
        if any(names <= value.keys() for names in _THINGS):
            return {**value, "properties": {name: part for name, part in value["properties"].items() if name not in INNER}}
        return {name: visible(part) for name, part in value.items()}
    return [visible(part) for part in value] if isinstance(value, list | tuple) else value
