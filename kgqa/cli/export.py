"""``kgqa export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def export(
    dataset: Annotated[Path, Argument(help="The dataset's folder, as kgqa-workspace/datasets/medhop.")],
    to: Annotated[str, Option(help="The format: qangaroo.")],
    out: Annotated[Path, Option(help="Folder for the files; existing ones are not replaced.")],
) -> None:
    """Write a finished dataset in a paper's own format."""
    import kgqa
    from kgqa.formats import qangaroo

    for path in kgqa.export(dataset, to=to, out=out):
        typer.echo(f"{path}: {path.stat().st_size / 1e6:,.1f} MB")
    typer.echo(f"This format has no place for: {', '.join(qangaroo.NOT_HELD)}. They stay in {dataset}.")
