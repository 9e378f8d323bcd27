"""A journal on a PostgreSQL server, shared by several processes, and while the server is away."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgqa.collection.journal import Journal
from kgqa.collection.project import read_project
from kgqa.database import database_at
from kgqa.errors import KgqaError, StoreUnreachable
from tests.collection.conftest import MakeJournal, write_project
from tests.collection.postgres import Postgres, binaries
from tests.collection.test_journal import answer, kinds
from tests.conftest import unavailable
from tests.web.annotate.conftest import Person

pytestmark = pytest.mark.slow
PEOPLE = [f"person-{number}" for number in range(6)]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """One server for this file."""
    programs = binaries()
    if programs is None:
        unavailable("no PostgreSQL server here; apt-get install postgresql")
        raise AssertionError
    pytest.importorskip("psycopg")
    server = Postgres(programs)
    yield server
    server.remove()


def test_a_journal_works_as_on_a_file(make_journal: MakeJournal, postgres: Postgres) -> None:
    journal = make_journal(at=postgres.address, name="as on a file", per_item=2, people=["ana", "ben"], leads=["lea"])
    answer(journal, "ana", "red")
    answer(journal, "ben", "blue")
    journal.adjudicate("lea", "thing-1", {"colour": "red"}, token="token-of-lea")
    answer(journal, "ana", "red")
    journal.undo("ana")
    version = journal.save_draft("ana", "thing-2", {"colour": "é🙂"}, version=journal.reservation("ana", "thing-2").version)
    assert journal.reservation("ana", "thing-2").version == version
    journal.skip("ana", "thing-2", "too dark")
    journal.flag("ben", "thing-1", "odd")
    assert journal.withdraw("ben", "left") == 1
    assert kinds(journal)[-1] == "withdraw"
    assert next(journal.decided()).labels == {"colour": "red"}


def test_several_servers_give_no_seat_twice(postgres: Postgres, tmp_path: Path) -> None:
    path = write_project(tmp_path, name="shared", people=PEOPLE, per_item=2, options={"things": 60})
    command = [sys.executable, "-m", "tests.collection.annotators", str(path), postgres.address]
    workers = [subprocess.Popen([*command, *PEOPLE[number::3]], stdout=subprocess.PIPE, text=True) for number in range(3)]
    outputs = [worker.communicate(timeout=120)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    given = Counter(item for output in outputs for item in output)
    assert given == {f"thing-{number}": 2 for number in range(1, 61)}
    journal = Journal(database_at(postgres.address, option="--journal", file="x"), read_project(path))
    events = list(journal.events())
    journal.close()
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert [event.time for event in events] == sorted(event.time for event in events)
    submitted = Counter((event.person, event.item) for event in events if event.kind == "submit")
    assert set(submitted.values()) == {1}


def test_what_is_written_while_the_server_is_away_is_refused_in_a_sentence(make_journal: MakeJournal, postgres: Postgres) -> None:
    journal = make_journal(at=postgres.address, name="away")
    ana = Person(journal, "ana")
    item, token = ana.item()
    postgres.stop()
    try:
        refused = ana.post("draft", item=item, answer={"colour": "red"}, version=0)
        assert refused.status_code == 503
        assert "does not answer" in refused.json()["error"]["sentence"]
        assert "s3cret" not in refused.text
        with pytest.raises(StoreUnreachable, match="does not answer"):
            make_journal(at=postgres.address, name="away")
    finally:
        postgres.start()
    assert ana.post("submit", item=item, answer={"colour": "red"}, token=token, seconds=0.0).status_code == 200


def test_an_unusable_address_is_a_sentence_without_its_password(make_journal: MakeJournal) -> None:
    for address in ("postgresql://me:s3cret@127.0.0.1:1/x", "mysql://me:s3cret@h/x", "postgresql:/me:s3cret@h/x"):
        with pytest.raises(KgqaError) as refused:
            make_journal(at=address)
        assert "s3cret" not in str(refused.value)
