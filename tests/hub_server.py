"""A hub of datasets on this machine: the routes that ``huggingface_hub`` uses to publish, with real connections, and faults on demand."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.faults import Fault, next_fault

TOKEN = "hf_a-token-of-nobody"
CUT = 0
"""In place of a status: the connection is cut after the request's first bytes."""


@dataclass
class Repository:
    """A dataset on the hub."""

    private: bool
    files: dict[str, bytes] = field(default_factory=lambda: {".gitattributes": b"*.parquet filter=lfs\n"})
    commits: list[list[str]] = field(default_factory=list)
    """The files of each commit."""

    @property
    def head(self) -> str:
        return f"{len(self.commits):040x}"


@dataclass
class Hub:
    """What it holds, what was asked of it, and what goes wrong."""

    address: str = ""
    owner: str = "someone"
    repositories: dict[str, Repository] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)
    """SHA-256 → content of a large file, kept as soon as it is there."""
    uploads: list[str] = field(default_factory=list)
    """SHA-256 of each large file that arrived whole."""
    requests: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    complaint: str = ""
    """What it says against every card."""

    def fail(self, method: str, part: str, status: int, times: int = 1) -> None:
        """Let the next ``times`` requests of ``method`` with ``part`` in their path end with ``status``, or with ``CUT``."""
        self.faults.append(Fault(method, part, status, times))

    def names(self, repository: str) -> list[str]:
        return sorted(name for name in self.repositories[repository].files if name != ".gitattributes")


@contextmanager
def hub_server() -> Iterator[Hub]:
    """A hub on a free port, until the end of the block. It lets in ``TOKEN`` alone, which may write what ``someone`` owns."""
    hub, lock = Hub(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve()

        do_POST = do_PUT = do_GET  # noqa: N815 - names that the base class calls

        def _serve(self) -> None:
            with lock:
                hub.requests.append(f"{self.command} {self.path}")
                fault = next_fault(hub.faults, self.command, self.path)
            if fault is not None and fault.status == CUT:
                self.rfile.read(min(64, int(self.headers.get("Content-Length", 0))))
                # Without lingering, so that the client sees a reset and no end.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if fault is not None:
                self._answer({"error": f"a fault that mentions {TOKEN}"}, fault.status)
                return
            if "/storage/" not in self.path and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._answer({"error": "Invalid username or password."}, 401)
                return
            with lock:
                self._route(body)

        def _route(self, body: bytes) -> None:
            path = self.path.partition("?")[0]
            if path == "/api/whoami-v2":
                self._answer({"type": "user", "name": hub.owner, "auth": {"accessToken": {"role": "write"}}})
            elif path == "/api/repos/create":
                self._create(json.loads(body))
            elif path == "/api/validate-yaml":
                self._answer({"errors": [{"message": hub.complaint}], "warnings": []}, 400) if hub.complaint else self._answer(
                    {"errors": [], "warnings": [{"message": "a remark"}]}
                )
            elif path.startswith("/storage/"):
                digest = path.rpartition("/")[2]
                assert hashlib.sha256(body).hexdigest() == digest, "what arrives is what was announced"
                hub.stored[digest] = body
                hub.uploads.append(digest)
                self._answer({})
            elif found := re.fullmatch(r"(?:/api)?/datasets/([^/]+/[^/.]+)(?:\.git)?(?:/(.*))?", path):
                self._of_repository(found[1], found[2] or "", body)
            else:
                self._answer({"error": "no such route"}, 404)

        def _create(self, asked: dict[str, Any]) -> None:
            if asked.get("organization", hub.owner) not in {None, hub.owner}:
                self._answer({"error": "You don't have the rights to create a dataset under this namespace"}, 403)
                return
            name = f"{hub.owner}/{asked['name']}"
            if name in hub.repositories:
                self._answer({"error": "it exists", "url": f"{hub.address}/datasets/{name}"}, 409)
                return
            private = asked.get("private", asked.get("visibility") == "private")
            hub.repositories[name] = Repository(private=private)
            self._answer({"url": f"{hub.address}/datasets/{name}", "name": name})

        def _of_repository(self, name: str, route: str, body: bytes) -> None:
            repository = hub.repositories.get(name)
            if repository is None:
                self._answer({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
            elif not route:
                self._answer({"id": name, "sha": repository.head, "private": repository.private, "siblings": [], "tags": []})
            elif route.startswith("tree/"):
                self._answer([entry(path, content) for path, content in repository.files.items()])
            elif route.startswith("preupload/"):
                files = json.loads(body)["files"]
                modes = [
                    {"path": file["path"], "uploadMode": "lfs" if file["path"].endswith(".parquet") else "regular", "shouldIgnore": False}
                    for file in files
                ]
                self._answer({"files": modes})
            elif route == "info/lfs/objects/batch":
                self._answer({"transfer": "basic", "objects": [self._object(one) for one in json.loads(body)["objects"]]})
            elif route.startswith("commit/"):
                self._commit(name, repository, [json.loads(line) for line in body.splitlines()])
            elif route == "settings":
                asked = json.loads(body)
                repository.private = asked.get("private", asked.get("visibility") == "private")
                self._answer({"private": repository.private})
            else:
                self._answer({"error": "no such route"}, 404)

        def _object(self, asked: dict[str, Any]) -> dict[str, Any]:
            told = {"oid": asked["oid"], "size": asked["size"], "authenticated": True}
            if asked["oid"] in hub.stored:
                return told
            return {**told, "actions": {"upload": {"href": f"{hub.address}/storage/{asked['oid']}", "header": {}}}}

        def _commit(self, name: str, repository: Repository, lines: list[dict[str, Any]]) -> None:
            header = next(line["value"] for line in lines if line["key"] == "header")
            if header.get("parentCommit", repository.head) != repository.head:
                self._answer({"error": "A commit has happened since. Please refresh and try again."}, 412)
                return
            changed = []
            for line in lines:
                value = line["value"]
                if line["key"] == "file":
                    repository.files[value["path"]] = base64.b64decode(value["content"])
                elif line["key"] == "lfsFile":
                    repository.files[value["path"]] = hub.stored[value["oid"]]
                else:
                    continue
                changed.append(value["path"])
            repository.commits.append(sorted(changed))
            self._answer(
                {"success": True, "commitUrl": f"{hub.address}/datasets/{name}/commit/{repository.head}", "commitOid": repository.head}
            )

        def _answer(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            for name, text in {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def entry(path: str, content: bytes) -> dict[str, Any]:
    """A file in the hub's listing."""
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    told: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": blob}
    if path.endswith(".parquet"):
        told["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return told
