"""How fast candidates and chains are found, beside the bare kernel and beside the same traversal in other ways.

``python -m benchmarks.traversal``; with ``--scale`` the size of Wikipedia is simulated instead (7M documents, 70M links, 1M questions).
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from benchmarks.measure import Section, Table, in_turn, ratios, spread
from benchmarks.synthetic import World, make_world
from benchmarks.traversers import Candidates, CypherTraverser, DuckdbTraverser, PolarsTraverser, PythonTraverser, Traverser
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.recipes.qangaroo.search import find_samples
from kgqa.settings import QangarooSettings
from kgqa.traversal.kernel import breadth_first

TITLE = "Traversal: questions to samples"
ROUNDS = 5
SETTINGS = QangarooSettings()
"""At most three documents on a chain, the breadth-first tree's chains: as the paper has it."""


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
    with tempfile.TemporaryDirectory() as folder:
        return Section(title=TITLE, tables=[measured(world, size, Path(folder), rounds=rounds)])


def measured(world: World, size: Size, folder: Path, *, rounds: int) -> Table:
    """Check that all find the same candidates, then time them in turn."""
    asked = len(world.questions)
    shares = {"python": first(world.questions, size.python), "cypher": first(world.questions, size.cypher)}
    python, polars, duck, cypher = PythonTraverser(world), PolarsTraverser(world), DuckdbTraverser(world), CypherTraverser(world, folder)
    samples = samples_of(world, workers=1)
    bare(world)  # compiles
    check(samples, world.questions, {"polars": polars, "DuckDB": duck})
    check(samples, shares["python"], {"Python": python})
    check(samples, shares["cypher"], {"Cypher": cypher})
    runs = [
        ("kgqa: candidates, chains, documents; one worker", asked, lambda: samples_of(world, workers=1)),
        ("kgqa, the same; two workers", asked, lambda: samples_of(world, workers=2)),
        ("the bare kernel: breadth-first search alone, one core", asked, lambda: bare(world)),
        ("plain Python, one core; candidates only", len(shares["python"]), lambda: python.candidates(shares["python"])),
        ("polars, a batch of all questions, all cores; candidates only", asked, lambda: polars.candidates(world.questions)),
        ("DuckDB, a batch of all questions, all cores; candidates only", asked, lambda: duck.candidates(world.questions)),
        ("Cypher on the embedded store, one call a question, all cores; candidates only", len(shares["cypher"]),
         lambda: cypher.candidates(shares["cypher"])),
    ]  # fmt: skip
    seconds = in_turn({name: run for name, _, run in runs}, rounds=rounds)
    cypher.close()
    each = {name: [1e3 * s / count for s in seconds[name]] for name, count, _ in runs}
    ours = each[runs[0][0]]
    rows = [
        (name, f"{count:,}", spread(each[name], 4), spread([1e3 / s for s in each[name]], 0), spread(ratios(each[name], ours)))
        for name, count, _ in runs
    ]
    candidates, documents = samples.candidates.counts(), samples.documents.counts()
    return Table(
        title="Per question",
        columns=("", "questions", "ms per question", "questions/s", "time ÷ kgqa's, one worker"),
        rows=rows,
        notes=[
            f"{world.graph.documents:,} documents and as many entities, {size.links:,} links; {asked:,} questions. "
            "All of them reach their answer, so questions/s are samples/s; "
            f"median {np.median(candidates):.0f} candidates and {np.median(documents):.0f} documents a sample. "
            f"{rounds} rounds in turn; median and range.",
            f"kgqa end to end ÷ the bare kernel: {spread(ratios(ours, each[runs[2][0]]))}.",
            "All found the same candidates for the questions that they were given (checked before timing). "
            "Polars, DuckDB and the store may use every core.",
        ],
    )


def first(questions: Questions, number: int) -> Questions:
    """An even choice of ``number`` questions."""
    return questions.select(np.unique(np.linspace(0, len(questions) - 1, number).astype(np.int64)))


def samples_of(world: World, *, workers: int) -> Samples:
    """What ``kgqa generate`` does between the projection and the gates."""
    return find_samples(world.questions, world.graph, world.facts, world.roles(), SETTINGS, workers=workers)


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
    visited = 0
    for query in range(len(heads)):
        visited += breadth_first(
            document_offsets, document_targets, entity_offsets, entity_targets, heads[query], max_documents,
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
