"""The doctor finds nothing on the stores that kgqa supports, and every fault that is planted; its scripts replay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from neo4j import GraphDatabase

import kgqa
from kgqa.commands.doctor import doctor
from kgqa.conformance.arguments import random_arguments
from kgqa.conformance.benches import EmbeddedBench, Neo4jBench
from kgqa.conformance.comparison import Disagreement, answer, compare
from kgqa.conformance.components import components
from kgqa.conformance.graphs import Document, Entity, Mention, RandomGraph
from kgqa.conformance.oracles.graph_index import GraphIndex
from kgqa.conformance.oracles.registry import ORACLES, expected_rows, templates
from kgqa.conformance.replay import replay_script
from kgqa.conformance.witnesses import Witness, witnesses
from kgqa.errors import SettingsError, StoreConflict
from kgqa.recipes.musique.in_cypher import ASKED
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import GraphStore
from kgqa.store.embedded import known_fault
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from kgqa.store.queries import Query, Value, read_queries
from tests.command import ROOT
from tests.conformance.faulty import FaultyBench, Spoil, drops_a_row, fails, loses_an_edge, repeats_a_row
from tests.conftest import Cli, unavailable
from tests.neo4j.server import Neo4jServer

READ = ("explore.cypher", "graph.cypher", "names.cypher", "page.cypher", "paths.cypher", "project/", "traverse/")
"""Besides conformance.cypher, where what reads is called conformance_…"""


def test_every_query_that_reads_has_an_oracle() -> None:
    queries = read_queries().values()
    compared = {query.name for query in queries if query.file.startswith(READ) or query.name.startswith("conformance_")}
    assert compared == set(ORACLES)
    # Those over questions have another graph, on which tests/recipes/musique/test_in_cypher.py compares them with the kernels.
    over_questions = {query.name for query in queries if query.file == "compose.cypher"}
    assert over_questions == set(ASKED)
    reading = {query.name for query in queries if set(query.stores) == {"embedded", "neo4j"}}
    # Those over samples need a dataset: tests/store/test_samples.py compares them with its files, on both stores.
    over_samples = {query.name for query in queries if query.file == "samples.cypher"}
    assert reading == compared | over_questions | over_samples
    assert len(compared) >= 90
    assert all(set(query.stores) == {"embedded", "neo4j"} for query in templates())


def test_every_parameter_has_random_values() -> None:
    import random

    for query in templates():
        values = random_arguments(query, GraphIndex(RandomGraph()), random.Random(0))
        assert values.keys() == {parameter.name for parameter in query.params}


def test_random_queries_on_the_embedded_store_agree(query_count: int, random_seed: int) -> None:
    result = compare(EmbeddedBench(), queries=query_count, seed=random_seed)
    assert result.queries == query_count
    assert result.graphs >= query_count / 250
    assert result.templates == len(ORACLES)
    assert result.disagreements == {}, result.smallest


@pytest.mark.slow
def test_random_queries_on_neo4j_agree_and_nothing_is_left(query_count: int, random_seed: int, neo4j_database: Neo4jSettings) -> None:
    before = everything(neo4j_database)
    bench = Neo4jBench(neo4j_database)
    try:
        result = compare(bench, queries=query_count, seed=random_seed)
    finally:
        bench.close()
    assert result.queries == query_count
    assert result.disagreements == {}, result.smallest
    assert everything(neo4j_database) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoil", [drops_a_row, *(pytest.param(spoil, marks=pytest.mark.thorough) for spoil in (repeats_a_row, fails)), loses_an_edge]
)
def test_a_planted_fault_is_found_and_shrunk(spoil: Spoil, tmp_path: Path) -> None:
    result = doctor(queries=600, seed=3, script=tmp_path / "replay.py", benches=[lambda: FaultyBench(spoil)])
    assert not result.agree
    (report,) = result.stores
    assert report.comparison
    assert len(report.comparison.disagreements) == 1
    smallest = report.comparison.smallest
    assert smallest
    assert len(smallest.graph) <= 7, smallest.graph
    assert smallest.actual != smallest.expected
    # The installed engine is right, so the script, which asks it without the fault, finds what is expected.
    text = (tmp_path / "replay.py").read_text("utf-8")
    assert text == report.script
    done = replayed(text)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"expected {smallest.expected}" in done.stdout


def replayed(script: str) -> subprocess.CompletedProcess[str]:
    """What came of a script."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def small_disagreement() -> Disagreement:
    """As a faulty store might give it: a document's only entity is not found."""
    graph = RandomGraph(
        entity=(Entity("e0", 0, "entity", "a", "a"),), document=(Document("d0", 0, "a", "a", True),), mentions=(Mention("d0", "e0", 1),)
    )
    (query,) = [query for query in templates() if query.name == "entities_in"]
    arguments: dict[str, Value] = {"document": "d0", "limit": 5}
    expected = expected_rows(query, GraphIndex(graph), arguments)
    return Disagreement(query=query, arguments=arguments, graph=graph, actual=[], expected=expected)


