"""How fast candidates and chains are found, beside the bare kernel and beside the same traversal in other ways.

``python -m benchmarks.traversal``; with ``--scale`` the size of Wikipedia is simulated instead (7M documents, 70M links, 1M questions).
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from benchmarks.measure import Section, Table, in_turn, ratios, spread
from benchmarks.synthetic import World, make_world
from benchmarks.traversers import (
    Candidates,
    CypherTraverser,
    DuckdbTraverser,
    PolarsTraverser,
    PythonTraverser,
    Traverser,
    in_database,
    world_rows,
)
from kgqa.arrays.parallel import Threads
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.recipes.qangaroo.search import find_samples
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.store.base import GraphStore
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.neo4j import import_files as neo4j_import
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import imported_marker, load
from kgqa.traversal.base import Traversal
from kgqa.traversal.kernel import Kernel, breadth_first
from tests.neo4j.server import Neo4jServer, missing

TITLE = "Traversal: questions to samples"
ROUNDS = 5
SETTINGS = QangarooSettings()
"""At most three documents on a chain, the breadth-first tree's chains: as the paper has it."""


COLUMNS = ("", "questions", "ms per question", "questions/s", "time ÷ kgqa's, one worker")
Runs = list[tuple[str, int, Callable[[], object]]]
"""What it is called, how many questions it gets, and the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large the world is, and how many of its questions the slower ones get."""

    documents: int = 1_000_000
    links: int = 8_100_000
    questions: int = 20_000
    python: int = 2_000
    cypher: int = 20


def main(*, rounds: int = ROUNDS, size: Size | None = None) -> Section:
    """Measure on the synthetic graph."""
    size = size or Size()
    world = make_world(documents=size.documents, links=size.links, questions=size.questions)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        tables = [measured(world, size, rounds=rounds), in_stores(world, size, Path(folder), stack, rounds=min(rounds, 2))]
    return Section(title=TITLE, tables=tables)


def measured(world: World, size: Size, *, rounds: int) -> Table:
    """Check that all find the same candidates, then time them in turn."""
    asked = len(world.questions)
    share = first(world.questions, size.python)
    python, polars, duck = PythonTraverser(world), PolarsTraverser(world), DuckdbTraverser(world)
    samples = samples_of(world, workers=1)
    bare(world)  # compiles
    check(samples, world.questions, {"polars": polars, "DuckDB": duck})
    check(samples, share, {"Python": python})
    runs: Runs = [
        ("kgqa: candidates, chains, documents; one worker", asked, lambda: samples_of(world, workers=1)),
        ("kgqa, the same; two workers", asked, lambda: samples_of(world, workers=2)),
        ("the bare kernel: breadth-first search alone, one core", asked, lambda: bare(world)),
        ("plain Python, one core; candidates only", len(share), lambda: python.candidates(share)),
        ("polars, a batch of all questions, all cores; candidates only", asked, lambda: polars.candidates(world.questions)),
        ("DuckDB, a batch of all questions, all cores; candidates only", asked, lambda: duck.candidates(world.questions)),
    ]
    each = per_question(runs, rounds=rounds)
    ours = each[runs[0][0]]
    candidates, documents = samples.candidates.counts(), samples.documents.counts()
    return Table(
        title="Per question",
        columns=COLUMNS,
        rows=rows_of(runs, each),
        notes=[
            f"{world.graph.documents:,} documents and as many entities, {size.links:,} links; {asked:,} questions. "
            "All of them reach their answer, so questions/s are samples/s; "
            f"median {np.median(candidates):.0f} candidates and {np.median(documents):.0f} documents a sample. "
            f"{rounds} rounds in turn; median and range.",
            f"kgqa end to end ÷ the bare kernel: {spread(ratios(ours, each[runs[2][0]]))}.",
            "All found the same candidates for the questions that they were given (checked before timing). "
            "Polars and DuckDB may use every core.",
        ],
    )


def in_stores(world: World, size: Size, folder: Path, stack: ExitStack, *, rounds: int) -> Table:
    """The same questions to Cypher in both stores, one call after the other."""
    few = replace(world, questions=first(world.questions, size.cypher))
    whole = samples_of(few, workers=1)
    runs: Runs = [("kgqa: candidates, chains, documents; one worker", len(world.questions), lambda: samples_of(world, workers=1))]
    rows = world_rows(world)
    for name, store in stores(rows, folder, stack).items():
        cypher, search = CypherTraverser(world, store), in_database(world, store)
        check(whole, few.questions, {name: cypher})
        runs.append((f"one query a question, {name}; candidates only", len(few.questions), partial(cypher.candidates, few.questions)))
        if name == "embedded":
            continue  # of a graph of this size its buffer of half a GiB does not hold the joins of whole chains
        found = samples_of(few, workers=1, traversal=search)
        assert np.array_equal(found.nodes.targets, whole.nodes.targets), f"{name} finds other chains"
        whole_search = partial(samples_of, few, workers=1, traversal=search)
        runs.append((f"--traversal cypher, {name}; candidates, chains, documents", len(few.questions), whole_search))
    each = per_question(runs, rounds=rounds)
    reason = missing()
    return Table(
        title="The kernel and Cypher",
        columns=COLUMNS,
        rows=rows_of(runs, each),
        notes=[
            f"The same graph in both stores, {sum(table.num_rows for table in rows.values()):,} rows. They may use every core. "
            "Both found the same candidates and chains as the kernel (checked before timing).",
            *([f"Without Neo4j: {reason}."] if reason else []),
        ],
    )


