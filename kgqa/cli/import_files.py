"""The command ``kgqa import``: options, printed counts and reasons."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from kgqa.cli.options import Cluster
from kgqa.runs.funnel import count_list

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.runs.importing import Imported

REASONS = 12
"""Reasons that are printed; ``import.json`` has all of them."""


def _list(is_set: bool) -> None:
    if not is_set:
        return
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    for name, files in kgqa.list_formats().items():
        console.say(f"{name}: {files}", style="bold")
        for option, (default, meaning) in kgqa.format_options(name).items():
            console.print(f"  {option} = {default}: {meaning}", markup=False)
    raise Exit


def import_files(
    format: Annotated[str, Argument(help="Format of the files (see --list).")],  # noqa: A002 - what it is called everywhere
    files: Annotated[
        list[str], Argument(help="Files in this format, or their s3:// or gs:// URLs; plain, or compressed with gzip, bzip2 or xz.")
    ],
    out: Annotated[Path, Option(help="Folder for the tables; the files are added to an existing import in it.")],
    option: Annotated[
        list[str] | None, Option("--option", "-o", help="An option of the format, as name=value (see --list); repeatable.")
    ] = None,
    licence: Annotated[str | None, Option(help="Licence of the files, for the dataset card; by default the publisher's.")] = None,
    attribution: Annotated[str | None, Option(help="A sentence about the files, for the dataset card.")] = None,
    partial: Annotated[bool, Option("--partial", help="Read a truncated file up to its last complete record.")] = False,
    workers: Annotated[int | None, Option(help="Number of processes, by default one per core. The result does not depend on it.")] = None,
    cluster: Cluster = None,
    list_: Annotated[bool, Option("--list", callback=_list, is_eager=True, help="List the formats with their options and exit.")] = False,
) -> None:
    """Import dumps and other files in public formats. An interrupted import resumes."""
    import kgqa
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.import_files import read_options
    from kgqa.sources.registry import find_format

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.import_files(
            format, files, out=out, options=read_options(format, option or []), licence=licence, attribution=attribution,
            partial=partial, workers=workers, cluster=cluster, progress=progress,
        )  # fmt: skip
    _print(console, result, find_format(format).domain)


def _print(console: Terminal, result: Imported, domain: str) -> None:
    rows = count_list(result.rows)
    console.say(f"{result.folder}: {rows}", style="bold")
    for note in result.notes:
        console.say(note, style="yellow")
    if result.skipped:
        console.print("Left out:")
        for row in sorted(result.skipped, key=lambda row: -row["count"])[:REASONS]:
            where = f" ({row['file']}, first {row['example']})" if row["file"] else ""
            console.say(f"  {row['count']:>11,}  {row['reason']}{where}")
        if len(result.skipped) > REASONS:
            console.say(f"  … {len(result.skipped) - REASONS} more reasons in {result.folder / 'import.json'}")
    missing = [name for name in ("entities", "facts", "documents") if not result.rows[name]]
    if missing:
        console.say(f"No {' and no '.join(missing)} so far: import files that have them into the same folder.")
    else:
        console.say(f"Next: kgqa generate --domain {domain} --source {quote(str(result.folder))}")
