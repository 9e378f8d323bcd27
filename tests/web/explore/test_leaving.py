"""A client that leaves takes its queries along, on both stores; and what a page elsewhere asks for is not run."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from kgqa.web.explore.app import create_app
from kgqa.web.explore.project import Project
from tests.command import environment
from tests.web.explore.conftest import Client, served_app

DROPPED = 6
LONG = "MATCH (a:Entity), (b:Entity), (c:Entity), (d:Entity) WHERE a.row + b.row + c.row + d.row < 0 RETURN a.id AS id"
"""Counts to 67 thousand million; of several ``UNWIND range`` the embedded engine's driver says at once that they take too long."""
ELSEWHERE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}


@contextmanager
def process(workspace: Path) -> Iterator[str]:
    """``kgqa explore`` as people start it; its address."""
    command = [sys.executable, "-m", "kgqa", "explore", "--workspace", str(workspace), "--port", "0"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout
            address = next(word for line in served.stdout for word in line.split() if word.startswith("http://127.0.0.1"))
            yield address.rstrip("/.")
        finally:
            served.terminate()
            served.communicate(timeout=60)


def drop(address: str, path: str) -> None:
    """Ask for ``path``, wait until it is being answered, and leave."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or 0)) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        time.sleep(0.3)


def answers_soon(address: str) -> None:
    """A small query of the box is answered in much less than what was dropped may take."""
    begin = time.monotonic()
    with urllib.request.urlopen(f"{address}/cypher.json?{urlencode({'q': 'RETURN 41 + 1 AS n'})}", timeout=60) as answer:
        assert b"42" in answer.read()
    assert time.monotonic() - begin < 8


@pytest.mark.slow
def test_dropped_queries_do_not_hold_up_the_box(seed_wikidata: Path) -> None:
    with process(seed_wikidata) as address:
        for _ in range(DROPPED):
            drop(address, "/cypher?" + urlencode({"q": LONG}))
        answers_soon(address)


def test_the_server_ends_what_nobody_waits_for(on_server: Project) -> None:
    with served_app(create_app(on_server)) as address:
        for _ in range(DROPPED):
            drop(address, "/cypher?" + urlencode({"q": LONG}))
        answers_soon(address)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/query?name=hubs&run=1", "/query?name=hubs", "/query?name=bridge_entities&p.entity=Q45"])
def test_a_named_query_is_not_run_for_a_page_elsewhere(wikidata: Project, client: Client, site: str, path: str) -> None:
    ask = client(wikidata)
    answer = ask.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "document"})
    assert answer.status_code == 200
    assert "so the query was not run" in answer.text
    assert " rows" not in answer.text
    assert "was not run" in ask.get(path, headers={"Origin": "https://example.org"}).text
    for own in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}):
        assert "was not run" not in ask.get(path, headers=own).text


@pytest.mark.parametrize("dest", ["image", "iframe", "empty", "script"])
def test_nothing_is_answered_to_a_page_elsewhere_that_asks_unseen(wikidata: Project, client: Client, dest: str) -> None:
    ask = client(wikidata)
    for path in ("/", "/query?name=hubs&run=1", "/cypher?q=RETURN+1", "/api/complete?q=M&at=1"):
        assert ask.get(path, headers={**ELSEWHERE, "Sec-Fetch-Dest": dest}).status_code == 403
        assert ask.get(path, headers={"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": dest}).status_code == 200