def stores(rows: dict[str, pa.Table], folder: Path, stack: ExitStack) -> dict[str, GraphStore]:
    """The embedded store, and a Neo4j server of our own where there is one, with the ``rows`` in them."""
    build(folder / "graph", rows)
    found: dict[str, GraphStore] = {"embedded": stack.enter_context(EmbeddedStore(folder / "graph"))}
    if not missing():
        server = Neo4jServer(folder / "home", settings={"server.memory.heap.max_size": "2g", "server.memory.pagecache.size": "2g"})
        neo4j_import.write(folder / "files", rows, markers=[imported_marker("world", rows)])
        server.admin(*neo4j_import.import_arguments(folder / "files"), folder=folder / "files")
        server.start()
        stack.callback(server.stop)
        neo4j = stack.enter_context(Neo4jStore(Neo4jSettings(uri=server.uri, password=server.password)))
        load(neo4j, "world", {})  # the constraints, by which ids are looked up
        found["Neo4j"] = neo4j
    return found


def per_question(runs: Runs, *, rounds: int) -> dict[str, list[float]]:
    """Milliseconds a question of each run, in turn."""
    seconds = in_turn({name: run for name, _, run in runs}, rounds=rounds)
    return {name: [1e3 * s / count for s in seconds[name]] for name, count, _ in runs}


def rows_of(runs: Runs, each: dict[str, list[float]]) -> list[tuple[str, ...]]:
    """The cells of a table, compared with the first run."""
    ours = each[runs[0][0]]
    return [
        (name, f"{count:,}", spread(each[name], 4), spread([1e3 / s for s in each[name]], 0), spread(ratios(each[name], ours)))
        for name, count, _ in runs
    ]


def first(questions: Questions, number: int) -> Questions:
    """An even choice of ``number`` questions."""
    return questions.select(np.unique(np.linspace(0, len(questions) - 1, number).astype(np.int64)))


def samples_of(world: World, *, workers: int, traversal: Traversal | None = None) -> Samples:
    """What ``kgqa generate`` does between the projection and the gates; with the kernel unless told otherwise."""
    traversal = traversal or Kernel(world.graph, max_documents=SETTINGS.traversal.max_documents)
    return find_samples(world.questions, traversal, world.facts, world.roles(), SETTINGS, engine=Threads(workers))


def check(samples: Samples, questions: Questions, others: dict[str, Traverser]) -> None:
    """All must find what kgqa finds."""
    rows = np.searchsorted(samples.questions.id, questions.id)
    targets, offsets = samples.candidates.targets, samples.candidates.offsets
    expected: Candidates = [targets[offsets[row] : offsets[row + 1]].tolist() for row in rows.tolist()]
    for name, other in others.items():
        found = other.candidates(questions)
        different = sum(a != b for a, b in zip(found, expected, strict=True))
        assert not different, f"{name} finds other candidates for {different:,} of {len(expected):,} questions"


def bare(world: World) -> int:
    """Breadth-first search from the head of each question, and nothing else; how many entities were visited."""
    documents, entities = world.graph.documents_of, world.graph.entities_of
    arrays = documents.offsets, documents.targets, entities.offsets, entities.targets
    return int(_search_all(*arrays, world.questions.head, SETTINGS.traversal.max_documents))


@njit(nogil=True)
def _search_all(  # type: ignore[no-untyped-def]
    document_offsets, document_targets, entity_offsets, entity_targets, heads, max_documents
):
    entities, documents = len(document_offsets) - 1, len(entity_offsets) - 1
    order, entity_depth, entity_parent = np.empty(entities, np.int32), np.empty(entities, np.int32), np.empty(entities, np.int32)
    document_depth, document_parent = np.empty(documents, np.int32), np.empty(documents, np.int32)
    entity_stamp, document_stamp = np.full(entities, -1, np.int32), np.full(documents, -1, np.int32)
    closed = np.zeros(entities, np.bool_)
    visited = 0
    for query in range(len(heads)):
        visited += breadth_first(
            document_offsets, document_targets, entity_offsets, entity_targets, closed, heads[query], max_documents,
            order, entity_depth, entity_parent, document_depth, document_parent, entity_stamp, document_stamp, query,
        )  # fmt: skip
    return visited


def scale() -> Section:
    """Wikipedia's size, simulated, two workers, once: seconds and the peak of memory of the whole process."""
    size = Size(documents=7_000_000, links=70_000_000, questions=1_000_000)
    samples_of(make_world(documents=1_000, links=8_000, questions=100), workers=1)  # compiles
    begin = time.perf_counter()
    world = make_world(documents=size.documents, links=size.links, questions=size.questions)
    made = time.perf_counter()
    peak_before = peak()
    samples = samples_of(world, workers=2)
    done = time.perf_counter()
    rows = [
        ("making the graph and the questions", f"{made - begin:,.1f}", f"{peak_before:.1f}"),
        ("finding and assembling the samples, two workers", f"{done - made:,.1f}", f"{peak():.1f}"),
    ]
    note = (
        f"{size.documents:,} documents and as many entities, {size.links:,} links, {len(samples):,} questions, "
        f"{len(samples.candidates.targets):,} candidates with a chain each; {1e3 * (done - made) / len(samples):.3f} ms a question."
    )
    table = Table(title="Wikipedia's size, simulated", columns=("", "seconds", "peak GiB so far"), rows=rows, notes=[note])
    return Section(title=TITLE, tables=[table])


def peak() -> float:
    """The largest resident memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def command_line(arguments: Any = None) -> Section:
    """What ``python -m benchmarks.traversal`` does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", action="store_true", help="simulate the size of Wikipedia: 12 GiB, minutes")
    return scale() if parser.parse_args(arguments).scale else main()


if __name__ == "__main__":
    print(command_line().plain())
