"""What stands before routes that change something: only a page of this server may ask for it."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

READING = frozenset({"GET", "HEAD"})


class SameOrigin:
    """Refuses whatever is no reading unless it says that it comes from a page of this very server, which browsers say truly.

    A page elsewhere, or one of another port of this machine, may send a form here without asking; what it sends carries its own origin.
    Whoever is no browser, and says nothing, is refused as well.
    """

    def __init__(self, app: ASGIApp) -> None:
        """``app`` answers what is let through."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; its body is not read where it is refused."""
        headers = Headers(scope=scope)
        own = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}".lower()
        if scope["type"] == "http" and scope["method"] not in READING and headers.get("origin", "").lower() != own:
            sentence = "Only this page itself may change the table; open it, and use its keys."
            await JSONResponse({"error": {"status": 403, "sentence": sentence}}, status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
