"""A query on a server ends in time whatever the server does, and takes no more of its memory than it allows."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import QueryMemory, QueryTimeout, StoreUnreachable
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.limits import Limits
from kgqa.store.neo4j.connection import Neo4jStore
from tests.neo4j.server import Neo4jServer
from tests.ports import free_port

COLLECTING = "UNWIND range(1, 30000000) AS x WITH collect(toString(x)) AS xs RETURN size(xs) AS n"
SOON = 15.0
"""Seconds that a busy machine may need where one was asked for; the driver by itself waits for 30 and more."""


@pytest.fixture
def silent() -> Iterator[Neo4jSettings]:
    """Something that listens and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Neo4jSettings(uri=f"bolt://127.0.0.1:{listener.getsockname()[1]}")


def ask(settings: Neo4jSettings, *, seconds: float) -> float:
    """How long it takes to be told that no server answers, by each way to ask."""
    begin = time.monotonic()
    with pytest.raises(StoreUnreachable, match="no Neo4j server answers here"):
        kgqa.query("hubs", store="neo4j", neo4j=settings, seconds=seconds)
    middle = time.monotonic()
    with pytest.raises(StoreUnreachable, match="no Neo4j server answers here"):
        kgqa.cypher("MATCH (n) RETURN n", store="neo4j", neo4j=settings, limits=Limits(seconds=seconds))
    return max(middle - begin, time.monotonic() - middle)


def test_a_server_that_is_away_is_waited_for_as_long_as_was_asked() -> None:
    settings = Neo4jSettings(uri=f"bolt://127.0.0.1:{free_port()}")
    ask(settings, seconds=1)  # what is imported now is not waited for later
    assert ask(settings, seconds=1) < SOON


@pytest.mark.slow
def test_a_server_that_says_nothing_is_waited_for_as_long_as_was_asked(silent: Neo4jSettings) -> None:
    assert ask(silent, seconds=1) < SOON


def test_a_server_that_falls_silent_is_not_waited_for(neo4j_database: Neo4jSettings, neo4j_server: Neo4jServer) -> None:
    with Neo4jStore(neo4j_database) as store:
        assert store.read("RETURN 1 AS one").rows.num_rows == 1
        with neo4j_server.paused():
            begin = time.monotonic()
            with pytest.raises(QueryTimeout, match=r"^the query took more than 1 seconds"):
                store.read("RETURN 1 AS one", limits=Limits(seconds=1))
            assert time.monotonic() - begin < SOON
        assert store.read("RETURN 1 AS one").rows.num_rows == 1


def test_memory_is_limited_by_the_server(neo4j_database: Neo4jSettings) -> None:
    with Neo4jStore(neo4j_database) as store:
        says = r"^the query took more memory than the server allows \(db\.memory\.transaction\.max .*narrow it, or raise the limit\.$"
        with pytest.raises(QueryMemory, match=says):
            store.read(COLLECTING, limits=Limits(seconds=60))
        assert store.read("RETURN 1 AS one").rows.num_rows == 1


def test_rows_that_nobody_wants_are_not_waited_for(neo4j_database: Neo4jSettings) -> None:
    with Neo4jStore(neo4j_database) as store:
        begin = time.monotonic()
        answer = store.read("UNWIND range(1, 3000000000) AS x RETURN x", limits=Limits(rows=10, seconds=30))
        assert (answer.rows["x"].to_pylist(), answer.cut) == (list(range(1, 11)), "rows")
        assert time.monotonic() - begin < 25  # seconds that are allowed: 30


def test_all_connections_share_one_handler_of_the_drivers_log(neo4j_database: Neo4jSettings) -> None:
    Neo4jStore(neo4j_database).close()
    handlers = list(logging.getLogger("neo4j").handlers)
    for _ in range(3):
        Neo4jStore(neo4j_database).close()
    assert logging.getLogger("neo4j").handlers == handlers


def test_the_compose_file_limits_a_transactions_memory() -> None:
    text = (Path(kgqa.__file__).parent.parent / "docker-compose.yml").read_text("utf-8")
    assert "NEO4J_db_memory_transaction_max:" in text
    assert "NEO4J_dbms_memory_transaction_total_max:" in text
