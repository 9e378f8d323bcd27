"""The stage ``traverse``: searches candidates and chains, and selects samples within the limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from kgqa.recipes.qangaroo.corpus import Places, article_of, expression_numbers, places, stated, true_facts
from kgqa.recipes.qangaroo.distractors import Distractors, Ranks, Rivals, with_rivals
from kgqa.recipes.qangaroo.false_negatives import beside_answers, kin_of_answers
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
from kgqa.recipes.qangaroo.pair_queries import NOTHING_STATED, PairFinder, pair_tables
from kgqa.recipes.qangaroo.path_queries import (
    PathFinder,
    PathQueries,
    no_facts,
    with_stated_chains,
    with_stated_grades,
)
from kgqa.recipes.qangaroo.questions import first_try
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.rejected import RejectedQuestions, empty_sentence, gate_rows, pass_gates, rejected_table, traverse_row
from kgqa.recipes.qangaroo.relations import RelationMeasures, relation_measures
from kgqa.recipes.qangaroo.sample_evidence import SampleEvidence
from kgqa.recipes.qangaroo.samples import Questions, Samples
from kgqa.recipes.qangaroo.search import add_chains, endpoint_roles, find_samples, without_same_expression
from kgqa.recipes.qangaroo.topics import Topics
from kgqa.recipes.qangaroo.types import Types
from kgqa.recipes.qangaroo.usefulness import Usefulness
from kgqa.rules.roles import RoleGraph
from kgqa.rules.synonyms import synonyms_of
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.traversal.base import Graph, Traversal
from kgqa.traversal.in_database import InDatabase
from kgqa.traversal.kernel import Kernel
from kgqa.traversal.projection import graph_from_edges

SAME = "candidates written like another, another true object or the subject"
NO_RULES = "no path implies a relation often enough to be a rule, so samples have no grades and are not rejected by them"
NO_FACTS = "no path with a fact of the graph implies a relation, so paths of co-mentions are enough"
PATHS, PAIRS = "qangaroo.paths", "qangaroo.pairs"
Counts = npt.NDArray[np.int64]
SMALL = 200
"""Minimum number of samples for limits that make a dataset varied; a smaller dataset cannot afford them."""
LIFTED: dict[str, float | int] = {
    "functional": 0.0, "first_functional": 0.0, "useful": 0.0, "min_queries": 1, "relation_share": 1.0, "answer_share": 1.0,
    "per_documents": 1_000_000, "per_hop": 1_000_000, "alike": 0.0, "min_alike": 1, "rivals": 0,
}  # fmt: skip
"""Values that turn off limits of ``qangaroo.paths`` for small datasets."""
LIFTED_OF_PAIRS: dict[str, float | int] = {
    "facts": 0, "likely": 1.0, "known": 0, "per_document": 1_000_000, "per_answer": 1_000_000, "per_bridge": 1_000_000,
}  # fmt: skip
"""Values that turn off limits of ``qangaroo.pairs`` for small datasets."""
CHOICE = 4
"""Balancing selects candidates from this many times their number, drawn by hash."""


def traverse(run: Run) -> StageOutput:
    """Questions and edges → samples within the limits, and the rejected questions; with evidence also the samples of the paper's recipe."""
    settings = run.section(QangarooSettings)
    if settings.queries == "paths":
        return traverse_paths(run)
    if settings.queries == "pairs":
        return traverse_pairs(run)
    tables = run.tables("entities", "relations", "facts", "documents", "occurrences", "edges", coded=True)
    all_questions = Questions.from_table(run.table("questions"))
    roles = endpoint_roles(all_questions, tables["entities"], settings, tables["relations"].num_rows)
    questions, funnel = _first_try(run, all_questions)
    question_count = len(questions)
    graph = graph_from_edges(tables["edges"], tables["entities"], tables["documents"])
    questions, rejections = pass_gates(questions, _question_gates(tables, graph, settings))
    run.progress.start("Traversing", len(questions), "questions")
    evidence = SampleEvidence.read(run, tables, all_questions) if settings.evidence.use else None
    # The samples of the paper's recipe are always made: without evidence they are the result, with evidence the card compares both.
    with _traversal(run, graph, tables) as traversal:
        search = Search(run=run, settings=settings, traversal=traversal, tables=tables)
        reached_samples, new_rejections = search.reached(questions, roles)
        rejections += new_rejections
        recipe_samples, new_rejections = search.within_limits(reached_samples)
        remarks = [traverse_row("candidates", SAME, removed=search.duplicates)]
        samples = recipe_samples
        if evidence is not None and not evidence.knows_something:
            remarks.append(traverse_row("samples", NO_RULES, "qangaroo.evidence"))
        elif evidence is not None:
            samples, new_rejections, funnel_rows = search.implied(reached_samples, evidence)
            remarks += funnel_rows
            if evidence.least_facts < settings.evidence.facts:
                remarks.append(traverse_row("samples", NO_FACTS, "qangaroo.evidence.facts"))
        rejections += new_rejections
    funnel += [*gate_rows("traverse", question_count, rejections), *remarks]
    if not len(samples):
        raise EmptyResult(empty_sentence(funnel))
    return _output(
        samples, rejections, funnel, relations=tables["relations"], recipe_samples=recipe_samples,
        implied_counts=(search.before, search.still), note=f"{len(samples):,} samples of {question_count:,} questions",
    )  # fmt: skip


