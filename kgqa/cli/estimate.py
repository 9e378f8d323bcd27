"""The command ``kgqa estimate``: options and printed prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kgqa.cli.options import AnyDomain, RunWorkspace, Source, print_if_seed
from kgqa.settings.defaults import SEED, SHARE, WORKSPACE

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.estimate import Estimate

REASONS = 5
"""Main reasons that are printed."""


def estimate(
    domain: AnyDomain,
    source: Source = None,
    workspace: RunWorkspace = WORKSPACE,
    share: Annotated[
        float, Option(help="Share of the domain to process, up to 1. Larger shares take longer but give better estimates.")
    ] = SHARE,
    seed: Annotated[int, Option(help="Seed for drawing the part, and for kgqa generate.")] = SEED,
    workers: Annotated[int | None, Option(help="Threads, as for kgqa generate.")] = None,
) -> None:
    """Estimate size, time, memory and disk space of kgqa generate. Processes a part of the domain."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.estimate(domain, source=source, workspace=workspace, share=share, seed=seed, workers=workers, progress=progress)
    _print(console, result)


def _print(console: Terminal, result: Estimate) -> None:
    from rich.table import Table

    from kgqa.cli.summary import plain
    from kgqa.runs.funnel import LOSES

    table = Table("", "predicted", "between", title=f"kgqa generate on {result.domain}, {result.documents:,} documents")
    rows = {
        "mentions": result.mentions,
        **{f"samples, {split}": figure for split, figure in result.samples.items()},
        "seconds": result.seconds,
    }
    for name, figure in rows.items():
        table.add_row(name, f"{figure.value:,.0f}", f"{figure.low:,.0f} and {figure.high:,.0f}")
    for name, figure, unit, letters in (("peak memory", result.memory, 1 << 30, "GiB"), ("disk", result.disk, 1_000_000, "MB")):
        digits = 1 if unit > 1_000_000 else 0
        bounds = f"{figure.low / unit:,.{digits}f} and {figure.high / unit:,.{digits}f}"
        table.add_row(f"{name}, {letters}", f"{figure.value / unit:,.{digits}f}", bounds)
    console.print(table)
    reasons = sorted((row for row in result.funnel if row.what in LOSES), key=lambda row: -(row.removed or 0))
    if reasons:
        console.say(f"Main reasons for rejection in the part of {result.drawn:,} documents:")
        for row in reasons[:REASONS]:
            console.say(f"  {row.removed:>9,}  {plain(row.reason)}")
    slowest = sorted(result.by_stage.items(), key=lambda entry: -entry[1])[:3]
    console.say("Predicted seconds, mostly " + ", ".join(f"{name} {part:,.0f}" for name, part in slowest))
    console.say(f"The part took {result.spent:,.0f} s.")
    print_if_seed(console, result.is_seed)
