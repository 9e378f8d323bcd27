"""``kgqa explore``: serve the page on this machine only."""

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
    """Serve ``workspace`` at http://127.0.0.1:PORT until the user stops it; ``port`` 0 takes a free one, and ``ready`` gets the address.

    Returns after a KeyboardInterrupt. ``neo4j`` is the server of that store. Raises SettingsError for an unusable port or missing packages,
    and the errors of opening the graph.
    """
    check_installed("explore")
    from kgqa.web.explore.app import create_app
    from kgqa.web.explore.project import open_project

    with listening(port) as listener:
        project = open_project(workspace, store=store, neo4j=neo4j)
        try:
            serve(create_app(project), listener, ready=ready)
        finally:
            project.close()
