"""``kgqa explore``: the page served on this machine, and on this machine only."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from kgqa.errors import SettingsError
from kgqa.generation import DEFAULT_WORKSPACE
from kgqa.store.neo4j import Neo4jSettings

ADDRESS = "127.0.0.1"
PORT = 8484
NEEDED = ("fastapi", "jinja2", "uvicorn")


def explore(
    workspace: str | Path = DEFAULT_WORKSPACE,
    *,
    store: str = "embedded",
    neo4j: Neo4jSettings | None = None,
    port: int = PORT,
    ready: Callable[[str], object] = lambda address: None,
) -> None:
    """Show ``workspace`` at http://127.0.0.1:PORT until the user stops it; ``port`` 0 takes a free one, ``ready`` is told the address.

    The call returns by the KeyboardInterrupt with which it is stopped. ``neo4j`` says where the server of the store of that name is.
    Raises SettingsError for a port that cannot be had or packages that are missing, and what opening the graph raises.
    """
    check_installed()
    import uvicorn

    from kgqa.web.explore.app import create_app
    from kgqa.web.explore.project import open_project

    with listening(port) as taken:
        project = open_project(workspace, store=store, neo4j=neo4j)
        try:
            config = uvicorn.Config(
                create_app(project),
                log_level="error",
                access_log=False,
                lifespan="off",
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=1,
            )
            ready(f"http://{ADDRESS}:{taken.getsockname()[1]}/")
            uvicorn.Server(config).run(sockets=[taken])
        finally:
            project.close()


def check_installed() -> None:
    """Raise SettingsError with the line that installs what is missing."""
    for name in NEEDED:
        try:
            import_module(name)
        except ImportError:
            raise SettingsError(f"kgqa explore needs {name}, which is not installed; run: pip install 'kgqa[explore]'") from None


def listening(port: int) -> socket.socket:
    """A socket that listens on ``port`` of this machine only; raises SettingsError where it cannot be had."""
    if not 0 <= port <= 65535:
        raise SettingsError(f"port {port} is not between 0 and 65535; give another --port.")
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((ADDRESS, port))
        taken.listen()
    except OSError as error:
        taken.close()
        raise SettingsError(
            f"port {port} of {ADDRESS} cannot be used ({error.strerror}); give another --port, or 0 for a free one."
        ) from None
    return taken
