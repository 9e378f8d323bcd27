"""``kgqa import`` from a SPARQL endpoint and a Neo4j server, with the queries in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from neo4j import GraphDatabase

import kgqa
from kgqa.errors import EndpointError, InterruptedRun, SettingsError
from kgqa.runs import importing
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.sources.rows import Rows
from kgqa.sources.wikibase.sparql import SparqlEndpoint
from tests.conftest import Cli
from tests.sources.wikibase.sparql_server import SparqlServer, sparql_server

WD, WDT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
GRAPH = "".join(
    f"<{WD}Q{number}> <{WDT}P1> <{WD}Q{number % 7 + 1}> .\n"
    f'<{WD}Q{number}> <http://www.w3.org/2000/01/rdf-schema#label> "Place {number}"@en .\n'
    for number in range(1, 60)
)
FACTS = "SELECT ?head ?relation ?tail { ?head ?relation ?tail FILTER(isIRI(?tail)) }"
LABELS = "SELECT ?entity ?label { ?entity <http://www.w3.org/2000/01/rdf-schema#label> ?label }"
OPTIONS = {"page_size": 10, "pause": 0, "retries": 0}


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with sparql_server(GRAPH) as running:
        yield running


@pytest.fixture
def queries(tmp_path: Path) -> list[Path]:
    (tmp_path / "facts.rq").write_text(FACTS)
    (tmp_path / "labels.rq").write_text(LABELS)
    return [tmp_path / "facts.rq", tmp_path / "labels.rq"]


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def test_an_endpoint_is_asked_page_by_page(server: SparqlServer, queries: list[Path], tmp_path: Path) -> None:
    result = kgqa.import_files("sparql", queries, out=tmp_path / "out", options={"endpoint": server.address, **OPTIONS})
    assert result.rows["facts"] == 59
    assert result.rows["entities"] == 59
    assert pl.read_parquet(tmp_path / "out" / "entities.parquet")["label"].sort()[0] == "Place 1"


def test_a_stopped_import_asks_only_for_the_pages_that_are_missing(
    server: SparqlServer, queries: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"endpoint": server.address, **OPTIONS}
    kgqa.import_files("sparql", queries, out=tmp_path / "whole", options=options)
    original = SparqlEndpoint.pages
    asked: list[str] = []

    def pages(self: SparqlEndpoint, text: str, token: str = "") -> Iterator[tuple[Rows, str]]:
        asked.append(token)
        for number, page in enumerate(original(self, text, token)):
            if number == 3:
                raise KeyboardInterrupt
            yield page

    monkeypatch.setattr(SparqlEndpoint, "pages", pages)
    stops = 0
    for _ in range(20):
        try:
            kgqa.import_files("sparql", queries, out=tmp_path / "out", options=options)
            break
        except InterruptedRun:
            stops += 1
    assert stops >= 3
    assert len(set(asked)) == len(asked) - asked.count("") + 1
    assert tables(tmp_path / "out") == tables(tmp_path / "whole")


def test_an_endpoint_that_is_away_leaves_nothing_half_written(queries: list[Path], tmp_path: Path) -> None:
    with pytest.raises(EndpointError):
        kgqa.import_files("sparql", queries, out=tmp_path / "out", options={"endpoint": "http://127.0.0.1:9/sparql", **OPTIONS})
    assert not (tmp_path / "out" / "import.json").exists()
    with pytest.raises(SettingsError, match="needs the option endpoint"):
        kgqa.import_files("sparql", queries, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("query", "endpoint", "sentence"),
    [
        ("INSERT DATA { <a> <b> <c> }", "http://127.0.0.1:9/", "not a SELECT query"),
        ("SELECT * { ?s ?p ?o }", "http://127.0.0.1:9/", "name the variables"),
        ("\x00\x01", "http://127.0.0.1:9/", "not a SELECT query"),
        (FACTS, "http://☃.invalid/", "not a host name"),
        (FACTS, "http://user:SECRET@127.0.0.1/", "not the address of an endpoint"),
        (FACTS, "ftp://127.0.0.1/", "not the address of an endpoint"),
    ],
)
def test_wrong_queries_and_addresses_are_one_sentence(tmp_path: Path, cli: Cli, query: str, endpoint: str, sentence: str) -> None:
    (tmp_path / "query.rq").write_text(query)
    outcome = cli("import", "sparql", tmp_path / "query.rq", "--out", tmp_path / "out", "-o", f"endpoint={endpoint}", "-o", "retries=0")
    assert outcome.status == 2
    assert sentence in outcome.err
    assert "SECRET" not in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_server_is_asked_by_the_queries_of_a_file(neo4j_database: Neo4jSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "PART_ROWS", 3)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_database.password)
    with GraphDatabase.driver(neo4j_database.uri, auth=(neo4j_database.username, neo4j_database.password)) as driver:
        driver.execute_query(
            "UNWIND range(1, 9) AS n CREATE (:Town {number: n, id: 't' + n, name: 'Town ' + n, founded: date('1900-01-01')})"
        )
        driver.execute_query("MATCH (a:Town), (b:Town) WHERE a.number + 1 = b.number CREATE (a)-[:NEAR]->(b)")
    (tmp_path / "towns.toml").write_text(
        'facts = "MATCH (a)-[r]->(b) RETURN a.id AS head, type(r) AS relation, b.id AS tail"\n'
        'entities = "MATCH (n) RETURN n.id AS id, n.name AS label, labels(n)[0] AS kind, n.founded AS founded"\n'
        "documents = \"MATCH (n) RETURN n.id AS id, n.name AS title, n.name + ' is a town.' AS text, n.id AS about\"\n"
    )
    options: dict[str, Any] = {"uri": neo4j_database.uri, "username": neo4j_database.username}
    result = kgqa.import_files("neo4j", [tmp_path / "towns.toml"], out=tmp_path / "out", options=options)
    assert [result.rows[name] for name in ("entities", "facts", "values", "documents")] == [9, 8, 9, 9]
    assert neo4j_database.password not in (tmp_path / "out" / "import.json").read_text()
    (tmp_path / "wrong.toml").write_text('fact = "MATCH (a) RETURN a"')
    with pytest.raises(SettingsError, match="there is no query or setting 'fact'; did you mean facts"):
        kgqa.import_files("neo4j", [tmp_path / "wrong.toml"], out=tmp_path / "other", options=options)
