"""The stages of WikiHop and MedHop after the graph is there: each reads tables, writes tables, and reports what it dropped.

A stage is a function of the tables before it, its part of the settings, and the seed. Raise its ``version`` whenever its output changes for
the same input: workspaces then redo it, and the changelog says so under "Data".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from kgqa.arrays.rows import Adjacency, Rows
from kgqa.errors import EmptyResult, SettingsError
from kgqa.recipes.preparation import depends_on_queries, open_graph, preparation
from kgqa.recipes.qangaroo.balance import balance, draw_alternatives
from kgqa.recipes.qangaroo.baselines import BaselineData, Baselines, Score
from kgqa.recipes.qangaroo.corpus import article_of, expression_numbers, possible_candidates, row_numbers, stated, true_facts
from kgqa.recipes.qangaroo.gates import (
    AnswerNotReached,
    AnswerStatedBesideSubject,
    AnswerStatedInSubjectDocument,
    AnswerTooFrequent,
    DocumentCue,
    Gate,
    NoDocumentFromSubject,
    QuestionGate,
    Rejection,
    SampleGate,
    TooFewCandidates,
    TooManyCandidates,
    TooManyDocuments,
    pass_gates,
)
from kgqa.recipes.qangaroo.instances import InstanceMaker
from kgqa.recipes.qangaroo.questions import ask, first_try
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.recipes.qangaroo.search import add_chains, endpoint_roles, find_samples, without_same_expression
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.traversal.base import Traversal
from kgqa.traversal.graph import Graph
from kgqa.traversal.in_database import InDatabase
from kgqa.traversal.kernel import Kernel
from kgqa.traversal.projection import graph_from_edges

CHOICE = 4
"""Balancing chooses its candidates among so many times as many, drawn by hash."""


def ask_questions(run: Run) -> StageOutput:
    """Facts → questions, each in a split, before anything is filtered."""
    tables = run.tables("entities", "relations", "facts")
    run.progress.start("Asking questions", tables["facts"].num_rows, "facts")
    questions = ask(tables, _settings(run), seed=run.seed)
    run.progress.advance(tables["facts"].num_rows)
    if not (questions.split == 0).any():
        raise EmptyResult("no fact fell into the training split, from which candidates come; raise qangaroo.splits.train, or add facts.")
    row = FunnelRow(stage="ask", what="questions", reason="asked: one per fact and direction", removed=None, left=len(questions))
    counts = questions.by_split()
    return StageOutput(tables={"questions": questions.to_table()}, funnel=[row], report={"questions": counts}, note=_splits_note(counts))


def _splits_note(counts: dict[str, int]) -> str:
    return ", ".join(f"{split} {count:,}" for split, count in counts.items())


def traverse(run: Run) -> StageOutput:
    """Questions and edges → samples within the limits, and what was rejected."""
    settings = _settings(run)
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
    most = _settings(run).traversal.max_documents
    if run.traversal == "kernel":
        yield Kernel(graph, max_documents=most)
        return
    projection = run.domain.settings.projection
    candidates, chains = ([run.domain.queries[name] for name in names[:most]] for names in (projection.candidates, projection.chains))
    with open_graph(run) as store:
        yield InDatabase(store, candidates, chains, entities=tables["entities"], documents=tables["documents"])


def _search(
    run: Run, questions: Questions, traversal: Traversal, roles: Adjacency, tables: dict[str, pa.Table]
) -> tuple[Samples, list[Rejection], int]:
    """Samples within the limits, what was rejected, and how many candidates were dropped because they are written like another."""
    settings = _settings(run)
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


def gate_rows(stage: str, entering: int, rejections: list[Rejection]) -> list[FunnelRow]:
    """A funnel row for each gate, with what is left after it; a gate that is passed twice has one row."""
    removed: dict[type[Gate], int] = {}
    for rejection in rejections:
        removed[rejection.gate] = removed.get(rejection.gate, 0) + len(rejection.questions)
    rows = []
    for gate, count in removed.items():
        entering -= count
        rows.append(FunnelRow(stage=stage, what="questions", reason=gate.reason, removed=count, left=entering, setting=gate.setting))
    return rows


def empty_sentence(funnel: list[FunnelRow]) -> str:
    """What to say when nothing is left: which rule removed most, and what to change."""
    removed = sorted((row for row in funnel if row.removed and row.what == "questions"), key=lambda row: -(row.removed or 0))
    reasons = "; ".join(f"{row.removed:,} because {row.reason}" for row in removed)
    return (
        f"no sample is left: {reasons}. Change {removed[0].setting} first, or add documents and facts." if removed else "no fact was asked."
    )


def rejected_table(rejections: list[Rejection]) -> pa.Table:
    """``id, split, head, relation, answer, gate`` of everything that was rejected."""
    parts = [r.questions.to_table().append_column("gate", pa.repeat(r.gate.__name__, len(r.questions))) for r in rejections]
    return pa.concat_tables(parts)


def filter_samples(run: Run) -> StageOutput:
    """Samples → those that the bias filters keep, with the baselines before and after each filter."""
    settings = _settings(run).bias
    samples = Samples.from_table(run.table("samples"))
    tables = run.tables("entities", "relations", "documents", "links")
    gates: list[SampleGate] = []
    if settings.answer_cap < 1:
        gates.append(AnswerTooFrequent(share=settings.answer_cap, of=settings.answer_cap_of))
    if settings.document_cue:
        gates.append(DocumentCue(limit=settings.document_cue))
    run.progress.start("Filtering and measuring shortcuts", len(gates) + 1, "steps")
    baselines = Baselines(baseline_data(tables))
    rng = np.random.default_rng(run.seed)
    measured = {"before the filters": baselines.scores(samples, rng=rng)}
    run.progress.advance(1)
    entering, rejections, remarks = len(samples), [], list[FunnelRow]()
    for gate in gates:
        for sentence in gate.raised(samples):
            remarks.append(FunnelRow(stage="filter", what="questions", reason=sentence, removed=None, left=None, setting=gate.setting))
        samples, more = pass_gates(samples, [gate])
        rejections += more
        measured[f"after {gate.setting.rsplit('.', 1)[-1]}"] = baselines.scores(samples, rng=rng)
        run.progress.advance(1)
    assert len(samples), "no bias filter takes everything"
    funnel = gate_rows("filter", entering, rejections) + remarks
    rejected = rejected_table(rejections) if rejections else run.table("rejected_traverse").slice(0, 0)
    counts = samples.questions.by_split()
    return StageOutput(
        tables={"kept": samples.to_table(), "rejected_filter": rejected},
        funnel=funnel,
        report={"baselines": {when: [_score(s) for s in scores] for when, scores in measured.items()}, "kept": counts},
        note=_splits_note(counts),
    )


def _score(score: Score) -> dict[str, Any]:
    return {name: getattr(score, name) for name in ("baseline", "split", "samples", "accuracy", "low", "high")}


def baseline_data(tables: dict[str, pa.Table]) -> BaselineData:
    """What the baselines read."""
    links = tables["links"]
    document = row_numbers(links["document"], tables["documents"]["id"])
    entity = row_numbers(links["entity"], tables["entities"]["id"])
    counts = np.bincount(document, minlength=tables["documents"].num_rows)
    return BaselineData(
        links=Rows.from_counts(counts, entity),
        link_counts=links["count"].combine_chunks().to_numpy(),
        texts=tables["documents"]["text"],
        labels=tables["entities"]["label"],
        relation_labels=tables["relations"]["label"],
    )


def instance_maker(run: Run) -> InstanceMaker:
    """Everything that turns samples into Instances."""
    names = ("entities", "names", "relations", "documents", "mentions", "occurrences", "title_occurrences")
    return InstanceMaker(run.tables(*names), run.domain.settings, seed=run.seed)


def _candidates(run: Run, tables: dict[str, pa.Table]) -> pa.Array:
    return possible_candidates(tables, _settings(run))


def _settings(run: Run) -> QangarooSettings:
    return run.domain.settings.section(QangarooSettings)


def _only(*names: str) -> Callable[[Run], object]:
    return lambda run: _settings(run).model_dump(mode="json", include=set(names))


def _all_but(*names: str) -> Callable[[Run], object]:
    def part(run: Run) -> object:
        return {"qangaroo": _settings(run).model_dump(mode="json", exclude=set(names)), "seed": run.seed, "limit": run.limit}

    return part


def _traversed(run: Run) -> object:
    """The recipe, and what searches: both ways find the same, but whoever asks for the other one wants to see it done."""
    recipe = _all_but("bias", "question", "placeholders")(run)
    return recipe if run.traversal == "kernel" else [recipe, depends_on_queries("candidates", "chains")(run)]


STAGES = (
    *preparation(candidates=_candidates, depends_on=_only("relations", "both_directions", "endpoint_kind")),
    Stage(
        name="ask_questions",
        version=1,
        doing="Asking questions",
        depends_on=lambda run: [_only("relations", "both_directions", "splits")(run), run.seed],
        run=ask_questions,
    ),
    Stage(name="traverse", version=1, doing="Traversing", depends_on=_traversed, run=traverse),
    Stage(name="filter_samples", version=2, doing="Filtering", depends_on=_all_but("question", "placeholders"), run=filter_samples),
)
"""In order; what they leave is turned into a dataset by :mod:`kgqa.recipes.qangaroo.dataset`."""


def asked_queries(domain: Domain, traversal: str) -> list[str]:
    """The domain's queries that a run asks: those of the projection and, where the store searches, those of the traversal.

    Raises SettingsError where these are too few for the chains that are asked for.
    """
    settings, most = domain.settings.projection, domain.settings.section(QangarooSettings).traversal.max_documents
    needed = [*settings.document_to_entity, *settings.entity_to_document]
    if traversal == "kernel":
        return needed
    there = min(len(settings.candidates), len(settings.chains))
    if there < most:
        raise SettingsError(
            f"domain {domain.settings.name}: projection.candidates and projection.chains name queries for {there} documents, "
            f"qangaroo.traversal.max_documents is {most}; add queries, lower it, or traverse with the kernel."
        )
    return [*needed, *settings.candidates, *settings.chains]
