"""``kgqa explore``: the page served on this machine, and on this machine only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kgqa.settings.defaults import PORT, STORE, WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.web.serving import check_installed, listening, serve


def explore(
    workspace: str | Path = WORKSPACE,
    *,
    store: str = STORE,
    neo4j: Neo4jSettings | None = None,
    port: int = PORT,
    ready: Callable[[str], object] = lambda address: None,
) -> None:
    """Show ``workspace`` at http://127.0.0.1:PORT until the user stops it; ``port`` 0 takes a free one, ``ready`` is told the address.

    The call returns by the KeyboardInterrupt with which it is stopped. ``neo4j`` says where the server of the store of that name is.
    Raises SettingsError for a port that cannot be had or packages that are missing, and what opening the graph raises.
    """
    check_installed("explore")
    from kgqa.web.explore.app import create_app
    from kgqa.web.explore.project import open_project

    with listening(port) as taken:
        project = open_project(workspace, store=store, neo4j=neo4j)
        try:
            serve(create_app(project), taken, ready=ready)
        finally:
            project.close()
