"""Middleware: when a client disconnects, the queries of its request end."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgqa.store.stop import CURRENT, Stop
from kgqa.web.same_origin import READING

AGAIN = 0.2
"""Seconds between two attempts to stop an engine."""


class StopOnDisconnect:
    """Stops the queries of a request whose client disconnects before the response.

    A server notices a closed connection only when somebody reads from it, and a route that waits for a store does not. Only for requests
    without a body.
    """

    def __init__(self, app: ASGIApp) -> None:
        """``app`` answers, in this task or in threads that it starts with its context."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; cancel its queries when the browser leaves."""
        if scope["type"] != "http" or scope["method"] not in READING:
            await self._app(scope, receive, send)
            return
        messages: asyncio.Queue[Message] = asyncio.Queue()
        stop = Stop()
        before = CURRENT.set(stop)
        watcher = asyncio.create_task(_watch(receive, messages, stop))
        try:
            await self._app(scope, messages.get, send)
        finally:
            watcher.cancel()
            CURRENT.reset(before)


async def _watch(receive: Receive, messages: asyncio.Queue[Message], stop: Stop) -> None:
    while True:
        message = await receive()
        messages.put_nowait(message)
        if message["type"] == "http.disconnect":
            break
    while True:
        await asyncio.to_thread(stop.set)  # it may ask a server
        await asyncio.sleep(AGAIN)
