"""The first stages of every recipe on a graph: read, link, store, project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import EmptyResult
from kgqa.linking.decision import PLACE_RULES
from kgqa.linking.dictionary import NAME_RULES
from kgqa.linking.link import UNUSED_REASONS, link_mentions
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.graph import rows_of, tables_hash
from kgqa.runs.importing import check_import
from kgqa.runs.stage import Run, Stage, StageOutput
from kgqa.settings.linking import is_english
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.settings.source import DocumentSettings
from kgqa.sources.delimited import find_file
from kgqa.sources.imported import MANIFEST
from kgqa.sources.layouts import LAYOUTS
from kgqa.sources.tables import DROP_REASONS, frame
from kgqa.store import embedded
from kgqa.store.base import GraphStore
from kgqa.store.graph import GRAPH_VERSION, TABLES
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import check_holds, load
from kgqa.store.queries import read_queries
from kgqa.store.samples import SCHEMA
from kgqa.traversal.projection import ROLES, project_edges

Candidates = Callable[[Run, dict[str, pa.Table]], pa.Array]
"""A function of the run and the source tables: for each row of ``entities`` whether it can be an answer."""
READING = "read_sources"
"""Name of the stage that reads the domain's files."""
LEARNED = "names are also found with the endings that the texts put on many of them"
ANNOTATED = "marked in the source, as hyperlinks or annotations"
NO_LANGUAGE = "the texts are not English, so no plurals and adjectives of names are known, nor which words are everyday ones"


def read_sources(run: Run) -> StageOutput:
    """Source files → entities, names, relations, facts, documents, annotations, source_values, dropped."""
    layout = LAYOUTS[run.domain.settings.source.layout]
    paths = [find_file(run.domain.source, name) for name in layout.FILES]
    if MANIFEST in layout.FILES:
        check_import(run.domain.source)
    run.progress.start("Reading sources", sum(path.stat().st_size for path in paths), "bytes")
    tables = dict(layout.read(run.domain.source, advance=run.progress.advance))
    tables["source_values"] = tables.pop("values")  # recipes that compute with them make their own table of them
    counts = frame(tables["dropped"]).group_by("reason").len().sort("reason")
    rows = [
        FunnelRow(stage="read", what="rows", reason=DROP_REASONS[reason], removed=count, left=None) for reason, count in counts.iter_rows()
    ]
    sizes = {name: table.num_rows for name, table in tables.items() if name not in {"dropped", "source_values"}}
    for name, size in sizes.items():
        if not size and name != "annotations":
            if rows:
                raise EmptyResult(f"no {name} are left after reading {run.domain.source}; see the reasons: {_reason_list(rows)}.")
            raise EmptyResult(f"the files of {run.domain.source} have no {name}; add a file that has them.")
    rows += [FunnelRow(stage="read", what=name, reason="read", removed=None, left=size) for name, size in sizes.items() if size]
    return StageOutput(tables=tables, funnel=rows, report=sizes, note=", ".join(f"{size:,} {name}" for name, size in sizes.items() if size))


def _reason_list(rows: list[FunnelRow]) -> str:
    return "; ".join(f"{row.reason} ({row.removed:,})" for row in rows if row.removed)


def link(run: Run, *, candidates: Candidates) -> StageOutput:
    """Names and texts → mentions, occurrences, title_occurrences, links, unused; ``candidates`` selects entities that can be answers."""
    settings = run.domain.settings
    tables = run.tables("entities", "names", "relations", "facts", "documents", "annotations")
    documents = _documents(run, tables["entities"])
    run.progress.start("Linking mentions", tables["documents"]["text"].nbytes, "bytes")
    link_table = link_mentions(
        tables, settings.linking, documents, candidates=candidates(run, tables), engine=run.engine, advance=run.progress.advance
    )
    rows = []
    for rule, count in link_table.report.items():
        kind, name = rule.split(": ")
        reason = NAME_RULES[name] if kind == "names" else PLACE_RULES[name]
        rows.append(FunnelRow(stage="link", what=kind, reason=reason, removed=count, left=None, setting="linking"))
    for reason, count in frame(link_table.unused).group_by("reason").len().sort("reason").iter_rows():
        rows.append(FunnelRow(stage="link", what="documents", reason=UNUSED_REASONS[reason], removed=count, left=None, setting="documents"))
    if link_table.endings:
        learned_note = f"{LEARNED}: {', '.join(f'-{ending}' for ending in link_table.endings)}"
        rows.append(FunnelRow(stage="link", what="names", reason=learned_note, removed=None, left=None, setting="linking.inflections"))
    if link_table.annotated:
        rows.append(
            FunnelRow(
                stage="link", what="mentions", reason=ANNOTATED, removed=None, left=link_table.annotated, setting="linking.annotations"
            )
        )
    if not is_english(settings.linking.language):
        rows.append(FunnelRow(stage="link", what="names", reason=NO_LANGUAGE, removed=None, left=None, setting="linking.language"))
    rows.append(FunnelRow(stage="link", what="mentions", reason="linked", removed=None, left=link_table.mentions.num_rows))
    names = ("mentions", "occurrences", "title_occurrences", "links", "unused")
    outputs = {name: getattr(link_table, name) for name in names}
    note = f"{link_table.mentions.num_rows:,} mentions, {link_table.links.num_rows:,} links"
    return StageOutput(
        tables=outputs, funnel=rows, report={"mentions": link_table.mentions.num_rows, "links": link_table.links.num_rows}, note=note
    )


