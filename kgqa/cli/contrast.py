"""The command ``kgqa contrast``: options and printed result."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kgqa.cli.options import AnySet, Cluster, From, Paragraphs, Strict, print_remarks
from kgqa.settings.defaults import DRAWS_SEED

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.contrast import Contrast


def contrast(
    kind: Annotated[
        str,
        Argument(
            help="probe, sufficiency, probe-of-sufficiency, trivial, adversarial, unanswerable; from the WikiHop paper: gold-chain "
            "(only paragraphs on chains to the answer), document-removal (only paragraphs that mention a candidate)."
        ),
    ],
    dataset: AnySet,
    out: Annotated[Path, Option(help="New dataset folder.")],
    level: Annotated[str | None, Option(help="Unit of a supporting fact: paragraph (the default) or sentence.")] = None,
    inoculation: Annotated[int, Option(help="Percentage of the groups to move to the train split for inoculation: 0, 1 or 5.")] = 0,
    seed: Annotated[int, Option(help="Seed of removals and replacements; unused by probe, gold-chain and document-removal.")] = DRAWS_SEED,
    max_facts: Annotated[
        int | None,
        Option(help="Maximum supporting facts of a question; others are left out. n facts give 2^n - 1 instances. By default 6."),
    ] = None,
    from_: From = None,
    paragraphs: Paragraphs = None,
    strict: Strict = False,
    cluster: Cluster = None,
) -> None:
    """Transform a question set into a contrast set. It tests whether a system connects facts, or abstains if facts are missing."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.contrast(
            kind, dataset, out=out, level=level, seed=seed, inoculation=inoculation, max_facts=max_facts, format=from_,
            paragraphs=paragraphs, strict=strict, cluster=cluster, progress=progress,
        )  # fmt: skip
    _print(console, result)
    print_remarks(console, result.source.remarks)


def _print(console: Terminal, result: Contrast) -> None:
    from rich.table import Table

    from kgqa.runs.funnel import HEADER
    from kgqa.scoring.default_metric import has_metric

    funnel = Table(*HEADER, title="What was left out, and why")
    for row in result.funnel:
        funnel.add_row(*row.cells)
    console.print(funnel)
    total = ", ".join(f"{split} {count:,} of {result.groups[split]:,} groups" for split, count in result.counts.items())
    console.say(f"{result.dataset}: {total}", style="bold")
    place = quote(str(result.dataset))
    console.say(f"Next: kgqa show {place}")
    if has_metric(result.dataset):
        console.say(f"      kgqa evaluate {place} PREDICTIONS")
