"""``kgqa generate``: build a dataset from a domain's files, stage by stage; an interrupted run resumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgqa.arrays.parallel import Engine
from kgqa.checks.verdict import examine
from kgqa.cluster.opening import opened_engine
from kgqa.commands.imports import IMPORTING, entries, import_entries, plan_entries
from kgqa.domains import built_in_variant, chosen_cluster, load_domain
from kgqa.errors import EmptyResult, SettingsError, check_known, check_seed, storage_errors
from kgqa.object_store.address import recorded, url_of
from kgqa.object_store.mirror import local_copy
from kgqa.object_store.workspace import workspace_at
from kgqa.progress import Progress, Silent
from kgqa.recipes.preparation import READING
from kgqa.recipes.registry import find_recipe
from kgqa.records import SPLITS
from kgqa.runs.domain import Domain
from kgqa.runs.files import Watch, hashes_of
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.runner import Outcome, Runner
from kgqa.runs.stage import Run
from kgqa.settings.defaults import RECIPE, SEED, STORE, TRAVERSAL, WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.settings.source import QUESTIONS
from kgqa.sources.delimited import find_file
from kgqa.sources.layouts import LAYOUTS
from kgqa.store.base import check_runs_on, check_store
from kgqa.store.memory import engine_memory
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import check_can_load

TRAVERSALS = ("kernel", "cypher")
RELATIONS = "entailed"
"""The variant with questions about single relations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Outcome):
    """Result of :func:`generate`: the dataset, its counts, funnel and baselines."""

    domain: str
    recipe: str
    baselines: dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Plan of :func:`generate`: inputs, stages and effects."""

    domain: str
    source: str | Path
    """Folder or URL with the files, or the TOML file that names them as ``imports``."""
    dataset: Path
    place: str
    """Where the dataset would lie, as users name it."""
    files: dict[str, int]
    """Input file → bytes."""
    stages: list[tuple[str, str]]
    """Description of each stage, and "finished before" or "to do"."""
    is_seed: bool
    replaces: bool
    """Whether a dataset of other settings or input would be replaced."""
    changed: list[str]
    """Input files that changed since the last run in the workspace."""
    memory: int
    """Maximum bytes of the embedded engine's buffer; 0 if a server holds the graph."""
    engine: str
    """Name of the engine that runs the parts of stages: ``threads`` or ``ray``."""


def generate(
    domain: str | Path,
    *,
    recipe: str | None = None,
    source: str | Path | None = None,
    workspace: str | Path = WORKSPACE,
    seed: int = SEED,
    workers: int | None = None,
    cluster: str | None = None,
    limit: int | None = None,
    store: str = STORE,
    traversal: str = TRAVERSAL,
    neo4j: Neo4jSettings | None = None,
    progress: Progress | None = None,
) -> Report:
    """Generate a multi-hop dataset from a domain's graph and documents.

    ``domain`` is a built-in domain or the path of a TOML file; without ``source`` its shipped seed domain is read. ``source`` can be the
    URL of an object store (:func:`kgqa.object_store.mirror.local_copy`). ``recipe`` selects a variant of the domain, as ``paper``, the
    paper's recipe without grades, or another recipe, ``iirc`` or ``strategyqa``. ``limit`` is a maximum of questions. The graph is in the
    ``embedded`` store or a ``neo4j`` server (``neo4j``, by default from the environment), and is searched by the compiled ``kernel`` or by
    ``cypher`` queries. The same input, settings and seed give the same bytes for any ``workers`` (by default all cores), ``cluster``
    (:func:`kgqa.cluster.opening.opened_engine`; by default the one that the domain's file names), ``store`` and ``traversal``. Raises
    KgqaError.
    """
    with opened_engine(workers, chosen_cluster(domain, cluster), progress) as engine:
        runner = prepared(
            domain, recipe=recipe, source=source, workspace=workspace, seed=seed, engine=engine, limit=limit, store=store,
            traversal=traversal, neo4j=neo4j, progress=progress,
        )  # fmt: skip
        with runner.claimed():
            runner.refuse_strangers()
            runner = performed(runner, None if recipe or limit else by_relations(domain, runner.run.domain))
            options = {
                "domain": str(domain),
                "recipe": recipe,
                "seed": seed,
                "workers": workers,
                "engine": engine.name,
                "limit": limit,
                "store": store,
                "traversal": traversal,
                "source": recorded(source),
            }
            counts, replaced = runner.write(options)
    settings, outcome = runner.run.domain.settings, runner.outcome(counts, replaced=replaced)
    return Report(domain=settings.name, recipe=settings.recipe, baselines=runner.baselines, **outcome)