def _documents(run: Run, entities: pa.Table) -> DocumentSettings:
    """The settings that select documents. Ids in ``exclude_about`` must exist if the user's file names them, but not if kgqa's own does."""
    documents = run.domain.settings.documents
    if "exclude_about" in run.domain.own.get("documents", {}):
        return documents
    excluded = tuple(entity for entity in documents.exclude_about if pc.index(entities["id"], entity).as_py() >= 0)
    return documents.model_copy(update={"exclude_about": excluded})


def build_store(run: Run) -> StageOutput:
    """Tables → the graph, a file of the workspace or on the server. It is only an index and may be deleted."""
    rows = rows_of(run.workspace)
    run.progress.start("Building the graph", sum(table.num_rows for table in rows.values()), "rows")
    if run.store == "neo4j":
        with Neo4jStore(run.neo4j or Neo4jSettings.from_environment()) as server:
            is_loaded = load(server, tables_hash(run.workspace), rows, advance=run.progress.advance)
        return StageOutput(note="loaded into Neo4j" if is_loaded else "Neo4j has it")
    path = run.workspace.graph
    run.workspace.replace(
        path, lambda partial: embedded.build(partial, rows, empty=SCHEMA, threads=run.workers, advance=run.progress.advance)
    )
    return StageOutput(files=[str(path.relative_to(run.workspace.path))], note=f"{path.stat().st_size / 1e6:,.0f} MB")


def graph_kind(run: Run) -> object:
    """The engine and the schema of the graph. Together with its tables they determine the graph; it is rebuilt when one of them changes."""
    if run.store != "embedded":
        return [run.store, GRAPH_VERSION]
    queries = read_queries()
    return [embedded.ENGINE_VERSION, GRAPH_VERSION, [queries[f"schema_{name}"].text for name in dict.fromkeys((*TABLES, *SCHEMA))]]


@contextmanager
def open_graph(run: Run) -> Iterator[GraphStore]:
    """The store that :func:`build_store` filled."""
    if run.store == "neo4j":
        with Neo4jStore(run.neo4j or Neo4jSettings.from_environment()) as server:
            check_holds(server, tables_hash(run.workspace))
            yield server
    else:
        with embedded.EmbeddedStore(run.workspace.graph, threads=run.workers) as store:
            yield store


def project(run: Run) -> StageOutput:
    """The domain's projection queries → edges."""
    settings = run.domain.settings.projection
    queries = len(settings.document_to_entity) + len(settings.entity_to_document)
    run.progress.start("Projecting edges", queries, "queries")
    with open_graph(run) as store:
        edges = project_edges(store, run.domain.queries, settings, advance=run.progress.advance)
    row = FunnelRow(stage="project", what="edges", reason="projected", removed=None, left=edges.num_rows)
    return StageOutput(tables={"edges": edges}, funnel=[row], report={"edges": edges.num_rows}, note=f"{edges.num_rows:,} edges")


def depends_on_settings(*sections: str) -> Callable[[Run], object]:
    """``depends_on`` for a stage whose output depends only on these sections of the domain."""

    def part(run: Run) -> object:
        dump = run.domain.settings.model_dump(mode="json", include=set(sections))
        return {section: dump[section] for section in sections}

    return part


def depends_on_queries(*roles: str) -> Callable[[Run], object]:
    """``depends_on`` for a stage whose output depends only on the domain's queries in these roles."""

    def part(run: Run) -> object:
        settings = run.domain.settings.projection
        return {role: [run.domain.queries[name].text for name in getattr(settings, role)] for role in roles}

    return part


def preparation(*, candidates: Candidates, depends_on: Callable[[Run], object], edges: bool = True) -> tuple[Stage, ...]:
    """The stages.

    ``candidates`` selects the entities that can be answers, and ``depends_on`` returns the settings that this depends on, JSON-able.
    Without ``edges`` the projection is left out, for recipes that do not traverse the graph.
    """
    stages = (
        Stage(
            name=READING,
            version=3,
            doing="Reading sources",
            depends_on=depends_on_settings("source"),
            run=read_sources,
            aside=("dropped",),
            is_shared=True,
        ),
        Stage(
            name="link_mentions",
            version=7,
            doing="Linking mentions",
            depends_on=lambda run: [depends_on_settings("linking", "documents")(run), depends_on(run)],
            run=partial(link, candidates=candidates),
            is_shared=True,
        ),
        Stage(
            name="build_store",
            version=4,
            doing="Building the graph",
            depends_on=graph_kind,
            run=build_store,
            outside=lambda run: run.store != "embedded",
            is_shared=True,
        ),
        Stage(
            name="project_edges", version=1, doing="Projecting edges", depends_on=depends_on_queries(*ROLES), run=project, is_shared=True
        ),
    )
    return stages if edges else stages[:-1]
