"""The command ``kgqa publish``: options, and the list of what is published."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.publish import Publication


def publish(
    dataset: Annotated[str, Argument(help="Folder of a finished dataset, or its s3:// or gs:// URL.")],
    to: Annotated[
        str, Option(help="hub:OWNER/NAME, with the token HF_TOKEN of the environment; s3://BUCKET/PREFIX or gs://…; or a new folder.")
    ],
    public: Annotated[
        bool, Option("--public", help="Make the dataset public; by default only the owner and the owner's team see it.")
    ] = False,
    replace: Annotated[
        bool, Option("--replace", help="With s3:// or gs://: replace the files of another dataset that kgqa published there.")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="List the files, their sizes and what would change; write nothing.")] = False,
) -> None:
    """Publish a dataset on the Hugging Face hub. Or write it to an object store, or to a folder to publish elsewhere."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    with console.progress() as progress:
        result = kgqa.publish(dataset, to=to, public=public, replace=replace, dry_run=dry_run, progress=progress)
    _print(console, result)


def _print(console: Terminal, result: Publication) -> None:
    from rich.filesize import decimal
    from rich.table import Table

    table = Table("file", "size", "")
    for name, size in result.files.items():
        table.add_row(name, decimal(size), result.changes[name])
    console.print(table)
    if result.kept:
        console.say(f"There already, and kept: {', '.join(result.kept)}", style="yellow")
    if result.left_out:
        console.say(f"Not published, because kgqa did not write it: {', '.join(result.left_out)}", style="yellow")
    visibility = "" if result.repository is None else ", private" if result.is_private else ", public"
    total = decimal(sum(result.files.values()))
    if result.is_dry:
        state = "new" if result.is_new else "there already"
        console.say(f"Nothing was written. {result.place} ({state}{visibility}): {len(result.files)} files, {total}")
        return
    console.say(f"{result.place}{visibility}: {len(result.files)} files, {total}", style="bold")
    if "://" in result.place and result.repository is None:
        console.say(f"To read it: kgqa show {quote(result.place)}")
        return
    name = result.repository or quote(result.place)
    console.say(f"To load it: python -c 'from datasets import load_dataset; print(load_dataset(\"{name}\"))'")
