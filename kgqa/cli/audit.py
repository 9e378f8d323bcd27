"""The command ``kgqa audit``: options and printed report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from kgqa.cli.options import AnySet, Cluster, From, Paragraphs, Strict, print_remarks
from kgqa.settings.defaults import DRAWS_SEED

if TYPE_CHECKING:
    from kgqa.checks.result import Audit
    from kgqa.cli.terminal import Terminal


def audit(
    dataset: AnySet,
    against: Annotated[list[str] | None, Option(help="Another question set to compare with; repeatable.")] = None,
    fail_on: Annotated[
        list[str] | None, Option(help="Exit with status 1 if this condition holds, such as leakage>0 or lexical-overlap>0.4; repeatable.")
    ] = None,
    out: Annotated[Path | None, Option(help="Output folder for audit.html and audit.json; by default NAME-audit.")] = None,
    from_: From = None,
    paragraphs: Paragraphs = None,
    strict: Strict = False,
    readers: Annotated[
        str | None, Option(help="Also evaluate trained readers on the set: minimal or full; requires kgqa[readers].")
    ] = None,
    reader_settings: Annotated[
        Path | None, Option(help="TOML file with settings for --readers: questions, folds, seeds, training.")
    ] = None,
    encoder: Annotated[
        str | None, Option(help="Encoder: a name on the Hugging Face hub, a folder, a run of kgqa train, or package:NAME.")
    ] = None,
    device: Annotated[str | None, Option(help="Device of the readers: auto (the default: a GPU if there is one), cpu or cuda.")] = None,
    endpoint: Annotated[
        str | None, Option(help="Chat-completions endpoint of the reader llm; by default OPENAI_BASE_URL, or OpenAI's.")
    ] = None,
    recording: Annotated[
        Path | None, Option(help="File with the endpoint's answers; by default llm.recording.jsonl in the report's folder.")
    ] = None,
    seed: Annotated[int, Option(help="Seed of intervals, folds and hash functions.")] = DRAWS_SEED,
    cluster: Cluster = None,
) -> None:
    """Check a question set for leakage, shortcuts and errors. Writes a report."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.audit(
            dataset, against=against or (), fail_on=fail_on or (), out=out, format=from_, paragraphs=paragraphs, strict=strict,
            readers=readers, reader_settings=reader_settings, encoder=encoder, device=device, endpoint=endpoint,
            recording=recording, seed=seed, cluster=cluster, progress=progress,
        )  # fmt: skip
    _print(console, result)
    print_remarks(console, result.remarks)
    if result.failed:
        raise typer.Exit(1)


def _print(console: Terminal, result: Audit) -> None:
    from rich import box
    from rich.table import Column, Table

    from kgqa.checks.report.page import percent
    from kgqa.cli.printable import printable

    # Show the whole name even in a narrow terminal, because --fail-on needs it.
    check = Column("check", overflow="fold", min_width=max(len(finding.check) for finding in result.findings))
    state = Column("state", no_wrap=True, min_width=len("counted"))
    title = f"Audit of {printable(result.dataset)}, the worst first"
    table = Table(check, "figure", "95% interval", "blind", "of", state, title=title, box=box.SIMPLE_HEAD)
    for finding in result.findings:
        if not finding.applies:
            continue
        share, low, high = finding.bounds
        blind = "" if finding.chance is None else f"{finding.chance:.1%}"
        table.add_row(finding.check, percent(share), f"{low:.1%}–{high:.1%}", blind, f"{finding.total:,}", finding.state)
    console.print(table)
    for sentence in result.readers.conclusions if result.readers else ():
        console.say(sentence)
    for finding in result.findings:
        if not finding.applies:
            console.say(f"{finding.check} does not apply: {finding.reason}", style="dim")
    if result.certificate is not None:
        console.print("\n" + printable(result.certificate.to_markdown()), soft_wrap=True)
    replaced = " (in place of the earlier one)" if result.replaced else ""
    console.say(f"Report: {result.html}, {result.json}{replaced}")
    for outcome in result.outcomes:
        verdict, style = ("fails", "red") if outcome.holds else ("passes", "green")
        value = f"could not be measured ({outcome.reason})" if outcome.figure is None else f"is {outcome.figure:.4f}"
        console.say(f"{outcome.condition} {verdict}: {outcome.check} {value}.", style=style)
