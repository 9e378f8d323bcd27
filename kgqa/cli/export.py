"""``kgqa export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from kgqa.cli.options import Lossy, Neo4jDatabase, Neo4jUri, Neo4jUser, Store, server
from kgqa.errors import SettingsError
from kgqa.settings.defaults import GRAPH_HOPS, GRAPH_LIMIT, STORE


def export(
    to: Annotated[str, Option(help="The format: qangaroo or musique for a dataset; graphml or neo4j for the graph of a workspace.")],
    what: Annotated[
        Path | None,
        Argument(
            metavar="[DATASET|OUT]",
            help="The dataset's folder, as kgqa-workspace/datasets/medhop; of a graph the new file (graphml) or folder (neo4j) to write.",
        ),
    ] = None,
    out: Annotated[Path | None, Option(help="Where to write; existing files are not replaced.")] = None,
    workspace: Annotated[Path | None, Option(help="The workspace whose graph is written; kgqa-workspace by default.")] = None,
    dataset: Annotated[
        list[Path] | None,
        Option(help="Also write the samples of this dataset: its folder, or its name in the workspace. Several may be given."),
    ] = None,
    rejected: Annotated[bool, Option("--rejected", help="With --dataset: also the questions that became no samples of it.")] = False,
    entity: Annotated[str | None, Option(help="With graphml: what lies around this entity, an id or a name.")] = None,
    document: Annotated[str | None, Option(help="With graphml: what lies around this document, an id or a title.")] = None,
    sample: Annotated[str | None, Option(help="With graphml: the sample with this id and its chains.")] = None,
    hops: Annotated[
        int | None, Option(help=f"How many relationships lead from there to the farthest nodes; {GRAPH_HOPS} by default.")
    ] = None,
    limit: Annotated[int | None, Option(help=f"How many of a kind are followed from a node; {GRAPH_LIMIT} by default.")] = None,
    store: Store = STORE,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
    lossy: Lossy = False,
) -> None:
    """Write a finished dataset in a paper's own format, or a graph as GraphML or as files for neo4j-admin database import."""
    from rich.filesize import decimal

    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.export import GRAPH_FORMATS, known_format
    from kgqa.formats import qangaroo
    from kgqa.store.neo4j import import_files

    to = known_format(to)
    datasets = [*(dataset or ())]
    if to in GRAPH_FORMATS:
        if (what is None) == (out is None):
            raise SettingsError(f"give one new {'file' if to == 'graphml' else 'folder for the files'}: kgqa export --to {to} OUT.")
        out = out or what
    elif what is not None:
        datasets = [what, *datasets]
    if out is None:
        raise SettingsError("give the folder for the files: --out DIR.")
    settings = server(store, neo4j_uri, neo4j_user, neo4j_database)
    with ConsoleProgress(Terminal()) as progress:
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
