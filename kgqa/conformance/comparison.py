"""One store after another answers every query on random graphs; each answer is compared with the oracle's."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import pyarrow as pa

from kgqa.conformance.arguments import random_arguments
from kgqa.conformance.benches import Bench
from kgqa.conformance.graphs import RandomGraph, random_graph
from kgqa.conformance.oracles.known import Known, Rows
from kgqa.conformance.oracles.registry import expected_rows, found_rows, templates
from kgqa.conformance.witnesses import Witness, witnesses
from kgqa.errors import KgqaError, StoreUnreachable
from kgqa.store.base import GraphStore
from kgqa.store.queries import Query, Value

SECONDS = 60.0
"""A query on such a graph that takes longer has failed."""
Found = Rows | str
"""Rows, or what the store said instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A query that a store answers otherwise than it must."""

    query: Query
    arguments: dict[str, Value]
    graph: RandomGraph
    found: Found
    expected: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What one store answered."""

    store: str
    version: str
    templates: int
    queries: int
    graphs: int
    seconds: float
    disagreements: dict[str, int] = field(default_factory=dict)
    """Name of the query → how often its answer was wrong."""
    smallest: Disagreement | None = None
    """The wrong answer on the fewest rows, of a search only where all are."""
    witnesses: int = 0
    """How many fixed cases were asked before, in which some version of an engine is known to be wrong."""


def compare(bench: Bench, *, queries: int, seed: int, advance: Callable[[int], None] | None = None) -> Comparison:
    """Ask ``bench`` all witnesses and then so many queries of random graphs; the same ``seed`` gives the same on every store.

    Every template is asked equally often. Raises StoreUnreachable where a server goes away.
    """
    rng = random.Random(seed)  # noqa: S311 - nothing here is secret
    asked = [query for query in templates() if bench.name in query.stores]
    begin, done, graphs = time.perf_counter(), 0, 0
    fixed = witnesses()
    known_wrong = list(_ask_witnesses(bench, fixed))
    wrong = Counter(disagreement.query.name for disagreement in known_wrong)
    # They are as small as they get, so a random graph never takes their place.
    smallest = min(known_wrong, key=lambda disagreement: len(disagreement.graph), default=None)
    turn: list[Query] = []
    while done < queries:
        known = Known(random_graph(rng))
        graphs += 1
        with bench.holding(known.graph) as store:
            count = min(bench.per_graph, queries - done)
            for _ in range(count):
                turn = turn or rng.sample(asked, len(asked))
                query = turn.pop()
                arguments = random_arguments(query, known, rng)
                expected = expected_rows(query, known, arguments)
                found = answer(store, query, arguments)
                if found != expected:
                    wrong[query.name] += 1
                    this = Disagreement(query=query, arguments=arguments, graph=known.graph, found=found, expected=expected)
                    if not known_wrong and (smallest is None or _size(this) < _size(smallest)):
                        smallest = this
        done += count
        if advance:
            advance(count)
    return Comparison(
        store=bench.name,
        version=bench.version,
        templates=len(asked),
        queries=done,
        graphs=graphs,
        seconds=time.perf_counter() - begin,
        disagreements=dict(sorted(wrong.items())),
        smallest=smallest,
        witnesses=len(fixed),
    )


def _size(wrong: Disagreement) -> tuple[bool, int]:
    """What is shown of several is the smallest; last of all a search, which is no query that could be replayed."""
    return bool(wrong.query.search), len(wrong.graph)


def _ask_witnesses(bench: Bench, fixed: Sequence[Witness]) -> Iterator[Disagreement]:
    """Those that ``bench`` answers wrongly; one graph holds all that are asked of it."""
    for graph, those in groupby(fixed, key=lambda witness: witness.graph):
        known = Known(graph)
        with bench.holding(graph) as store:
            for witness in those:
                expected = expected_rows(witness.query, known, witness.arguments)
                found = answer(store, witness.query, witness.arguments)
                if found != expected:
                    yield Disagreement(query=witness.query, arguments=witness.arguments, graph=graph, found=found, expected=expected)


def answer(store: GraphStore, query: Query, arguments: dict[str, Value]) -> Found:
    """The rows that ``store`` gives, or what it says instead; raises StoreUnreachable."""
    try:
        return found_rows(query, store.run(query, arguments, seconds=SECONDS))
    except StoreUnreachable:
        raise
    except (KgqaError, RuntimeError, ValueError, pa.ArrowException) as error:
        return str(error)
