"""Middleware for all routes: only this machine has access, and pages load nothing from other hosts."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
YEAR = "public, max-age=31536000, immutable"
"""Cache header of files whose address contains their version."""


def _is_hidden(headers: Headers) -> bool:
    """Whether another site embeds this page without showing the response, as for a picture. That could keep this machine busy."""
    return headers.get("sec-fetch-site", "") in {"cross-site", "same-site"} and headers.get("sec-fetch-dest", "document") != "document"


class Guard:
    """Refuses requests for another host name and hidden requests from other sites; adds security headers to every response.

    Another site may point its own host name at 127.0.0.1 to read this server's responses (DNS rebinding), but its requests then carry that
    name.
    """

    def __init__(self, app: ASGIApp) -> None:
        """``app`` handles the accepted requests."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; web sockets are not served."""
        if scope["type"] != "http":
            return
        host = Headers(scope=scope).get("host", "").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        lasting = scope["path"].startswith("/static/") and b"v=" in scope["query_string"]

        async def add_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", YEAR if lasting and message["status"] == 200 else "no-cache")
            await send(message)

        if name in HOSTS and _is_hidden(Headers(scope=scope)):
            sentence = "Another site asked for this; open it here.\n"
            await PlainTextResponse(sentence, status_code=403)(scope, receive, add_headers)
        elif name in HOSTS:
            await self._app(scope, receive, add_headers)
        else:
            sentence = "This page is only there for 127.0.0.1 and localhost; open it under one of these names.\n"
            await PlainTextResponse(sentence, status_code=421)(scope, receive, add_headers)