def traverse_paths(run: Run) -> StageOutput:
    """Statements and edges → samples about paths within the limits, and the rejected queries.

    If the limits leave fewer than ``SMALL`` samples, those that only make a large dataset varied (``LIFTED``) are lifted.
    """
    settings = run.section(QangarooSettings)
    documents = run.table("documents", columns=["id", "about", "text"])
    search = PathSearch(run=run, tables={**run.tables("entities", "relations", "facts"), "documents": documents})
    try:
        samples, queries, rejections, funnel = search.samples(settings)
        is_small = len(samples) < SMALL
    except EmptyResult:
        is_small = True
    if is_small:
        paths = settings.paths.model_copy(update=LIFTED)
        samples, queries, rejections, funnel = search.samples(settings.model_copy(update={"paths": paths}))
        funnel.append(_lifted(list(LIFTED), PATHS))
    if not len(samples):
        raise EmptyResult(empty_sentence(funnel))
    if not (samples.questions.split == 0).any():
        raise EmptyResult(
            f"none of the {len(samples):,} samples is in the training split; add documents and facts, or raise qangaroo.splits.train."
        )
    zeros = np.zeros(search.tables["relations"].num_rows, np.int64)
    return _output(
        samples, rejections, funnel, relations=queries.relations, implied_counts=(zeros, zeros),
        note=f"{len(samples):,} samples of {len(queries.questions):,} queries about {len(queries.paths):,} paths",
    )  # fmt: skip


def traverse_pairs(run: Run) -> StageOutput:
    """Statements and mentions → samples about pairs within the limits, and the rejected queries."""
    settings = run.section(QangarooSettings)
    tables = run.tables("entities", "relations", "facts", "documents", "occurrences", "links", "edges", coded=True)
    all_questions = Questions.from_table(run.table("questions"))
    questions, funnel = _first_try(run, all_questions)
    pairs, facts, statements = pair_tables(tables, settings), fact_graph(tables), Statements.from_table(run.table("statements"))

    def samples_within(settings: QangarooSettings) -> tuple[Samples, list[RejectedQuestions], list[FunnelRow]]:
        finder = PairFinder(tables, pairs, statements, facts, settings, seed=run.seed)
        queries, rows = finder.queries(questions)
        samples, candidate_rows = finder.samples(questions, queries)
        sample_count = len(samples)
        limits = [TooFewCandidates(minimum=settings.min_candidates), TooManyDocuments(maximum=settings.max_documents)]
        samples, rejections = pass_gates(samples, limits)
        return samples, rejections, [*rows, *gate_rows("traverse", sample_count, rejections), *candidate_rows]

    run.progress.start("Traversing", 1, "steps")
    samples, rejections, rows = samples_within(settings)
    if len(samples) < SMALL:
        loose_limits = settings.pairs.model_copy(update=LIFTED_OF_PAIRS)
        samples, rejections, rows = samples_within(settings.model_copy(update={"pairs": loose_limits, "min_candidates": 2}))
        rows.append(_lifted(["qangaroo.min_candidates", *LIFTED_OF_PAIRS], PAIRS))
    run.progress.advance(1)
    funnel += rows
    if not len(samples):
        raise EmptyResult(empty_sentence(rows, what=("chains", "questions"), nothing=NOTHING_STATED))
    zeros = np.zeros(tables["relations"].num_rows, np.int64)
    return _output(
        samples, rejections, funnel, relations=tables["relations"], implied_counts=(zeros, zeros),
        note=f"{len(samples):,} samples of {len(questions):,} questions",
    )  # fmt: skip


