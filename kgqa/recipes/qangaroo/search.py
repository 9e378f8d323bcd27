"""Searches the candidates and chains of questions in batches, by the kernel or by Cypher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.parallel import Engine, Threads
from kgqa.arrays.rows import Adjacency, IntArray, Rows, paired, spread
from kgqa.recipes.qangaroo.corpus import Facts
from kgqa.recipes.qangaroo.samples import CHAINS, Questions, Samples
from kgqa.settings.qangaroo import QangarooSettings, TraversalSettings
from kgqa.traversal.base import Chains, EndPoints, Reached, Searches, Traversal

R = TypeVar("R")


def endpoint_roles(questions: Questions, entities: pa.Table, settings: QangarooSettings, relations: int) -> Adjacency:
    """Entity → the relations for which it is an end point: by the objects of training facts, or all if it has the kind in the settings."""
    if settings.endpoint_kind:
        of_kind = np.flatnonzero(np.asarray(pc.equal(entities["kind"], settings.endpoint_kind)))
        return Adjacency.from_pairs(np.repeat(of_kind, relations), np.tile(np.arange(relations), len(of_kind)), entities.num_rows)
    train = questions.split == 0
    return Adjacency.from_pairs(questions.answer[train], questions.relation[train], entities.num_rows)


def find_samples(
    questions: Questions,
    traversal: Traversal,
    facts: Facts,
    roles: Adjacency,
    settings: QangarooSettings,
    *,
    engine: Engine | None = None,
    advance: Callable[[int], None] | None = None,
) -> Samples:
    """A sample for every question; it has no candidates if the answer is not reached.

    With ``traversal.chains = "tree"`` each candidate has one chain; otherwise chains are empty until :func:`add_chains`. The result does
    not depend on ``engine`` (by default threads).
    """
    ends = EndPoints(roles=roles, fact_offsets=facts.offsets(len(roles.offsets) - 1), fact_relations=facts.relation, fact_tails=facts.tail)
    searches = Searches(heads=questions.head, relations=questions.relation, answers=questions.answer)
    tree = settings.traversal.chains == "tree"
    parts = _in_batches(_reach, (traversal, searches, ends, tree), questions.head, engine, advance)
    columns = {field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Reached)}
    return Samples(
        questions=questions,
        candidates=Rows.from_counts(columns["counts"], columns["candidates"]),
        chains=Rows.numbering(np.full(len(columns["candidates"]), int(tree)), *CHAINS),
        nodes=Rows.from_counts(columns["lengths"], columns["nodes"]),
        documents=Rows.from_counts(columns["document_counts"], columns["documents"]),
    )


def add_chains(
    samples: Samples,
    traversal: Traversal,
    settings: TraversalSettings,
    *,
    engine: Engine | None = None,
    advance: Callable[[int], None] | None = None,
) -> Samples:
    """The same samples with all shortest or all simple chains to every candidate, at most ``max_chains`` each."""
    arguments = (traversal, samples.questions.head, samples.candidates, settings.chains == "all_simple", settings.max_chains)
    parts = _in_batches(_chains, arguments, samples.questions.head, engine, advance)
    counts, lengths, nodes = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Chains))
    chains = Rows.numbering(counts, *CHAINS)
    with_chains = Samples(
        questions=samples.questions,
        candidates=samples.candidates,
        chains=chains,
        nodes=Rows.from_counts(lengths, nodes),
        documents=samples.documents,
    )
    return with_chains.with_documents()


def without_same_expression(samples: Samples, expressions: IntArray, facts: Facts) -> Samples:
    """Drop candidates that are written like another candidate, like another true object, or like the subject.

    ``expressions`` numbers the texts of all entities. Among candidates with the same text the answer is kept, or the first one if the
    answer has another text. Otherwise a candidate that is counted as wrong could be written like a true one.
    """
    question = samples.question_of_candidate()
    expression = expressions[samples.candidates.targets]
    # The answer sorts first among candidates with its text, so that it is the one that stays.
    order = np.lexsort((samples.candidates.targets, ~samples.is_answer(), expression, question))
    again = np.zeros(len(order), np.bool_)
    again[1:] = (question[order][1:] == question[order][:-1]) & (expression[order][1:] == expression[order][:-1])
    drop_mask = np.zeros(len(order), np.bool_)
    drop_mask[order] = again
    expressions_taken = _taken_expressions(samples, expressions, facts)
    return samples.without_candidates(drop_mask | (expressions_taken.contains(question, expression) & ~samples.is_answer()))


def _taken_expressions(samples: Samples, expressions: IntArray, facts: Facts) -> Adjacency:
    """Sample → the expressions of its subject and of all true objects."""
    questions = samples.questions
    pairs = paired(facts.head, facts.relation)
    keys = paired(questions.head, questions.relation)
    first, last = np.searchsorted(pairs, keys), np.searchsorted(pairs, keys, side="right")
    sample = np.repeat(np.arange(len(samples)), last - first)
    fact_expressions = expressions[facts.tail[spread(first, last - first)]]
    rows = np.arange(len(samples))
    return Adjacency.from_pairs(
        np.concatenate([sample, rows]), np.concatenate([fact_expressions, expressions[questions.head]]), len(samples)
    )


def _reach(bounds: tuple[int, int], traversal: Traversal, searches: Searches, ends: EndPoints, tree: bool) -> Reached:
    return traversal.reach(searches.part(*bounds), ends, with_chains=tree)


def _chains(bounds: tuple[int, int], traversal: Traversal, heads: IntArray, candidates: Rows, longer: bool, limit: int) -> Chains:
    first, last = bounds
    offsets = candidates.offsets[first : last + 1]
    targets = candidates.targets[offsets[0] : offsets[-1]]
    return traversal.chains(heads[first:last], offsets - offsets[0], targets, longer=longer, limit=limit)


def _in_batches(
    function: Callable[..., R],
    shared: tuple[Any, ...],
    heads: IntArray,
    engine: Engine | None,
    advance: Callable[[int], None] | None,
) -> list[R]:
    """The results, in order, of ``function`` on ranges of queries that do not divide the queries of a head, so none is searched twice.

    The first of the ``shared`` values is the traversal. One that is not concurrent searches in a store, which only this process has open.
    """
    traversal: Traversal = shared[0]
    batches = list(_batches(heads, traversal.batch))
    parts = []
    engine = engine or Threads() if traversal.concurrent else Threads(1)
    for (first, last), part in zip(batches, engine.map(function, batches, shared), strict=True):
        parts.append(part)
        if advance:
            advance(last - first)
    return parts


def _batches(heads: IntArray, size: int) -> Iterator[tuple[int, int]]:
    """Ranges of at least ``size`` queries that do not divide the queries of a head.

    >>> list(_batches(np.array([0, 0, 1, 1, 1, 2]), 3))
    [(0, 5), (5, 6)]
    """
    first = 0
    # There is at least one batch, even without queries, so that results can be concatenated.
    while first < len(heads) or first == 0:
        last = min(first + size, len(heads))
        if last < len(heads):
            last = int(np.searchsorted(heads, heads[last - 1], side="right"))
        yield first, last
        if last == len(heads):
            return
        first = last
