"""The schema of a graph, read from the queries that create it: labels, relationship types, and their properties."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from kgqa.store.graph import TABLES
from kgqa.store.queries import read_queries
from kgqa.store.samples import SCHEMA

_TABLE = re.compile(r"CREATE (?P<what>NODE|REL) TABLE (?:GROUP )?(?P<name>\w+)\s*\((?P<columns>.*)\)", re.DOTALL)
_ENDS = re.compile(r"FROM (\w+) TO (\w+)")
_COLUMN = re.compile(r"(\w+) [A-Z]+[0-9]*(?:\[\])?(?: PRIMARY KEY)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSchema:
    """The same on both stores."""

    labels: Mapping[str, tuple[str, ...]]
    """Label of nodes → their properties."""
    types: Mapping[str, tuple[str, ...]]
    """Type of relationships → their properties."""
    ends: Mapping[str, tuple[tuple[str, str], ...]]
    """Type of relationships → the labels that it leads from and to."""


@cache
def graph_schema() -> GraphSchema:
    """The schema of a graph with samples."""
    queries = read_queries()
    labels: dict[str, tuple[str, ...]] = {}
    types: dict[str, tuple[str, ...]] = {}
    ends: dict[str, tuple[tuple[str, str], ...]] = {}
    for name in dict.fromkeys((*TABLES, *SCHEMA)):
        match = _TABLE.search(queries[f"schema_{name}"].text)
        assert match, f"the query schema_{name} makes no table"
        columns = [part.strip() for part in match["columns"].split(",")]
        properties = tuple(part_match[1] for part_match in map(_COLUMN.fullmatch, columns) if part_match)
        if match["what"] == "NODE":
            labels[match["name"]] = properties
        else:
            types[match["name"]] = properties
            ends[match["name"]] = tuple((part_match[1], part_match[2]) for part_match in map(_ENDS.fullmatch, columns) if part_match)
    return GraphSchema(labels=labels, types=types, ends=ends)