def _output(
    samples: Samples, rejections: list[RejectedQuestions], funnel: list[FunnelRow], *, relations: pa.Table,
    implied_counts: tuple[Counts, Counts], note: str, recipe_samples: Samples | None = None,
) -> StageOutput:  # fmt: skip
    """The tables and the report of the stage.

    ``relations`` are those of the questions. ``implied_counts`` has, for each relation, the number of samples before and after the gates
    that look at grades. ``recipe_samples`` are the samples of the paper's recipe, for a comparison.
    """
    counts_before, counts_after = implied_counts
    no_samples = samples.select(np.zeros(len(samples), np.bool_))
    return StageOutput(
        tables={
            "samples": samples.to_table(),
            "plain": (no_samples if recipe_samples is None else recipe_samples).to_table(),
            "asked_relations": relations,
            "rejected_traverse": rejected_table(rejections),
            "implied_samples": pa.table({"before": counts_before, "implied": counts_after}),
        },
        funnel=funnel,
        report={"samples": samples.questions.by_split(), "plain": {} if recipe_samples is None else recipe_samples.questions.by_split()},
        note=note,
    )


def _lifted(names: Sequence[str], setting: str) -> FunnelRow:
    """The remark that these limits, in the section ``setting`` if not named otherwise, are off because the dataset would be small."""
    return traverse_row("samples", f"fewer than {SMALL:,} samples were left, so these limits are turned off: {', '.join(names)}", setting)


@dataclass(slots=True, kw_only=True)
class PathSearch:
    """The search for samples about paths; its data is prepared once for all settings that it is tried with."""

    run: Run
    tables: dict[str, pa.Table]
    mined: Mined = field(init=False)
    facts: RoleGraph = field(init=False)
    synonyms: IntArray = field(init=False)
    statements: Statements = field(init=False)
    linked: Adjacency = field(init=False)
    mentioning: Adjacency = field(init=False)
    stated: Adjacency = field(init=False)
    articles: IntArray = field(init=False)
    mentions: Places = field(init=False)
    ranks: Ranks = field(init=False)
    types: Types = field(init=False)
    measures: RelationMeasures = field(init=False)
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        """Read the tables and derive graphs and types from them; the long tables one at a time."""
        run, tables = self.run, self.tables
        self.facts = fact_graph(tables)
        # The hops are as many as the links, and only the stage that reads texts needs them.
        self.mined = read_mined({**tables, **run.tables(*MINED), "text_hops": run.table("text_hops").slice(0, 0)})
        self.synonyms = synonyms_of(self.facts, self.mined.implied, tables["relations"]["label"].to_pylist())
        self.articles = article_of(tables)
        self.linked = stated(run.table("links", coded=True), tables)
        self.stated = stated(run.table("occurrences"), tables)
        self.mentioning = self.linked.reversed(self.facts.entities)
        self.mentions = places(run.table("mentions", coded=True), tables)
        self.ranks = Ranks(self.mentions, self.articles)
        self.types = Types(self.facts, tables["documents"]["text"], self.articles)
        train_facts = training_facts(tables, Questions.from_table(run.table("questions")))
        self.measures = relation_measures(train_facts, self.mined, tables["relations"].num_rows, tables)
        self.graph = graph_from_edges(run.table("edges", coded=True), tables["entities"], tables["documents"])
        self.statements = Statements.from_table(run.table("statements"))

    def finder(self, settings: QangarooSettings) -> PathFinder:
        """What finds the queries."""
        return PathFinder(
            self.tables, self.statements, self.facts, self.mined.forwards, self.synonyms, settings, seed=self.run.seed
        )  # fmt: skip

    def usefulness(self, settings: QangarooSettings) -> Usefulness:
        """What estimates how useful a query is."""
        return Usefulness(
            facts=self.facts, linked=self.linked, mentioning=self.mentioning, ranks=self.ranks, types=self.types,
            forwards=self.mined.forwards, alike=settings.paths.alike,
        )  # fmt: skip

    def samples(self, settings: QangarooSettings) -> tuple[Samples, PathQueries, list[RejectedQuestions], list[FunnelRow]]:
        """The samples, their queries, the rejected queries and the funnel rows; raises EmptyResult if no query is left."""
        run, tables = self.run, self.tables
        finder = self.finder(settings)
        queries, funnel = finder.queries(self.stated, self.linked, self.usefulness(settings))
        queries, rows = _first_queries(run, queries)
        funnel += rows
        questions, hops = queries.questions, queries.hops
        run.progress.start("Traversing", len(questions), "questions")
        # The search finds all end points as candidates, and some chain to each. The answers then get their stated chains instead.
        with _traversal(run, self.graph, tables) as traversal:
            samples = find_samples(
                questions, traversal, no_facts(), finder.end_points(queries), settings, engine=run.engine, advance=run.progress.advance
            )
        assert (samples.candidates.counts() > 0).all(), "the chain of each query leads to its answer"
        usually_one = finder.usually_one(hops)
        expressions = expression_numbers(tables["entities"], settings.surface)
        rivals = Rivals.of(
            samples, hops, usually_one, self.linked, self.ranks, self.articles, self.types, expressions, settings.paths
        )  # fmt: skip
        samples = with_rivals(samples, rivals, hops)
        candidate_count = len(samples.candidates.targets)
        samples = without_same_expression(samples, expressions, no_facts())
        duplicates = candidate_count - len(samples.candidates.targets)
        samples = with_stated_chains(samples, hops)
        choice = Distractors(
            possible=finder.possible(), linked=self.linked, mentioning=self.mentioning, articles=self.articles, ranks=self.ranks,
            types=self.types, topics=Topics.of(self.linked, tables["documents"]["id"], self.facts.entities), settings=settings.paths,
        )  # fmt: skip
        bridges = finder.bridges(queries, self.linked, self.types)
        may_be_true = kin_of_answers(samples, self.facts, self.measures)
        if (several := ~usually_one.second).any():
            beside = beside_answers(samples, hops["answer_document"], self.mentions, tables["documents"]["text"])
            may_be_true |= beside & several[samples.question_of_candidate()]
        is_dropped, rows = choice.dropped(samples, hops, bridges, finder.objects(queries, self.mined.implied), usually_one, may_be_true)
        samples = with_stated_grades(samples.without_candidates(is_dropped), queries)
        min_candidates = max(settings.min_candidates, settings.paths.min_alike + 1)
        samples, rejections = pass_gates(
            samples, [TooFewCandidates(minimum=min_candidates), TooManyDocuments(maximum=settings.max_documents)]
        )
        remarks = [traverse_row("candidates", SAME, removed=duplicates), *rows]
        return samples, queries, rejections, [*funnel, *gate_rows("traverse", len(questions), rejections), *remarks]


