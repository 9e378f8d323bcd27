"""What stands before routes that change something: only a page of this server may ask for it."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

OWN = frozenset({"", "same-origin", "none"})
"""What browsers say of a request that comes from this page, or from the address line or a bookmark; other programs say nothing."""
NOT_RUN = "This link comes from another site, so the query was not run; read it, then press Run."
READING = frozenset({"GET", "HEAD"})


def is_own(request: Request) -> bool:
    """Whether somebody here asks: a page elsewhere cannot read an answer, but it could keep this machine busy with queries."""
    origin = request.headers.get("origin", "").lower()
    return request.headers.get("sec-fetch-site", "") in OWN and origin in {"", _own_origin(request.scope)}


def _own_origin(scope: Scope) -> str:
    """The origin of this very server, as the request has it."""
    return f"{scope.get('scheme', 'http')}://{Headers(scope=scope).get('host', '')}".lower()


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
        if scope["type"] == "http" and scope["method"] not in READING and headers.get("origin", "").lower() != _own_origin(scope):
            sentence = "Only this page itself may change the table; open it, and use its keys."
            await JSONResponse({"error": {"status": 403, "sentence": sentence}}, status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
