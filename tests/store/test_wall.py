"""Cypher of users only reads: by the check of its text, and, where the check fails, by the wall around the process that runs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kgqa.errors import KgqaError, QueryError
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store import sandbox
from kgqa.store.cypher import check_reads_only
from kgqa.store.limits import MIB, LimitErrors, Limits
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.query_process import Refused, Worker
from tests.store.hostile import Trap, hostile_texts, payloads, run_unguarded, set_trap

LINUX = sys.platform.startswith("linux")
QUERY = LimitErrors(subject="the query")


@pytest.fixture
def graph(seed_wikidata: Path) -> Path:
    return Workspace(seed_wikidata).graph


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Trap]:
    trap = set_trap(tmp_path / "trap")
    yield trap
    trap.listener.close()


@pytest.fixture
def texts(pytestconfig: pytest.Config) -> int:
    """How many hostile texts are tried."""
    usual = 1_000_000 if pytestconfig.getoption("--thorough") else 20_000
    return int(os.environ.get("KGQA_HOSTILE_TEXTS", usual))


def accepted(number: int, trap: Trap, store: str) -> Iterator[tuple[str, str]]:
    """Hostile texts that pass the check, each with the text that would run."""
    for text in hostile_texts(int(os.environ.get("KGQA_HOSTILE_SEED", "0")), number, trap, store):
        with suppress(QueryError):
            yield text, check_reads_only(text, store=store)[1]


def test_what_passes_the_check_springs_nothing_in_an_engine_without_a_wall(graph: Path, trap: Trap, texts: int) -> None:
    passed = dict.fromkeys(statement for _, statement in accepted(texts, trap, "embedded"))
    assert len(passed) > texts // 200
    assert run_unguarded(graph, passed) > len(passed) // 2
    assert trap.sprung == []


def test_it_would_be_sprung_by_texts_that_run_as_they_came(graph: Path, trap: Trap) -> None:
    run_unguarded(graph, (text for text, _ in accepted(5_000, trap, "embedded")))
    assert trap.sprung


def test_what_passes_runs_as_what_was_checked(trap: Trap) -> None:
    for _, statement in accepted(5_000, trap, "embedded"):
        plan, again = check_reads_only(statement, store="embedded")
        assert (plan, again) == ("", statement)
        assert "/*" not in statement.split("'")[::2]


@pytest.mark.skipif(not LINUX, reason="other systems have no such wall; kgqa doctor says so")
class TestTheWall:
    """Without any check."""

    @pytest.fixture
    def worker(self, graph: Path) -> Iterator[Worker]:
        worker = Worker(graph, memory=512 * MIB)
        yield worker
        worker.close()

    def test_linux_has_it(self, worker: Worker) -> None:
        assert worker.walls == (*([sandbox.LANDLOCK] if sandbox.landlock_abi() else []), sandbox.SECCOMP)

    def test_nothing_is_written_loaded_or_connected(self, graph: Path, trap: Trap, worker: Worker) -> None:
        before = graph.read_bytes()
        refused = 0
        for payload in payloads(trap, "embedded"):
            try:
                worker.ask(payload, {}, Limits(), QUERY)
            except Refused:
                refused += 1
        assert refused >= 8  # a change of the process's own settings does no harm
        assert trap.sprung == []
        assert graph.read_bytes() == before

    @pytest.mark.parametrize("wall", ["refuse_calls", "restrict"])
    def test_each_of_the_two_walls_holds_alone(self, graph: Path, trap: Trap, wall: str, monkeypatch: pytest.MonkeyPatch) -> None:
        if wall == "restrict" and not sandbox.landlock_abi():
            pytest.skip("this kernel has no Landlock")
        monkeypatch.setenv("KGQA_TEST_WALL", wall)
        monkeypatch.setattr("kgqa.store.query_process.PROGRAM", only_one_wall(trap.folder.parent))
        worker = Worker(graph, memory=512 * MIB)
        try:
            assert len(worker.walls) == 1
            for payload in payloads(trap, "embedded"):
                with suppress(Refused):
                    worker.ask(payload, {}, Limits(), QUERY)
        finally:
            worker.close()
        assert trap.sprung == []

    @pytest.mark.skipif(not sandbox.landlock_abi(), reason="this kernel has no Landlock")
    def test_no_other_file_is_read(self, trap: Trap, worker: Worker) -> None:
        secret = trap.folder.parent / "secret.csv"
        secret.write_text("a\n1\n")
        for text in (f"LOAD FROM '{secret}' RETURN *", f"LOAD WITH HEADERS (a INT64) FROM '{secret}' RETURN a"):
            with pytest.raises(Refused, match="secret"):
                worker.ask(text, {}, Limits(), QUERY)

    @pytest.mark.parametrize("file", ["environ", "status", "maps"])
    def test_no_password_is_read_from_the_environment(self, worker: Worker, file: str) -> None:
        with pytest.raises(Refused, match="/proc/self"):
            worker.ask(f"LOAD FROM '/proc/self/{file}' (file_format='csv', header=false, delim='|') RETURN *", {}, Limits(), QUERY)

    def test_hostile_texts_run_as_they_came_spring_nothing(self, trap: Trap, graph: Path) -> None:
        worker = Worker(graph, memory=512 * MIB)
        try:
            for text in hostile_texts(1, 500, trap, "embedded"):
                if not worker.alive:
                    worker.close()
                    worker = Worker(graph, memory=512 * MIB)
                with suppress(Refused, KgqaError):
                    worker.ask(text, {}, Limits(), QUERY)
        finally:
            worker.close()
        assert trap.sprung == []

    def test_answers_are_those_of_a_process_without_a_wall(self, worker: Worker) -> None:
        rows = worker.ask(
            "MATCH (n:Entity) WITH n ORDER BY n.id LIMIT 3 RETURN n.id AS id, size(n.label) AS size", {}, Limits(), QUERY
        ).rows
        assert rows.num_rows == 3


def only_one_wall(folder: Path) -> Path:
    """The program of the process with one of its two walls taken down."""
    from kgqa.store.query_process import PROGRAM

    program = folder / "program.py"
    other = {"refuse_calls": "sandbox.restrict(", "restrict": "sandbox.refuse_calls("}[os.environ["KGQA_TEST_WALL"]]
    text = PROGRAM.read_text("utf-8").replace("    sandbox.open_nothing()\n", "")
    assert other in text
    program.write_text(text.replace(other, "(lambda **_: [])("), "utf-8")
    return program


@pytest.mark.slow
def test_what_passes_the_check_springs_nothing_on_a_server(neo4j_database: Neo4jSettings, trap: Trap, texts: int) -> None:
    import neo4j

    passed = dict.fromkeys(statement for _, statement in accepted(texts, trap, "neo4j"))
    assert len(passed) > texts // 200
    with (
        Neo4jStore(neo4j_database) as store,
        neo4j.GraphDatabase.driver(neo4j_database.uri, auth=(neo4j_database.username, neo4j_database.password)) as driver,
    ):
        driver.execute_query("CREATE (:Entity {id: 'kept'})")
        for statement in passed:
            # A session that may write: only the check is between the text and the server.
            with driver.session() as session, suppress(neo4j.exceptions.Neo4jError):
                session.run(neo4j.Query(statement, timeout=2)).consume()
        rows = store.read("MATCH (n) RETURN labels(n) AS labels, n.id AS id").to_pylist()
    assert rows == [{"labels": ["Entity"], "id": "kept"}]
    assert trap.sprung == []
