"""One SPARQL endpoint, asked politely: one request at a time, and an answer is whole or an error.

The protocol lets an endpoint fail after it has said 200: with a text in place of a result, with a message within the JSON when its time is
up, with a part of the result, or with a cut connection. None of these may pass for a shorter result.
"""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from kgqa.errors import EndpointError
from kgqa.sources.retry_after import seconds_until
from kgqa.version import __version__

BUSY = {408: "took too long", 429: "asks for fewer requests", 500: "failed", 502: "is down", 503: "is overloaded", 504: "took too long"}
"""Status after which the same question may succeed later."""
OUT_OF_TIME = re.compile(rb"TimeoutException|QueryTimeout|estimated execution time|Query timed out", re.IGNORECASE)
BY_GET = 6000
"""Characters of a query beyond which it is sent by POST, as addresses are limited."""
CHUNK = 1 << 16


class Term(Struct, rename={"language": "xml:lang"}):
    """An IRI, literal or blank node."""

    type: str
    value: str
    datatype: str = ""
    language: str = ""


Binding = dict[str, Term]


class Head(Struct):
    """The head of a SPARQL result: its variables."""

    vars: list[str]


class Results(Struct):
    """The body of a SPARQL result: its rows."""

    bindings: list[Binding]


class Answer(Struct):
    """SPARQL 1.1 query results in JSON, https://www.w3.org/TR/sparql11-results-json/."""

    head: Head
    results: Results


ANSWER = msgspec.json.Decoder(Answer)


