"""The command ``kgqa validate``: options and printed problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from kgqa.cli.options import AnyDomain, RunWorkspace, Source, Workers, print_if_seed
from kgqa.settings.defaults import SEED, WORKSPACE

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.validate import Validation


def validate(
    domain: AnyDomain,
    source: Source = None,
    workspace: RunWorkspace = WORKSPACE,
    documents: Annotated[int, Option(help="Maximum documents to link; if there are more, a random sample is used.")] = 50_000,
    seed: Annotated[int, Option(help="Seed, as for kgqa generate.")] = SEED,
    workers: Workers = None,
) -> None:
    """Check the settings, tables, mentions and edges of a domain.

    Exits with status 1 if there is an error, and with 0 if there are only warnings.
    """
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.validate(
            domain, source=source, workspace=workspace, documents=documents, seed=seed, workers=workers, progress=progress
        )
    _print(console, result)
    if not result.passed:
        raise typer.Exit(1)


def _print(console: Terminal, result: Validation) -> None:
    from kgqa.checks.domain.problem import ERROR

    for problem in result.problems:
        console.say(f"{problem.severity} {problem.check}, {problem.where}:", style="red" if problem.severity == ERROR else "yellow")
        console.say(f"  {problem.what}.")
        advice = problem.advice[:1].upper() + problem.advice[1:]
        console.say(f"  {advice}" + ("" if advice.endswith("?") else "."), style="dim")
    if result.rows:
        part = "" if result.documents in (0, result.rows["documents"]) else f" in {result.documents:,} of them"
        rows = ", ".join(f"{result.rows[name]:,} {name}" for name in ("entities", "facts", "documents"))
        console.say(f"{result.domain}: {rows}; {result.mentions:,} mentions{part}.")
    print_if_seed(console, result.is_seed)
    errors = sum(problem.severity == ERROR for problem in result.problems)
    counts = {"error": errors, "warning": len(result.problems) - errors}
    console.say(", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in counts.items()) + ".", style="bold")
