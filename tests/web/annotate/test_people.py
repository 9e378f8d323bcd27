"""Every task from its first item to its dataset, by scripted people: nothing is lost, nothing counts twice, and all figures are right."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from kgqa.collection.figures import figures
from kgqa.collection.journal import Journal
from kgqa.collection.state import replay
from kgqa.database import database_at
from kgqa.web.annotate import visitor
from kgqa.web.annotate.app import create_app
from tests.collection.recount import differences, recount
from tests.web.annotate.conftest import Look, Person
from tests.web.annotate.people import LEAD, PEOPLE, PROJECTS, Worker, settle_disputes, submit_in_browser

pytestmark = pytest.mark.slow
ITEMS = 10


@pytest.mark.parametrize("task", PROJECTS)
def test_people_work_until_the_dataset_is_there(
    task: str, tmp_path: Path, look: Look, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    """200 items with ``--thorough``."""
    monkeypatch.setattr(visitor, "RATE", 1e6)  # scripted people are faster than those for whom the limit is made
    size = 200 if pytestconfig.getoption("--thorough") else ITEMS
    project = PROJECTS[task](tmp_path, size)
    file = tmp_path / "journal.sqlite"
    journal = Journal(database_at(file, option="--journal", file="journal.sqlite"), project)
    app = create_app(journal)
    workers = [Worker(journal, name, app, seed=size) for name in PEOPLE]
    names = PEOPLE[1:2] if size == ITEMS else PEOPLE[1:3]
    windows = {name: look(journal, name, permissions=["clipboard-read", "clipboard-write"]) for name in names}
    for number in range(1 if size == ITEMS else 3):
        for name, window in windows.items():
            submit_in_browser(window, journal, name, random.Random(f"{name} {number}"))
    in_browser = Counter(event.person for event in journal.events() if event.kind == "submit")
    while sum(worker.work() for worker in workers):  # everybody has a turn
        pass
    disputes = settle_disputes(journal, Person(journal, LEAD, app), random.Random(size)) if LEAD in project.settings.leads else 0
    while sum(worker.work() for worker in workers):  # what followed from settled items
        pass
    events = list(journal.events())
    taken_back = {event.body["event"] for event in events if event.kind == "undo"}
    standing = {event.number: event for event in events if event.kind == "submit" and event.number not in taken_back}
    # Nothing that was accepted is lost, and nobody has two answers to an item.
    for worker in workers:
        for number, (item, answer) in worker.accepted.items():
            event = standing[number]
            assert (event.person, event.item, event.body["answer"]) == (worker.name, item, answer)
        mine = [event for event in standing.values() if event.person == worker.name]
        assert len(mine) == len({event.item for event in mine}) == len(worker.accepted) + in_browser[worker.name]
    # No item has more answers than seats.
    state = replay(events)
    seats = dict(state.items.select("item", "seats").iter_rows())
    answers = Counter(event.item for event in standing.values())
    assert all(count <= seats[item] for item, count in answers.items())
    ours = json.loads(json.dumps(figures(state).record()))
    assert not differences(ours, recount(file, project.settings.name))
    assert sum((worker.did for worker in workers), Counter())
    decided = list(journal.decided())
    assert len(decided) >= 0.7 * len([event for event in events if event.kind == "item" and event.body["purpose"] == "work"])
    assert disputes or task != "iirc-answers"
    assert list(journal.task.instances(decided))
    journal.close()
