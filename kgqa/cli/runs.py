"""The command ``kgqa runs``: options, printed list, run and comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kgqa.cli.terminal import Terminal
    from kgqa.commands.runs import Comparison, TrainingRuns
    from kgqa.training.recorded import RecordedRun

    Rows = list[tuple[tuple[str, int], list[Mapping[str, Any]]]]
    """Part and step, with the figures of each run there."""

POINTS = 20
"""Points of a curve that are printed, about; all of them are in the JSON."""


def runs(
    where: Annotated[
        str | None,
        Argument(
            show_default=False,
            help="Folder with the runs, a runs.sqlite, or a database address; by default KGQA_RUNS, or the current folder.",
        ),
    ] = None,
    show: Annotated[str | None, Option(help="Show one run by name: settings, versions, curve.")] = None,
    compare: Annotated[tuple[str, str] | None, Option(help="Compare two runs by name: differences, and both curves.")] = None,
    plot: Annotated[Path | None, Option(help="With --show or --compare: new SVG file for the curves.")] = None,
    json: Annotated[bool, Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """List, show or compare recorded runs of kgqa train."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    result = kgqa.training_runs(where, show=show, compare=compare, plot=plot)
    console = Terminal()
    if json:
        from json import dumps

        typer.echo(dumps(result.record(), indent=1, ensure_ascii=False))
        for remark in result.remarks:
            typer.echo(remark, err=True)
        return
    if result.comparison is not None:
        _print_comparison(console, result.runs[0], result.runs[1], result.comparison)
    elif show is not None:
        _print_run(console, result.runs[0])
    else:
        _print_list(console, result)
    for remark in result.remarks:
        console.say(remark, style="yellow")
    if plot is not None and not result.remarks:
        console.say(f"Written: {plot}")


def _print_list(console: Terminal, result: TrainingRuns) -> None:
    from rich import box
    from rich.table import Column, Table

    from kgqa.cli.printable import on_one_line

    if not result.runs:
        console.say(f"No runs in {result.place} yet.")
        return
    numbers: list[Any] = [Column(name, justify="right", no_wrap=True) for name in ("seed", "steps", "best dev", "minutes")]
    seed, steps, best, minutes = numbers
    table = Table(Column("run", overflow="fold"), "reader", "dataset", seed, steps, best, "status", minutes, box=box.SIMPLE_HEAD)
    for run in result.runs:
        words = [on_one_line(text) for text in (run.name, run.reader, run.dataset)]
        table.add_row(*words, str(run.seed), f"{run.steps:,}", _score(run.score), run.status, _minutes(run))
    console.print(table)
    _print_sentences(console, result.runs)


def _print_sentences(console: Terminal, runs: tuple[RecordedRun, ...]) -> None:
    """Print why each run ended early, and explain once what ``stopped`` means."""
    from kgqa.training.recorded import STATUSES

    for run in runs:
        if run.sentence:
            console.say(f"{run.name} failed: {run.sentence}", style="red")
    for status in ("interrupted", "stopped"):
        if any(run.status == status for run in runs):
            console.say(f"{status}: {STATUSES[status]}.", style="dim")


def _print_run(console: Terminal, run: RecordedRun) -> None:
    from kgqa.commands.runs import moment
    from kgqa.training.recorded import STATUSES

    again = f", begun or gone on with {run.sessions} times" if run.sessions > 1 else ""
    console.say(f"{run.name}: {run.reader} on {run.dataset}, seed {run.seed}")
    console.say(f"{run.status}: {run.sentence or STATUSES[run.status]}")
    console.say(f"{moment(run.started)} on {run.host} ({run.device or 'device not known'}), {_minutes(run)} minutes{again}")
    best = (
        f", best dev score {_score(run.score)} at step {run.score_step:,}" if run.score is not None and run.score_step is not None else ""
    )
    console.say(f"{run.steps:,} steps{best}")
    for point in run.curve:
        if "trained_parameters" in point:
            of_part = f" of {point['part']}" if point["part"] else ""
            console.say(f"{point['trained_parameters']:,} of {point['parameters']:,} parameters{of_part} trained")
    console.say(f"In {run.folder}")
    for title, values in (("setting", run.settings), ("package", run.versions), ("file", run.hashes)):
        _print_values(console, title, values)
    rows: Rows = [((point["part"], point["step"]), [point]) for point in run.curve]
    _print_curve(console, rows, [""])


def _print_values(console: Terminal, title: str, values: Mapping[str, Any]) -> None:
    from rich import box
    from rich.table import Column, Table

    from kgqa.cli.printable import printable
    from kgqa.commands.runs import flat

    table = Table(title, Column("", overflow="fold"), box=box.SIMPLE_HEAD)
    for name, value in flat(values).items():
        table.add_row(printable(name), printable(_as_text(value)))
    if table.row_count:
        console.print(table)


def _print_comparison(console: Terminal, first: RecordedRun, second: RecordedRun, comparison: Comparison) -> None:
    from rich import box
    from rich.table import Column, Table

    from kgqa.cli.printable import printable

    table = Table("", *(Column(printable(run.name), overflow="fold") for run in (first, second)), box=box.SIMPLE_HEAD)
    rows = [
        ("status", first.status, second.status),
        ("steps", f"{first.steps:,}", f"{second.steps:,}"),
        ("best dev score", _score(first.score), _score(second.score)),
        ("minutes", _minutes(first), _minutes(second)),
    ]
    rows += [
        (name, _as_text(a), _as_text(b))
        for part in (comparison.other, comparison.settings, comparison.versions)
        for name, (a, b) in part.items()
    ]
    for row in rows:
        table.add_row(*map(printable, row))
    console.print(table)
    if not comparison.settings:
        console.say("The settings are the same.")
    if not comparison.versions:
        console.say("The versions are the same.")
    console.say("The datasets are the same, byte for byte." if comparison.same_data else "The datasets are not the same.")
    curve: Rows = [((part, step), [a, b]) for part, step, a, b in comparison.curve]
    _print_curve(console, curve, [f", {first.name}", f", {second.name}"])


def _print_curve(console: Terminal, rows: Rows, names: list[str]) -> None:
    """Points that are evenly spread, and all that have a score."""
    from rich import box
    from rich.table import Column, Table

    from kgqa.cli.printable import printable

    rows = [row for row in rows if any("loss" in point or "score" in point for point in row[1])]
    if not rows:
        return
    interval = -(-len(rows) // POINTS)
    parts = any(part for (part, _), _ in rows)
    columns = [f"{measure}{name}" for measure in ("loss", "dev") for name in names]
    table = Table(
        *(["part"] if parts else []), *(Column(printable(name), justify="right") for name in ("step", *columns)), box=box.SIMPLE_HEAD
    )
    for number, ((part, step), points) in enumerate(rows):
        if number % interval == 0 or number == len(rows) - 1 or any("score" in point for point in points):
            losses = ["" if point.get("loss") is None else f"{point['loss']:.4f}" for point in points]
            scores = [_score(point.get("score")) if "score" in point else "" for point in points]
            table.add_row(*([printable(part)] if parts else []), f"{step:,}", *losses, *scores)
    console.print(table)


def _score(score: float | None) -> str:
    return "–" if score is None else f"{100 * score:.1f}"


def _minutes(run: RecordedRun) -> str:
    return f"{run.seconds / 60:.1f}"


def _as_text(value: Any) -> str:
    return "–" if value is None else str(value)
