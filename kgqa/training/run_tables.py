"""The tables of the record of runs. Import it only where SQLAlchemy is installed."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Double, ForeignKey, Integer, MetaData, String, Table, Text

VERSION = 1
"""Raised whenever an older kgqa could no longer read the tables."""
NAME_LIMIT = 200
SHORT = String(NAME_LIMIT)
METADATA = MetaData()
SCHEMA = Table("kgqa_schema", METADATA, Column("version", Integer, nullable=False))
"""One row; a database without this table is not ours."""
RUN = Table(
    "run",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("uid", String(32), nullable=False, unique=True),
    Column("name", SHORT, nullable=False, unique=True),
    Column("folder", Text, nullable=False),
    Column("host", SHORT, nullable=False),
    Column("reader", SHORT, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("hashes", JSON, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("versions", JSON, nullable=False),
    Column("device", Text, nullable=False),
    Column("status", String(20), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("sessions", Integer, nullable=False),
    Column("started", Double, nullable=False),
    Column("heartbeat", Double, nullable=False),
    Column("ended", Double),
    Column("seconds", Double, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("score", Double),
    Column("score_step", Integer),
)
"""A row per run; times are seconds since 1970, UTC. ``RecordedRun`` explains the columns."""
POINT = Table(
    "point",
    METADATA,
    Column("run", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("part", SHORT, nullable=False),
    Column("step", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("loss", Double),
    Column("score", Double),
    Column("examples_per_second", Double),
    Column("more", JSON, nullable=False),
)
"""A row per point of a run's curve, in order."""
