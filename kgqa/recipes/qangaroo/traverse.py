"""The stage that searches: questions and edges → samples within the limits, and what was rejected on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.rows import Adjacency, IntArray
from kgqa.errors import EmptyResult
from kgqa.recipes.preparation import open_graph
from kgqa.recipes.qangaroo.balance import balance, draw_alternatives
from kgqa.recipes.qangaroo.corpus import article_of, expression_numbers, places, stated, true_facts
from kgqa.recipes.qangaroo.distractors import Distractors, Ranks, Types
from kgqa.recipes.qangaroo.gates import (
    AnswerNotReached,
    AnswerStatedBesideSubject,
    AnswerStatedInSubjectDocument,
    NoDocumentFromSubject,
    QuestionGate,
    RelationSeldomImplied,
    SampleGate,
    TooFewCandidates,
    TooManyCandidates,
    TooManyDocuments,
)
from kgqa.recipes.qangaroo.mining import MINED, Mined, fact_graph, read_mined, training_facts
from kgqa.recipes.qangaroo.pair_queries import PairFinder, pair_tables, require_samples
from kgqa.recipes.qangaroo.path_queries import (
    PathFinder,
    PathQueries,
    no_facts,
    with_stated_chains,
    with_stated_grades,
)
from kgqa.recipes.qangaroo.questions import first_try
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.rejected import RejectedQuestions, empty_sentence, gate_rows, pass_gates, rejected_table
from kgqa.recipes.qangaroo.relations import RelationMeasures, relation_measures
from kgqa.recipes.qangaroo.sample_evidence import SampleEvidence
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.recipes.qangaroo.search import add_chains, endpoint_roles, find_samples, without_same_expression
from kgqa.recipes.qangaroo.topics import Topics
from kgqa.recipes.qangaroo.truths import kin_of_answers
from kgqa.rules.roles import RoleGraph
from kgqa.rules.synonyms import synonyms_of
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.traversal.base import Traversal
from kgqa.traversal.graph import Graph
from kgqa.traversal.in_database import InDatabase
from kgqa.traversal.kernel import Kernel
from kgqa.traversal.projection import graph_from_edges

SAME = "candidates written like another, another true object or the subject"
NO_RULES = "no path of facts or texts implies any relation often enough to be a rule, so grades are empty and nothing is rejected by them"
NO_FACTS = "facts of the graph are on no path that implies a relation, so paths of names that stand together are enough"
PATHS = "qangaroo.paths"
SMALL = 200
"""Samples, from which on a set can be chosen."""
LIFTED: dict[str, float | int] = {
    "functional": 0.0, "first_functional": 0.0, "common": 1_000_000, "min_queries": 1, "answer_share": 1.0, "per_documents": 1_000_000,
    "per_hop": 1_000_000, "alike": 0.0, "min_alike": 1,
}  # fmt: skip
"""Limits of ``qangaroo.paths`` that a small set does without."""
LIFTED_OF_PAIRS: dict[str, float | int] = {"facts": 0, "per_document": 1_000_000, "per_answer": 1_000_000, "per_bridge": 1_000_000}
"""Limits of ``qangaroo.pairs`` that a small set does without."""
CHOICE = 4
"""Balancing chooses its candidates among so many times as many, drawn by hash."""


def traverse(run: Run) -> StageOutput:
    """Questions and edges → samples within the limits, and what was rejected; with evidence, beside them those of the paper's recipe."""
    settings = run.domain.settings.section(QangarooSettings)
    if settings.queries == "paths":
        return traverse_paths(run)
    if settings.queries == "pairs":
        return traverse_pairs(run)
    tables = run.tables("entities", "relations", "facts", "documents", "occurrences", "edges")
    every = Questions.from_table(run.table("questions"))
    roles = endpoint_roles(every, tables["entities"], settings, tables["relations"].num_rows)
    questions, funnel = _first_try(run, every)
    asked = len(questions)
    graph = graph_from_edges(tables["edges"], tables["entities"], tables["documents"])
    questions, rejections = pass_gates(questions, _question_gates(tables, graph, settings))
    run.progress.start("Traversing", len(questions), "questions")
    evidence = SampleEvidence.read(run, tables, every) if settings.evidence.use else None
    with _traversal(run, graph, tables) as traversal:
        search = Search(run=run, settings=settings, traversal=traversal, tables=tables)
        reached, more = search.reached(questions, roles)
        rejections += more
        plain, more = search.within_limits(reached)
        remarks = [FunnelRow(stage="traverse", what="candidates", reason=SAME, removed=search.same, left=None)]
        samples = plain
        if evidence is not None and not evidence.knows_something:
            remarks.append(
                FunnelRow(stage="traverse", what="samples", reason=NO_RULES, removed=None, left=None, setting="qangaroo.evidence")
            )
        elif evidence is not None:
            samples, more, counted = search.implied(reached, evidence)
            remarks += counted
            if evidence.least_facts < settings.evidence.facts:
                remarks.append(
                    FunnelRow(stage="traverse", what="samples", reason=NO_FACTS, removed=None, left=None, setting="qangaroo.evidence.facts")
                )
        rejections += more
    funnel += [*gate_rows("traverse", asked, rejections), *remarks]
    if not len(samples):
        raise EmptyResult(empty_sentence(funnel))
    return StageOutput(
        tables={
            "samples": samples.to_table(),
            "plain": plain.to_table(),
            "asked_relations": tables["relations"],
            "rejected_traverse": rejected_table(rejections),
            "implied_samples": pa.table({"before": search.before, "implied": search.still}),
        },
        funnel=funnel,
        report={"samples": samples.questions.by_split(), "plain": plain.questions.by_split()},
        note=f"{len(samples):,} samples of {asked:,} questions",
    )


