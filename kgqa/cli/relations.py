"""The command ``kgqa relations``: options and printed table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kgqa.cli.options import AnyDomain, Cluster, RunWorkspace, Source, Workers, print_if_seed
from kgqa.settings.defaults import RELATIONS_SORT, SEED, WORKSPACE

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.relations import Relations

SHOWN = {
    "objects_per_subject": "objects", "subjects_per_object": "subjects", "text_lift": "lift", "reached": "reached", "implied": "implied",
    "kept": "kept",
}  # fmt: skip
"""Figure → the head of its column on the terminal; the file has all of them."""
MEANING = (
    "objects: of a subject; subjects: of an object; lift: how many times more often than by chance a co-mentioned pair is a fact; "
    "reached, implied, kept: samples."
)


def relations(
    domain: AnyDomain,
    source: Source = None,
    workspace: RunWorkspace = WORKSPACE,
    seed: Annotated[int, Option(help="Seed, as for kgqa generate.")] = SEED,
    recipe: Annotated[str | None, Option(help="Variant of the domain, as for kgqa generate.")] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    sort: Annotated[
        str, Option(help="Column of the output file to sort by: facts, text_lift, share_implied, kept, verdict, …")
    ] = RELATIONS_SORT,
    out: Annotated[Path | None, Option(help="New tab-separated file for the table.")] = None,
) -> None:
    """Measure the relations of a domain. Shows which become questions and why others do not."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.relations(
            domain, source=source, workspace=workspace, seed=seed, recipe=recipe, workers=workers, cluster=cluster, sort=sort, out=out,
            progress=progress,
        )  # fmt: skip
    _print(console, result)
    if out is not None:
        console.say(f"Written: {out}")


def _print(console: Terminal, result: Relations) -> None:
    from collections import Counter
    from string import ascii_lowercase

    from rich import box
    from rich.table import Column, Table

    from kgqa.cli.printable import printable
    from kgqa.recipes.qangaroo.relation_figures import ASKED, figure_text

    counts = Counter(relation.verdict for relation in result.relations)
    # A sentence in each row would leave no room for figures, so rows have letters with a legend.
    out = dict(zip((verdict for verdict, _ in counts.most_common() if verdict != ASKED), ascii_lowercase, strict=False))
    numbers = (Column(head, justify="right", no_wrap=True) for head in SHOWN.values())
    table = Table(
        Column("relation", overflow="fold", min_width=16), *numbers, "out", title=f"Relations of {result.domain}", box=box.SIMPLE_HEAD
    )
    for relation in result.relations:
        table.add_row(printable(relation.label), *(figure_text(getattr(relation, name)) for name in SHOWN), out.get(relation.verdict, ""))
    console.print(table)
    console.say(MEANING, style="dim")
    console.say(f"{counts[ASKED]:,} of {len(result.relations):,} relations become questions.", style="bold")
    for verdict, letter in out.items():
        console.say(f"{letter}: {counts[verdict]:,} not, because {verdict}.")
    print_if_seed(console, result.is_seed)
    if result.remark:
        console.say(result.remark, style="yellow")
