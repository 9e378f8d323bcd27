"""A server that speaks the chat-completions protocol: real requests, real connections, and answers as a test wants them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the server sends."""

    content: str | None = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    """Instead of a completion."""
    chunks: Iterable[bytes] | None = None
    """Instead of a body whose length is told."""
    delay: float = 0.0
    finish: str = "stop"
    tokens: tuple[int, int] = (100, 20)


@dataclass
class ChatServer:
    """Where it is, what it was asked, and what it answers."""

    address: str
    reply: Callable[[dict[str, Any]], Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@contextmanager
def chat_server(reply: Callable[[dict[str, Any]], Reply]) -> Iterator[ChatServer]:
    """A server on a free port of this machine, until the end of the block."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                found.requests.append(request)
                found.keys.append(self.headers.get("Authorization", ""))
                answer = found.reply(request)
            time.sleep(answer.delay)
            body = answer.body if answer.body is not None else json.dumps(completion(answer) if answer.status == 200 else error(answer))
            try:
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                if answer.chunks is None:
                    self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                for chunk in [body.encode()] if answer.chunks is None else answer.chunks:
                    self.wfile.write(chunk)
            except OSError:
                pass  # whoever asked did not wait

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = ChatServer(f"http://127.0.0.1:{server.server_address[1]}/v1", reply)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(answer: Reply) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": answer.finish, "message": {"role": "assistant", "content": answer.content}}
    usage = {"prompt_tokens": answer.tokens[0], "completion_tokens": answer.tokens[1], "total_tokens": sum(answer.tokens)}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


def error(answer: Reply) -> dict[str, Any]:
    return {"error": {"message": answer.content or "no", "type": "error", "code": None}}