def by_relations(domain: str | Path, opened_domain: Domain) -> Domain | None:
    """The domain with queries about single relations, if only the built-in file asks for paths; otherwise None."""
    own_settings = opened_domain.own.get(RECIPE)
    if opened_domain.settings.recipe != RECIPE or (isinstance(own_settings, dict) and "queries" in own_settings):
        return None
    if opened_domain.settings.section(QangarooSettings).queries != "paths":
        return None
    is_given = opened_domain.imports_in is None and not opened_domain.is_seed
    return load_domain(
        domain,
        source=opened_domain.source if is_given else None,
        imported=opened_domain.source,
        default=built_in_variant(domain, RELATIONS),
    )


def performed(runner: Runner, relations: Domain | None) -> Runner:
    """The runner with all stages done, or one for ``relations`` if the first leaves splits empty that the second fills.

    A small graph may have few stated paths of two hops, or none.
    """
    try:
        runner.perform()
        reason = ""
    except EmptyResult as error:
        if relations is None:
            raise
        reason = _first_sentence(error)
    empty = [] if reason or relations is None else _empty_splits(runner)
    if relations is None or not (reason or empty):
        return runner
    fallback = replace(runner, run=replace(runner.run, domain=relations), records=[], reused=[], seconds={})
    try:
        fallback.perform()
    except EmptyResult as error:
        if _first_sentence(error) == reason:  # it comes from a stage before the questions
            raise
        if reason:
            raise EmptyResult(f"about paths {reason}; about single relations {error}") from None
    else:
        if reason or len(_empty_splits(fallback)) < len(empty):
            cause = reason or f"nothing is left of {' and '.join(empty)}"
            sentence = f"about paths {cause}, so single relations are asked about, as with --recipe {RELATIONS}"
            fallback.remarks.append(FunnelRow(stage="traverse", what="questions", reason=sentence, setting="qangaroo.queries"))
            return fallback
    runner = replace(runner, records=[], reused=[], seconds={})
    runner.perform()
    return runner


def _first_sentence(error: EmptyResult) -> str:
    return str(error).partition(". ")[0].rstrip(".")


def _empty_splits(runner: Runner) -> list[str]:
    """The splits that should have samples and have none."""
    splits = runner.run.section(QangarooSettings).splits
    counts: dict[str, int] = next((record.report["kept"] for record in runner.records if "kept" in record.report), {})
    return [split for split in SPLITS if getattr(splits, split) and not counts.get(split, 1)]


def plan(
    domain: str | Path,
    *,
    recipe: str | None = None,
    source: str | Path | None = None,
    workspace: str | Path = WORKSPACE,
    seed: int = SEED,
    workers: int | None = None,
    cluster: str | None = None,
    limit: int | None = None,
    store: str = STORE,
    traversal: str = TRAVERSAL,
    neo4j: Neo4jSettings | None = None,
) -> Plan:
    """Plan :func:`generate` with the same arguments; hashes inputs and finished tables, writes nothing but a copy of what a URL names.

    Raises KgqaError for everything that :func:`generate` refuses before it begins, including an unreachable or foreign server.
    """
    with opened_engine(workers, chosen_cluster(domain, cluster)) as engine:
        runner = prepared(
            domain, recipe=recipe, source=source, workspace=workspace, seed=seed, engine=engine, limit=limit, store=store,
            traversal=traversal, neo4j=neo4j, progress=None, importing=False,
        )  # fmt: skip
    opened_domain, place = runner.run.domain, runner.run.workspace
    place.check()
    with storage_errors(place.path):
        runner.changed = place.changes(domain=opened_domain.settings.name, inputs=runner.inputs) or []
        runner.refuse_strangers()
    imports = plan_entries(opened_domain)
    is_finished: dict[str, bool] = {} if imports is None else {IMPORTING: imports.done}
    record = None
    for stage, key in runner.stage_keys():
        record = runner.finished(stage, key) if imports is None or imports.done else None
        is_finished[stage.doing] = record is not None
        if record is not None:
            runner.records.append(record)
    key = "" if record is None else runner.dataset_key(record)
    is_finished["Writing the dataset"] = bool(key) and (runner.written(key) is not None or place.has_dataset(runner.folder, key))
    files = {path.name: path.stat().st_size for path in input_files(opened_domain)} if imports is None else imports.files
    return Plan(
        domain=opened_domain.settings.name,
        source=(source and url_of(source)) or opened_domain.imports_in or opened_domain.source,
        dataset=runner.folder,
        place=runner.place,
        files=files,
        stages=[(doing, "finished before" if is_done else "to do") for doing, is_done in is_finished.items()],
        is_seed=opened_domain.is_seed,
        replaces=place.has_dataset(runner.folder) and not is_finished["Writing the dataset"],
        changed=runner.changed,
        memory=0 if store == "neo4j" else engine_memory(),
        engine=engine.name,
    )


