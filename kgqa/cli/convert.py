"""The command ``kgqa convert``: options and printed losses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kgqa.cli.options import Lossy, Paragraphs, Strict, print_remarks
from kgqa.runs.funnel import count_list

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.convert import Conversion


def convert(
    dataset: Annotated[str, Argument(help="A file or folder in any known format, hf://owner/name, or s3:// or gs://.")],
    to: Annotated[str, Option(help="Output format; any unknown name lists all formats.")],
    out: Annotated[
        Path, Option(help="New output folder, or a new file if there is only one split and the name has the format's extension.")
    ],
    from_: Annotated[str | None, Option("--from", help="Input format; detected by default.")] = None,
    paragraphs: Paragraphs = None,
    strict: Strict = False,
    lossy: Lossy = False,
) -> None:
    """Convert a question set to another format. Reports what the format cannot represent."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.convert(dataset, to=to, out=out, format=from_, paragraphs=paragraphs, strict=strict, lossy=lossy, progress=progress)
    _print(console, result)
    print_remarks(console, result.source.remarks)


def _print(console: Terminal, result: Conversion) -> None:
    from rich.filesize import decimal
    from rich.table import Table

    from kgqa.formats.round_trip import MORE

    how = "recognised" if result.source.recognised else "as named"
    sizes = count_list(result.counts)
    console.say(f"From {result.source.format} ({how}) to {result.to}: {sizes}")
    total = sum(result.counts.values())
    if result.gold:
        table = Table("gold", "questions", title=f"Gold annotations that {result.to} cannot represent")
        for part, count in result.gold.items():
            table.add_row(part, f"{count:,} of {total:,}")
        console.print(table)
    if result.changed:
        table = Table("part", "questions", title=f"Questions that change when read back from {result.to}")
        for part, count in result.changed.items():
            table.add_row(part, f"{count:,}" if part == MORE else f"{count:,} of {total:,}")
        console.print(table)
    else:
        console.print("Read back, every question is unchanged.")
    for path in result.files:
        console.say(f"{path}: {decimal(path.stat().st_size)}")
