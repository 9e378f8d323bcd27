"""Speed of a journal in an SQLite file: 50 people take and submit items of a project with 10,000 items, from eight threads.

``python -m benchmarks.annotate [SUBMISSIONS]``
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.measure import Section, Table
from kgqa.collection.journal import Journal
from kgqa.collection.project import TASKS, read_project
from kgqa.database import database_at
from tests.collection.conftest import write_project

PEOPLE, ITEMS, THREADS = 50, 10_000, 8
SUBMISSIONS = 10_000


def main(arguments: Sequence[str] = ()) -> Section:
    """Latencies of both calls, and submissions per second."""
    count = int(arguments[0]) if arguments else SUBMISSIONS
    TASKS["colours"] = "tests.collection.colours"
    people = [f"person {number}" for number in range(PEOPLE)]
    with tempfile.TemporaryDirectory() as folder:
        path = write_project(Path(folder), people=people, per_item=3, options={"things": ITEMS})
        journal = Journal(database_at(Path(folder) / "journal.sqlite", option="--journal", file="journal.sqlite"), read_project(path))
        seconds: dict[str, list[float]] = {"next item": [], "submit": []}

        def work(names: list[str]) -> None:
            for turn in range(count // THREADS):
                person = names[turn % len(names)]
                start = time.perf_counter()
                reservation = journal.next_item(person)
                assert reservation is not None
                taken = time.perf_counter()
                journal.submit(person, reservation.item.id, {"colour": "red"}, token=f"{person} {reservation.item.id}")
                seconds["next item"].append(taken - start)
                seconds["submit"].append(time.perf_counter() - taken)

        threads = [threading.Thread(target=work, args=(people[number::THREADS],)) for number in range(THREADS)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        total = time.perf_counter() - start
        journal.close()
    note = f"{len(seconds['submit']) / total:,.0f} submissions a second, each after taking its item; {THREADS} threads in one process."
    rows = [(name, *(f"{1000 * np.quantile(each, share):.1f}" for share in (0.5, 0.99))) for name, each in seconds.items()]
    columns = ("", "median", "99th percentile")
    title = f"Milliseconds, {PEOPLE} people and {ITEMS:,} items"
    return Section(title="Journal of annotation", tables=[Table(title=title, columns=columns, rows=rows, notes=[note])])


if __name__ == "__main__":
    print(main(sys.argv[1:]).plain())
