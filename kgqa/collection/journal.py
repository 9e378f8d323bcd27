"""The journal of a project: every change is one transaction that appends events and updates the tables that follow from them.

Transactions of one project run one after the other, also those of several servers on one PostgreSQL: each begins by locking the project's
row. So no seat is given twice, and events have numbers without gaps.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from sqlalchemy import event as listeners, func, insert, inspect, select, update
from sqlalchemy.pool import QueuePool, StaticPool

from kgqa.collection.events import MODEL, Event
from kgqa.collection.golds import KnownAnswer, known_answers
from kgqa.collection.project import CHANGEABLE, Project, ProjectSettings, fixed_settings
from kgqa.collection.tables import METADATA, PROJECT, VERSION
from kgqa.collection.task import Answer, AuthoredAnswer, DecidedItem, Fault, Item, Step, Task, find_task, majority
from kgqa.collection.transaction import BATCH, Row, Transaction, event_of, item_of
from kgqa.errors import (
    BrokenInput,
    DuplicateId,
    EmptyResult,
    InputError,
    MissingInput,
    SettingsError,
    TableChanged,
    UnknownId,
    storage_errors,
)
from kgqa.settings.base import located_fault

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from kgqa.collection.label_studio import Submission
    from kgqa.database import Database
    from kgqa.records import Instance

MOST_BODY = 1 << 20
"""Characters of an answer or draft as JSON."""
MOST_REASON = 2000
_LOCK = 0x6B676172
"""The number of the server's lock under which tables are created."""


class Refused(InputError):
    """A submission that the live checks refuse."""

    def __init__(self, faults: list[Fault]) -> None:
        """``faults`` has at least one that blocks."""
        super().__init__(" ".join(fault.sentence for fault in faults if fault.blocking))
        self.faults = faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """An item that a person has now, with the draft of their answer."""

    item: Item
    purpose: str
    """``work``, ``gold`` or ``qualification``; pages do not show which."""
    until: float
    """Seconds since 1970, UTC."""
    draft: dict[str, Any]
    version: int
    """Version of the draft; 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a person stands."""

    person: str
    role: str
    """``person``, ``lead`` or ``model``."""
    state: str
    """``active``, ``removed`` (no longer in the project file), ``failed`` (the qualification), ``withdrawn``."""
    answered: int
    qualified: bool
    attempt: int
    """Attempt of the qualification, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer whose item was left out of the results."""

    item: str
    reason: str
    answer: Mapping[str, Any]


