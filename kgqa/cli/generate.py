"""The command ``kgqa generate``: options, printed plan and result."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kgqa.cli.options import Cluster, Neo4jDatabase, Neo4jUri, Neo4jUser, RunWorkspace, Source, Store, Workers, print_if_seed, server
from kgqa.cli.summary import Verbose, print_changed, print_notes, print_result, print_tables, print_verdict
from kgqa.settings.defaults import RECIPE, SEED, STORE, TRAVERSAL, WORKSPACE

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.generate import Plan, Report


def generate(
    domain: Annotated[str, Option(help="Built-in domain (wikidata, medline or companies), or the TOML file of your own.")],
    source: Source = None,
    recipe: Annotated[
        str | None,
        Option(
            help="What to build: entailed (questions whose answer a chain entails), paper (questions as in the paper), iirc or "
            "strategyqa; or another variant of the domain. By default, what the domain says."
        ),
    ] = None,
    workspace: RunWorkspace = WORKSPACE,
    seed: Annotated[int, Option(help="Random seed for splits, samples, orders and placeholders.")] = SEED,
    workers: Workers = None,
    cluster: Cluster = None,
    limit: Annotated[int | None, Option(help="Maximum number of questions, for a quick trial run.")] = None,
    store: Store = STORE,
    traversal: Annotated[
        str, Option(help="Chain search: kernel (compiled, in memory) or cypher (queries). Both give the same result.")
    ] = TRAVERSAL,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print the plan without running it; files that a URL names are still copied.")
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Generate a multi-hop dataset from a graph and documents."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    neo4j = server(store, neo4j_uri, neo4j_user, neo4j_database)
    if dry_run:
        plan = kgqa.plan(
            domain, recipe=recipe, source=source, workspace=workspace, seed=seed, workers=workers, cluster=cluster, limit=limit,
            store=store, traversal=traversal, neo4j=neo4j,
        )  # fmt: skip
        _print_plan(console, plan)
        return
    with console.progress() as progress:
        report = kgqa.generate(
            domain, recipe=recipe, source=source, workspace=workspace, seed=seed, workers=workers, cluster=cluster, limit=limit,
            store=store, traversal=traversal, neo4j=neo4j, progress=progress,
        )  # fmt: skip
    _print_report(console, report, verbose=verbose)


def _print_plan(console: Terminal, plan: Plan) -> None:
    from rich.filesize import decimal
    from rich.table import Table

    console.say(f"Domain {plan.domain}, from {plan.source}" + (" (the small domain that kgqa ships)" if plan.is_seed else ""))
    files = Table("input file", "size")
    for name, size in plan.files.items():
        files.add_row(name, decimal(size))
    stages = Table("stage", "state")
    for name, state in plan.stages:
        stages.add_row(name, state)
    console.print(files, stages)
    if plan.engine != "threads":
        console.say(f"Parts of stages run on the cluster ({plan.engine}).")
    if plan.memory:
        console.say(f"The graph engine may take {decimal(plan.memory)} of memory (KGQA_STORE_MEMORY).")
    print_changed(console, plan.changed)
    if plan.replaces:
        console.print("This would replace a dataset with other settings or input.", style="yellow")
    console.say(f"Would write {plan.place}. Nothing was changed.")


def _print_report(console: Terminal, report: Report, *, verbose: bool) -> None:
    from rich.table import Table

    from kgqa.runs.card import baseline_rows

    if verbose:
        shortcuts = Table("split", "baseline", *report.baselines, title="Shortcut baselines (accuracy in %, 95% interval)")
        for cells in baseline_rows(report.baselines):
            shortcuts.add_row(*cells)
        print_tables(console, report.funnel, report.seconds, report.reused, shortcuts)
    print_result(console, report.place, report.counts, report.funnel, report.seconds)
    print_verdict(console, report.verdict, report.place)
    print_notes(console, report.funnel)
    print_if_seed(console, report.is_seed)
    as_wikihop = report.recipe == RECIPE  # others have settings and formats of their own
    for split, count in report.counts.items():
        if not count:
            hint = "change qangaroo.splits, or " if as_wikihop else ""
            console.print(f"The {split} split is empty; {hint}use more data.", style="yellow")
    print_changed(console, report.changed)
    if report.replaced:
        console.print("This replaced a dataset with other settings or input. To keep both, use two workspaces.", style="yellow")
    place = quote(report.place)
    console.say(f"The card has the rest: {place}/README.md")
    console.say(f"Next: kgqa show {place}")
    if as_wikihop:
        console.say(f"      kgqa export {place} --to qangaroo --out DIR")
