"""The tables of a journal. Import it only where SQLAlchemy is installed.

``event`` is the journal. ``item``, ``seat``, ``seen`` and ``member`` say who may get what next; they follow from the events. ``draft``
holds unfinished answers.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 1
"""Raised whenever an older kgqa could no longer read the tables."""
SHORT = String(200)
NUMBER = BigInteger().with_variant(Integer, "sqlite")
METADATA = MetaData()


def _column(name: str, kind: Any, **options: Any) -> Column[Any]:
    """A column that has a value in every row."""
    return Column(name, kind, nullable=False, **options)


def _key(name: str, kind: Any) -> Column[Any]:
    """A column of the primary key."""
    return Column(name, kind, primary_key=True, autoincrement=False)


PROJECT = Table(
    "kgqa_project",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    _column("version", Integer),
    Column("name", SHORT, nullable=False, unique=True),
    _column("identity", SHORT),
    _column("settings", Text),
    _column("secret", SHORT),
    _column("events", NUMBER),
    _column("time", Double),
)
"""A row per project: its settings as JSON, the key that signs links, the number of its events and the time of the last one."""
EVENT = Table(
    "kgqa_event",
    METADATA,
    _key("project", NUMBER),
    _key("number", NUMBER),
    _column("time", Double),
    _column("kind", String(20)),
    _column("person", SHORT),
    _column("item", SHORT),
    _column("body", Text),
    Column("token", String(64)),
    UniqueConstraint("project", "token"),
    Index("kgqa_event_item", "project", "item", "kind", "person"),
)
"""The journal; :mod:`kgqa.collection.events` explains the kinds. ``token`` is chosen by the page: a submission sent twice counts once."""
ITEM = Table(
    "kgqa_item",
    METADATA,
    _key("project", NUMBER),
    _key("id", SHORT),
    _column("place", NUMBER),
    _column("step", SHORT),
    _column("purpose", String(20)),
    _column("seats", Integer),
    _column("state", String(20)),
    _column("body", Text),
    Index("kgqa_item_state", "project", "state", "place"),
)
"""Items in the order in which they are given out; ``state``: open, decided, disputed, refused."""
SEAT = Table(
    "kgqa_seat",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    _column("project", NUMBER),
    _column("item", SHORT),
    _column("purpose", String(20)),
    _column("place", NUMBER),
    _column("state", String(20)),
    Column("person", SHORT),
    _column("attempt", Integer),
    Column("since", Double),
    Column("until", Double),
    Column("event", NUMBER),
    UniqueConstraint("project", "item", "person", "attempt"),
    Index("kgqa_seat_open", "project", "state", "purpose", "place"),
    Index("kgqa_seat_person", "project", "person", "state"),
)
"""A seat per person who is to answer an item; ``state``: open, reserved, done. ``event`` is the submission.

``purpose`` is that of the item; ``model`` for a model's seat, which is beside those of people.
"""
SEEN = Table(
    "kgqa_seen",
    METADATA,
    _key("project", NUMBER),
    _key("person", SHORT),
    _key("item", SHORT),
)
"""Items that a person does not get (again): answered, skipped, or about their own work."""
MEMBER = Table(
    "kgqa_member",
    METADATA,
    _key("project", NUMBER),
    _key("person", SHORT),
    _column("role", String(20)),
    _column("state", String(20)),
    _column("answered", Integer),
    _column("attempt", Integer),
    _column("qualified", Boolean),
)
"""``role``: person, lead, model. ``state``: active, removed, failed, withdrawn. ``attempt``: that of the qualification, from 1."""
DRAFT = Table(
    "kgqa_draft",
    METADATA,
    _key("project", NUMBER),
    _key("person", SHORT),
    _key("item", SHORT),
    _column("version", Integer),
    _column("body", Text),
)
"""Unfinished answers, as they were at the last key."""


def _statements() -> dict[str, str]:
    """The statements of ``journal.sql`` by their headings."""
    blocks = files("kgqa.collection").joinpath("journal.sql").read_text(encoding="utf-8").split("\n\n-- ")[1:]
    return {heading: body.strip() for heading, _, body in (block.partition("\n") for block in blocks)}


_STATEMENTS = _statements()
SQL = {"sqlite": _STATEMENTS, "postgresql": {heading: re.sub(r":(\w+)", r"%(\1)s", body) for heading, body in _STATEMENTS.items()}}
"""Dialect → heading → statement, with the dialect's own form of named parameters."""