class Journal:
    """The journal of ``project`` in ``database``. One per process; it may be used from several threads."""

    def __init__(self, database: Database, project: Project, *, begin: bool = True, clock: Callable[[], float] = time.time) -> None:
        """Open the journal, and ``begin`` the project if the database does not have it.

        Raises MissingInput for a project that has not begun and shall not, InputError for a journal of another project, SettingsError for
        a changed setting that must not change, and KgqaError.
        """
        self.database = database
        self.project = project
        self.task: Task = find_task(project.settings.task)(project)
        self._clock = clock
        self._is_file = database.path is not None
        self._lock = threading.RLock() if self._is_file else nullcontext()
        self._file: Any = None
        new_file = None if database.path is None or database.path.exists() else database.path
        if new_file is not None:
            if not begin:
                raise self._not_begun()
            database.make_folder()
            with storage_errors(new_file):  # it holds the key that signs links, so nobody else may read it
                os.close(os.open(new_file, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            self._open(begin)
        except BaseException:
            if new_file is not None:
                for suffix in ("", "-wal", "-shm"):
                    new_file.with_name(new_file.name + suffix).unlink(missing_ok=True)
            raise

    def _open(self, begin: bool) -> None:
        database = self.database
        with database.refusals():
            if self._is_file:
                self._engine = database.engine(pool=StaticPool)
                listeners.listen(self._engine, "connect", self._set_up_file)
            else:
                self._engine = database.engine(pool=QueuePool, pool_size=8, max_overflow=8, pool_pre_ping=True)
            try:
                with self._engine.begin() as connection:
                    self._create_tables(connection, begin)
                with self._engine.begin() as connection:
                    self._id = self._begin(connection, begin)
            except BaseException:
                self._engine.dispose()
                raise

    def _not_begun(self) -> MissingInput:
        return MissingInput(
            f"{self.database.name}: the project {self.project.settings.name!r} has not begun here; serve its pages first, or give the "
            "--journal that it has."
        )

    def close(self) -> None:
        """Close all connections to the database; the journal cannot be used afterwards."""
        self._engine.dispose()

    # Transactions

    @contextmanager
    def _changing(self, *, durable: bool = True) -> Iterator[Transaction]:
        """A transaction that holds the project. One that is not ``durable`` may be lost when the power fails, but not with the process."""
        with self._lock, self.database.refusals(), self._beginning(durable) as connection:
            transaction = Transaction(connection, self._id, 0, 0.0)
            transaction.lock(self._clock())
            yield transaction
            transaction.flush()

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        """A transaction that appends no event."""
        with self._lock, self.database.refusals(), self._beginning(durable=False) as connection:
            yield Transaction(connection, self._id, 0, 0.0)

    @contextmanager
    def _beginning(self, durable: bool) -> Iterator[Connection]:
        if self._file is not None:  # its one connection, which is locked here
            self._file.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        with self._engine.begin() as connection:
            yield connection

    def _set_up_file(self, connection: Any, _: Any) -> None:
        """A write-ahead log: what was committed is not lost with the process."""
        self._file = connection
        for setting in ("journal_mode=WAL", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {setting}")

    def _create_tables(self, connection: Connection, begin: bool) -> None:
        self._lock_tables(connection)
        tables = set(inspect(connection).get_table_names())
        if PROJECT.name in tables:
            wrong = set(connection.execute(select(PROJECT.c.version)).scalars()) - {VERSION}
            if wrong:
                raise BrokenInput(
                    f"{self.database.name}: its journal has version {min(wrong)}, this kgqa knows version {VERSION}; use the kgqa that "
                    f"made it, or choose another {self.database.option}."
                )
        elif tables & {table.name for table in METADATA.tables.values()} or (tables and self._is_file):
            raise BrokenInput(f"{self.database.name}: this is another program's database; choose another {self.database.option}.")
        elif not begin:
            raise self._not_begun()
        METADATA.create_all(connection)

    @staticmethod
    def _lock_tables(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))

    # The beginning of a project

    def _begin(self, connection: Connection, begin: bool) -> int:
        """The project's number in the database, after its items were written or its changed settings noted."""
        self._lock_tables(connection)
        settings = self.project.settings
        rows = {row.name: row for row in connection.execute(select(PROJECT))}
        row = rows.get(settings.name)
        if row is None and rows and self._is_file:
            raise InputError(
                f"{self.database.name}: this is the journal of the project {min(rows)!r}, not of {settings.name!r}; choose another "
                f"{self.database.option}."
            )
        if row is None and not begin:
            raise self._not_begun()
        if row is None:
            return self._start(connection)
        earlier = json.loads(row.settings)
        if row.identity != self.project.identity:
            before = fixed_settings(earlier)
            name = next((key for key, value in self.project.fixed.items() if before.get(key) != value), "name")
            raise SettingsError(
                f"{self.project.path}: {name} was {before.get(name)!r} when the project began and cannot change while the project runs; "
                f"restore it, or start another project. You may change these: {', '.join(CHANGEABLE)}."
            )
        self._id = int(row.id)
        if earlier != settings.model_dump(mode="json"):
            known_answers(self.project)
            transaction = Transaction(connection, self._id, int(row.events), max(self._clock(), float(row.time)))
            transaction.event("change", settings=settings.model_dump(mode="json"))
            transaction.set_members(_roles(settings))
            for item in transaction.rows("items", state="disputed"):
                self._decide(transaction, item)  # another agreement may decide it
            transaction.flush()
            connection.execute(update(PROJECT).where(PROJECT.c.id == self._id).values(settings=settings.model_dump_json()))
        return self._id

    def _start(self, connection: Connection) -> int:
        """Write the project with all its items."""
        settings = self.project.settings
        gold, qualification = known_answers(self.project)
        values = {"version": VERSION, "name": settings.name, "identity": self.project.identity, "settings": settings.model_dump_json()}
        key = connection.execute(insert(PROJECT).values(secret=secrets.token_hex(32), events=0, time=0.0, **values)).inserted_primary_key
        assert key is not None
        transaction = Transaction(connection, int(key[0]), 0, self._clock())
        transaction.event("open", settings=settings.model_dump(mode="json"))
        transaction.set_members(_roles(settings))
        known = gold | qualification
        ids: set[str] = set()
        for item in self.task.items():
            if item.id in ids:
                raise DuplicateId(f"{self.project.data}: the item {item.id} occurs twice; fix the data.")
            ids.add(item.id)
            purpose = "qualification" if item.id in qualification else "gold" if item.id in gold else "work"
            self._add_item(transaction, item, purpose, known.get(item.id), new=True)
        for name, entry in known.items():
            if name not in ids:
                raise UnknownId(f"{entry.place}: there is no item {name!r} in this project; leave out the line.")
        if len(ids) == len(known):
            raise EmptyResult(f"{self.project.path}: there is no item to work on in {self.project.data}; give other data, split or sample.")
        transaction.flush()
        return transaction.project

    def _add_item(self, transaction: Transaction, item: Item, purpose: str, known: KnownAnswer | None = None, *, new: bool = False) -> None:
        step = self.task.steps.get(item.step)
        if step is None or not 1 <= len(item.id) <= 200:
            raise InputError(f"{self.project.data}: the item {item.id[:80]!r} has no step or id that a project can hold; fix the task.")
        gold = dict(item.gold) if item.gold is not None else None
        if known is not None:
            answer = _parsed(step, known.answer, where=known.place)
            fault = next((fault for fault in step.faults(item, answer) if fault.blocking), None)
            if fault is not None:
                raise InputError(f"{known.place}: people could not give this answer: {fault.sentence}")
            gold = answer.model_dump(mode="json")
        labels = None if gold is None else step.labels(_parsed(step, gold))
        seats = item.seats or self.project.settings.per_item
        transaction.add_item(item, purpose=purpose, seats=seats, gold=gold, gold_labels=labels, new=new)

    # What people do

    def standing(self, person: str) -> Standing:
        """Where a person stands. Raises UnknownId for somebody who is not in the project."""
        with self._reading() as transaction:
            return _standing(transaction.member(person))

    def members(self) -> list[Standing]:
        """Everybody in the project, by name."""
        with self._reading() as transaction:
            return [_standing(row) for row in transaction.rows("members")]

    def seat_model(self, person: str) -> None:
        """Let a model fill seats of its own under the name ``person``. Raises SettingsError for a name of people."""
        if not person.startswith(MODEL):
            raise SettingsError(f"{person!r} is not the name of a model; begin it with {MODEL!r}.")
        with self._changing() as transaction:
            if transaction.row("member", person=person) is None:
                transaction.run("add member", person=person, role="model", qualified=True)

    def next_item(self, person: str, *, step: str = "") -> Reservation | None:
        """The item that a person has reserved, else the next one for them, reserved; None if there is nothing for them to do.

        Order: qualification, a gold item where one is due, open seats in the order of the items. A model gets every item, or every one of
        a ``step``.
        """
        with self._changing(durable=False) as transaction:
            member = transaction.member(person)
            if member.state != "active" or member.role == "lead":
                return None
            for seat in transaction.rows("seats over time", now=transaction.time):
                transaction.free(seat)
                transaction.event("release", person=seat.person, item=seat.item)
            until = transaction.time + 60 * self.project.settings.minutes
            reserved = transaction.row("reserved seats", person=person)
            if reserved is not None:
                transaction.run("reserve seat", id=reserved.id, person=person, since=reserved.since, until=until)
                return self._reservation(transaction, transaction.item(reserved.item), person, until)
            return self._reserve(transaction, member, until, step)

    def _reserve(self, transaction: Transaction, member: Row, until: float, step: str) -> Reservation | None:
        settings, person = self.project.settings, member.person
        if member.role == "model":
            return self._reserve_beside(transaction, member, "model", until, step)
        if member.role == "person" and not member.qualified and settings.qualification is not None:
            return self._reserve_beside(transaction, member, "qualification", until)
        every = settings.gold.every if settings.gold is not None else 0
        if every and member.answered % every == every - 1:
            gold = self._reserve_beside(transaction, member, "gold", until)
            if gold is not None:
                return gold
        seat = transaction.row("free seat", person=person)
        if seat is None:
            return None
        transaction.run("reserve seat", id=seat.id, person=person, since=transaction.time, until=until)
        transaction.event("reserve", person=person, item=seat.item, until=until)
        return self._reservation(transaction, transaction.item(seat.item), person, until)

    def _reserve_beside(
        self, transaction: Transaction, member: Row, purpose: str, until: float, step: str = ""
    ) -> Reservation | None:  # fmt: skip
        """Reserve an item beside the seats of work: one with a known answer, which everybody gets, or any item for a model."""
        attempt = member.attempt if purpose == "qualification" else 0
        values = {"step": step} if purpose == "model" else {"purpose": purpose, "attempt": attempt}
        item = transaction.row("item for a model" if purpose == "model" else "known item", person=member.person, **values)
        if item is None:
            return None
        transaction.add_seat(item, member.person, purpose=purpose, attempt=attempt, until=until)
        body: dict[str, Any] = {"attempt": attempt} if purpose == "qualification" else {}
        transaction.event("reserve", person=member.person, item=item.id, until=until, **body)
        return self._reservation(transaction, item, member.person, until)

    def save_draft(self, person: str, item: str, body: Mapping[str, Any], *, version: int) -> int:
        """Keep an unfinished answer; returns its new version.

        ``version`` is the version that the page began from. Raises TableChanged if another tab has saved since, UnknownId.
        """
        text = _json(body, "draft")
        with self._reading() as transaction:
            transaction.member(person)
            transaction.item(item)
            row = transaction.row("draft", person=person, item=item)
            if row is not None and row.version != version and row.body != text:
                raise TableChanged("this item is open in another tab, where the answer was changed since; load the page again to see it.")
            new_version = (version if row is None else int(row.version)) + 1
            transaction.run("save draft", person=person, item=item, version=new_version, body=text)
            return new_version

    def faults(self, person: str, item: str, answer: Mapping[str, Any]) -> list[Fault]:
        """What the live checks find in an answer; an answer of the wrong shape is one fault."""
        with self._reading() as transaction:
            transaction.member(person)
            work_item = item_of(transaction.item(item))
        step = self.task.steps[work_item.step]
        try:
            parsed = _parsed(step, answer)
        except InputError as error:
            sentence = str(error)
            return [Fault(field="", sentence=sentence[:1].upper() + sentence[1:])]
        return step.faults(work_item, parsed)

    def submit(self, person: str, item: str, answer: Mapping[str, Any], *, token: str, seconds: float = 0.0) -> int:
        """Append an answer; returns the number of its event. It is on disk when this returns.

        A submission with a ``token`` that is there already counts once. If the reservation ran out and somebody else has the seat now, the
        answer is kept as a further one. Raises Refused for faults, InputError for a wrong shape or a second answer, UnknownId.
        """
        _check_token(token)
        text = _json(answer, "answer")
        with self._reading() as transaction:
            work_item = item_of(transaction.item(item))
        step = self.task.steps[work_item.step]
        parsed_answer = _parsed(step, answer)
        faults = step.faults(work_item, parsed_answer)  # before the transaction: a check may take a while
        with self._changing() as transaction:
            earlier = transaction.row("submission", token=token)
            if earlier is not None:
                return int(earlier.number)
            row, body = transaction.item(item), json.loads(text)
            return self._append_answer(transaction, person, parsed_answer, body, row=row, faults=faults, token=token, seconds=seconds)

    def take(self, submissions: Sequence[Submission]) -> None:
        """Append answers that were given elsewhere: all of them, or none. Raises as :meth:`submit`."""
        with self._changing() as transaction:
            for number, submission in enumerate(submissions):
                row = transaction.item(submission.item)
                body = submission.answer.model_dump(mode="json")
                transaction.event("reserve", person=submission.person, item=submission.item, until=transaction.time)
                transaction.flush()
                self._append_answer(
                    transaction, submission.person, submission.answer, body, row=row, token=f"{secrets.token_hex(8)}-{number}",
                    seconds=submission.seconds,
                    faults=[Fault(field="", sentence=sentence, blocking=False) for sentence in submission.warnings],
                )  # fmt: skip

    def _append_answer(
        self, transaction: Transaction, person: str, parsed_answer: Answer, answer: Mapping[str, Any], *, row: Row, faults: Sequence[Fault],
        token: str, seconds: float,
    ) -> int:  # fmt: skip
        """Append a checked answer, and decide the item if it was the last that is needed."""
        member, step = transaction.member(person), self.task.steps[row.step]
        if member.state != "active":
            raise InputError(f"{person} can no longer submit answers; ask the lead of the project.")
        seat = self._seat_for(transaction, row, member)
        if any(fault.blocking for fault in faults):
            raise Refused(list(faults))
        body: dict[str, Any] = {"answer": answer, "labels": step.labels(parsed_answer), "seconds": round(max(0.0, seconds), 3)}
        if faults:
            body["warnings"] = [fault.sentence for fault in faults]
        if row.purpose == "qualification":
            body["attempt"] = member.attempt
        number = transaction.event("submit", person=person, item=row.id, token=token, **body)
        transaction.run("fill seat", id=seat, event=number)
        transaction.run("see", person=person, item=row.id)
        transaction.run("count answer", person=person, by=1)
        transaction.run("remove draft", person=person, item=row.id)
        if row.purpose == "work" and member.role != "model":
            self._decide(transaction, row)
        elif row.purpose == "qualification" and member.role != "model":
            self._judge_attempt(transaction, member)
        return number

    @staticmethod
    def _seat_for(transaction: Transaction, item: Row, member: Row) -> int:
        """The seat for a person's answer to an item: the reserved one, an open one, or a further one."""
        person = member.person
        attempt = member.attempt if item.purpose == "qualification" and member.role != "model" else 0
        own = transaction.row("own seat", item=item.id, person=person, attempt=attempt)
        if own is not None and own.state == "done":
            raise TableChanged(f"item {item.id} was already answered by {person}; undo that answer first.")
        if item.state == "refused":
            raise TableChanged(f"item {item.id} was removed from the project in the meantime; continue with the next one.")
        if own is not None:
            return int(own.id)
        if transaction.row("was reserved", item=item.id, person=person) is None:
            raise UnknownId(f"item {item.id} was not assigned to {person}; continue with the next one.")
        free = [seat for seat in transaction.rows("seats of an item", item=item.id) if seat.state == "open"]
        if free:
            transaction.run("reserve seat", id=free[0].id, person=person, since=transaction.time, until=None)
            return int(free[0].id)
        transaction.add_seat(item, person, purpose=item.purpose, attempt=attempt)
        late = transaction.row("own seat", item=item.id, person=person, attempt=attempt)
        assert late is not None
        return int(late.id)

    def undo(self, person: str) -> Reservation:
        """Take back the person's last answer, which becomes the draft again.

        Raises InputError if there is none, or if others have gone on from it.
        """
        with self._changing() as transaction:
            member = transaction.member(person)
            seat = transaction.row("last answer", person=person)
            if seat is None or member.state != "active":
                raise InputError(f"{person} has no answer to undo; continue with the next item.")
            if seat.purpose == "qualification" and (member.qualified or seat.attempt != member.attempt):
                raise InputError("an answer of a finished qualification cannot be undone; continue with the next item.")
            row = transaction.item(seat.item)
            if row.state == "decided" and self._is_adjudicated(transaction, row.id):
                raise InputError("a lead settled the item of your last answer, so it cannot be undone; continue with the next item.")
            if row.state == "decided" and row.purpose == "work":
                self._take_back_next_items(transaction, item_of(row))
            submitted = event_of(transaction.rows("event", number=seat.event)[0])
            number = transaction.event("undo", person=person, item=seat.item, event=seat.event)
            # What is reserved besides goes back, so that the item with the answer that was taken back comes first.
            for other in transaction.rows("reserved seats", person=person):
                transaction.free(other)
                transaction.event("release", person=person, item=other.item)
            until = transaction.time + 60 * self.project.settings.minutes
            transaction.run("reserve seat", id=seat.id, person=person, since=transaction.time, until=until)
            transaction.run("unsee", person=person, item=seat.item)
            transaction.run("count answer", person=person, by=-1)
            if row.purpose == "work" and row.state in {"decided", "disputed"} and member.role != "model":
                self._reopen(transaction, row.id)
            draft = json.dumps(submitted.body["answer"], ensure_ascii=False)
            transaction.run("save draft", person=person, item=seat.item, version=number, body=draft)
            return self._reservation(transaction, row, person, until)

    def _take_back_next_items(self, transaction: Transaction, item: Item) -> None:
        """Refuse the items that follow from a decided one. Raises InputError if somebody has one of them."""
        followers = self.task.steps[item.step].follow(self._decided(transaction, item))
        seats = [seat for follower in followers for seat in transaction.rows("seats of an item", item=follower.id)]
        if any(seat.state != "open" for seat in seats):
            raise InputError("another person has built on this answer, so it cannot be undone; contact the lead of the project.")
        for follower in followers:
            transaction.refuse(follower.id, "the answer that it follows from was taken back")

    def skip(self, person: str, item: str, reason: str) -> None:
        """Pass on an item, which the person does not get again. Raises InputError without a reason, UnknownId."""
        _check_reason(reason, "skipped")
        with self._changing() as transaction:
            seat = self._reserved_seat(transaction, person, item)
            if seat.purpose == "qualification":
                raise InputError("an item of the qualification cannot be skipped; answer it as well as you can.")
            transaction.free(seat)
            transaction.run("see", person=person, item=item)
            transaction.event("skip", person=person, item=item, reason=reason.strip())

    def flag(self, person: str, item: str, reason: str) -> None:
        """Report a problem with an item to the lead. Raises InputError without a reason, UnknownId."""
        _check_reason(reason, "flagged")
        with self._changing() as transaction:
            transaction.member(person)
            transaction.item(item)
            transaction.event("flag", person=person, item=item, reason=reason.strip())

    def reservation(self, person: str, item: str) -> Reservation:
        """The item if the person has it reserved. Raises UnknownId."""
        with self._reading() as transaction:
            seat = self._reserved_seat(transaction, person, item)
            return self._reservation(transaction, transaction.item(item), person, float(seat.until))

    def refusals(self, person: str, *, limit: int = 5) -> list[Refusal]:
        """The newest items that the person answered and that were left out afterwards, as a question that readers can answer."""
        with self._reading() as transaction:
            rows = transaction.rows("refused answers", person=person, limit=limit)
            refusals = []
            for row in rows:
                seat = transaction.rows("own seat", item=row.id, person=person, attempt=0)[0]
                reason = json.loads(transaction.rows("event", number=row.number)[0].body)["reason"]
                answer = json.loads(transaction.rows("event", number=seat.event)[0].body)["answer"]
                refusals.append(Refusal(item=row.id, reason=reason, answer=answer))
            return refusals

    # What leads and the server do

    def disputes(self) -> list[DecidedItem]:
        """The items on which people disagree, in order, each with its answers and without labels."""
        with self._reading() as transaction:
            return [self._with_answers(transaction, item_of(row), {}) for row in transaction.rows("items", state="disputed")]

    def adjudicate(self, person: str, item: str, answer: Mapping[str, Any], *, token: str) -> int:
        """Settle a disagreement. Raises InputError if the person is no lead or the item is not disputed, and as :meth:`submit`."""
        _check_token(token)
        text = _json(answer, "answer")
        with self._changing() as transaction:
            earlier = transaction.row("submission", token=token)
            if earlier is not None:
                return int(earlier.number)
            if transaction.member(person).role != "lead":
                raise InputError(f"{person} is not a lead of this project, and only leads settle disagreements; ask one of them.")
            row = transaction.item(item)
            if row.state != "disputed":
                raise TableChanged(f"item {item} is no longer disputed; load the page again.")
            step = self.task.steps[row.step]
            parsed_answer = _parsed(step, answer)
            faults = step.faults(item_of(row), parsed_answer)
            if any(fault.blocking for fault in faults):
                raise Refused(faults)
            labels = step.labels(parsed_answer)
            number = transaction.event("adjudicate", person=person, item=item, token=token, answer=json.loads(text), labels=labels)
            self._settle(transaction, self._with_answers(transaction, item_of(row), labels, lead=parsed_answer))
            return number

    def refuse(self, item: str, reason: str) -> None:
        """Leave an item out of the results, with what follows from it; nobody gets it any more."""
        with self._changing() as transaction:
            self._refuse(transaction, transaction.item(item), reason)

    def solve(self, item: str, solvers: list[dict[str, Any]], *, refusal: str = "") -> None:
        """Write what readers answered to the question of an item; ``refusal`` is the reason to leave it out, if they know too much.

        Nothing is written if the question was taken back meanwhile.
        """
        with self._changing() as transaction:
            row = transaction.item(item)
            if not transaction.count("filled seats", item=item):
                return  # the question was taken back meanwhile
            transaction.event("solve", item=item, solvers=solvers)
            if refusal:
                self._refuse(transaction, row, refusal)

    def _refuse(self, transaction: Transaction, row: Row, reason: str) -> None:
        if row.state == "decided":
            for follower in self.task.steps[row.step].follow(self._decided(transaction, item_of(row))):
                self._refuse(transaction, transaction.item(follower.id), reason)
        transaction.refuse(row.id, reason)

    def withdraw(self, person: str, reason: str) -> int:
        """Leave a person's answers out; their seats open again. Returns the number of answers. Raises UnknownId."""
        with self._changing() as transaction:
            member = transaction.member(person)
            transaction.event("withdraw", person=person, reason=reason)
            transaction.run("set standing", person=person, state="withdrawn", attempt=member.attempt, qualified=bool(member.qualified))
            seats = transaction.rows("seats of a person", person=person)
            for seat in seats:
                transaction.free(seat)
            items = {seat.item: transaction.item(seat.item) for seat in seats if seat.state == "done" and seat.purpose == "work"}
            for row in items.values():
                if row.state == "decided" and self._is_adjudicated(transaction, row.id):
                    transaction.drop_free_seats(row, keep=0)  # what a lead settled stays
                elif row.state in {"decided", "disputed"}:
                    self._reopen(transaction, row.id)
                    transaction.drop_free_seats(row)
                    self._decide(transaction, row)
            return sum(seat.state == "done" for seat in seats)

    def decided(self) -> Iterator[DecidedItem]:
        """The decided items, in order, with the answers of people."""
        with self._reading() as transaction:
            rows = transaction.rows("items", state="decided")
        for row in rows:
            with self._reading() as transaction:
                yield self._decided(transaction, item_of(row))

    def item(self, item: str) -> Item:
        """An item of the project. Raises UnknownId."""
        with self._reading() as transaction:
            return item_of(transaction.item(item))

    def items(self) -> dict[str, Item]:
        """Id → item, of all items, in the order in which they are given out."""
        with self._reading() as transaction:
            return {row.id: item_of(row) for row in transaction.rows("all items")}

    def events(self) -> Iterator[Event]:
        """All events of the journal in the order in which they happened."""
        return map(event_of, self.event_rows())

    def event_rows(self) -> Iterator[Row]:
        """As :meth:`events`, without parsing: ``number, time, kind, person, item``, and the body as JSON."""
        after = 0
        while True:
            with self._reading() as transaction:
                rows = transaction.rows("events", after=after, limit=BATCH)
            yield from rows
            if len(rows) < BATCH:
                return
            after = int(rows[-1].number)

    def question(self, item: str, event: int) -> Instance | None:
        """The question that a submission asks, for the solvers; None if it asks none."""
        with self._reading() as transaction:
            row, submitted = transaction.item(item), transaction.rows("event", number=event)[0]
        return self._question_of(item_of(row), event_of(submitted))

    def _question_of(self, item: Item, submitted: Event) -> Instance | None:
        step = self.task.steps[item.step]
        return step.asked(item, step.answer.model_validate(submitted.body["answer"])) if step.asks else None

    def questions(self) -> tuple[list[Instance], list[Instance]]:
        """The questions so far that solvers accepted, and those that they were not asked about yet."""
        items = self.items()
        submitted: dict[str, Instance] = {}
        solved: set[str] = set()
        for event in self.events():
            if event.kind == "submit" and (question := self._question_of(items[event.item], event)) is not None:
                submitted[event.item] = question
            elif event.kind in {"undo", "refuse"}:
                submitted.pop(event.item, None)
            elif event.kind == "solve":
                solved.add(event.item)
        solved_questions = [question for item, question in submitted.items() if item in solved]
        return solved_questions, [question for item, question in submitted.items() if item not in solved]

    @property
    def secret(self) -> bytes:
        """The key that signs links to this project."""
        with self._reading() as transaction:
            row = transaction.row("secret")
            assert row is not None
            return bytes.fromhex(row.secret)

    def renew_secret(self) -> None:
        """Make all links invalid that were given out so far."""
        with self._reading() as transaction:
            transaction.run("set secret", secret=secrets.token_hex(32))

    # Inside a transaction

    @staticmethod
    def _reserved_seat(transaction: Transaction, person: str, item: str) -> Row:
        seat = next((seat for seat in transaction.rows("reserved seats", person=person) if seat.item == item), None)
        if seat is None:
            raise UnknownId(f"item {item!r} is not assigned to {person} now; continue with the next one.")
        return seat

    @staticmethod
    def _reservation(transaction: Transaction, row: Row, person: str, until: float) -> Reservation:
        draft = transaction.row("draft", person=person, item=row.id)
        return Reservation(
            item=item_of(row),
            purpose=row.purpose,
            until=until,
            draft=json.loads(draft.body) if draft is not None else {},
            version=int(draft.version) if draft is not None else 0,
        )

    def _with_answers(self, transaction: Transaction, item: Item, labels: Mapping[str, str], *, lead: Answer | None = None) -> DecidedItem:
        """The item with the answers of people, in the order of submission."""
        step = self.task.steps[item.step]
        rows = [row for row in transaction.rows("answers", item=item.id) if not row.person.startswith(MODEL)]
        answers = tuple(
            AuthoredAnswer(person=row.person, answer=step.answer.model_validate(json.loads(row.body)["answer"])) for row in rows
        )
        return DecidedItem(item=item, answers=answers, labels=labels, lead=lead)

    def _decided(self, transaction: Transaction, item: Item) -> DecidedItem:
        """A decided item, with its labels from the journal."""
        row = transaction.row("decision", item=item.id)
        assert row is not None
        body = json.loads(row.body)
        lead = self.task.steps[item.step].answer.model_validate(body["answer"]) if row.kind == "adjudicate" else None
        return self._with_answers(transaction, item, body["labels"], lead=lead)

    def _decide(self, transaction: Transaction, row: Row) -> None:
        """Decide an item whose seats are filled."""
        if transaction.count("filled seats", item=row.id) < row.seats:
            return
        transaction.flush()
        undecided = self._with_answers(transaction, item_of(row), {})
        labels = majority(self.task.steps[row.step], undecided.answers, share=self.project.settings.agreement)
        state = "disputed" if labels is None else "decided"
        transaction.event("decide", item=row.id, state=state, labels=labels or {})
        if labels is None:
            transaction.run("set item", item=row.id, state=state)
        else:
            self._settle(transaction, DecidedItem(item=undecided.item, answers=undecided.answers, labels=labels))

    def _settle(self, transaction: Transaction, decided: DecidedItem) -> None:
        """Mark an item as decided, and add what follows from it."""
        transaction.run("set item", item=decided.item.id, state="decided")
        for follower in self.task.steps[decided.item.step].follow(decided):
            self._add_item(transaction, follower, "work")

    @staticmethod
    def _is_adjudicated(transaction: Transaction, item: str) -> bool:
        """Whether a lead gave the decision of an item."""
        decision = transaction.row("decision", item=item)
        return decision is not None and decision.kind == "adjudicate"

    @staticmethod
    def _reopen(transaction: Transaction, item: str) -> None:
        transaction.event("decide", item=item, state="open", labels={})
        transaction.run("set item", item=item, state="open")

    def _judge_attempt(self, transaction: Transaction, member: Row) -> None:
        """Judge a finished attempt of the qualification."""
        qualification = self.project.settings.qualification
        seats = transaction.rows("attempt", person=member.person, attempt=member.attempt)
        if qualification is None or len(seats) < transaction.count("count items", purpose="qualification"):
            return
        transaction.flush()
        right = of = 0
        for seat in seats:
            item = item_of(transaction.item(seat.item))
            step = self.task.steps[item.step]
            gold_labels = step.labels(_parsed(step, item.gold or {}))
            labels = event_of(transaction.rows("event", number=seat.event)[0]).body["labels"]
            of += 1
            right += all(labels.get(question) == label for question, label in gold_labels.items())
        is_passed = right >= qualification.needed * of - 1e-9
        last = member.attempt >= qualification.tries
        transaction.event("qualify", person=member.person, right=right, of=of, passed=is_passed, attempt=member.attempt)
        transaction.run(
            "set standing",
            person=member.person,
            state="active" if is_passed or not last else "failed",
            attempt=member.attempt if is_passed or last else member.attempt + 1,
            qualified=is_passed,
        )


def kept_settings(database: Database, project: str) -> str | None:
    """The settings of ``project`` in a journal, as JSON; None if there is no such journal or project. Raises KgqaError."""
    if database.path is not None and not database.path.exists():
        return None
    with database.refusals():
        engine = database.engine(write=False)
        try:
            with engine.connect() as connection:
                if not inspect(connection).has_table(PROJECT.name):
                    return None
                return connection.execute(select(PROJECT.c.settings).where(PROJECT.c.name == project)).scalar()
        finally:
            engine.dispose()


def _roles(settings: ProjectSettings) -> dict[str, str]:
    """Role of each person of a project."""
    return dict.fromkeys(settings.people, "person") | dict.fromkeys(settings.leads, "lead")


def _standing(row: Row) -> Standing:
    return Standing(
        person=row.person, role=row.role, state=row.state, answered=row.answered, qualified=bool(row.qualified), attempt=row.attempt
    )


def _parsed(step: Step, answer: Mapping[str, Any], *, where: str = "") -> Answer:
    """The answer in the step's shape. Raises InputError; ``where`` is the line that gives it, else it comes from a page."""
    try:
        return step.answer.model_validate(answer)
    except ValidationError as error:
        sentence = located_fault(error, whole="the answer")
        raise InputError(f"{where}: {sentence}; fix the line." if where else f"{sentence}; load the page again.") from None


def _json(body: Mapping[str, Any], noun: str) -> str:
    """``body`` as JSON that every database can keep."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    if len(text) > MOST_BODY:
        raise InputError(f"the {noun} has {len(text):,} characters, {MOST_BODY:,} is the maximum; write less.")
    if "\\u0000" in text:
        raise InputError(f"the {noun} has a null character, which a database cannot store; remove it.")
    return text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair cannot be kept


def _check_token(token: str) -> None:
    if not 8 <= len(token) <= 64:
        raise InputError("a submission has a token of 8 to 64 characters; load the page again.")


def _check_reason(reason: str, noun: str) -> None:
    if not 1 <= len(reason.strip()) <= MOST_REASON:
        raise InputError(f"an item is {noun} with a reason of 1 to {MOST_REASON:,} characters; write one.")
