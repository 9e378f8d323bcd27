"""The command ``kgqa export``: options and list of written files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from kgqa.cli.options import Lossy, Neo4jDatabase, Neo4jUri, Neo4jUser, Store, server
from kgqa.errors import SettingsError
from kgqa.settings.defaults import GRAPH_HOPS, GRAPH_LIMIT, STORE


def export(
    to: Annotated[str, Option(help="Output format: qangaroo or musique for a dataset; graphml or neo4j for the graph of a workspace.")],
    what: Annotated[
        str | None,
        Argument(
            metavar="[DATASET|OUT]",
            help="Dataset folder, such as kgqa-workspace/datasets/medhop, or its URL; for a graph: the new file (graphml) or folder "
            "(neo4j).",
        ),
    ] = None,
    out: Annotated[Path | None, Option(help="New output folder; existing files are not replaced.")] = None,
    workspace: Annotated[str | None, Option(help="Workspace (folder or URL) with the graph; by default kgqa-workspace.")] = None,
    dataset: Annotated[
        list[str] | None,
        Option(help="Add the samples of this dataset: a folder, a URL, or a name in the workspace; repeatable."),
    ] = None,
    rejected: Annotated[bool, Option("--rejected", help="With --dataset: add its rejected questions.")] = False,
    entity: Annotated[str | None, Option(help="With graphml: the neighbourhood of this entity, an id or name.")] = None,
    document: Annotated[str | None, Option(help="With graphml: the neighbourhood of this document, an id or title.")] = None,
    sample: Annotated[str | None, Option(help="With graphml: the sample with this id, and its chains.")] = None,
    hops: Annotated[int | None, Option(help=f"Radius of the neighbourhood in relationships; by default {GRAPH_HOPS}.")] = None,
    limit: Annotated[int | None, Option(help=f"Maximum relationships of a kind per node; by default {GRAPH_LIMIT}.")] = None,
    store: Store = STORE,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
    lossy: Lossy = False,
) -> None:
    """Export a dataset or a graph. A dataset is written in its paper's format, a graph as GraphML or for neo4j-admin database import."""
    from rich.filesize import decimal

    import kgqa
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.export import GRAPH_FORMATS, known_format
    from kgqa.formats import qangaroo
    from kgqa.store.neo4j import import_files

    to = known_format(to)
    datasets: list[str | Path] = [*(dataset or ())]
    if to in GRAPH_FORMATS:
        if (what is None) == (out is None):
            raise SettingsError(f"give one new {'file' if to == 'graphml' else 'folder for the files'}: kgqa export --to {to} OUT.")
        out = out or (None if what is None else Path(what))
    elif what is not None:
        datasets = [what, *datasets]
    if out is None:
        raise SettingsError("give the folder for the files: --out DIR.")
    settings = server(store, neo4j_uri, neo4j_user, neo4j_database)
    with Terminal().progress() as progress:
        files = kgqa.export(
            datasets or None, to=to, out=out, workspace=workspace, rejected=rejected, entity=entity, document=document, sample=sample,
            hops=hops, limit=limit, store=store, neo4j=settings, lossy=lossy, progress=progress,
        )  # fmt: skip
    for path in files:
        typer.echo(f"{path}: {decimal(path.stat().st_size)}")
    if to == "neo4j":
        readme = out / import_files.README
        typer.echo(f"\n{readme.read_text('utf-8')}\nThis is also in {readme}.")
    elif to == "graphml":
        typer.echo("For Gephi, yEd, igraph, and networkx.read_graphml(FILE, force_multigraph=True).")
    elif to == "qangaroo":
        typer.echo(f"This format has no place for: {', '.join(qangaroo.NOT_HELD)}. They stay in {datasets[0]}.")
