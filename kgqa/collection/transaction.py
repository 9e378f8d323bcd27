"""One transaction of a journal: the events that it appends, and the rows of the tables that follow from them."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from kgqa.collection.events import Event
from kgqa.collection.tables import SQL
from kgqa.collection.task import Item
from kgqa.errors import UnknownId

if TYPE_CHECKING:
    from sqlalchemy import Connection

BATCH = 2000
Row: TypeAlias = Any
"""A row of a table or statement: a named tuple of its columns."""


@cache
def _row_type(columns: tuple[str, ...]) -> Any:
    return namedtuple("Row", columns)


class Transaction:
    """Events and rows of one project; nothing is there for others before the end."""

    def __init__(self, connection: Connection, project: int, number: int, now: float) -> None:
        """``number`` is that of the last event; ``now`` is the time of all events of this transaction, in seconds since 1970."""
        # The driver's own cursor: a statement through SQLAlchemy takes about twice as long.
        self._cursor: Any = connection.connection.cursor()
        self._dialect = connection.dialect.name
        self._sql = SQL[self._dialect]
        self.project = project
        self.number = number
        self.time = now
        self._written = number
        self._events: list[dict[str, Any]] = []
        self._rows: dict[str, list[dict[str, Any]]] = {"add item": [], "add seat": [], "see": []}

    def lock(self, now: float) -> None:
        """Hold the project until the end, and go on from its last event. A file is locked since the transaction began."""
        row = self.rows("project" if self._dialect == "sqlite" else "project, locked")[0]
        self.number = self._written = int(row.events)
        self.time = max(now, float(row.time))

    # Statements

    def run(self, statement: str, **values: Any) -> None:
        """Run a statement of ``journal.sql``."""
        self._cursor.execute(self._sql[statement], {"project": self.project, **values})

    def run_all(self, statement: str, rows: Sequence[dict[str, Any]]) -> None:
        """Run a statement for each row of values."""
        self._cursor.executemany(self._sql[statement], rows)

    def rows(self, statement: str, **values: Any) -> list[Row]:
        """The rows of a statement."""
        self.run(statement, **values)
        make = _row_type(tuple(column[0] for column in self._cursor.description))
        return [make(*row) for row in self._cursor.fetchall()]

    def row(self, statement: str, **values: Any) -> Row | None:
        """The first row of a statement, if any."""
        return next(iter(self.rows(statement, **values)), None)

    def count(self, statement: str, **values: Any) -> int:
        """The number that a statement gives."""
        self.run(statement, **values)
        return int(self._cursor.fetchone()[0])

    # Events

    def event(self, kind: str, *, person: str = "", item: str = "", token: str | None = None, **body: Any) -> int:
        """Append an event; returns its number."""
        self.number += 1
        row = {"project": self.project, "number": self.number, "time": self.time, "kind": kind, "person": person, "item": item}
        self._events.append({**row, "body": json.dumps(body, ensure_ascii=False), "token": token})
        if len(self._events) >= BATCH:
            self.flush()
        return self.number

    def flush(self) -> None:
        """Insert what was appended so far, so that later statements of this transaction read it."""
        if self._events:
            self.run_all("append", self._events)
            self._events = []
        for statement, rows in self._rows.items():
            if rows:
                self.run_all(statement, rows)
                self._rows[statement] = []
        if self.number != self._written:
            self.run("advance project", events=self.number, time=self.time)
            self._written = self.number

    # People, items and seats

    def member(self, person: str) -> Row:
        """A person's row. Raises UnknownId."""
        row = self.row("member", person=person)
        if row is None:
            raise UnknownId(f"{person!r} is not one of the people of this project; add the name to the project file.")
        return row

    def item(self, item: str) -> Row:
        """An item's row. Raises UnknownId."""
        row = self.row("item", item=item)
        if row is None:
            raise UnknownId(f"{item!r} is not an item of this project; load the page again.")
        return row

    def add_item(
        self, item: Item, *, purpose: str, seats: int, gold: dict[str, Any] | None, gold_labels: dict[str, str] | None, new: bool
    ) -> None:
        """Add an item with its seats; one with its id is replaced, unless all ids are ``new``."""
        body: dict[str, Any] = {"shown": item.shown, "hidden": item.hidden, "gold": gold, "authors": list(item.authors)}
        number = self.event("item", item=item.id, step=item.step, purpose=purpose, seats=seats, gold_labels=gold_labels, **body)
        if not new and self.row("item", item=item.id) is not None:
            self.run("remove item", item=item.id)
            for row in self.rows("seats of an item", item=item.id):
                self.run("remove seat", id=row.id)
        own = {"project": self.project, "place": number, "purpose": purpose}
        self._rows["add item"].append(
            {**own, "id": item.id, "step": item.step, "seats": seats, "body": json.dumps(body, ensure_ascii=False)}
        )
        seat = {**own, "item": item.id, "state": "open", "person": None, "attempt": 0, "since": None, "until": None}
        self._rows["add seat"] += [seat] * (seats if purpose == "work" else 0)
        self._rows["see"] += [{"project": self.project, "person": author, "item": item.id} for author in dict.fromkeys(item.authors)]

    def add_seat(self, item: Row, person: str, *, purpose: str, attempt: int = 0, until: float | None = None) -> None:
        """Add a reserved seat beside the others: of an item with a known answer, for a model, or for a late answer."""
        values = {"item": item.id, "purpose": purpose, "place": item.place, "person": person, "attempt": attempt, "until": until}
        self.run("add seat", state="reserved", since=self.time, **values)

    def free(self, seat: Row) -> None:
        """Open a seat of work; a seat that was made for its person goes."""
        self.run("open seat" if seat.purpose == "work" else "remove seat", id=seat.id)

    def drop_free_seats(self, item: Row, *, keep: int | None = None) -> None:
        """Remove the open seats above the number that an item needs, or above ``keep``; a late answer may make some needless."""
        seats = [seat for seat in self.rows("seats of an item", item=item.id) if seat.purpose == "work"]
        free = [seat for seat in seats if seat.state == "open"]
        for seat in free[: max(0, len(seats) - item.seats) if keep is None else len(free) - keep]:
            self.run("remove seat", id=seat.id)

    def refuse(self, item: str, reason: str) -> None:
        """Leave an item out of the results; nobody gets it any more."""
        self.event("refuse", item=item, reason=reason)
        self.run("set item", item=item, state="refused")
        for seat in self.rows("seats of an item", item=item):
            if seat.state != "done":
                self.run("remove seat", id=seat.id)

    def set_members(self, roles: dict[str, str]) -> None:
        """Write the people of the project file; those who are no longer in it lose access."""
        members = {row.person: row for row in self.rows("members")}
        for name, role in roles.items():
            if name not in members:
                self.run("add member", person=name, role=role, qualified=False)
            else:
                state = members[name].state
                self.run("set member", person=name, role=role, state="active" if state == "removed" else state)
        for name, row in members.items():
            if name not in roles and row.role != "model" and row.state == "active":
                self.run("set member", person=name, role=row.role, state="removed")


def item_of(row: Row) -> Item:
    """The item in a row."""
    body = json.loads(row.body)
    names: Iterable[str] = body["authors"]
    return Item(
        id=row.id, step=row.step, shown=body["shown"], hidden=body["hidden"], seats=row.seats, gold=body["gold"], authors=tuple(names)
    )


def event_of(row: Row) -> Event:
    """The event in a row."""
    return Event(number=row.number, time=row.time, kind=row.kind, person=row.person, item=row.item, body=json.loads(row.body))
