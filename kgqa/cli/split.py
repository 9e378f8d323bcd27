"""The command ``kgqa split``: options and printed counts."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Option

from kgqa.cli.options import AnySet, From, Paragraphs, print_remarks
from kgqa.runs.funnel import count_list
from kgqa.settings.defaults import SEED, SPLIT_BY, SPLIT_SHARES


def split(
    dataset: AnySet,
    out: Annotated[Path, Option(help="New dataset folder.")],
    by: Annotated[
        str,
        Option(
            help="Properties that splits must not share, comma-separated: group, title, question, answer, paragraph, supporting-paragraph, "
            "hop, hop-answer, hop-entity."
        ),
    ] = SPLIT_BY,
    shares: Annotated[str, Option(help="Shares of train, dev and test; they add up to 1.")] = SPLIT_SHARES,
    cut: Annotated[bool, Option("--cut", help="If most questions are connected, drop as few as possible to keep the shares.")] = False,
    seed: Annotated[int, Option(help="Seed of the assignment.")] = SEED,
    from_: From = None,
    paragraphs: Paragraphs = None,
) -> None:
    """Split a question set into train, dev and test. The splits share none of the given properties."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.split(
            dataset, out=out, by=by, shares=shares, cut=cut, seed=seed, format=from_, paragraphs=paragraphs,
            progress=progress,
        )  # fmt: skip
    total = count_list(result.counts)
    size = f"{result.largest:,} question{'' if result.largest == 1 else 's'}"
    console.say(f"Groups of connected questions: {result.components:,}; the largest has {size}.")
    if cut:
        console.say(f"Dropped to keep the shares: {result.dropped:,}.")
    console.say(f"{result.dataset}: {total}", style="bold")
    if not cut and result.counts["train"] and 2 * result.largest > sum(result.counts.values()):
        console.say(
            "More than half of the questions are connected, so the shares differ from --shares; --cut drops some questions to keep them.",
            style="yellow",
        )
    if result.empty:
        console.say(
            f"Nothing is left for {' and '.join(result.empty)}: too many questions share a property, or there are too few questions.",
            style="yellow",
        )
    print_remarks(console, result.source.remarks)
    console.say(f"Next: kgqa train ee {quote(str(result.dataset))} --out RUN")
