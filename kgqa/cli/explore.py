"""The command ``kgqa explore``: options and address of the page."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from kgqa.cli.options import Neo4jDatabase, Neo4jUri, Neo4jUser, Store, server
from kgqa.settings.defaults import PORT, STORE, WORKSPACE


def explore(
    workspace: Annotated[str, Option(help="Workspace (folder or URL) with the graph and datasets.")] = WORKSPACE,
    port: Annotated[int, Option(help="Local port; 0: any free port.")] = PORT,
    store: Store = STORE,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
) -> None:
    """Browse a graph and its datasets on local web pages."""
    import kgqa

    neo4j = server(store, neo4j_uri, neo4j_user, neo4j_database)

    def ready(address: str) -> None:
        typer.echo(f"{address} shows {workspace if store == 'embedded' else 'the graph in Neo4j'}; press Ctrl-C to stop.")

    kgqa.explore(workspace, store=store, neo4j=neo4j, port=port, ready=ready)