@pytest.mark.slow
def test_a_script_ends_with_status_1_while_the_answer_is_wrong() -> None:
    text = replay_script("embedded", "0", small_disagreement())
    result = replayed(text)
    assert result.returncode == 0, result.stdout + result.stderr
    wrong = text.replace("found = comparable(zip", "found = comparable(list(zip").replace("answer.columns)))", "answer.columns)))[:-1])")
    assert wrong != text
    result = replayed(wrong)
    assert result.returncode == 1, result.stderr
    assert "kgqa" not in [line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))]


def test_a_neo4j_script_replays_and_leaves_nothing(neo4j_database: Neo4jSettings) -> None:
    text = replay_script("neo4j", "5", small_disagreement())
    result = replayed(text)
    assert result.returncode == 0, result.stdout + result.stderr
    assert everything(neo4j_database)["nodes"] == []
    with GraphDatabase.driver(neo4j_database.uri, auth=(neo4j_database.username, neo4j_database.password)) as driver:
        driver.execute_query("CREATE (:Mine {name: 'x'})")
    assert "not empty" in replayed(text).stderr
    assert len(everything(neo4j_database)["nodes"]) == 1


def everything(settings: Neo4jSettings) -> dict[str, list[object]]:
    """All nodes, relationships and indexes of a database."""
    with GraphDatabase.driver(settings.uri, auth=(settings.username, settings.password)) as driver:
        nodes = driver.execute_query(
            "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties ORDER BY id"
        ).records
        ties = driver.execute_query("MATCH ()-[r]->() RETURN elementId(r) AS id, type(r) AS type, properties(r) AS p ORDER BY id").records
        indexes = driver.execute_query("SHOW INDEXES YIELD name RETURN name ORDER BY name").records
    return {"nodes": [r.data() for r in nodes], "ties": [r.data() for r in ties], "indexes": [r.data() for r in indexes]}


def test_a_database_with_somebodys_data_is_left_as_it_was(neo4j_database: Neo4jSettings) -> None:
    with GraphDatabase.driver(neo4j_database.uri, auth=(neo4j_database.username, neo4j_database.password)) as driver:
        driver.execute_query("CREATE (:Mine {name: 'x'})-[:HAS]->(:Entity {id: 'Q1'})")
    before = everything(neo4j_database)
    result = doctor(queries=1, neo4j=neo4j_database)
    assert result.agree
    assert result.missed is result.stores[1]
    assert result.stores[1].comparison is None
    assert "holds 2 nodes that kgqa did not write; random graphs need an empty database" in result.stores[1].note
    assert everything(neo4j_database) == before


def test_a_graph_of_kgqa_is_left_as_it_was(neo4j_database: Neo4jSettings) -> None:
    with Neo4jStore(neo4j_database) as store:
        load(store, "abc", RandomGraph().arrow())
    before = everything(neo4j_database)
    with pytest.raises(StoreConflict, match="holds a graph of kgqa; random graphs need an empty database"):
        Neo4jBench(neo4j_database)
    assert everything(neo4j_database) == before


def test_what_an_examination_that_goes_on_has_there_is_left_as_it_was(neo4j_database: Neo4jSettings) -> None:
    bench = Neo4jBench(neo4j_database)
    with bench.holding(small_disagreement().graph):
        before = everything(neo4j_database)
        with pytest.raises(StoreConflict, match="holds random graphs of another examination, which is going on; random graphs need"):
            Neo4jBench(neo4j_database)
        assert everything(neo4j_database) == before
    bench.close()
    Neo4jBench(neo4j_database).close()


