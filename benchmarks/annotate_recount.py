"""Time to recompute all tables and figures of a project from a journal of a million events, in an SQLite file.

``python -m benchmarks.annotate_recount [EVENTS]``
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Section, Table, spread
from kgqa.collection.figures import figures
from kgqa.collection.journal import Journal
from kgqa.collection.project import TASKS, read_project
from kgqa.collection.state import replay, rows_table
from kgqa.database import database_at
from tests.collection.conftest import write_project
from tests.collection.simulated import journal

EVENTS = 1_000_000
PER_ITEM = 19
"""Events per item in the simulated journal, about."""
PEOPLE = tuple(f"person {number}" for number in range(1, 21))
ROUNDS = 3


def main(arguments: Sequence[str] = ()) -> Section:
    """The seconds of each part."""
    count = int(arguments[0]) if arguments else EVENTS
    with tempfile.TemporaryDirectory() as folder:
        opened = _journal(Path(folder), count)
        moments = []
        for _ in range(ROUNDS):
            moments.append([_now()])
            table = rows_table(opened.event_rows())
            moments[-1].append(_now())
            state = replay(table)
            moments[-1].append(_now())
            found = figures(state)
            moments[-1].append(_now())
        opened.close()
    assert found.events == table.height
    names = {"reading the events": (0, 1), "replaying them into tables": (1, 2), "all figures": (2, 3), "together": (0, 3)}
    answers = state.answers.height
    note = f"{table.height:,} events in an SQLite file, {answers:,} answers of {len(PEOPLE)} people and a model; {ROUNDS} rounds."
    rows = [
        (name, *(spread([each[end][clock] - each[begin][clock] for each in moments]) for clock in (0, 1)))
        for name, (begin, end) in names.items()
    ]
    columns = ("", "seconds", "of processors")
    return Section(title="Recount of a journal", tables=[Table(title="Seconds", columns=columns, rows=rows, notes=[note])])


def _now() -> tuple[float, float]:
    """Seconds by the wall clock, and of all processors."""
    return time.perf_counter(), time.process_time()


def _journal(folder: Path, count: int) -> Journal:
    """A journal with ``count`` events, about."""
    TASKS["colours"] = "tests.collection.colours"
    path = folder / "journal.sqlite"
    opened = Journal(database_at(path, option="--journal", file=path.name), read_project(write_project(folder)))
    events = journal(items=count // PER_ITEM, seed=1, people=PEOPLE, after=sum(1 for _ in opened.events()))
    with sqlite3.connect(path) as connection:
        connection.executemany(
            "INSERT INTO kgqa_event (project, number, time, kind, person, item, body) VALUES (1, ?, ?, ?, ?, ?, ?)",
            (
                (event.number, event.time, event.kind, event.person, event.item, json.dumps(event.body, ensure_ascii=False))
                for event in events
            ),
        )
    return opened


if __name__ == "__main__":
    print(main(sys.argv[1:]).plain())