def traverse_paths(run: Run) -> StageOutput:
    """Statements and edges → samples about paths, within the limits, and what was rejected.

    Where the limits leave fewer than ``SMALL`` samples, those that make a large set varied are lifted, as a small one has no choice.
    """
    settings = run.domain.settings.section(QangarooSettings)
    names = ("entities", "relations", "facts", "occurrences", "links", "edges", "mentions")
    search = PathSearch(run=run, tables={**run.tables(*names), "documents": run.table("documents", columns=["id", "about", "text"])})
    try:
        samples, queries, rejections, funnel = search.samples(settings)
        small = len(samples) < SMALL
    except EmptyResult:
        small = True
    if small:
        paths = settings.paths.model_copy(update=LIFTED)
        samples, queries, rejections, funnel = search.samples(settings.model_copy(update={"paths": paths}))
        lifted = ", ".join(f"{PATHS}.{name}" for name in LIFTED)
        reason = f"the limits left fewer than {SMALL:,} samples, so these were lifted: {lifted}"
        funnel.append(FunnelRow(stage="traverse", what="samples", reason=reason, removed=None, left=None, setting=PATHS))
    if not len(samples):
        raise EmptyResult(empty_sentence(funnel))
    if not (samples.questions.split == 0).any():
        raise EmptyResult(
            f"none of the {len(samples):,} samples is in the training split; add documents and facts, or raise qangaroo.splits.train."
        )
    none = np.zeros(search.tables["relations"].num_rows, np.int64)
    return StageOutput(
        tables={
            "samples": samples.to_table(),
            "plain": samples.select(np.zeros(len(samples), np.bool_)).to_table(),
            "asked_relations": queries.relations,
            "rejected_traverse": rejected_table(rejections),
            "implied_samples": pa.table({"before": none, "implied": none}),
        },
        funnel=funnel,
        report={"samples": samples.questions.by_split(), "plain": {}},
        note=f"{len(samples):,} samples of {len(queries.questions):,} queries about {len(queries.paths):,} paths",
    )


