"""HTTP requests to a chat-completions endpoint, with limits on time and memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal
from openai import AsyncOpenAI

from kgqa.errors import EndpointError

BYTES_PER_TOKEN = 64
"""A generous limit for one token of an answer, with reasoning and escapes."""
FEWEST_BYTES = 1 << 20
"""Bytes of an answer that are always accepted."""


class Unusable(EndpointError):
    """A response that is rejected before its end; the message lacks the address."""


class Client:
    """A connection to one address, kept open between requests; safe to use from several threads."""

    def __init__(self, *, address: str, key: str, seconds: float, tokens: int) -> None:
        """``seconds``: time from the request to the last byte; ``tokens``: maximum length of the answer. Close it after use."""
        self._scope = start_blocking_portal()
        self._portal = self._scope.__enter__()
        self._seconds = seconds
        self._most = FEWEST_BYTES + BYTES_PER_TOKEN * tokens
        # The hook sees a redirect before it is followed. A compressed answer could unpack to a thousand times its size.
        http = httpx2.AsyncClient(timeout=seconds, follow_redirects=True, event_hooks={"response": [self._check]})
        headers = {"Accept-Encoding": "identity"}
        self._client = AsyncOpenAI(api_key=key, base_url=address, max_retries=0, http_client=http, default_headers=headers)

    def send(self, request: Mapping[str, Any]) -> bytes:
        """The body of the response. Raises openai's errors, TimeoutError, and Unusable for a rejected response."""
        return self._portal.call(self._send, request)

    def close(self) -> None:
        """Close the connections, and the event loop of the requests."""
        try:
            self._portal.call(self._client.close)
        finally:
            self._scope.__exit__(None, None, None)

    async def _send(self, request: Mapping[str, Any]) -> bytes:
        # A time limit per read would never stop an answer of one byte per second.
        with anyio.fail_after(self._seconds):
            response = await self._client.chat.completions.with_raw_response.create(**request)
            return bytes(response.content)

    async def _check(self, response: httpx2.Response) -> None:
        """Check the headers, before the body is read or a redirect is followed."""
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity"}:
            raise Unusable(
                f"its answer is compressed ({encoding[:20]}), but the request asked for plain bytes; turn compression off on the server"
            )
        if response.has_redirect_location:
            try:
                target = response.url.join(response.headers["location"])
            except httpx2.InvalidURL:
                raise Unusable("it redirects to an invalid address; check the address") from None
            if (target.scheme, target.host, target.port) != (response.url.scheme, response.url.host, response.url.port):
                origin = f"{target.scheme}://{target.netloc.decode('ascii', 'replace')}"
                raise Unusable(f"it sends on to {origin}, where no data is taken unasked; give that address as --endpoint if you trust it")
        response.stream = _Bounded(response.stream, self._most)


class _Bounded(httpx2.AsyncByteStream):
    """A response body that raises Unusable if it is longer than the limit."""

    def __init__(self, stream: Any, max_bytes: int) -> None:
        """``max_bytes``: maximum number of bytes."""
        self._stream, self._most = stream, max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                raise Unusable(f"its answer is longer than {self._most:,} bytes, which no answer of max_output_tokens tokens is")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
