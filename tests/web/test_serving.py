"""The server of the pages, as processes of their own."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.command import environment

BROKEN = (
    b"POST /api/submit HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: -5\r\n\r\n",
    b"\x00\xff\xfe garbage %d\r\n\r\n",
)


def test_broken_requests_are_refused_without_a_word_on_the_terminal(seed_wikidata: Path, tmp_path: Path) -> None:
    dataset, journal = seed_wikidata / "datasets" / "wikihop", tmp_path / "journal.sqlite"
    command = [sys.executable, "-m", "kgqa", "annotate", str(dataset), "--port", "0", "--journal", str(journal)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", served.stdout.readline())
            assert found
            port = int(found[1])
            for request in BROKEN * 5:
                with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
                    client.sendall(request % port)
                    assert client.recv(20).startswith(b"HTTP/1.1 400")
            with urllib.request.urlopen(f"{found[0]}static/explore/icon.svg", timeout=20) as answer:
                assert answer.status == 200
        finally:
            served.terminate()
            _, err = served.communicate(timeout=60)
    assert err == "kgqa: stopped; run the same command again.\n"