def traverse_pairs(run: Run) -> StageOutput:
    """Statements and mentions → samples about pairs, within the limits, and what was rejected."""
    settings = run.domain.settings.section(QangarooSettings)
    tables = run.tables("entities", "relations", "facts", "documents", "occurrences", "links", "edges")
    every = Questions.from_table(run.table("questions"))
    questions, funnel = _first_try(run, every)
    pairs, facts, statements = pair_tables(tables, settings), fact_graph(tables), Statements.from_table(run.table("statements"))

    def found(settings: QangarooSettings) -> tuple[Samples, list[RejectedQuestions], list[FunnelRow]]:
        finder = PairFinder(tables, pairs, statements, facts, settings, seed=run.seed)
        queries, rows = finder.queries(questions)
        samples, more = finder.samples(questions, queries)
        entering = len(samples)
        limits = [TooFewCandidates(minimum=settings.min_candidates), TooManyDocuments(maximum=settings.max_documents)]
        samples, rejections = pass_gates(samples, limits)
        return samples, rejections, [*rows, *gate_rows("traverse", entering, rejections), *more]

    run.progress.start("Traversing", 1, "steps")
    samples, rejections, rows = found(settings)
    if len(samples) < SMALL:
        lifted = settings.pairs.model_copy(update=LIFTED_OF_PAIRS)
        samples, rejections, rows = found(settings.model_copy(update={"pairs": lifted, "min_candidates": 2}))
        names = ", ".join(["qangaroo.min_candidates", *(f"qangaroo.pairs.{name}" for name in LIFTED_OF_PAIRS)])
        reason = f"the limits left fewer than {SMALL:,} samples, so these were lifted: {names}"
        rows.append(FunnelRow(stage="traverse", what="samples", reason=reason, removed=None, left=None, setting="qangaroo.pairs"))
    run.progress.advance(1)
    funnel += rows
    require_samples(funnel, samples)
    none = np.zeros(tables["relations"].num_rows, np.int64)
    return StageOutput(
        tables={
            "samples": samples.to_table(),
            "plain": samples.select(np.zeros(len(samples), np.bool_)).to_table(),
            "asked_relations": tables["relations"],
            "rejected_traverse": rejected_table(rejections),
            "implied_samples": pa.table({"before": none, "implied": none}),
        },
        funnel=funnel,
        report={"samples": samples.questions.by_split(), "plain": {}},
        note=f"{len(samples):,} samples of {len(questions):,} questions",
    )


@dataclass(slots=True, kw_only=True)
class PathSearch:
    """What the search for samples about paths reads, prepared once."""

    run: Run
    tables: dict[str, pa.Table]
    mined: Mined = field(init=False)
    facts: RoleGraph = field(init=False)
    synonyms: IntArray = field(init=False)
    statements: Statements = field(init=False)
    linked: Adjacency = field(init=False)
    mentioning: Adjacency = field(init=False)
    stated: Adjacency = field(init=False)
    ranks: Ranks = field(init=False)
    types: Types = field(init=False)
    topics: Topics = field(init=False)
    measures: RelationMeasures = field(init=False)
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        """Read the tables."""
        tables = self.tables
        self.mined, self.facts = read_mined({**tables, **self.run.tables(*MINED)}), fact_graph(tables)
        self.synonyms = synonyms_of(self.facts, self.mined.implied, tables["relations"]["label"].to_pylist())
        self.statements = Statements.from_table(self.run.table("statements"))
        self.linked, self.stated = stated(tables["links"], tables), stated(tables["occurrences"], tables)
        self.mentioning = self.linked.reversed(self.facts.entities)
        self.ranks = Ranks(places(tables["mentions"], tables), article_of(tables))
        self.types = Types(self.facts)
        self.topics = Topics.of(self.linked, tables["documents"]["id"], self.facts.entities)
        learned = training_facts(tables, Questions.from_table(self.run.table("questions")))
        self.measures = relation_measures(learned, self.mined, tables["relations"].num_rows, tables)
        self.graph = graph_from_edges(tables["edges"], tables["entities"], tables["documents"])

    def samples(self, settings: QangarooSettings) -> tuple[Samples, PathQueries, list[RejectedQuestions], list[FunnelRow]]:
        """Samples, the queries that they come from, and what was left out; raises EmptyResult where no query is left."""
        run, tables = self.run, self.tables
        finder = PathFinder(tables, self.statements, self.facts, self.mined.forwards, self.synonyms, settings, seed=run.seed)
        queries, funnel = finder.queries(self.stated, self.linked, self.mentioning)
        queries, rows = _first_queries(run, queries)
        funnel += rows
        questions, hops = queries.questions, queries.hops
        run.progress.start("Traversing", len(questions), "questions")
        with _traversal(run, self.graph, tables) as traversal:
            samples = find_samples(
                questions, traversal, no_facts(), finder.end_points(queries), settings, workers=run.workers, advance=run.progress.advance
            )
        assert (samples.candidates.counts() > 0).all(), "the chain of each query leads to its answer"
        before = len(samples.candidates.targets)
        samples = without_same_expression(samples, expression_numbers(tables["entities"], settings.surface), no_facts())
        same = before - len(samples.candidates.targets)
        samples = with_stated_chains(samples, hops)
        choice = Distractors(
            possible=finder.possible(), linked=self.linked, mentioning=self.mentioning, articles=article_of(tables), ranks=self.ranks,
            types=self.types, topics=self.topics, settings=settings.paths,
        )  # fmt: skip
        bridges = finder.bridges(queries, self.linked, self.types)
        kin = kin_of_answers(samples, self.facts, self.measures)
        dropped, rows = choice.leaving(samples, hops, bridges, finder.several_bridges(hops), kin)
        samples = with_stated_grades(samples.without_candidates(dropped), hops, queries.confidence)
        least = max(settings.min_candidates, settings.paths.min_alike + 1)
        samples, rejections = pass_gates(samples, [TooFewCandidates(minimum=least), TooManyDocuments(maximum=settings.max_documents)])
        remarks = [FunnelRow(stage="traverse", what="candidates", reason=SAME, removed=same, left=None), *rows]
        return samples, queries, rejections, [*funnel, *gate_rows("traverse", len(questions), rejections), *remarks]


