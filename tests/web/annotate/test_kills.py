"""The server is killed again and again while people submit: nothing confirmed is lost, no item is given twice."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import httpx
import pytest

from kgqa.collection.journal import Journal
from kgqa.collection.project import read_project
from kgqa.database import database_at
from tests.collection.conftest import write_project
from tests.ports import free_port
from tests.web.annotate.conftest import key_of

pytestmark = pytest.mark.slow
KILLS, ALL_KILLS = 4, 20
"""By default, and with --thorough."""
PEOPLE = ["ana", "ben", "cem"]


class Confirmed:
    """Counts the confirmed submissions, and kills the server at the next number of the plan, while others are under way."""

    def __init__(self, plan: list[int]) -> None:
        self.items: list[tuple[str, str]] = []
        self._plan = plan
        self._lock = threading.Lock()
        self.server: subprocess.Popen[str] | None = None
        self.over = threading.Event()

    def add(self, person: str, item: str) -> None:
        """A response came back."""
        with self._lock:
            self.items.append((person, item))
            if self._plan and len(self.items) >= self._plan[0] and self.server is not None:
                self._plan.pop(0)
                self.server.kill()


def annotate(address: str, person: str, key: str, confirmed: Confirmed) -> None:
    """Submit until everything is done, over each death of the server."""
    headers = {"Origin": address}
    with httpx.Client(base_url=address, headers=headers, follow_redirects=True, timeout=10) as client:
        pending: dict[str, object] = {}
        while not confirmed.over.is_set():
            try:
                text = client.get("/enter", params={"key": key}).text
                if 'data-item="' not in text:
                    return
                client.headers["X-Kgqa-Form"] = text.split('name="kgqa-form" content="')[1].split('"')[0]
                if not pending:
                    item, token = text.split('data-item="')[1].split('"')[0], text.split('data-token="')[1].split('"')[0]
                    pending = {"item": item, "answer": {"colour": "red"}, "token": token, "seconds": 0.0}
                if client.post("/api/submit", json=pending).status_code == 200:
                    confirmed.add(person, str(pending["item"]))
                    pending = {}
                else:
                    confirmed.over.wait(0.2)
            except httpx.TransportError:  # the server was killed; what was sent is sent again, with its token
                confirmed.over.wait(0.05)


def test_a_killed_server_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    from kgqa.collection.project import TASKS

    monkeypatch.setitem(TASKS, "colours", "tests.collection.colours")
    kills = ALL_KILLS if request.config.getoption("--thorough") else KILLS
    path = write_project(tmp_path, people=PEOPLE, per_item=2, options={"things": 10 * kills})
    database = database_at(tmp_path / "shades.sqlite", option="--journal", file="x")
    journal = Journal(database, read_project(path))
    keys = {person: key_of(journal, person) for person in PEOPLE}
    journal.close()
    port = free_port()
    rng = random.Random(4)
    confirmed = Confirmed(sorted(rng.sample(range(5, 19 * kills), kills)))
    address = f"http://127.0.0.1:{port}"
    people = [threading.Thread(target=annotate, args=(address, person, keys[person], confirmed)) for person in PEOPLE]
    starts = 0
    try:
        while starts == 0 or any(person.is_alive() for person in people):
            server = subprocess.Popen(
                [sys.executable, "-m", "tests.collection.server", str(path), str(port)], stdout=subprocess.PIPE, text=True
            )
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            confirmed.server = server
            if starts == 0:
                for person in people:
                    person.start()
            starts += 1
            while server.poll() is None and any(person.is_alive() for person in people):
                confirmed.over.wait(0.05)
            server.stdout.close()
    finally:
        confirmed.over.set()
        if confirmed.server is not None:
            confirmed.server.kill()
            confirmed.server.wait()
    assert starts == kills + 1
    journal = Journal(database, read_project(path))
    submitted = Counter((event.person, event.item) for event in journal.events() if event.kind == "submit")
    decided = list(journal.decided())
    journal.close()
    assert set(submitted.values()) == {1}
    assert set(confirmed.items) <= set(submitted)
    assert Counter(item for _, item in submitted) == {f"thing-{number}": 2 for number in range(1, 10 * kills + 1)}
    assert len(decided) == 10 * kills
