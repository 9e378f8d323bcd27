"""The stages of ``kgqa generate``: each reads tables, writes tables, and reports what it dropped.

A stage is a function of the tables before it, its part of the settings, and the seed. Raise its ``version`` whenever its output changes for
the same input: workspaces then redo it, and the changelog says so under "Data".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.domains import Domain
from kgqa.errors import EmptyResult
from kgqa.funnel import FunnelRow, as_records
from kgqa.linking.dictionary import NAME_RULES
from kgqa.linking.link import UNUSED_REASONS, link_mentions
from kgqa.linking.places import PLACE_RULES
from kgqa.progress import Progress
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
from kgqa.settings import DocumentSettings, QangarooSettings
from kgqa.sources import medline, wikidata
from kgqa.sources.delimited import find_file
from kgqa.sources.tables import DROP_REASONS, frame
from kgqa.store import embedded, loading
from kgqa.store.base import GraphStore
from kgqa.store.neo4j import Neo4jSettings, Neo4jStore
from kgqa.store.workspace_graph import rows_of
from kgqa.traversal.base import Traversal
from kgqa.traversal.graph import Adjacency, Graph, Rows
from kgqa.traversal.in_database import InDatabase
from kgqa.traversal.kernel import Kernel
from kgqa.traversal.projection import ROLES, graph_from_edges, project_edges
from kgqa.workspace import Workspace

CHOICE = 4
"""Balancing chooses its candidates among so many times as many, drawn by hash."""
LAYOUTS = {"wikidata": wikidata, "medline": medline}
GATES: dict[str, type[Gate]] = {
    gate.__name__: gate
    for gate in (
        NoDocumentFromSubject, AnswerStatedInSubjectDocument, AnswerStatedBesideSubject, AnswerNotReached, TooFewCandidates,
        TooManyCandidates, TooManyDocuments, AnswerTooFrequent, DocumentCue,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a stage is given."""

    domain: Domain
    workspace: Workspace
    seed: int
    workers: int
    limit: int | None
    progress: Progress
    store: str = "embedded"
    traversal: str = "kernel"
    neo4j: Neo4jSettings | None = None
    """None: what the environment says."""

    def table(self, name: str) -> pa.Table:
        """A table that an earlier stage wrote."""
        return self.workspace.read_table(name)

    def tables(self, *names: str) -> dict[str, pa.Table]:
        """Several of them."""
        return {name: self.table(name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOutput:
    """What a stage hands back."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    """Files that it wrote itself, relative to the workspace."""
    funnel: list[FunnelRow] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    """One line for the console."""

    def as_report(self) -> dict[str, Any]:
        """The JSON-able part."""
        return {**self.report, "funnel": as_records(self.funnel), "note": self.note}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of a run."""

    name: str
    version: int
    doing: str
    """What people read while it runs."""
    depends_on: Callable[[Run], object]
    """The part of settings, seed and limit that its output depends on, as JSON-able data."""
    run: Callable[[Run], StageOutput]
    outside: Callable[[Run], bool] = lambda _: False
    """Whether what it makes lies outside of the workspace, so that it has to look whether it is still there."""


def read_sources(run: Run) -> StageOutput:
    """Source files → entities, names, relations, facts, documents, dropped."""
    layout = LAYOUTS[run.domain.settings.source.layout]
    paths = [find_file(run.domain.source, name) for name in layout.FILES]
    run.progress.start("Reading sources", sum(path.stat().st_size for path in paths), "bytes")
    tables = dict(layout.read(run.domain.source, advance=run.progress.advance))
    counts = frame(tables["dropped"]).group_by("reason").len().sort("reason")
    rows = [
        FunnelRow(stage="read", what="rows", reason=DROP_REASONS[reason], removed=count, left=None) for reason, count in counts.iter_rows()
    ]
    sizes = {name: table.num_rows for name, table in tables.items() if name != "dropped"}
    for name, size in sizes.items():
        if not size:
            raise EmptyResult(f"no {name} are left after reading {run.domain.source}; see the reasons: {_listed(rows)}.")
    rows += [FunnelRow(stage="read", what=name, reason="read", removed=None, left=size) for name, size in sizes.items()]
    return StageOutput(tables=tables, funnel=rows, report=sizes, note=", ".join(f"{size:,} {name}" for name, size in sizes.items()))


def _listed(rows: list[FunnelRow]) -> str:
    return "; ".join(f"{row.reason} ({row.removed:,})" for row in rows if row.removed) or "none"


def link(run: Run) -> StageOutput:
    """Names and texts → mentions, occurrences, title_occurrences, links, unused."""
    settings = run.domain.settings
    tables = run.tables("entities", "names", "relations", "facts", "documents")
    candidates = possible_candidates(tables, settings.qangaroo)
    documents = _documents(run, tables["entities"])
    run.progress.start("Linking mentions", tables["documents"]["text"].nbytes, "bytes")
    linked = link_mentions(tables, settings.linking, documents, candidates=candidates, workers=run.workers, advance=run.progress.advance)
    rows = []
    for rule, count in linked.report.items():
        what, name = rule.split(": ")
        reason = NAME_RULES[name] if what == "names" else PLACE_RULES[name]
        rows.append(FunnelRow(stage="link", what=what, reason=reason, removed=count, left=None, setting="linking"))
    for reason, count in frame(linked.unused).group_by("reason").len().sort("reason").iter_rows():
        rows.append(FunnelRow(stage="link", what="documents", reason=UNUSED_REASONS[reason], removed=count, left=None, setting="documents"))
    rows.append(FunnelRow(stage="link", what="mentions", reason="linked", removed=None, left=linked.mentions.num_rows))
    names = ("mentions", "occurrences", "title_occurrences", "links", "unused")
    found = {name: getattr(linked, name) for name in names}
    note = f"{linked.mentions.num_rows:,} mentions, {linked.links.num_rows:,} links"
    return StageOutput(tables=found, funnel=rows, report={"mentions": linked.mentions.num_rows, "links": linked.links.num_rows}, note=note)


def _documents(run: Run, entities: pa.Table) -> DocumentSettings:
    """Which documents take part: articles that kgqa's own file leaves out need not be among the user's; what the user writes must exist."""
    documents = run.domain.settings.documents
    if "exclude_about" in run.domain.own.get("documents", {}):
        return documents
    known = tuple(entity for entity in documents.exclude_about if pc.index(entities["id"], entity).as_py() >= 0)
    return documents.model_copy(update={"exclude_about": known})


def build_store(run: Run) -> StageOutput:
    """Tables → the graph; it is an index and may be deleted. The embedded one is a file of the workspace."""
    rows = rows_of(run.workspace)
    run.progress.start("Building the graph", sum(table.num_rows for table in rows.values()), "rows")
    if run.store == "neo4j":
        with Neo4jStore(run.neo4j or Neo4jSettings.from_environment()) as server:
            loaded = loading.load(server, loading.tables_hash(run.workspace), rows, advance=run.progress.advance)
        return StageOutput(note="loaded into Neo4j" if loaded else "Neo4j has it")
    path = run.workspace.graph
    run.workspace.replace(path, lambda partial: embedded.build(partial, rows, threads=run.workers, advance=run.progress.advance))
    return StageOutput(files=[str(path.relative_to(run.workspace.path))], note=f"{path.stat().st_size / 1e6:,.0f} MB")


@contextmanager
def _graph(run: Run) -> Iterator[GraphStore]:
    """The store that :func:`build_store` filled."""
    if run.store == "neo4j":
        with Neo4jStore(run.neo4j or Neo4jSettings.from_environment()) as server:
            loading.check_holds(server, loading.tables_hash(run.workspace))
            yield server
    else:
        with embedded.EmbeddedStore(run.workspace.graph, threads=run.workers) as store:
            yield store


def project(run: Run) -> StageOutput:
    """The domain's projection queries → edges."""
    settings = run.domain.settings.projection
    queries = len(settings.document_to_entity) + len(settings.entity_to_document)
    run.progress.start("Projecting edges", queries, "queries")
    with _graph(run) as store:
        edges = project_edges(store, run.domain.queries, settings, advance=run.progress.advance)
    row = FunnelRow(stage="project", what="edges", reason="projected", removed=None, left=edges.num_rows)
    return StageOutput(tables={"edges": edges}, funnel=[row], report={"edges": edges.num_rows}, note=f"{edges.num_rows:,} edges")


def ask_questions(run: Run) -> StageOutput:
    """Facts → questions, each in a split, before anything is filtered."""
    tables = run.tables("entities", "relations", "facts")
    run.progress.start("Asking questions", tables["facts"].num_rows, "facts")
    questions = ask(tables, run.domain.settings.qangaroo, seed=run.seed)
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
    settings = run.domain.settings.qangaroo
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
    most = run.domain.settings.qangaroo.traversal.max_documents
    if run.traversal == "kernel":
        yield Kernel(graph, max_documents=most)
        return
    projection = run.domain.settings.projection
    candidates, chains = ([run.domain.queries[name] for name in names[:most]] for names in (projection.candidates, projection.chains))
    with _graph(run) as store:
        yield InDatabase(store, candidates, chains, entities=tables["entities"], documents=tables["documents"])


def _search(
    run: Run, questions: Questions, traversal: Traversal, roles: Adjacency, tables: dict[str, pa.Table]
) -> tuple[Samples, list[Rejection], int]:
    """Samples within the limits, what was rejected, and how many candidates were dropped because they are written like another."""
    settings = run.domain.settings.qangaroo
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
    settings = run.domain.settings.qangaroo.bias
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


def _settings(*sections: str) -> Callable[[Run], object]:
    def part(run: Run) -> object:
        dump = run.domain.settings.model_dump(mode="json")
        return {section: dump[section] for section in sections}

    return part


def _queries(*roles: str) -> Callable[[Run], object]:
    def part(run: Run) -> object:
        settings = run.domain.settings.projection
        return {role: [run.domain.queries[name].text for name in getattr(settings, role)] for role in roles}

    return part


def _traversed(run: Run) -> object:
    """The recipe, and what searches: both ways find the same, but whoever asks for the other one wants to see it done."""
    recipe = _recipe("bias", "question", "placeholders")(run)
    return recipe if run.traversal == "kernel" else [recipe, _queries("candidates", "chains")(run)]


def _recipe(*left_out: str) -> Callable[[Run], object]:
    def part(run: Run) -> object:
        dump = run.domain.settings.qangaroo.model_dump(mode="json", exclude=set(left_out))
        return {"qangaroo": dump, "seed": run.seed, "limit": run.limit}

    return part


STAGES = (
    Stage(name="read_sources", version=1, doing="Reading sources", depends_on=_settings("source"), run=read_sources),
    Stage(
        name="link_mentions",
        version=2,
        doing="Linking mentions",
        depends_on=lambda run: [
            _settings("linking", "documents")(run),
            run.domain.settings.qangaroo.model_dump(mode="json", include={"relations", "both_directions", "endpoint_kind"}),
        ],
        run=link,
    ),
    Stage(
        name="build_store",
        version=2,
        doing="Building the graph",
        depends_on=lambda run: embedded.ENGINE_VERSION if run.store == "embedded" else run.store,
        run=build_store,
        outside=lambda run: run.store != "embedded",
    ),
    Stage(name="project_edges", version=1, doing="Projecting edges", depends_on=_queries(*ROLES), run=project),
    Stage(
        name="ask_questions",
        version=1,
        doing="Asking questions",
        depends_on=lambda run: [
            run.domain.settings.qangaroo.model_dump(mode="json", include={"relations", "both_directions", "splits"}),
            run.seed,
        ],
        run=ask_questions,
    ),
    Stage(name="traverse", version=1, doing="Traversing", depends_on=_traversed, run=traverse),
    Stage(name="filter_samples", version=2, doing="Filtering", depends_on=_recipe("question", "placeholders"), run=filter_samples),
)
"""In order; each stage's key includes the one before it. What they leave is turned into a dataset by :mod:`kgqa.dataset`."""