def _first_queries(run: Run, queries: PathQueries) -> tuple[PathQueries, list[FunnelRow]]:
    """The queries of a first try, and a row of the funnel where these are not all."""
    _, rows = _first_try(run, queries.questions)
    if not rows:
        return queries, []
    return queries.select(first_try(queries.questions, run.limit or 0, seed=run.seed)), rows


def _first_try(run: Run, questions: Questions) -> tuple[Questions, list[FunnelRow]]:
    """The questions that are asked, and a row of the funnel where these are not all."""
    if run.limit is None or run.limit >= len(questions):
        return questions, []
    left = len(questions) - run.limit
    row = FunnelRow(
        stage="traverse", what="questions", reason="not asked in this first try", removed=left, left=run.limit, setting="--limit"
    )
    return questions.select(first_try(questions, run.limit, seed=run.seed)), [row]


def _question_gates(tables: dict[str, pa.Table], graph: Graph, settings: QangarooSettings) -> list[QuestionGate]:
    """The rules that need no traversal."""
    occurrences = stated(tables["occurrences"], tables)
    if settings.answer_stated == "subject_document":
        return [NoDocumentFromSubject(graph=graph), AnswerStatedInSubjectDocument(articles=article_of(tables), stated=occurrences)]
    return [NoDocumentFromSubject(graph=graph), AnswerStatedBesideSubject(stating=occurrences.reversed(tables["entities"].num_rows))]


@contextmanager
def _traversal(run: Run, graph: Graph, tables: dict[str, pa.Table]) -> Iterator[Traversal]:
    """What searches: the kernel on the graph in memory, or the domain's queries in the store."""
    settings = run.domain.settings.section(QangarooSettings)
    most = settings.traversal.max_documents
    if run.traversal == "kernel":
        closed = None if settings.traversal.through_end_points else np.asarray(pc.equal(tables["entities"]["kind"], settings.endpoint_kind))
        yield Kernel(graph, max_documents=most, closed=closed)
        return
    projection = run.domain.settings.projection
    candidates, chains = ([run.domain.queries[name] for name in names[:most]] for names in (projection.candidates, projection.chains))
    with open_graph(run) as store:
        yield InDatabase(store, candidates, chains, entities=tables["entities"], documents=tables["documents"])


