"""The command ``kgqa load``: options and printed counts."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer
from typer import Option

from kgqa.cli.options import Neo4jDatabase, Neo4jUri, Neo4jUser, Store, server
from kgqa.runs.funnel import count_list
from kgqa.settings.defaults import WORKSPACE


def load(
    store: Store = "neo4j",
    workspace: Annotated[str, Option(help="Workspace (folder or URL) with the graph.")] = WORKSPACE,
    dataset: Annotated[str | None, Option(help="Add the samples of this dataset: a folder, a URL, or a name in the workspace.")] = None,
    rejected: Annotated[bool, Option("--rejected", help="With --dataset: add its rejected questions.")] = False,
    replace: Annotated[bool, Option("--replace", help="Replace a different graph that kgqa loaded before.")] = False,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
) -> None:
    """Load the graph of a workspace into a Neo4j server. An interrupted load resumes."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    settings = server(store, neo4j_uri, neo4j_user, neo4j_database)
    with Terminal().progress() as progress:
        result = kgqa.load(workspace, store=store, dataset=dataset, rejected=rejected, replace=replace, neo4j=settings, progress=progress)
    rows = count_list(result.rows)
    typer.echo(f"{result.place} holds the graph{' (it was there already)' if result.already else ''}: {rows}")
    if result.samples is not None:
        samples_note = " (they were there already)" if result.samples_already else ""
        rejected_note = "" if result.rejected is None else f" and {result.rejected:,} rejected questions"
        typer.echo(f"and {result.samples:,} samples{rejected_note} of {result.dataset}{samples_note}.")
    typer.echo(
        f"Next: kgqa query hubs --store {store}"
        + (", or Neo4j Browser (docs/neo4j.md)" if store == "neo4j" else f" --workspace {quote(str(workspace))}")
    )