@pytest.mark.slow
@pytest.mark.parametrize("looks", [pytest.param(1, marks=pytest.mark.thorough), 10])
def test_what_a_killed_examination_left_is_erased(looks: int, neo4j_database: Neo4jSettings) -> None:
    before = everything(neo4j_database)
    environment = {**os.environ, "NEO4J_URI": neo4j_database.uri, "NEO4J_PASSWORD": neo4j_database.password}
    program = "import kgqa; kgqa.doctor(queries=100000)"
    # The embedded engine is examined first, and takes too long here.
    program = "from kgqa.conformance.benches import Neo4jBench; from kgqa.settings.neo4j import Neo4jSettings; " + program.replace(
        "queries", "benches=[lambda: Neo4jBench(Neo4jSettings.from_environment())], queries"
    )
    process = subprocess.Popen([sys.executable, "-c", program], env=environment)
    # Killed while a graph is in the database, at the look of this number that finds one.
    while looks:
        time.sleep(0.1)
        assert process.poll() is None
        if everything(neo4j_database)["nodes"] != []:
            os.kill(process.pid, signal.SIGSTOP)
            looks -= everything(neo4j_database)["nodes"] != []
            if looks:
                os.kill(process.pid, signal.SIGCONT)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert everything(neo4j_database)["nodes"] != []
    result = doctor(queries=10, neo4j=neo4j_database, benches=[lambda: Neo4jBench(neo4j_database)])
    assert result.agree
    after = everything(neo4j_database)
    assert [after["nodes"], after["ties"]] == [before["nodes"], before["ties"]] == [[], []]


@pytest.mark.parametrize("witness", witnesses(), ids=lambda witness: witness.query.name)
def test_witnesses_are_answered_rightly_and_name_who_did_not(witness: Witness) -> None:
    assert witness.wrong
    assert len(witness.graph) <= 20
    assert set(witness.arguments) == {parameter.name for parameter in witness.query.params}
    with EmbeddedBench().holding(witness.graph) as store:
        assert answer(store, witness.query, witness.arguments) == expected_rows(witness.query, GraphIndex(witness.graph), witness.arguments)


def test_a_witness_is_enough_to_find_a_fault() -> None:
    """Also of an engine that is wrong in nothing that a random graph is asked."""
    bench = FaultyBench(lambda query, rows: rows.slice(0, 0) if query.name == "conformance_filtered_hops" else rows)
    result = doctor(queries=1, benches=[lambda: bench])
    (report,) = result.stores
    assert report.comparison
    assert report.comparison.witnesses == len(witnesses())
    assert list(report.comparison.disagreements) == ["conformance_filtered_hops"]
    assert not result.agree


def test_a_version_that_is_known_to_be_wrong_fails_by_its_number(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.conformance.benches.known_fault", lambda version: f"{version} is known to be wrong")
    monkeypatch.delenv("NEO4J_URI", raising=False)
    result = doctor(queries=1, benches=[EmbeddedBench])
    assert not result.agree
    done = cli("doctor", "--queries", "1")
    assert done.status == 1
    assert "is known to be wrong" in done.out
    assert known_fault("0.22.0") == known_fault("0.21.2") != ""
    assert known_fault("0.20.4") == ""


def test_a_server_that_was_named_and_not_examined_is_an_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, neo4j_database: Neo4jSettings, tmp_path: Path
) -> None:
    begin = time.monotonic()
    result = cli("doctor", "--queries", "1", "--neo4j-uri", "bolt://127.0.0.1:1")
    assert time.monotonic() - begin < 12  # of which the embedded engine takes the most
    assert result.status == 2
    assert "bolt://127.0.0.1:1: no Neo4j server answers here" in result.err
    assert "NEO4J_URI or --neo4j-uri names this server" in result.err
    monkeypatch.setenv("NEO4J_URI", neo4j_database.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", "wrong")
    result = cli("doctor", "--queries", "1")
    assert result.status == 2
    assert "does not let neo4j in; check NEO4J_USERNAME and NEO4J_PASSWORD" in result.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "said"),
    [
        (Neo4jServer.kill, "no Neo4j server answers here"),
        (Neo4jServer.pause, "the Neo4j server has said nothing for 2.5 seconds"),
    ],
)
def test_a_server_that_dies_or_falls_silent_is_given_up_soon(
    end: Callable[[Neo4jServer], None], said: str, spare_server: Neo4jServer
) -> None:
    database = Neo4jSettings(uri=spare_server.uri, password=spare_server.password)
    died = list[float]()

    class Dying(Neo4jBench):
        @contextmanager
        def holding(self, graph: RandomGraph) -> Iterator[GraphStore]:
            with super().holding(graph) as store:
                if not died:
                    end(spare_server)
                    died.append(time.monotonic())
                yield store

    try:
        result = doctor(queries=1000, neo4j=database, benches=[lambda: Dying(database)])
        assert time.monotonic() - died[0] < 20  # far from the minutes that a driver waits by itself, also on a busy machine
    finally:
        spare_server.kill()  # so that nothing of what it was asked to do is done later
        spare_server.start()
    (report,) = result.stores
    assert report.comparison is None
    assert said in report.note
    assert result.missed is report
    # What it left is erased by the next one.
    assert doctor(queries=10, benches=[lambda: Neo4jBench(database)]).agree
    assert everything(database)["nodes"] == []


