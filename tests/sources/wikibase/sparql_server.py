"""A SPARQL endpoint on this machine, real but for its data and for the faults that a test wants."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat, Store


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the endpoint sends."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    """Close the connection after so many bytes of the body."""
    length: bool = True
    """Tell the length of the body."""
    drip: float = 0.0
    """Seconds after each byte of the body."""


@dataclass
class SparqlServer:
    """Where it is, and what it was asked."""

    address: str
    store: Store
    fault: Callable[[int, str, Reply], Reply] = lambda _number, _query, reply: reply
    """Number of the request from 0, query and right answer → what is sent."""
    queries: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    def answer(self, query: str) -> Reply:
        try:
            solutions = self.store.query(query)
        except (SyntaxError, ValueError) as error:
            return Reply(body=str(error).encode(), status=400, headers={"Content-Type": "text/plain"})
        assert isinstance(solutions, QuerySolutions)
        body = solutions.serialize(format=QueryResultsFormat.JSON)
        assert body is not None
        return Reply(body=body, headers={"Content-Type": "application/sparql-results+json"})


@contextmanager
def sparql_server(turtle: str | bytes, form: RdfFormat = RdfFormat.TURTLE) -> Iterator[SparqlServer]:
    """An endpoint over a graph, on a free port of this machine, until the end of the block."""
    store = Store()
    store.load(turtle, form)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(parse_qs(urlsplit(self.path).query)["query"][0])

        def do_POST(self) -> None:
            self.reply(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["query"][0])

        def reply(self, query: str) -> None:
            with lock:
                number = len(server.queries)
                server.queries.append(query)
                server.headers.append(dict(self.headers))
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            answer = server.fault(number, query, server.answer(query))
            self.send_response(answer.status)
            body = answer.body
            if answer.headers.get("Content-Encoding") == "gzip":
                body = gzip.compress(body, mtime=0)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.length:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with lock:
                server.at_once -= 1
            with suppress(ConnectionError):
                if not answer.drip:
                    self.wfile.write(body[: answer.cut])
                for number in range(len(body) if answer.drip else 0):
                    self.wfile.write(body[number : number + 1])
                    time.sleep(answer.drip)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = SparqlServer(f"http://127.0.0.1:{http.server_port}/sparql", store)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
