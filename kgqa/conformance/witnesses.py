"""Fixed cases in which some version of an engine was found to be wrong, shrunk; a random search finds them only now and then.

They stand in ``witnesses.json``: the query, its arguments, the rows of the graph, and which versions answered wrongly. What is right the
oracle says, as of any query, so a case cannot hold a wrong truth. A new find is added as it comes out of :mod:`kgqa.conformance.shrink`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kgqa.conformance.graphs import ROW_TYPES, RandomGraph
from kgqa.conformance.oracles.registry import templates
from kgqa.store.queries import Query, Value

FILE = Path(__file__).with_name("witnesses.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A query of a graph that some version of an engine answers wrongly."""

    query: Query
    arguments: dict[str, Value]
    graph: RandomGraph
    wrong: tuple[str, ...]
    """Engines and versions that do, as ``ladybug 0.22.0``."""


@cache
def witnesses() -> tuple[Witness, ...]:
    """All witnesses; those with the same graph follow each other."""
    queries = {query.name: query for query in templates()}
    return tuple(_witness(entry, queries[entry["query"]]) for entry in json.loads(FILE.read_text("utf-8")))


def _witness(entry: dict[str, Any], query: Query) -> Witness:
    graph = RandomGraph(**{name: tuple(ROW_TYPES[name](*row) for row in rows) for name, rows in entry["graph"].items()})
    return Witness(query=query, arguments=entry["arguments"], graph=graph, wrong=tuple(entry["wrong"]))
