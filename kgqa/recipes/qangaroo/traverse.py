"""The stage that searches: questions and edges → samples within the limits, and what was rejected on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from kgqa.arrays.rows import Adjacency
from kgqa.errors import EmptyResult
from kgqa.recipes.preparation import open_graph
from kgqa.recipes.qangaroo.balance import balance, draw_alternatives
from kgqa.recipes.qangaroo.corpus import article_of, expression_numbers, stated, true_facts
from kgqa.recipes.qangaroo.gates import (
    AnswerNotReached,
    AnswerStatedBesideSubject,
    AnswerStatedInSubjectDocument,
    NoDocumentFromSubject,
    QuestionGate,
    SampleGate,
    TooFewCandidates,
    TooManyCandidates,
    TooManyDocuments,
)
from kgqa.recipes.qangaroo.questions import first_try
from kgqa.recipes.qangaroo.rejected import RejectedQuestions, empty_sentence, gate_rows, pass_gates, rejected_table
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.recipes.qangaroo.search import add_chains, endpoint_roles, find_samples, without_same_expression
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.traversal.base import Traversal
from kgqa.traversal.graph import Graph
from kgqa.traversal.in_database import InDatabase
from kgqa.traversal.kernel import Kernel
from kgqa.traversal.projection import graph_from_edges

CHOICE = 4
"""Balancing chooses its candidates among so many times as many, drawn by hash."""


def traverse(run: Run) -> StageOutput:
    """Questions and edges → samples within the limits, and what was rejected."""
    settings = run.domain.settings.section(QangarooSettings)
    tables = run.tables("entities", "relations", "facts", "documents", "occurrences", "edges")
    questions = Questions.from_table(run.table("questions"))
    roles = endpoint_roles(questions, tables["entities"], settings, tables["relations"].num_rows)
    funnel = []
    if run.limit is not None and run.limit < len(questions):
        left = len(questions) - run.limit
        funnel.append(
            FunnelRow(
                stage="traverse", what="questions", reason="not asked in this first try", removed=left, left=run.limit, setting="--limit"
            )
        )
        questions = questions.select(first_try(questions, run.limit, seed=run.seed))
    asked = len(questions)
    graph = graph_from_edges(tables["edges"], tables["entities"], tables["documents"])
    questions, rejections = pass_gates(questions, _question_gates(tables, graph, settings))
    run.progress.start("Traversing", len(questions), "questions")
    with _traversal(run, graph, tables) as traversal:
        samples, more, same = _search(run, questions, traversal, roles, tables)
    rejections += more
    funnel += gate_rows("traverse", asked, rejections)
    reason = "candidates written like another, another true object or the subject"
    funnel.append(FunnelRow(stage="traverse", what="candidates", reason=reason, removed=same, left=None))
    if not len(samples):
        raise EmptyResult(empty_sentence(funnel))
    return StageOutput(
        tables={"samples": samples.to_table(), "rejected_traverse": rejected_table(rejections)},
        funnel=funnel,
        report={"samples": samples.questions.by_split()},
        note=f"{len(samples):,} samples of {asked:,} questions",
    )


def _question_gates(tables: dict[str, pa.Table], graph: Graph, settings: QangarooSettings) -> list[QuestionGate]:
    """The rules that need no traversal."""
    occurrences = stated(tables["occurrences"], tables)
    if settings.answer_stated == "subject_document":
        return [NoDocumentFromSubject(graph=graph), AnswerStatedInSubjectDocument(articles=article_of(tables), stated=occurrences)]
    return [NoDocumentFromSubject(graph=graph), AnswerStatedBesideSubject(stating=occurrences.reversed(tables["entities"].num_rows))]


@contextmanager
def _traversal(run: Run, graph: Graph, tables: dict[str, pa.Table]) -> Iterator[Traversal]:
    """What searches: the kernel on the graph in memory, or the domain's queries in the store."""
    most = run.domain.settings.section(QangarooSettings).traversal.max_documents
    if run.traversal == "kernel":
        yield Kernel(graph, max_documents=most)
        return
    projection = run.domain.settings.projection
    candidates, chains = ([run.domain.queries[name] for name in names[:most]] for names in (projection.candidates, projection.chains))
    with open_graph(run) as store:
        yield InDatabase(store, candidates, chains, entities=tables["entities"], documents=tables["documents"])


def _search(
    run: Run, questions: Questions, traversal: Traversal, roles: Adjacency, tables: dict[str, pa.Table]
) -> tuple[Samples, list[RejectedQuestions], int]:
    """Samples within the limits, what was rejected, and how many candidates were dropped because they are written like another."""
    settings = run.domain.settings.section(QangarooSettings)
    facts = true_facts(tables, settings)
    samples = find_samples(questions, traversal, facts, roles, settings, workers=run.workers, advance=run.progress.advance)
    samples, rejections = pass_gates(samples, [AnswerNotReached()])
    before = len(samples.candidates.targets)
    samples = without_same_expression(samples, expression_numbers(tables["entities"], settings.surface), facts)
    same = before - len(samples.candidates.targets)
    too_few, limits = TooFewCandidates(minimum=settings.min_candidates), list[SampleGate]()
    samples, more = pass_gates(samples, [too_few])
    rejections += more
    if settings.balance.candidates and len(samples):
        samples = draw_alternatives(samples, candidates=CHOICE * settings.balance.candidates, seed=run.seed)
        samples = add_chains(samples, traversal, settings, workers=run.workers)
        samples = balance(samples, candidates=settings.balance.candidates, max_documents=settings.max_documents, seed=run.seed)
        limits.append(too_few)
    samples, more = pass_gates(samples, [*limits, TooManyCandidates(maximum=settings.max_candidates)])
    rejections += more
    if not settings.balance.candidates and settings.traversal.chains != "tree":
        samples = add_chains(samples, traversal, settings, workers=run.workers)
    samples, more = pass_gates(samples, [TooManyDocuments(maximum=settings.max_documents)])
    return samples, rejections + more, same