def _first_queries(run: Run, queries: PathQueries) -> tuple[PathQueries, list[FunnelRow]]:
    """The queries that ``--limit`` selects, and a funnel row if these are not all."""
    _, rows = _first_try(run, queries.questions)
    if not rows:
        return queries, []
    return queries.select(first_try(queries.questions, run.limit or 0, seed=run.seed)), rows


def _first_try(run: Run, questions: Questions) -> tuple[Questions, list[FunnelRow]]:
    """The questions that ``--limit`` selects, and a funnel row if these are not all."""
    if run.limit is None or run.limit >= len(questions):
        return questions, []
    skip_count = len(questions) - run.limit
    row = traverse_row("questions", "not selected by --limit", "--limit", removed=skip_count, left=run.limit)
    return questions.select(first_try(questions, run.limit, seed=run.seed)), [row]


def _question_gates(tables: dict[str, pa.Table], graph: Graph, settings: QangarooSettings) -> list[QuestionGate]:
    """The gates that need no traversal."""
    occurrences = stated(tables["occurrences"], tables)
    if settings.answer_stated == "subject_document":
        return [NoDocumentFromSubject(graph=graph), AnswerStatedInSubjectDocument(articles=article_of(tables), stated=occurrences)]
    return [NoDocumentFromSubject(graph=graph), AnswerStatedBesideSubject(stating=occurrences.reversed(tables["entities"].num_rows))]


@contextmanager
def _traversal(run: Run, graph: Graph, tables: dict[str, pa.Table]) -> Iterator[Traversal]:
    """The search: the kernel on the graph in memory, or the domain's queries in the store."""
    settings = run.section(QangarooSettings)
    max_documents = settings.traversal.max_documents
    if run.traversal == "kernel":
        is_closed = (
            None if settings.traversal.through_end_points else np.asarray(pc.equal(tables["entities"]["kind"], settings.endpoint_kind))
        )
        yield Kernel(graph, max_documents=max_documents, is_closed=is_closed)
        return
    projection = run.domain.settings.projection
    candidates, chains = (
        [run.domain.queries[name] for name in names[:max_documents]] for names in (projection.candidates, projection.chains)
    )
    with open_graph(run) as store:
        yield InDatabase(store, candidates, chains, entities=tables["entities"], documents=tables["documents"])