def prepared(
    domain: str | Path,
    *,
    source: str | Path | None,
    workspace: str | Path,
    seed: int,
    engine: Engine,
    progress: Progress | None,
    recipe: str | None = None,
    limit: int | None = None,
    store: str = STORE,
    traversal: str = TRAVERSAL,
    neo4j: Neo4jSettings | None = None,
    importing: bool = True,
) -> Runner:
    """A run with checked arguments of :func:`generate`, and the hashes of its input files.

    Writes nothing but the import of a domain that names ``imports``; without ``importing`` not even that, and the hashes are of the files
    that are there.
    """
    # Checks that need no file come first, so that a typing error is reported before anything is read.
    progress = progress or Silent()
    check_seed(seed)
    check_neo4j(store, neo4j)
    engine_memory()
    if limit is not None and limit < 1:
        raise SettingsError(f"limit {limit} is not at least 1; leave it out for all questions.")
    place = workspace_at(workspace, progress)
    folder = None if source is None else local_copy(source, deep=False, progress=progress)
    opened_domain = load_domain(domain, source=folder, imported=place.imported, recipe=recipe)
    if opened_domain.settings.source.layout == QUESTIONS:
        raise SettingsError(f"the domain {opened_domain.settings.name} has no graph; compose question sets with kgqa compose SET...")
    check_known("traversal", traversal, TRAVERSALS)
    made_by = find_recipe(opened_domain.settings.recipe)
    for name in made_by.queries(opened_domain, traversal):
        check_runs_on(opened_domain.queries[name], store)
    neo4j = checked_server(store, neo4j, check_can_load)
    if importing:
        import_entries(opened_domain, entries(opened_domain), place, engine=engine, progress=progress)
    run = Run(
        domain=opened_domain, workspace=place, seed=seed, engine=engine, limit=limit, progress=progress, store=store,
        traversal=traversal, neo4j=neo4j,
    )  # fmt: skip
    with storage_errors(opened_domain.source):
        files = input_files(opened_domain)
        watch = Watch(files)
        return Runner(recipe=made_by, run=run, inputs=hashes_of(files), examine=examine, watches={READING: watch})


def check_neo4j(store: str, neo4j: Neo4jSettings | None) -> None:
    """Raise SettingsError for an unknown store, and for a server's settings that it does not need."""
    check_store(store)
    if neo4j is not None and store != "neo4j":
        raise SettingsError(f"neo4j gives the address of a server, but the {store} store needs none; leave it out, or give store='neo4j'.")


def checked_server(store: str, neo4j: Neo4jSettings | None, check: Callable[[Neo4jStore], object]) -> Neo4jSettings | None:
    """The settings of the server, by default those of the environment; None for a store without one.

    ``check`` notices a missing server, or one with other data, before anything is read.
    """
    if store != "neo4j":
        return None
    settings = neo4j or Neo4jSettings.from_environment()
    with Neo4jStore(settings) as server:
        check(server)
    return settings


def input_files(domain: Domain) -> list[Path]:
    """Paths of the source files that the domain's layout reads."""
    names = LAYOUTS[domain.settings.source.layout].FILES
    return [find_file(domain.source, name) if domain.imports_in is None else domain.source / name for name in names]
