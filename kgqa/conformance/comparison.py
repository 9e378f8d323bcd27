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
from kgqa.conformance.oracles.graph_index import GraphIndex, Rows
from kgqa.conformance.oracles.registry import expected_rows, found_rows, templates
from kgqa.conformance.witnesses import Witness, witnesses
from kgqa.errors import KgqaError, StoreUnreachable
from kgqa.store.base import GraphStore
from kgqa.store.queries import Query, Value

SECONDS = 60.0
"""A query on such a graph that takes longer has failed."""
Answer = Rows | str
"""Rows, or what the store said instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A query that a store answers otherwise than it must."""

    query: Query
    arguments: dict[str, Value]
    graph: RandomGraph
    actual: Answer
    expected: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The results of one store."""

    store: str
    version: str
    templates: int
    queries: int
    graphs: int
    seconds: float
    disagreements: dict[str, int] = field(default_factory=dict)
    """Name of the query → number of wrong answers."""
    smallest: Disagreement | None = None
    """The wrong answer on the fewest rows, of a search only where all are."""
    witnesses: int = 0
    """The number of fixed cases, each known to fail on some version of an engine."""


def compare(bench: Bench, *, queries: int, seed: int, advance: Callable[[int], None] | None = None) -> Comparison:
    """Run all witnesses on ``bench``, then this number of ``queries`` on random graphs, which depend on ``seed`` only, not on the store.

    Every template is used equally often. Raises StoreUnreachable if a server disappears.
    """
    rng = random.Random(seed)  # noqa: S311 - nothing here is secret
    templates_of_store = [query for query in templates() if bench.name in query.stores]
    begin, asked_count, graphs = time.perf_counter(), 0, 0
    fixed_cases = witnesses()
    witness_failures = list(_ask_witnesses(bench, fixed_cases))
    failures = Counter(disagreement.query.name for disagreement in witness_failures)
    # They are as small as they get, so a random graph never takes their place.
    smallest = min(witness_failures, key=lambda disagreement: len(disagreement.graph), default=None)
    deck: list[Query] = []
    while asked_count < queries:
        index = GraphIndex(random_graph(rng))
        graphs += 1
        with bench.holding(index.graph) as store:
            count = min(bench.per_graph, queries - asked_count)
            for _ in range(count):
                deck = deck or rng.sample(templates_of_store, len(templates_of_store))
                query = deck.pop()
                arguments = random_arguments(query, index, rng)
                disagreement = disagreement_on(store, query, arguments, index)
                if disagreement is not None:
                    failures[query.name] += 1
                    if not witness_failures and (smallest is None or _size(disagreement) < _size(smallest)):
                        smallest = disagreement
        asked_count += count
        if advance:
            advance(count)
    return Comparison(
        store=bench.name,
        version=bench.version,
        templates=len(templates_of_store),
        queries=asked_count,
        graphs=graphs,
        seconds=time.perf_counter() - begin,
        disagreements=dict(sorted(failures.items())),
        smallest=smallest,
        witnesses=len(fixed_cases),
    )


def _size(disagreement: Disagreement) -> tuple[bool, int]:
    """A sort key for the disagreement to show: the smallest one, and searches last, since they cannot be replayed as a query."""
    return bool(disagreement.query.search), len(disagreement.graph)


def _ask_witnesses(bench: Bench, fixed_cases: Sequence[Witness]) -> Iterator[Disagreement]:
    """The witnesses that ``bench`` answers wrongly; witnesses with the same graph share it."""
    for graph, members in groupby(fixed_cases, key=lambda witness: witness.graph):
        index = GraphIndex(graph)
        with bench.holding(graph) as store:
            for witness in members:
                disagreement = disagreement_on(store, witness.query, witness.arguments, index)
                if disagreement is not None:
                    yield disagreement


def disagreement_on(store: GraphStore, query: Query, arguments: dict[str, Value], index: GraphIndex) -> Disagreement | None:
    """What ``store``, which holds the graph of ``index``, answers wrongly; None for the right answer. Raises StoreUnreachable."""
    expected, actual = expected_rows(query, index, arguments), answer(store, query, arguments)
    if actual == expected:
        return None
    return Disagreement(query=query, arguments=arguments, graph=index.graph, actual=actual, expected=expected)


def answer(store: GraphStore, query: Query, arguments: dict[str, Value]) -> Answer:
    """The rows that ``store`` returns, or its error message. Raises StoreUnreachable."""
    try:
        return found_rows(query, store.run(query, arguments, seconds=SECONDS))
    except StoreUnreachable:
        raise
    except (KgqaError, RuntimeError, ValueError, pa.ArrowException) as error:
        return str(error)