@dataclass(slots=True, kw_only=True)
class Search:
    """One traversal, and what it finds."""

    run: Run
    settings: QangarooSettings
    traversal: Traversal
    tables: dict[str, pa.Table]
    same: int = 0
    """Candidates that were dropped because they are written like another."""
    before: npt.NDArray[np.int64] = field(init=False)
    """For each relation how many samples came to the question what their chains imply; ``still`` of them were implied."""
    still: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is asked yet."""
        self.before = self.still = np.zeros(self.tables["relations"].num_rows, np.int64)

    def reached(self, questions: Questions, roles: Adjacency) -> tuple[Samples, list[RejectedQuestions]]:
        """A sample for each question whose answer is reached, with at least as many candidates as a choice needs."""
        facts = true_facts(self.tables, self.settings)
        samples = find_samples(
            questions, self.traversal, facts, roles, self.settings, workers=self.run.workers, advance=self.run.progress.advance
        )
        samples, rejections = pass_gates(samples, [AnswerNotReached()])
        before = len(samples.candidates.targets)
        samples = without_same_expression(samples, expression_numbers(self.tables["entities"], self.settings.surface), facts)
        self.same = before - len(samples.candidates.targets)
        samples, more = pass_gates(samples, [self._too_few])
        return samples, rejections + more

    def within_limits(self, samples: Samples) -> tuple[Samples, list[RejectedQuestions]]:
        """The samples of the paper's recipe: balanced where that is asked for, and not too large."""
        settings, limits = self.settings, list[SampleGate]()
        if settings.balance.candidates and len(samples):
            samples = self._balanced(self._with_chains(self._alternatives(samples)))
            limits.append(self._too_few)
        samples, rejections = pass_gates(samples, [*limits, TooManyCandidates(maximum=settings.max_candidates)])
        if not settings.balance.candidates and settings.traversal.chains != "tree":
            samples = self._with_chains(samples)
        samples, more = pass_gates(samples, [TooManyDocuments(maximum=settings.max_documents)])
        return samples, rejections + more

    def implied(self, samples: Samples, evidence: SampleEvidence) -> tuple[Samples, list[RejectedQuestions], list[FunnelRow]]:
        """The samples whose answers their chains imply, without candidates that may be true as well, and within the limits."""
        settings, counted = self.settings, []
        samples, rejections = pass_gates(samples, [evidence.relation_gate(samples)])
        self.before = self._by_relation(samples.questions)
        samples, rows = evidence.without_second_truths(samples)
        counted += rows
        balanced = settings.balance.candidates > 0
        samples, more = pass_gates(
            samples, [self._too_few] if balanced else [self._too_few, TooManyCandidates(maximum=settings.max_candidates)]
        )
        rejections += more
        if balanced:
            samples = self._alternatives(samples)
        samples = evidence.graded(self._with_chains(samples, simple=True), only=not balanced, workers=self.run.workers)
        samples, more = pass_gates(samples, evidence.sample_gates(self.before))
        rejections += more
        seldom = [gone.questions for gone in more if gone.gate is RelationSeldomImplied]
        self.still = sum((self._by_relation(questions) for questions in seldom), self._by_relation(samples.questions))
        samples, rows = evidence.without_equally_implied(samples, stated(self.tables["occurrences"], self.tables))
        counted += rows
        if balanced:
            samples = self._balanced(samples)
        samples, more = pass_gates(
            samples, [self._too_few, TooManyCandidates(maximum=settings.max_candidates), TooManyDocuments(maximum=settings.max_documents)]
        )
        return samples, rejections + more, counted

    def _by_relation(self, questions: Questions) -> npt.NDArray[np.int64]:
        return np.bincount(questions.relation, minlength=len(self.before))

    @property
    def _too_few(self) -> TooFewCandidates:
        return TooFewCandidates(minimum=self.settings.min_candidates)

    def _alternatives(self, samples: Samples) -> Samples:
        return draw_alternatives(samples, candidates=CHOICE * self.settings.balance.candidates, seed=self.run.seed)

    def _with_chains(self, samples: Samples, *, simple: bool = False) -> Samples:
        chains = self.settings.traversal
        if simple:
            chains = chains.model_copy(update={"chains": "all_simple"})
        return add_chains(samples, self.traversal, chains, workers=self.run.workers)

    def _balanced(self, samples: Samples) -> Samples:
        limits = self.settings
        return balance(samples, candidates=limits.balance.candidates, max_documents=limits.max_documents, seed=self.run.seed)