@dataclass(slots=True, kw_only=True)
class Search:
    """The steps from questions to samples about single relations, and counts of what they dropped."""

    run: Run
    settings: QangarooSettings
    traversal: Traversal
    tables: dict[str, pa.Table]
    duplicates: int = 0
    """Number of candidates that were dropped because they are written like another."""
    before: Counts = field(init=False)
    """For each relation the number of samples before the gates that look at grades; ``still`` of them have an implied answer."""
    still: Counts = field(init=False)

    def __post_init__(self) -> None:
        """Start with counts of 0."""
        self.before = self.still = np.zeros(self.tables["relations"].num_rows, np.int64)

    def reached(self, questions: Questions, roles: Adjacency) -> tuple[Samples, list[RejectedQuestions]]:
        """A sample for each question whose answer is reached and that has enough candidates; and the rejected questions."""
        facts = true_facts(self.tables, self.settings)
        samples = find_samples(
            questions, self.traversal, facts, roles, self.settings, engine=self.run.engine, advance=self.run.progress.advance
        )
        samples, rejections = pass_gates(samples, [AnswerNotReached()])
        candidate_count = len(samples.candidates.targets)
        samples = without_same_expression(samples, expression_numbers(self.tables["entities"], self.settings.surface), facts)
        self.duplicates = candidate_count - len(samples.candidates.targets)
        samples, new_rejections = pass_gates(samples, [self._too_few])
        return samples, rejections + new_rejections

    def within_limits(self, samples: Samples) -> tuple[Samples, list[RejectedQuestions]]:
        """The samples of the paper's recipe: balanced if the settings say so, and within the limits on candidates and documents."""
        settings, limits = self.settings, list[SampleGate]()
        if settings.balance.candidates and len(samples):
            samples = self._balanced(self._with_chains(self._alternatives(samples)))
            limits.append(self._too_few)
        samples, rejections = pass_gates(samples, [*limits, TooManyCandidates(maximum=settings.max_candidates)])
        if not settings.balance.candidates and settings.traversal.chains != "tree":
            samples = self._with_chains(samples)
        samples, new_rejections = pass_gates(samples, [TooManyDocuments(maximum=settings.max_documents)])
        return samples, rejections + new_rejections

    def implied(self, samples: Samples, evidence: SampleEvidence) -> tuple[Samples, list[RejectedQuestions], list[FunnelRow]]:
        """The samples whose answer is implied by its chain, without candidates that may be true as well, and within the limits."""
        settings, funnel_rows = self.settings, []
        samples, rejections = pass_gates(samples, [evidence.relation_gate(samples)])
        self.before = self._by_relation(samples.questions)
        samples, rows = evidence.without_second_truths(samples)
        funnel_rows += rows
        is_balanced = settings.balance.candidates > 0
        samples, new_rejections = pass_gates(
            samples, [self._too_few] if is_balanced else [self._too_few, TooManyCandidates(maximum=settings.max_candidates)]
        )
        rejections += new_rejections
        if is_balanced:
            samples = self._alternatives(samples)
        samples = evidence.graded(self._with_chains(samples, simple=True), only=not is_balanced, engine=self.run.engine)
        samples, new_rejections = pass_gates(samples, evidence.sample_gates(self.before))
        rejections += new_rejections
        rare_questions = [group.questions for group in new_rejections if group.gate is RelationSeldomImplied]
        self.still = sum((self._by_relation(questions) for questions in rare_questions), self._by_relation(samples.questions))
        samples, rows = evidence.without_equally_implied(samples, stated(self.tables["occurrences"], self.tables))
        funnel_rows += rows
        if is_balanced:
            samples = self._balanced(samples)
        samples, new_rejections = pass_gates(
            samples, [self._too_few, TooManyCandidates(maximum=settings.max_candidates), TooManyDocuments(maximum=settings.max_documents)]
        )
        return samples, rejections + new_rejections, funnel_rows

    def _by_relation(self, questions: Questions) -> Counts:
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
        return add_chains(samples, self.traversal, chains, engine=self.run.engine)

    def _balanced(self, samples: Samples) -> Samples:
        limits = self.settings
        return balance(samples, candidates=limits.balance.candidates, max_documents=limits.max_documents, seed=self.run.seed)