def test_the_command_prints_what_it_found(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    result = cli("doctor", "--queries", "20", "--workspace", tmp_path)
    assert result.status == 0, result.err
    for part in ("ladybug", "numba", "polars", "free memory", "free disk", "Java", "Docker", f"{len(ORACLES)}"):
        assert part in result.out
    assert "All answers of embedded are right." in result.out
    assert "neo4j: not examined." in result.out


@pytest.mark.slow
def test_the_command_ends_with_status_1_on_a_wrong_answer(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgqa.commands import doctor as examine

    monkeypatch.setattr(examine, "EmbeddedBench", lambda: FaultyBench(drops_a_row))
    monkeypatch.delenv("NEO4J_URI", raising=False)
    result = cli("doctor", "--queries", "500", "--seed", "3")
    assert result.status == 1
    assert "page_entities:" in result.out
    assert "EXPECTED = " in result.out
    assert "Wrong answers were found." in result.out


@pytest.mark.slow
def test_a_wrong_search_has_no_script_and_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from kgqa.commands import doctor as examine

    def spoil(query: Query, rows: pa.Table) -> pa.Table:
        return rows.slice(0, rows.num_rows - 1) if query.search else rows

    monkeypatch.setattr(examine, "EmbeddedBench", lambda: FaultyBench(spoil))
    monkeypatch.delenv("NEO4J_URI", raising=False)
    result = cli("doctor", "--queries", "300", "--script", tmp_path / "replay.py")
    assert result.status == 1
    assert "paths_over_" in result.out
    assert "which a script cannot replay" in result.out
    assert "Wrong answers were found." in result.out
    assert not (tmp_path / "replay.py").exists()


def test_bad_input_is_a_sentence(cli: Cli) -> None:
    with pytest.raises(SettingsError, match="queries 0 is not between 1 and"):
        kgqa.doctor(queries=0)
    assert cli("doctor", "--queries", "0").status == 2
    cli("doctor", "--seed", "-1").sentence("seed -1 is not between 0 and")
    assert cli("doctor", "--neo4j-uri", "http://localhost").status == 2


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {piece.name: piece for piece in components(tmp_path / "not" / "there")}
    assert not found["Java"].good
    assert not found["Docker"].good
    assert found["ladybug"].good
    assert found["Python"].good
    assert all(piece.needed_for for piece in found.values())


@pytest.mark.slow
def test_an_engine_that_is_known_to_be_wrong_is_found(tmp_path: Path) -> None:
    # Only the engine, first on the path: a second.
    folder = os.environ.get("KGQA_BAD_ENGINE") or str(tmp_path / "engine")
    if not Path(folder).is_dir():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, "ladybug==0.22.0"]
        process = subprocess.run(install, capture_output=True, text=True, check=False)
        if process.returncode:
            unavailable(
                f"ladybug 0.22.0 cannot be installed here: {process.stderr.splitlines()[-1:]}; set KGQA_BAD_ENGINE to a folder with it"
            )
    script = tmp_path / "replay.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((folder, str(ROOT)))}
    command = [sys.executable, "-m", "kgqa", "doctor", "--queries", "1000", "--script", str(script)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert process.returncode == 1, process.stdout + process.stderr
    assert "embedded 0.22.0 returns wrong answers" in process.stdout
    replayed = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    assert "ladybug 0.22.0" in replayed.stdout
    right = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert right.returncode == 0, right.stdout + right.stderr
    assert len(script.read_text("utf-8").splitlines()) < 120
