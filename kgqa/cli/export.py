"""``kgqa export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from kgqa.errors import SettingsError


def export(
    to: Annotated[str, Option(help="The format: qangaroo, musique, or neo4j-import for the graph of a workspace.")],
    dataset: Annotated[
        Path | None, Argument(help="The dataset's folder, as kgqa-workspace/datasets/medhop; with neo4j-import, the new folder to write.")
    ] = None,
    out: Annotated[Path | None, Option(help="Folder for the files; existing ones are not replaced.")] = None,
    workspace: Annotated[Path | None, Option(help="The workspace whose graph neo4j-import writes; kgqa-workspace by default.")] = None,
) -> None:
    """Write a finished dataset in a paper's own format, or the graph as files for neo4j-admin database import."""
    from rich.filesize import decimal

    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal
    from kgqa.formats import qangaroo
    from kgqa.store.neo4j import import_files

    of_graph = to == "neo4j-import"
    if of_graph:
        if (dataset is None) == (out is None):
            raise SettingsError("give one new folder for the files: kgqa export --to neo4j-import DIR.")
        dataset, out = None, out or dataset
    if out is None:
        raise SettingsError("give the folder for the files: --out DIR.")
    with ConsoleProgress(Terminal()) as progress:
        files = kgqa.export(dataset, to=to, out=out, workspace=workspace, progress=progress)
    for path in files:
        typer.echo(f"{path}: {decimal(path.stat().st_size)}")
    if of_graph:
        readme = out / import_files.README
        typer.echo(f"\n{readme.read_text('utf-8')}\nThis is also in {readme}.")
    elif to == "qangaroo":
        typer.echo(f"This format has no place for: {', '.join(qangaroo.NOT_HELD)}. They stay in {dataset}.")
