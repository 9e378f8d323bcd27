"""A page served on this machine, and on this machine only."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from kgqa.errors import SettingsError, require_packages

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ADDRESS = "127.0.0.1"
HEAD_BYTES = 1 << 20
"""Maximum bytes of a request's address and headers: a query of 20,000 characters in any script, its parameters, and the referring address.
"""
NEEDED = ("fastapi", "jinja2", "uvicorn")


def serve(app: ASGIApp, listener: socket.socket, *, ready: Callable[[str], object]) -> None:
    """Answer requests on the socket until stopped. ``ready`` gets the address as soon as the server answers and can be stopped.

    Ends by KeyboardInterrupt.
    """
    import uvicorn

    class Telling(uvicorn.Server):
        """A server that reports its address after startup. A signal before that would leave it half started."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            ready(f"http://{ADDRESS}:{listener.getsockname()[1]}/")

    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", server_header=False, ws="none", timeout_graceful_shutdown=1,
        http="h11", h11_max_incomplete_event_size=HEAD_BYTES,
    )  # fmt: skip
    logging.getLogger("uvicorn.error").addFilter(_is_fault)
    Telling(config).run(sockets=[listener])


def _is_fault(entry: logging.LogRecord) -> bool:
    """False for the answer to a request whose body is no HTTP: the server has refused that request by itself."""
    import h11

    return not (entry.exc_info and isinstance(entry.exc_info[1], h11.LocalProtocolError))


def check_installed(command: str) -> None:
    """Raise SettingsError with the command that installs the missing packages."""
    require_packages(f"kgqa {command}", command, *NEEDED)


def listening(port: int) -> socket.socket:
    """A socket that listens on ``port`` of this machine only; raises SettingsError where it cannot be had."""
    if not 0 <= port <= 65535:
        raise SettingsError(f"port {port} is not between 0 and 65535; choose another --port.")
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"port {port} of {ADDRESS} cannot be used ({error.strerror}); give another --port, or 0 for a free one."
        ) from None
    return listener
