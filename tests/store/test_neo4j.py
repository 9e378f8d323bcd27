"""What can go wrong with a server: it is away, lets nobody in, stops in the middle, or holds what is not ours."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import pyarrow as pa
import pytest
from neo4j import GraphDatabase

from kgqa.errors import SettingsError, StoreConflict, StoreError, StoreUnreachable
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.graph import TABLES
from kgqa.store.limits import Limits
from kgqa.store.neo4j import graph as loading
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import check_holds, erase, load, read_marker
from kgqa.store.neo4j.layouts import GRAPH
from kgqa.store.queries import Query, read_queries
from tests.command import ROOT
from tests.neo4j.server import PASSWORD, Neo4jServer
from tests.ports import free_port
from tests.store.graphs import ad_hoc, rows_of

SEVERAL = rows_of(entities=[f"entity {i}" for i in range(750)], facts=[(i, (i * 7 + 1) % 750) for i in range(750)], documents=500)
"""Of several batches, where a batch is as small as here."""


def connected(server: Neo4jServer) -> Neo4jStore:
    return Neo4jStore(Neo4jSettings(uri=server.uri, password=server.password))


def contents(store: Neo4jStore) -> dict[str, list[object]]:
    """Everything in the database, in an order that does not depend on how it came there."""
    nodes = (
        "MATCH (n) WHERE NOT n:KgqaGraph "
        "RETURN labels(n)[0] AS label, n.id AS id, n.row AS row, n.label AS text, n.title AS title ORDER BY label, row"
    )
    edges = "MATCH (a)-[r]->(b) RETURN type(r) AS type, a.id AS a, b.id AS b, r.row AS row, r.count AS count ORDER BY type, a, b, row"
    every = Limits(rows=10**6, seconds=60)
    return {name: store.read(text, limits=every).rows.to_pylist() for name, text in (("nodes", nodes), ("edges", edges))}


def total(rows: dict[str, pa.Table]) -> int:
    return sum(table.num_rows for table in rows.values())


# Where the server is, and who may ask


def test_what_is_given_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URI", "USERNAME", "PASSWORD", "DATABASE"):
        monkeypatch.delenv(f"NEO4J_{name}", raising=False)
    assert Neo4jSettings.from_environment() == Neo4jSettings()
    monkeypatch.setenv("NEO4J_URI", "neo4j://there:7000")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    monkeypatch.setenv("NEO4J_DATABASE", "films")
    result = Neo4jSettings.from_environment(database="books")
    assert (result.uri, result.username, result.password, result.database) == ("neo4j://there:7000", "neo4j", "secret", "books")


def test_the_password_is_never_shown() -> None:
    settings = Neo4jSettings(password="hunter2")
    assert "hunter2" not in repr(settings)
    assert "hunter2" not in f"{settings} {settings.place}"


@pytest.mark.parametrize(
    "uri", ["http://localhost:7474", "localhost", "bolt://", "bolt://host:port", "bolt://host:99999999", "", "bolt://[::1"]
)
def test_an_address_that_is_none_is_refused(uri: str) -> None:
    with pytest.raises(SettingsError, match=r"^--neo4j-uri or NEO4J_URI is not the address"):
        Neo4jSettings(uri=uri)


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(SettingsError, match="NEO4J_URI contains a user or a password") as error:
        Neo4jSettings(uri="bolt://neo4j:hunter2@localhost:7687")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("rest", ["?password=hunter2", "/hunter2", "#hunter2", "?policy=hunter2"])
def test_more_than_an_address_is_refused_and_not_repeated(rest: str) -> None:
    with pytest.raises(SettingsError, match="NEO4J_URI contains more than scheme, host and port") as error:
        Neo4jSettings(uri=f"neo4j://localhost:1{rest}")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("name", ["username", "password", "database"])
def test_bytes_that_are_no_text_are_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="is not UTF-8"):
        Neo4jSettings(**{name: "\udcff"})


def test_nobody_answers() -> None:
    port = free_port()
    with pytest.raises(StoreUnreachable, match=rf"^bolt://127\.0\.0\.1:{port}: no Neo4j server answers here; start it") as error:
        Neo4jStore(Neo4jSettings(uri=f"bolt://127.0.0.1:{port}", password=PASSWORD))
    assert PASSWORD not in str(error.value)


def test_something_else_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def reply() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(64)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=reply)
        thread.start()
        with pytest.raises(StoreError, match=rf"^bolt://127\.0\.0\.1:{port}: .*\.$") as error:
            Neo4jStore(Neo4jSettings(uri=f"bolt://127.0.0.1:{port}"))
        thread.join()
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_server_that_is_too_old_is_refused(neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.store.neo4j.connection.OLDEST", (9000, 0))
    with pytest.raises(StoreError, match=r"this is Neo4j \d+\.\d+\.\d+; kgqa needs Neo4j 5\.0 or later\.$"):
        Neo4jStore(neo4j_database)


def test_a_server_that_speaks_only_what_version_4_spoke_is_refused() -> None:
    # The handshake of Neo4j 4.4; with a real one the driver stops at the same place.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def reply() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(64)
                connection.sendall(bytes([0, 0, 4, 4]))
                connection.recv(4096)

        thread = threading.Thread(target=reply)
        thread.start()
        with pytest.raises(StoreError, match=r"this server is too old; kgqa needs Neo4j 5\.0 or later\.$"):
            Neo4jStore(Neo4jSettings(uri=f"bolt://127.0.0.1:{port}"))
        thread.join()


@pytest.mark.slow
def test_wrong_password_wrong_user_no_password_wrong_database(neo4j_database: Neo4jSettings) -> None:
    uri = neo4j_database.uri
    cases = {
        "check NEO4J_USERNAME and NEO4J_PASSWORD": Neo4jSettings(uri=uri, password="wrong"),
        "does not let somebody in": Neo4jSettings(uri=uri, username="somebody", password=PASSWORD),
        "set NEO4J_PASSWORD": Neo4jSettings(uri=uri),
        "there is no database 'films'": Neo4jSettings(uri=uri, password=PASSWORD, database="films"),
    }
    for part, settings in cases.items():
        with pytest.raises(StoreUnreachable, match=part) as error:
            Neo4jStore(settings)
        assert PASSWORD not in str(error.value)
        assert "wrong" not in str(error.value)
        assert str(error.value).endswith(".")
    Neo4jStore(neo4j_database).close()


# Loading


def test_a_graph_is_loaded_once_and_recognised(neo4j_database: Neo4jSettings) -> None:
    items: list[int] = []
    with Neo4jStore(neo4j_database) as store:
        assert load(store, "hash", SEVERAL, advance=items.append)
        assert sum(items) == total(SEVERAL)
        whole = contents(store)
        items.clear()
        assert not load(store, "hash", SEVERAL, advance=items.append)
        assert sum(items) == total(SEVERAL)
        assert contents(store) == whole
        marker = read_marker(store)
        assert marker is not None
        assert marker.finished
        assert marker.rows == {name: SEVERAL[name].num_rows for name in TABLES}
        check_holds(store, "hash")
        with pytest.raises(StoreConflict, match="kgqa's graph of other tables; replace it with kgqa load"):
            check_holds(store, "other")


def test_a_database_with_somebody_elses_data_is_left_alone(neo4j_database: Neo4jSettings) -> None:
    with Neo4jStore(neo4j_database) as store:
        with GraphDatabase.driver(neo4j_database.uri, auth=("neo4j", PASSWORD)) as driver:
            driver.execute_query("CREATE (:Film {title: 'Solaris'})-[:BY]->(:Person {name: 'Tarkovsky'})")
        with pytest.raises(StoreConflict, match="2 nodes in it were not written by kgqa; give kgqa an empty database"):
            load(store, "hash", SEVERAL)
        with pytest.raises(StoreConflict, match="there is no graph of kgqa in this database"):
            check_holds(store)
        erase(store)
        left = store.read("MATCH (n) RETURN labels(n)[0] AS label ORDER BY label", limits=Limits(rows=10, seconds=5)).rows
        assert left["label"].to_pylist() == ["Film", "Person"]


def test_another_graph_of_ours_is_only_replaced_when_that_is_asked_for(neo4j_database: Neo4jSettings) -> None:
    small = rows_of(entities=["a", "b"], facts=[(0, 1)])
    with Neo4jStore(neo4j_database) as store:
        load(store, "several", SEVERAL)
        with pytest.raises(StoreConflict, match="--replace"):
            load(store, "small", small)
        erase(store)
        assert read_marker(store) is None
        assert contents(store) == {"nodes": [], "edges": []}
        load(store, "small", small)
        assert len(contents(store)["nodes"]) == 4  # two entities, a document, a relation


@pytest.mark.parametrize(
    "stranger",
    [
        "CREATE (:Film)",
        "CREATE (:Entity {id: 'mine'})",
        "CREATE (:Document {id: 'mine'})",
        "CREATE (:Relation {id: 'mine'})",
        "MATCH (a:Entity {id: 'e0'}), (b:Entity {id: 'e1'}) CREATE (a)-[:MY_NOTE {text: 'mine'}]->(b)",
        "MATCH (a:Entity {id: 'e0'}), (b:Entity {id: 'e1'}) CREATE (a)-[:FACT {relation: 'mine'}]->(b)",
    ],
)
def test_a_graph_to_which_somebody_added_is_not_erased(neo4j_database: Neo4jSettings, stranger: str) -> None:
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", rows_of(entities=["a", "b"]))
        change(neo4j_database, stranger)
        before = contents(store)
        with pytest.raises(StoreConflict, match="someone added nodes or relationships"):
            erase(store)
        assert contents(store) == before


def test_an_interrupted_erasing_is_gone_on_with(neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "ERASE_NODES", 175)
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", SEVERAL)

        def cut(_: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            erase(store, advance=cut)
        left = len(contents(store)["nodes"])
        assert 0 < left < 1250
        with pytest.raises(StoreConflict):
            check_holds(store)
        with pytest.raises(StoreConflict):
            load(store, "hash", SEVERAL)
        erase(store)
        assert load(store, "hash", SEVERAL)


@pytest.mark.parametrize("name", ["fact", "mentions", "about"])
def test_what_relationships_connect_is_found_by_its_key(neo4j_database: Neo4jSettings, name: str) -> None:
    lists = {key: ["e0"] for key in GRAPH.links[name].values()}
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", rows_of(entities=["a", "b"]))
    with GraphDatabase.driver(neo4j_database.uri, auth=("neo4j", PASSWORD)) as driver:
        text: Any = f"EXPLAIN {read_queries()[f'add_{name}'].text}"
        plan = driver.execute_query(text, {"loader": "", "from": 0, "rows": [], **lists}).summary.plan

    def steps(plan: Any) -> list[str]:
        return [plan["operatorType"].split("@")[0], *(step for part in plan.get("children", []) for step in steps(part))]

    # One look-up for each list, and one for the marker.
    assert sum("UniqueIndexSeek" in step for step in steps(plan)) == len(lists) + 1
    assert not any("Scan" in step for step in steps(plan))


@pytest.mark.parametrize("at", [0, 3, 8, *(pytest.param(at, marks=pytest.mark.thorough) for at in (1, 2, 5, 12))])
def test_an_interrupted_load_goes_on_where_it_stopped(neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 249)
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", SEVERAL)
        whole = contents(store)
        erase(store)
        calls = 0

        def cut(rows: int) -> None:
            nonlocal calls
            calls += rows > 0
            if calls > at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            load(store, "hash", SEVERAL, advance=cut)
        with pytest.raises(StoreConflict, match="not completely loaded"):
            check_holds(store)
        items: list[int] = []
        assert load(store, "hash", SEVERAL, advance=items.append)
        assert sum(items) == total(SEVERAL)
        assert contents(store) == whole


def test_a_commit_whose_answer_was_lost_is_not_repeated(neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Neo4jStore.write

    def twice(store: Neo4jStore, query: Query, arguments: Any = None, **expected: Any) -> list[list[Any]]:
        """The driver tries again what it believes has failed."""
        if query.name.startswith("add_"):
            write(store, query, arguments, **expected)
        return write(store, query, arguments, **expected)

    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", SEVERAL)
        whole = contents(store)
        erase(store)
        monkeypatch.setattr(Neo4jStore, "write", twice)
        load(store, "hash", SEVERAL)
        assert contents(store) == whole


def test_nodes_that_vanish_during_a_load_are_noticed_as_often_as_it_is_run(
    neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 250)
    with Neo4jStore(neo4j_database) as store:
        seen = 0

        def remove(rows: int) -> None:
            nonlocal seen
            seen += rows
            if seen == 1250:
                change(neo4j_database, "MATCH (e:Entity) WHERE e.row < 20 DETACH DELETE e")

        for _ in range(2):
            with pytest.raises(StoreError, match=r"nodes are missing from the graph|someone changed it"):
                load(store, "hash", SEVERAL, advance=remove)
            seen = 10**6


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH ()-[m:MENTIONS]->() WITH m LIMIT 3 DELETE m",
        "MATCH ()-[f:FACT]->() WITH f LIMIT 1 DELETE f",
        "MATCH (d:Document) WITH d LIMIT 1 DETACH DELETE d",
        "MATCH (r:Relation) WITH r LIMIT 1 DELETE r",
        "MATCH (e:Entity) WITH e LIMIT 1 CREATE (e)-[:ABOUT]->(:Document {id: 'more'})",
    ],
)
def test_a_graph_that_somebody_changed_is_not_taken_for_whole(neo4j_database: Neo4jSettings, statement: str) -> None:
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", SEVERAL)
        change(neo4j_database, statement)
        with pytest.raises(StoreConflict, match=r"kgqa loaded [\d,]+; someone changed it: load it anew"):
            check_holds(store, "hash")
        with pytest.raises(StoreConflict, match="someone changed it"):
            load(store, "hash", SEVERAL)


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (g:KgqaGraph) SET g.entity = 'abc'",
        "MATCH (g:KgqaGraph) REMOVE g.fact",
        "MATCH (g:KgqaGraph) SET g.finished = false, g.mentions = -5",
        "MATCH (g:KgqaGraph) SET g.finished = false, g.fact = 12",
    ],
)
def test_a_damaged_marker_is_said(neo4j_database: Neo4jSettings, statement: str) -> None:
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", SEVERAL)
        change(neo4j_database, statement)
        before = contents(store)
        with pytest.raises(StoreConflict, match=r"the marker of kgqa's graph is damaged|someone changed it"):
            load(store, "hash", SEVERAL)
        assert contents(store) == before


def test_of_two_erasers_the_later_one_goes_on(neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "ERASE_NODES", 125)
    with Neo4jStore(neo4j_database) as store, Neo4jStore(neo4j_database) as other:
        load(store, "hash", SEVERAL)
        later: list[bool] = []

        def second(_: int) -> None:
            if not later:
                later.append(True)
                erase(other)
                load(other, "new", SEVERAL)

        with pytest.raises(StoreConflict, match="another run of kgqa took over this database"):
            erase(store, advance=second)
        check_holds(store, "new")


def change(settings: Neo4jSettings, statement: str) -> None:
    """What somebody else does to the database."""
    with GraphDatabase.driver(settings.uri, auth=("neo4j", PASSWORD)) as driver:
        driver.execute_query(statement)


def test_of_two_loaders_the_later_one_goes_on_and_the_earlier_one_says_so(
    neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 125)
    with Neo4jStore(neo4j_database) as store, Neo4jStore(neo4j_database) as other:
        load(store, "hash", SEVERAL)
        whole = contents(store)
        erase(store)
        later: list[bool] = []

        def second(rows: int) -> None:
            if rows and not later:
                later.append(load(other, "hash", SEVERAL))

        with pytest.raises(StoreConflict, match="another run of kgqa took over this database and goes on with it; this one stopped"):
            load(store, "hash", SEVERAL, advance=second)
        assert later == [True]
        assert contents(store) == whole


def test_two_loaders_at_the_same_time_leave_one_whole_graph(neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 125)
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", SEVERAL)
        whole = contents(store)
        erase(store)
        outcomes: list[str] = []

        def run() -> None:
            with Neo4jStore(neo4j_database) as own:
                try:
                    load(own, "hash", SEVERAL)
                    outcomes.append("loaded")
                except StoreConflict as error:
                    outcomes.append(str(error))

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert "loaded" in outcomes, outcomes
        # Whoever is last has seen it through, and the graph is whole whatever the others did.
        load(store, "hash", SEVERAL)
        assert contents(store) == whole


@pytest.mark.slow
def test_a_server_that_stops_in_the_middle_of_a_load_is_gone_on_with(spare_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 125)
    monkeypatch.setattr("kgqa.store.neo4j.connection.RETRY_SECONDS", 1.0)
    store = connected(spare_server)
    load(store, "hash", SEVERAL)
    whole = contents(store)
    erase(store)
    seen = 0

    def power_cut(rows: int) -> None:
        nonlocal seen
        seen += rows
        if seen > 1500:
            spare_server.kill()

    with pytest.raises(StoreUnreachable, match="no Neo4j server answers here; start it"):
        load(store, "hash", SEVERAL, advance=power_cut)
    store.close()
    spare_server.start()
    with connected(spare_server) as again:
        marker = read_marker(again)
        assert marker is not None
        assert not marker.finished
        assert marker.rows["entity"] == SEVERAL["entity"].num_rows
        load(again, "hash", SEVERAL)
        assert contents(again) == whole


@pytest.mark.slow
def test_trouble_that_passes_is_waited_for(spare_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.store.neo4j.connection.RETRY_SECONDS", 120.0)
    store = connected(spare_server)
    spare_server.stop()
    starter = threading.Timer(2.0, spare_server.start)
    starter.start()
    try:
        assert store.run(ad_hoc("RETURN 1 AS one", "one: integer")).to_pylist() == [{"one": 1}]
    finally:
        starter.join()
        store.close()


def test_a_loader_that_is_killed_can_be_run_again(neo4j_database: Neo4jSettings) -> None:
    with Neo4jStore(neo4j_database) as store:
        load(store, "hash", SEVERAL)
        whole = contents(store)
        erase(store)
        script = (
            "from tests.store.test_neo4j import *\n"
            "loading.BATCH_ROWS = 50\n"
            "load(Neo4jStore(Neo4jSettings.from_environment()), 'hash', SEVERAL, advance=lambda _: print('.', flush=True))"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, cwd=ROOT)
        assert process.stdout is not None
        for _ in range(12):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        time.sleep(0.2)
        marker = read_marker(store)
        assert marker is not None
        assert not marker.finished
        load(store, "hash", SEVERAL)
        assert contents(store) == whole
