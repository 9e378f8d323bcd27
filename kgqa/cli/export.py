"""``kgqa export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from kgqa.errors import SettingsError


def export(
    to: Annotated[str, Option(help="The format: qangaroo, or neo4j-import for the graph of a workspace.")],
    dataset: Annotated[
        Path | None, Argument(help="The dataset's folder, as kgqa-workspace/datasets/medhop; with neo4j-import, the new folder to write.")
    ] = None,
    out: Annotated[Path | None, Option(help="Folder for the files; existing ones are not replaced.")] = None,
    workspace: Annotated[Path | None, Option(help="The workspace whose graph neo4j-import writes; kgqa-workspace by default.")] = None,
) -> None:
    """Write a finished dataset in a paper's own format, or the graph as files for neo4j-admin database import."""
    import kgqa

    if to == "neo4j-import":
        _export_graph(dataset, out, workspace)
        return
    if out is None:
        raise SettingsError("give the folder for the files: --out DIR.")
    from rich.filesize import decimal

    for path in kgqa.export(dataset, to=to, out=out, workspace=workspace):
        typer.echo(f"{path}: {decimal(path.stat().st_size)}")
    from kgqa.formats import qangaroo

    typer.echo(f"This format has no place for: {', '.join(qangaroo.NOT_HELD)}. They stay in {dataset}.")


def _export_graph(given: Path | None, out: Path | None, workspace: Path | None) -> None:
    from rich.filesize import decimal

    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal
    from kgqa.store.neo4j import import_files as neo4j_import

    if (given is None) == (out is None):
        raise SettingsError("give one new folder for the files: kgqa export --to neo4j-import DIR.")
    folder = given or out or Path()
    with ConsoleProgress(Terminal()) as progress:
        files = kgqa.export(to="neo4j-import", out=folder, workspace=workspace, progress=progress)
    for path in files:
        typer.echo(f"{path}: {decimal(path.stat().st_size)}")
    typer.echo(f"\n{(folder / neo4j_import.README).read_text('utf-8')}\nThis is also in {folder / neo4j_import.README}.")
