"""A process in which people answer everything that they get, and print the items: PROJECT DATABASE PERSON…"""

from __future__ import annotations

import sys
from pathlib import Path

from kgqa.collection.journal import Journal
from kgqa.collection.project import TASKS, read_project
from kgqa.database import database_at


def main(project: str, database: str, people: list[str]) -> None:
    """Take turns until nobody gets an item."""
    TASKS["colours"] = "tests.collection.colours"
    journal = Journal(database_at(database, option="--journal", file="journal.sqlite"), read_project(Path(project)))
    busy = set(people)
    while busy:
        for person in sorted(busy):
            reservation = journal.next_item(person)
            if reservation is None:
                busy.discard(person)
            else:
                journal.submit(person, reservation.item.id, {"colour": "red"}, token=f"{person} {reservation.item.id}")
                print(reservation.item.id)
    journal.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
