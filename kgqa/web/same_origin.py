"""Middleware for routes that change data: only this server's pages may use them."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

OWN = frozenset({"", "same-origin", "none"})
"""``Sec-Fetch-Site`` of requests from this page, the address line or a bookmark. Other programs do not send it."""
NOT_RUN = "This link comes from another site, so the query was not run; read it, then press Run."
READING = frozenset({"GET", "HEAD"})


def is_own(request: Request) -> bool:
    """Whether the request comes from this page. Another site cannot read the response, but could keep this machine busy with queries."""
    origin = request.headers.get("origin", "").lower()
    return request.headers.get("sec-fetch-site", "") in OWN and origin in {"", _own_origin(request.scope)}


def _own_origin(scope: Scope) -> str:
    """The origin of this very server, as the request has it."""
    return f"{scope.get('scheme', 'http')}://{Headers(scope=scope).get('host', '')}".lower()


class SameOrigin:
    """Refuses every writing request unless its headers say that it comes from this server; browsers send them truthfully.

    A page of another site, or of another port of this machine, may send a form here without permission, but the request then carries that
    page's origin. Programs that send no such header are refused as well.
    """

    def __init__(self, app: ASGIApp) -> None:
        """``app`` handles the accepted requests."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; its body is not read where it is refused."""
        headers = Headers(scope=scope)
        if scope["type"] == "http" and scope["method"] not in READING and headers.get("origin", "").lower() != _own_origin(scope):
            sentence = "Only pages of this server may change something; open one of them here."
            await JSONResponse({"error": {"status": 403, "sentence": sentence}}, status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
