"""``kgqa relations``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

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
    "objects: of a subject; subjects: of an object; lift: how many times oftener than by chance a pair that texts name together is a fact; "
    "reached, implied, kept: samples."
)


def relations(
    domain: Annotated[str, Argument(help="wikidata, medline, or the path of your own domain's TOML file.")],
    source: Annotated[
        Path | None, Option(help="Folder with the domain's files; a built-in domain without it is the small one that kgqa ships.")
    ] = None,
    workspace: Annotated[Path, Option(help="Folder for tables, graph and datasets; what is finished there is not done again.")] = WORKSPACE,
    seed: Annotated[int, Option(help="Draws splits and samples, as for kgqa generate.")] = SEED,
    recipe: Annotated[str | None, Option(help="A variant of the domain, as for kgqa generate.")] = None,
    workers: Annotated[int | None, Option(help="Threads, by default one for each core; the result does not depend on them.")] = None,
    sort: Annotated[str, Option(help="A column of the file: facts, text_lift, share_implied, kept, verdict and so on.")] = RELATIONS_SORT,
    out: Annotated[Path | None, Option(help="Write the table to this new file, tab-separated.")] = None,
) -> None:
    """Measure a domain's relations, and say which are asked about and what keeps the others out."""
    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with ConsoleProgress(console) as progress:
        found = kgqa.relations(
            domain, source=source, workspace=workspace, seed=seed, recipe=recipe, workers=workers, sort=sort, out=out, progress=progress
        )
    _print(console, found)
    if out is not None:
        console.say(f"Written: {out}")


def _print(console: Terminal, found: Relations) -> None:
    from collections import Counter
    from string import ascii_lowercase

    from rich import box
    from rich.table import Column, Table

    from kgqa.cli.printable import printable
    from kgqa.recipes.qangaroo.relation_figures import ASKED, shown

    counts = Counter(one.verdict for one in found.relations)
    # A sentence in each row would leave no room for figures; the letters are explained below.
    out = dict(zip((verdict for verdict, _ in counts.most_common() if verdict != ASKED), ascii_lowercase, strict=False))
    numbers = (Column(head, justify="right", no_wrap=True) for head in SHOWN.values())
    table = Table(
        Column("relation", overflow="fold", min_width=16), *numbers, "out", title=f"Relations of {found.domain}", box=box.SIMPLE_HEAD
    )
    for one in found.relations:
        table.add_row(printable(one.label), *(shown(getattr(one, name)) for name in SHOWN), out.get(one.verdict, ""))
    console.print(table)
    console.say(MEANING, style="dim")
    console.say(f"{counts[ASKED]:,} of {len(found.relations):,} relations are asked about.", style="bold")
    for verdict, letter in out.items():
        console.say(f"{letter}: {counts[verdict]:,} not, because {verdict}.")
    if found.is_seed:
        console.print("No --source given: using the small domain that kgqa ships.", style="yellow")
    if found.remark:
        console.say(found.remark, style="yellow")
