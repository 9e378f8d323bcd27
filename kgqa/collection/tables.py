"""The tables of a journal. Import it only where SQLAlchemy is installed.

``event`` is the journal. ``item``, ``seat``, ``seen`` and ``member`` say who may get what next; they follow from the events. ``draft``
holds unfinished answers.
"""

from __future__ import annotations

import re
from importlib.resources import files

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
PROJECT = Table(
    "kgqa_project",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("name", SHORT, nullable=False, unique=True),
    Column("identity", SHORT, nullable=False),
    Column("settings", Text, nullable=False),
    Column("secret", SHORT, nullable=False),
    Column("events", NUMBER, nullable=False),
    Column("time", Double, nullable=False),
)
"""A row per project: its settings as JSON, the key that signs links, the number of its events and the time of the last one."""
EVENT = Table(
    "kgqa_event",
    METADATA,
    Column("project", NUMBER, primary_key=True, autoincrement=False),
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("person", SHORT, nullable=False),
    Column("item", SHORT, nullable=False),
    Column("body", Text, nullable=False),
    Column("token", String(64)),
    UniqueConstraint("project", "token"),
    Index("kgqa_event_item", "project", "item", "kind", "person"),
)
"""The journal; :mod:`kgqa.collection.events` explains the kinds. ``token`` is chosen by the page: a submission sent twice counts once."""
ITEM = Table(
    "kgqa_item",
    METADATA,
    Column("project", NUMBER, primary_key=True, autoincrement=False),
    Column("id", SHORT, primary_key=True),
    Column("place", NUMBER, nullable=False),
    Column("step", SHORT, nullable=False),
    Column("purpose", String(20), nullable=False),
    Column("seats", Integer, nullable=False),
    Column("state", String(20), nullable=False),
    Column("body", Text, nullable=False),
    Index("kgqa_item_state", "project", "state", "place"),
)
"""Items in the order in which they are given out; ``state``: open, decided, disputed, refused."""
SEAT = Table(
    "kgqa_seat",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("project", NUMBER, nullable=False),
    Column("item", SHORT, nullable=False),
    Column("purpose", String(20), nullable=False),
    Column("place", NUMBER, nullable=False),
    Column("state", String(20), nullable=False),
    Column("person", SHORT),
    Column("attempt", Integer, nullable=False),
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
    Column("project", NUMBER, primary_key=True, autoincrement=False),
    Column("person", SHORT, primary_key=True),
    Column("item", SHORT, primary_key=True),
)
"""Items that a person does not get (again): answered, skipped, or about their own work."""
MEMBER = Table(
    "kgqa_member",
    METADATA,
    Column("project", NUMBER, primary_key=True, autoincrement=False),
    Column("person", SHORT, primary_key=True),
    Column("role", String(20), nullable=False),
    Column("state", String(20), nullable=False),
    Column("answered", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("qualified", Boolean, nullable=False),
)
"""``role``: person, lead, model. ``state``: active, removed, failed, withdrawn. ``attempt``: that of the qualification, from 1."""
DRAFT = Table(
    "kgqa_draft",
    METADATA,
    Column("project", NUMBER, primary_key=True, autoincrement=False),
    Column("person", SHORT, primary_key=True),
    Column("item", SHORT, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
)
"""Unfinished answers, as they were at the last key."""


def _statements() -> dict[str, str]:
    """The statements of ``journal.sql`` by their headings."""
    blocks = files("kgqa.collection").joinpath("journal.sql").read_text(encoding="utf-8").split("\n\n-- ")[1:]
    return {heading: body.strip() for heading, _, body in (block.partition("\n") for block in blocks)}


_STATEMENTS = _statements()
SQL = {"sqlite": _STATEMENTS, "postgresql": {heading: re.sub(r":(\w+)", r"%(\1)s", body) for heading, body in _STATEMENTS.items()}}
"""Dialect → heading → statement, with the dialect's own form of named parameters."""
