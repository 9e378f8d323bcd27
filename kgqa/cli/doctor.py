"""The command ``kgqa doctor``: options, printed installation and findings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from kgqa.cli.options import Neo4jDatabase, Neo4jUri, Neo4jUser, server
from kgqa.cli.printable import printable
from kgqa.errors import StoreError
from kgqa.settings.defaults import DOCTOR_QUERIES, SEED, WORKSPACE

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.doctor import Examination, StoreReport


def doctor(
    queries: Annotated[int, Option(help="Random queries per store; kgqa itself is tested with 10000.")] = DOCTOR_QUERIES,
    seed: Annotated[int, Option(help="Seed of graphs, queries and arguments.")] = SEED,
    workspace: Annotated[str, Option(help="Folder whose disk is checked.")] = WORKSPACE,
    script: Annotated[Path | None, Option(help="File for a script that reproduces a wrong answer.")] = None,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
) -> None:
    """Check the installation and the graph stores. Compares every query on every reachable store with brute force.

    Exits with status 1 if an answer is wrong or the engine's version is known to be bad, and with 2 if a named server cannot be checked.
    """
    import kgqa
    from kgqa.cli.terminal import Terminal

    settings = server("neo4j", neo4j_uri, neo4j_user, neo4j_database)
    neo4j = settings if neo4j_uri or neo4j_database else None
    console = Terminal()
    with console.progress() as progress:
        examination = kgqa.doctor(queries=queries, seed=seed, workspace=workspace, script=script, neo4j=neo4j, progress=progress)
    _print(console, examination, script)
    if not examination.agree:
        raise typer.Exit(1)
    if examination.missed:
        raise StoreError(
            f"{examination.missed.note} NEO4J_URI or --neo4j-uri names this server; leave it out to check the embedded engine alone."
        )


def _print(console: Terminal, examination: Examination, script: Path | None) -> None:
    from rich.table import Table

    from kgqa.store.embedded import ENGINE_VERSION

    table = Table("component", "found", "required for", title="Installation")
    for piece in examination.pieces:
        table.add_row(piece.name, piece.value + ("" if piece.good else " (insufficient)") if piece.value else "missing", piece.needed_for)
    console.print(table)
    table = Table(title="Query results by store", padding=(0, 0, 0, 1))
    for name in ("store", "version", "templates", "witnesses", "graphs", "queries", "seconds", "wrong"):
        table.add_column(name, no_wrap=True)
    for report in examination.stores:
        if (comparison := report.comparison) is not None:
            wrong, seconds = sum(comparison.disagreements.values()), f"{comparison.seconds:,.1f}"
            table.add_row(
                report.store,
                comparison.version,
                f"{comparison.templates}",
                f"{comparison.witnesses}",
                f"{comparison.graphs:,}",
                f"{comparison.queries:,}",
                seconds,
                f"{wrong:,}",
            )
    console.print(table)
    for report in examination.stores:
        if report.comparison is None:
            console.say(f"{report.store}: not examined. {report.note}")
        elif report.comparison.disagreements:
            _print_disagreement(console, report, script)
        if report.fault and report.comparison:
            console.print(
                f"{report.store} {report.comparison.version} {report.fault}; run: pip install ladybug=={ENGINE_VERSION}", style="red"
            )
    examined = " and ".join(report.store for report in examination.stores if report.comparison)
    if not examined:
        console.print("No store was checked.")
    else:
        console.print(_verdict(examination, examined))


def _verdict(examination: Examination, examined: str) -> str:
    if examination.agree:
        return f"All answers of {examined} are right."
    has_disagreements = any(report.comparison and report.comparison.disagreements for report in examination.stores)
    return "Wrong answers were found." if has_disagreements else "All answers were right, but this version is known to be unreliable."


def _print_disagreement(console: Terminal, report: StoreReport, script: Path | None) -> None:
    assert report.comparison
    console.print(f"{report.store} {report.comparison.version} returns wrong answers:", style="red")
    for name, count in report.comparison.disagreements.items():
        console.print(f"  {name}: {count:,} times")
    if not report.script:
        console.print("These are searches of many queries, which a script cannot replay; run kgqa doctor again with the same seed.")
    elif script is not None:
        console.say(f"The smallest case is in {script}; run it with python.")
    else:
        console.print("The smallest case, as a script to replay (--script FILE writes it):\n")
        typer.echo(printable(report.script))
