"""An S3 server on this machine (moto), and a proxy before it that answers with errors, cuts bodies, hides keys and changes objects.

``kgqa`` talks to the proxy. Tests put and read objects past it, by plain requests, so that no code under test is needed for that.
"""

from __future__ import annotations

import http.client
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.faults import Fault, next_fault
from tests.ports import free_port

KEY_ID, SECRET = "AKIAKEYOFNOBODY00001", "a/secret+of-nobody/that-is-in-no-file"
SIGNED = {"Authorization": f"AWS4-HMAC-SHA256 Credential={KEY_ID}/20250101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"}
"""A request with a key; moto does not look at the signature, but lets nobody without a key read or change what is private."""
BUCKET = "corpora"
CUT = 0
"""In place of a status: half of the body is sent, and the connection is closed."""
SILENT = -1
"""In place of a status: no answer until the client goes away."""
SHORT = -2
"""In place of a status: half of the body, as if it were all."""


@dataclass
class ObjectServer:
    """An S3 server behind a proxy."""

    server: int
    """Port of the server itself."""
    address: str = ""
    """Of the proxy."""
    requests: list[str] = field(default_factory=list)
    """Method and path with query of each request that the proxy got."""
    faults: list[Fault] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    """Keys that no list shows."""
    before: Callable[[str, str], object] | None = None
    """Is called with method and path before a request is passed on."""
    headers: Callable[[Message], object] | None = None
    """Is called with the headers of each request."""

    def fail(self, method: str, part: str, status: int, times: int = 1, **headers: str) -> None:
        """Let the next ``times`` requests of ``method`` with ``part`` in their path end with ``status``, or as the constants above say."""
        self.faults.append(Fault(method, part, status, times, {name.replace("_", "-"): value for name, value in headers.items()}))

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
        """The server's answer to a request past the proxy."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server, timeout=30)
        try:
            connection.request(method, path, body, SIGNED | {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status < 300, (method, path, answer.status, content)
            return content
        finally:
            connection.close()

    def put(self, key: str, content: bytes, bucket: str = BUCKET, **headers: str) -> None:
        """Put an object."""
        self.ask("PUT", f"/{bucket}/{quote(key)}", content, **headers)

    def put_folder(self, folder: Path, prefix: str, bucket: str = BUCKET) -> None:
        """Put each file below ``folder`` under ``prefix``."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes(), bucket)

    def get(self, key: str, bucket: str = BUCKET) -> bytes:
        """Content of an object."""
        return self.ask("GET", f"/{bucket}/{quote(key)}")

    def delete(self, key: str, bucket: str = BUCKET) -> None:
        """Delete an object."""
        self.ask("DELETE", f"/{bucket}/{quote(key)}")

    def keys(self, prefix: str = "", bucket: str = BUCKET) -> list[str]:
        """Keys of all objects with this prefix."""
        listing = ET.fromstring(self.ask("GET", f"/{bucket}?list-type=2&prefix={quote(prefix)}"))
        return [str(key.text) for key in listing.iter("{http://s3.amazonaws.com/doc/2006-03-01/}Key")]

    def asked(self, method: str, part: str) -> int:
        """How many requests of ``method`` had ``part`` in their path."""
        return sum(request.startswith(f"{method} ") and part in request for request in self.requests)

    def environment(self) -> dict[str, str]:
        """What leads ``kgqa`` here."""
        return {
            "AWS_ENDPOINT_URL": self.address, "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true", "KGQA_OBJECTS_SECONDS": "2",
        }  # fmt: skip


@contextmanager
def moto() -> Iterator[int]:
    """A moto server as a process of its own; its port."""
    port = free_port()
    keys = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=keys) as server:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                assert server.poll() is None, "moto did not start"
                time.sleep(0.1)
            yield port
        finally:
            server.terminate()


@contextmanager
def object_server(port: int) -> Iterator[ObjectServer]:
    """A proxy before the moto server at ``port``, which is empty but for ``BUCKET``."""
    objects = ObjectServer(port)
    objects.ask("POST", "/moto-api/reset")
    objects.ask("PUT", f"/{BUCKET}")
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with lock:
                objects.requests.append(f"{self.command} {self.path}")
                fault = next_fault(objects.faults, self.command, self.path)
            if fault is not None and fault.status == SILENT:
                self.connection.settimeout(60)
                while self.connection.recv(1 << 16):
                    pass
                self.close_connection = True
                return
            if objects.headers is not None:
                objects.headers(self.headers)
            body = self._body()
            if fault is not None and fault.status not in {CUT, SHORT}:
                self.send_response(fault.status)
                for name, value in fault.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if objects.before is not None:
                objects.before(self.command, self.path)
            self._pass_on(body, None if fault is None else fault.status)

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 - names that the base class calls

        def _body(self) -> bytes:
            if "100-continue" in self.headers.get("Expect", ""):
                pass  # the base class has answered
            if self.headers.get("Transfer-Encoding", "") == "chunked":
                content = b""
                while size := int(self.rfile.readline().partition(b";")[0], 16):
                    content += self.rfile.read(size)
                    self.rfile.readline()
                while self.rfile.readline().strip():
                    pass
                return content
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))

        def _pass_on(self, body: bytes, fault: int | None) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            skipped = {"transfer-encoding", "expect", "connection", "content-length"}
            headers = {name: value for name, value in self.headers.items() if name.lower() not in skipped}
            connection.request(self.command, self.path, body, headers | {"Content-Length": str(len(body))})
            answer = connection.getresponse()
            content = answer.read()
            if objects.hidden and self.command == "GET" and "list-type" in self.path:
                for key in objects.hidden:
                    content = re.sub(
                        rb"<Contents>(?:(?!</Contents>).)*<Key>%s</Key>.*?</Contents>" % re.escape(key.encode()), b"", content, flags=re.S
                    )
            if fault == SHORT:
                content = content[: len(content) // 2]
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"content-length", "transfer-encoding", "connection", "date", "server"}:
                    self.send_header(name, value)
            size = answer.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", size)
            self.end_headers()
            if fault == CUT:
                self.wfile.write(content[: len(content) // 2])
                self.wfile.flush()
                # Without lingering, so that the client sees a reset and no end.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
            elif self.command != "HEAD":
                self.wfile.write(content)
            connection.close()

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's name
            """The tests look at ``requests`` instead."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away is no error here."""

    with Server(("127.0.0.1", 0), Handler) as server:
        objects.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield objects
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def moto_port() -> Iterator[int]:
    with moto() as port:
        yield port


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """The folder of copies."""
    return tmp_path / "copies"


@pytest.fixture
def objects(moto_port: int, copies: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server(moto_port) as server:
        for name in [name for name in os.environ if name.startswith(("AWS_", "KGQA_OBJECTS"))]:
            monkeypatch.delenv(name)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(copies / "none"))
        monkeypatch.setenv("AWS_CONFIG_FILE", str(copies / "none"))
        monkeypatch.setenv("KGQA_OBJECTS", str(copies))
        yield server
