"""``kgqa convert``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kgqa.cli.options import Lossy, Paragraphs, Strict, print_remarks

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.convert import Conversion


def convert(
    dataset: Annotated[str, Argument(help="A file or folder of any known format, or hf://owner/name.")],
    to: Annotated[str, Option(help="The format to write; an unknown one lists them all.")],
    out: Annotated[Path, Option(help="The new folder; a file where there is one split and the name ends as that format's files do.")],
    from_: Annotated[str | None, Option("--from", help="The format to read; recognised where it is not named.")] = None,
    paragraphs: Paragraphs = None,
    strict: Strict = False,
    lossy: Lossy = False,
) -> None:
    """Write a question set in another format, and say what that format could not hold."""
    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with ConsoleProgress(console) as progress:
        done = kgqa.convert(dataset, to=to, out=out, format=from_, paragraphs=paragraphs, strict=strict, lossy=lossy, progress=progress)
    _print(console, done)
    print_remarks(console, done.source.remarks)


def _print(console: Terminal, done: Conversion) -> None:
    from rich.filesize import decimal
    from rich.table import Table

    from kgqa.formats.round_trip import MORE

    how = "recognised" if done.source.recognised else "as named"
    sizes = ", ".join(f"{split} {count:,}" for split, count in done.counts.items())
    console.say(f"From {done.source.format} ({how}) to {done.to}: {sizes}")
    total = sum(done.counts.values())
    if done.gold:
        table = Table("gold", "questions", title=f"Gold that {done.to} does not hold")
        for part, count in done.gold.items():
            table.add_row(part, f"{count:,} of {total:,}")
        console.print(table)
    if done.changed:
        table = Table("part", "questions", title=f"Read again from {done.to}, not as it was")
        for part, count in done.changed.items():
            table.add_row(part, f"{count:,}" if part == MORE else f"{count:,} of {total:,}")
        console.print(table)
    else:
        console.print("Read again, every question is as it was.")
    for path in done.files:
        console.say(f"{path}: {decimal(path.stat().st_size)}")
