"""Questions → samples: candidates and chains by the compiled search, in batches, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.recipes.qangaroo.corpus import Facts
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.settings import QangarooSettings
from kgqa.traversal.graph import Graph, IntArray, Rows, spread
from kgqa.traversal.kernel import find_candidates, find_chains

BATCH = 4096
"""Queries; a batch ends where a head ends, so that no head is searched twice."""
R = TypeVar("R")


def endpoint_roles(questions: Questions, entities: pa.Table, settings: QangarooSettings, relations: int) -> Rows:
    """Entity → relations whose end point it is: the objects of training facts, or every entity of the kind that the settings name."""
    if settings.endpoint_kind:
        of_kind = np.flatnonzero(np.asarray(pc.equal(entities["kind"], settings.endpoint_kind)))
        return Rows.from_pairs(np.repeat(of_kind, relations), np.tile(np.arange(relations), len(of_kind)), entities.num_rows)
    train = questions.split == 0
    return Rows.from_pairs(questions.answer[train], questions.relation[train], entities.num_rows)


def find_samples(
    questions: Questions,
    graph: Graph,
    facts: Facts,
    roles: Rows,
    settings: QangarooSettings,
    *,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> Samples:
    """A sample for every question; one whose answer is not reached has no candidates.

    With ``traversal.chains = "tree"`` each candidate has its chain; otherwise chains are left empty for :func:`add_chains`. The result does
    not depend on ``workers``. Memory: the result plus 28 bytes per entity and document for each worker.
    """
    fact_offsets = facts.offsets(graph.entities)
    tree = settings.traversal.chains == "tree"

    def run(bounds: tuple[int, int]) -> tuple[npt.NDArray[np.generic], ...]:
        first, last = bounds
        return find_candidates(  # type: ignore[no-any-return]
            *_arrays(graph), settings.traversal.max_documents,
            questions.head[first:last], questions.relation[first:last], questions.answer[first:last],
            roles.offsets, roles.targets, fact_offsets, facts.relation, facts.tail, tree,
        )  # fmt: skip

    parts = _in_batches(run, questions.head, workers, advance)
    counts, targets, lengths, nodes, document_counts, documents = (np.concatenate([part[i] for part in parts]) for i in range(1, 7))
    return Samples(
        questions=questions,
        candidates=Rows.from_counts(counts, targets),
        chains=Rows.from_counts(np.full(len(targets), int(tree)), np.arange(len(lengths), dtype=np.int32)),
        nodes=Rows.from_counts(lengths, nodes),
        documents=Rows.from_counts(document_counts, documents),
    )


def add_chains(
    samples: Samples, graph: Graph, settings: QangarooSettings, *, workers: int = 1, advance: Callable[[int], None] | None = None
) -> Samples:
    """The same samples with all shortest or all simple chains to every candidate, up to ``traversal.max_chains`` each."""
    naming, leading = graph.entities_of.reversed(graph.entities), graph.documents_of.reversed(graph.documents)
    longer = settings.traversal.chains == "all_simple"

    def run(bounds: tuple[int, int]) -> tuple[IntArray, IntArray, IntArray]:
        first, last = bounds
        offsets = samples.candidates.offsets[first : last + 1]
        return find_chains(  # type: ignore[no-any-return]
            *_arrays(graph), naming.offsets, naming.targets, leading.offsets, leading.targets, settings.traversal.max_documents,
            samples.questions.head[first:last], offsets - offsets[0], samples.candidates.targets[offsets[0] : offsets[-1]],
            longer, settings.traversal.max_chains,
        )  # fmt: skip

    parts = _in_batches(run, samples.questions.head, workers, advance)
    counts, lengths, nodes = (np.concatenate([part[i] for part in parts]) for i in (0, 1, 2))
    chains = Rows.from_counts(counts, np.arange(len(lengths), dtype=np.int32))
    found = Samples(
        questions=samples.questions,
        candidates=samples.candidates,
        chains=chains,
        nodes=Rows.from_counts(lengths, nodes),
        documents=samples.documents,
    )
    return found.with_documents()


def without_same_expression(samples: Samples, expressions: IntArray, facts: Facts) -> Samples:
    """Drop candidates that read like another, like another true object or like the subject; ``expressions`` numbers all entities' texts.

    Of candidates that read alike the answer stays, else the first. A sample has one true answer only if no other candidate is written like
    a true one.
    """
    question = samples.question_of_candidate()
    expression = expressions[samples.candidates.targets]
    order = np.lexsort((samples.candidates.targets, ~samples.is_answer(), expression, question))
    again = np.zeros(len(order), np.bool_)
    again[1:] = (question[order][1:] == question[order][:-1]) & (expression[order][1:] == expression[order][:-1])
    dropped = np.zeros(len(order), np.bool_)
    dropped[order] = again
    taken = _taken_expressions(samples, expressions, facts)
    return samples.without_candidates(dropped | (taken.contains(question, expression) & ~samples.is_answer()))


def _taken_expressions(samples: Samples, expressions: IntArray, facts: Facts) -> Rows:
    """For each sample the expressions of its subject and of all true objects."""
    questions = samples.questions
    pairs = (facts.head.astype(np.int64) << 32) | facts.relation
    asked = (questions.head.astype(np.int64) << 32) | questions.relation
    first, last = np.searchsorted(pairs, asked), np.searchsorted(pairs, asked, side="right")
    sample = np.repeat(np.arange(len(samples)), last - first)
    taken = expressions[facts.tail[spread(first, last - first)]]
    every = np.arange(len(samples))
    return Rows.from_pairs(np.concatenate([sample, every]), np.concatenate([taken, expressions[questions.head]]), len(samples))


def _arrays(graph: Graph) -> tuple[npt.NDArray[np.int64], IntArray, npt.NDArray[np.int64], IntArray]:
    documents, entities = graph.documents_of, graph.entities_of
    return documents.offsets, documents.targets, entities.offsets, entities.targets


def _in_batches(run: Callable[[tuple[int, int]], R], heads: IntArray, workers: int, advance: Callable[[int], None] | None) -> list[R]:
    """``run`` on ranges of queries that end where a head ends; results in order."""
    batches = list(_batches(heads))
    parts = []
    with ThreadPoolExecutor(workers) as pool:
        for (first, last), part in zip(batches, pool.map(run, batches), strict=True):
            parts.append(part)
            if advance:
                advance(last - first)
    return parts


def _batches(heads: IntArray) -> Iterator[tuple[int, int]]:
    first = 0
    # One batch at least, so that there is always something to concatenate.
    while first < len(heads) or first == 0:
        last = min(first + BATCH, len(heads))
        if last < len(heads):
            last = int(np.searchsorted(heads, heads[last - 1], side="right"))
        yield first, last
        if last == len(heads):
            return
        first = last