class AgainError(Exception):
    """The same question may succeed later."""

    def __init__(self, sentence: str, wait: float | None = None) -> None:
        """``wait`` is the number of seconds that the endpoint asked for."""
        super().__init__(sentence)
        self.wait = wait


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """An endpoint with the manners to keep."""

    address: str
    contact: str = ""
    timeout: float = 90.0
    pause: float = 1.0
    retries: int = 5
    longest_wait: float = 600.0
    max_bytes: int = 256 << 20
    sleep: Callable[[float], object] = time.sleep
    _ready: float = field(default=0.0, init=False)

    @property
    def agent(self) -> str:
        """How the requests call themselves."""
        from SPARQLWrapper import __version__ as library

        contact = f" ({self.contact})" if self.contact else ""
        return f"kgqa/{__version__}{contact} SPARQLWrapper/{library}"

    def ask(self, query: str) -> Answer:
        """The whole result of a SELECT query. EndpointError after the last attempt, or where another cannot help."""
        reason = ""
        for attempt in range(self.retries + 1):
            self._wait_for_turn()
            try:
                return self._answer(query)
            except AgainError as again:
                reason = str(again)
                wait = max(self.pause, 1.0) * 2**attempt if again.wait is None else again.wait
                if again.wait is not None and wait > self.longest_wait:
                    raise EndpointError(
                        f"{self.address} {reason} and wants {wait:.0f} seconds without any; start again later, "
                        "which goes on after the last page, or raise longest_wait."
                    ) from None
                if attempt < self.retries:
                    self.sleep(min(wait, self.longest_wait))
            finally:
                self._ready = time.monotonic() + self.pause
        raise EndpointError(
            f"{self.address} {reason}, {self.retries + 1} times; run the same command again later, which continues after the last page, or "
            "lower page_size."
        )

    def _wait_for_turn(self) -> None:
        if (wait := self._ready - time.monotonic()) > 0:
            self.sleep(wait)

    def _answer(self, query: str) -> Answer:
        deadline = time.monotonic() + self.timeout
        try:
            with self._open(query) as response:
                self._check_head(response)
                body = self._body(response, deadline)
                kind = response.headers.get_content_type()
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except UnicodeError:
            raise EndpointError(f"{self.address}: this is not a host name; correct the endpoint.") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise AgainError(f"does not answer ({reason or type(error).__name__})") from None
        try:
            return ANSWER.decode(body)
        except msgspec.ValidationError as error:
            raise EndpointError(f"{self.address} answers with JSON that is not the result of a SELECT query ({error}).") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if OUT_OF_TIME.search(body):
                raise AgainError("ran out of time in the middle of its response") from None
            if "json" not in kind:
                raise EndpointError(
                    f"{self.address} answers with text in place of a result: {_first_line(body)!r}; is this the address of a SPARQL "
                    "endpoint, and is contact set?"
                ) from None
            raise AgainError("sent an incomplete response") from None

    def _open(self, query: str) -> Any:
        from SPARQLWrapper import GET, JSON, POST, SPARQLWrapper

        opener, timeout = urllib.request.build_opener(SameHost(self.address)), self.timeout

        class Wrapper(SPARQLWrapper):
            """SPARQLWrapper that does not follow redirects to other hosts."""

            def _query(self) -> tuple[Any, str]:
                return opener.open(self._createRequest(), timeout=timeout), self.returnFormat

        wrapper = Wrapper(self.address, agent=self.agent)
        wrapper.setReturnFormat(JSON)
        wrapper.setOnlyConneg(True)
        wrapper.setMethod(GET if len(query) <= BY_GET else POST)
        wrapper.addCustomHttpHeader("Accept-Encoding", "gzip")
        wrapper.setQuery(query)
        return wrapper.query().response

    def _check_head(self, response: Any) -> None:
        if response.status != 200:
            raise EndpointError(f"{self.address} answers with status {response.status}, which is not a complete result; try again later.")
        if (encoding := response.headers.get("Content-Encoding", "identity").lower()) not in {"identity", "gzip"}:
            raise EndpointError(f"{self.address} compresses its response with {encoding!r}, which was not requested.")
        # Virtuoso says 200 and marks a result that it stopped in this way.
        if response.headers.get("X-SQL-State"):
            raise AgainError("ran out of time and sent a part of the result")

    def _body(self, response: Any, deadline: float) -> bytes:
        unpack = zlib.decompressobj(31) if response.headers.get("Content-Encoding", "").lower() == "gzip" else None
        body, byte_count = bytearray(), 0
        while chunk := response.read1(CHUNK):
            byte_count += len(chunk)
            if time.monotonic() > deadline:
                raise AgainError(f"took more than {self.timeout:g} seconds")
            try:
                body += chunk if unpack is None else unpack.decompress(chunk, self.max_bytes + 1 - len(body))
            except zlib.error:
                raise AgainError("sent a response that cannot be decompressed") from None
            if len(body) > self.max_bytes:
                raise EndpointError(f"{self.address} sent more than {self.max_bytes >> 20} MiB in one answer; lower page_size.")
        length = response.headers.get("Content-Length")
        if (length is not None and length.isdigit() and byte_count < int(length)) or (unpack is not None and not unpack.eof):
            raise AgainError("closed the connection in the middle of its response")
        if unpack is not None and unpack.unused_data:
            raise AgainError("sent a response that cannot be decompressed")
        return bytes(body)

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        try:
            body = error.read(CHUNK)
        except (OSError, http.client.HTTPException):
            body = b""
        if error.code in BUSY:
            reason = "ran out of time" if OUT_OF_TIME.search(body) else BUSY[error.code]
            return AgainError(f"{reason} (status {error.code})", seconds_until(error.headers.get("Retry-After", "")))
        if error.code in {401, 403}:
            return EndpointError(
                f"{self.address} refuses requests of {self.agent!r} (status {error.code}); set contact to an address at which its "
                "operators can reach you."
            )
        return EndpointError(f"{self.address} answers with status {error.code}: {_first_line(body) or error.reason!r}; check the query.")


class SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one host, and from http to https."""

    def __init__(self, address: str) -> None:
        """``address`` is that of the endpoint."""
        self.address = address

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """The request that follows. EndpointError for another host."""
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        is_same_server = (old.scheme, old.port) == (new.scheme, new.port) or (old.scheme, new.scheme) == ("http", "https")
        if old.hostname != new.hostname or not is_same_server:
            raise EndpointError(
                f"{self.address} redirects to {new.scheme}://{new.netloc}, another server; if that is right, give that address as the "
                "endpoint."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _first_line(body: bytes) -> str:
    lines = re.sub(r"<[^>]*>", " ", body.decode(errors="replace")).split("\n")
    return next((line.strip()[:200] for line in lines if line.strip()), "")
