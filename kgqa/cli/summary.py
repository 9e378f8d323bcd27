"""Final summary of a pipeline: the result in about ten lines; all tables with ``--verbose``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kgqa.runs.funnel import count_list

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.runs.funnel import FunnelRow
    from kgqa.runs.verdict import Verdict

Verbose = Annotated[bool, Option("--verbose", "-v", help="Print all tables of the card: rejections, shortcut baselines, times.")]
REASONS = 3
"""Rules that are named of those that dropped most."""
REMARKS = 4
"""Notes about rules that are printed; the card has all of them."""
SENTENCES = 2
"""Findings, and differences of splits, that are printed."""


def print_result(
    console: Terminal, dataset: str, counts: Mapping[str, int], funnel: Sequence[FunnelRow], seconds: Mapping[str, float]
) -> None:
    """Print the dataset's place, the sizes of its splits, the rules that dropped most, and the time."""
    from kgqa.runs.funnel import LOSES

    total = count_list(counts)
    console.say(f"{dataset}: {total}", style="bold")
    losses = sorted((row for row in funnel if row.what in LOSES and row.removed), key=lambda row: -(row.removed or 0))
    if losses:
        console.print("Main reasons for rejection:")
        for row in losses[:REASONS]:
            console.say(f"  {row.removed:>9,}  {plain(row.reason)}")
    slowest = sorted(seconds.items(), key=lambda entry: -entry[1])[:REASONS]
    console.say(f"Time: {sum(seconds.values()):,.0f} s, mostly " + ", ".join(f"{name} {part:,.0f}" for name, part in slowest))


def print_verdict(console: Terminal, verdict: Verdict, dataset: str) -> None:
    """Print the verdict in at most twelve lines of 80 columns; the card has all of it."""
    from shlex import quote

    for sentence in verdict.shortcuts:
        console.say(sentence)
    audit = f"kgqa audit {quote(dataset)}"
    if verdict.findings:
        console.say(f"The audit finds (details: {audit}):")
    else:
        console.say(f"The audit's checks without readers find nothing ({audit} writes a report).")
    _print_some(console, verdict.findings, "findings")
    _print_some(console, verdict.skews, "differences of splits")
    if verdict.limit_setting:
        first, *other_settings = verdict.limit_setting.split(", ")
        others = f" or {len(other_settings)} related settings" if other_settings else ""
        console.say(f"For more questions, change {first}{others}.")
    if verdict.purpose:
        console.say(verdict.purpose)


def _print_some(console: Terminal, sentences: Sequence[str], noun: str) -> None:
    for sentence in sentences[:SENTENCES]:
        console.say(f"  {sentence}")
    if len(sentences) > SENTENCES:
        console.say(f"  {len(sentences) - SENTENCES} more {noun} are on the card.")


def print_notes(console: Terminal, funnel: Iterable[FunnelRow]) -> None:
    """Print exceptions to the rules, and rules without data."""
    remarks = [f"{row.setting}: {row.reason}." for row in funnel if row.is_remark]
    for remark in remarks[:REMARKS]:
        console.say(remark, style="yellow")
    if len(remarks) > REMARKS:
        console.say(f"{len(remarks) - REMARKS} more notes of this kind are on the card.", style="yellow")


def print_changed(console: Terminal, files: Sequence[str]) -> None:
    """Print the input files that changed, so that stages run again."""
    if files:
        names = ", ".join(files[:5]) + (f" and {len(files) - 5:,} more" if len(files) > 5 else "")
        console.say(f"Changed since the last run in this workspace: {names}; the stages that depend on them run again.", style="yellow")


def print_tables(console: Terminal, funnel: Iterable[FunnelRow], seconds: Mapping[str, float], reused: Sequence[str], *tables: Any) -> None:
    """Print the tables of ``--verbose``: the funnel without empty rules, ``tables`` tables, seconds per stage."""
    from rich.table import Table

    from kgqa.runs.funnel import HEADER

    reasons = Table(*HEADER, title="What was dropped, and why")
    for row in funnel:
        if row.removed != 0:
            reasons.add_row(*row.cells)
    times = Table("stage", "seconds", title="Time")
    for stage, part in seconds.items():
        times.add_row(stage, f"{part:,.2f}" + (" (finished before)" if stage in reused else ""))
    console.print(reasons, *tables, times)


def plain(reason: str) -> str:
    """A rule without the settings in brackets, which the card names."""
    head, bracket, suffix = reason.rpartition(" (")
    return head if bracket and suffix.endswith(")") and "." in suffix and " " not in suffix.removesuffix(")") else reason
