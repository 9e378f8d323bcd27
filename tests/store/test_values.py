"""Nodes, relationships, paths and maps come alike from both stores, and so do values that are given."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import KgqaError, QueryError
from kgqa.runs.graph import rows_of, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import GraphStore
from kgqa.store.cypher import PROCEDURES, check_reads_only
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.limits import Answer, Limits
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from tests.conftest import Cli
from tests.neo4j.server import Neo4jServer

FEW = Limits(seconds=60)
ALIKE: list[tuple[str, dict[str, Any]]] = [
    ("MATCH (e:Entity) RETURN e ORDER BY e.row LIMIT 3", {}),
    ("MATCH (d:Document) RETURN d AS one, d.id AS id ORDER BY d.row LIMIT 2", {}),
    ("MATCH (h:Entity)-[f:FACT]->(t:Entity) RETURN f, h, t ORDER BY f.row LIMIT 3", {}),
    ("MATCH (h:Entity)-[f:FACT]->(t:Entity) RETURN f ORDER BY f.row LIMIT 3", {}),
    ("MATCH p = (d:Document)-[m:MENTIONS]->(e:Entity) RETURN p ORDER BY d.row, e.row LIMIT 3", {}),
    (
        "MATCH p = (a:Entity)<-[m:MENTIONS]-(d)-[n:MENTIONS]->(b:Entity) WHERE a.row < b.row RETURN p ORDER BY d.row, a.row, b.row LIMIT 1",
        {},
    ),
    ("MATCH (e:Entity) WITH e ORDER BY e.row LIMIT 3 RETURN collect(e) AS found", {}),
    ("MATCH (e:Entity) RETURN {id: e.id, row: e.row} AS told ORDER BY e.row LIMIT 2", {}),
    ("MATCH (e:Entity) RETURN [e.id, e.kind] AS told, e.row AS row, e.row = 0 AS first, e.row / 2.0 AS half ORDER BY row LIMIT 2", {}),
    ("MATCH (e:Entity) OPTIONAL MATCH (e)-[a:ABOUT]->(d:Document) RETURN e, d.id AS id ORDER BY e.row LIMIT 40", {}),
    (
        "MATCH (e:Entity) WHERE e.id = $id RETURN e.id AS id, $number AS number, $text AS text",
        {"id": "Q90", "number": 7, "text": "a'b\"`$"},
    ),
    ("MATCH (e:Entity) WHERE e.id IN $ids RETURN e ORDER BY e.row", {"ids": ["Q90", "Q183", "' OR true //"]}),
    ("MATCH (e:Entity) RETURN e.id AS id ORDER BY e.row SKIP $skip LIMIT $limit", {"skip": 1, "limit": 2}),
    (
        "MATCH (e:Entity) WHERE e.row = $row RETURN e.id AS id, $flag AS flag, $part AS part",
        {"row": 3, "flag": True, "part": 0.5},
    ),
]


@pytest.fixture(scope="module")
def embedded(seed_wikidata: Path) -> Iterator[GraphStore]:
    with closing(EmbeddedStore(Workspace(seed_wikidata).graph)) as store:
        yield store


@pytest.fixture(scope="module")
def server(seed_wikidata: Path, neo4j_server: Neo4jServer) -> Iterator[Neo4jStore]:
    neo4j_server.empty()
    with Neo4jStore(Neo4jSettings(uri=neo4j_server.uri, password=neo4j_server.password)) as store:
        load(store, tables_hash(Workspace(seed_wikidata)), rows_of(Workspace(seed_wikidata)))
        yield store


@pytest.mark.parametrize(("text", "parameters"), ALIKE, ids=[text[:60] for text, _ in ALIKE])
def test_both_stores_give_the_same(text: str, parameters: dict[str, Any], embedded: GraphStore, server: GraphStore) -> None:
    one, other = (store.read(text, parameters, limits=FEW) for store in (embedded, server))
    assert one.to_pylist() == other.to_pylist() != []
    assert one.rows.column_names == other.rows.column_names
    assert [field.metadata for field in one.rows.schema] == [field.metadata for field in other.rows.schema]


def test_the_shapes_are_those_that_the_docs_promise(embedded: GraphStore) -> None:
    text = "MATCH p = (d:Document)-[m:MENTIONS]->(e:Entity) WHERE d.usable RETURN p, m, e ORDER BY d.row, e.row LIMIT 1"
    (row,) = embedded.read(text, limits=FEW).to_pylist()
    path, mention, entity = row["p"], row["m"], row["e"]
    assert list(entity) == ["labels", "properties"]
    assert entity["labels"] == ["Entity"]
    assert list(entity["properties"]) == sorted(entity["properties"])
    document, again = path["nodes"]
    assert again == entity
    assert document["labels"] == ["Document"]
    assert mention == {
        "type": "MENTIONS",
        "start": document["properties"]["id"],
        "end": entity["properties"]["id"],
        "properties": mention["properties"],
    }
    assert path["relationships"] == [mention]
    assert not [key for key in json.dumps(row).split('"') if key.startswith("_")]


def test_what_a_server_alone_knows_is_maps_and_text(server: GraphStore) -> None:
    text = (
        "RETURN point({x: 1, y: 2}) AS flat, [point({x: 1, y: 2, z: 3})] AS high, {at: point({longitude: -9.1, latitude: 38.7})} AS earth, "
        "duration('P1M2DT3.5S') AS span, time('12:30:00Z') AS clock, datetime('2020-02-29T12:30:00+01:00') AS moment, "
        "localdatetime('2020-02-29T12:30:00') AS local"
    )
    (row,) = server.read(text, limits=FEW).to_pylist()
    assert row == {
        "flat": {"x": 1.0, "y": 2.0, "srid": 7203},
        "high": [{"x": 1.0, "y": 2.0, "z": 3.0, "srid": 9157}],
        "earth": {"at": {"x": -9.1, "y": 38.7, "srid": 4326}},
        "span": "P1M2DT3.5S",
        "clock": "12:30:00.000000000+00:00",
        "moment": "2020-02-29T12:30:00.000000000+01:00",
        "local": "2020-02-29T12:30:00.000000000",
    }


def test_the_command_prints_maps(seed_wikidata: Path, cli: Cli) -> None:
    items = [
        "query",
        "--workspace",
        seed_wikidata,
        "--cypher",
        "MATCH (e:Entity) WHERE e.id = $id RETURN e, e.row AS row",
        "--param",
        "id=Q90",
    ]
    (row,) = json.loads(cli(*items, "--format", "json").out)
    assert row["e"]["properties"]["label"] == "Paris"
    lines = cli(*items, "--format", "csv").out.splitlines()
    assert lines[0] == "e,row"
    assert lines[1].startswith('"{""labels"": [""Entity""]')
    assert '"labels": ["Entity"]' in cli(*items).out


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("id=Q84", "Q84"),
        ("id=5", 5),
        ("id=[1, 2]", [1, 2]),
        ('id="5"', "5"),
        ("id=true", True),
        ("id=a=b", "a=b"),
        ("id=", ""),
        ("id=1.5", 1.5),
    ],
)
def test_values_are_json_or_text(given: str, value: object) -> None:
    from kgqa.store.cypher import cypher_parameters

    assert cypher_parameters([given]) == {"id": value}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--param", "id"], "the parameter 'id' is not NAME=VALUE; give it as id=Q84."),
        (["--param", "=1"], "the parameter '=1' is not NAME=VALUE"),
        (["--param", "id=1", "--param", "id=2"], "the parameter 'id' is given twice; keep one."),
        (["--param", "other=1"], "the query uses the parameter $id, but it has no value; "),
        ([], "the query uses the parameter $id, but it has no value; give one, as id=VALUE."),
        (["--param", "id=1", "--param", "more=2"], "there is a value for the parameter 'more', which the query does not use"),
    ],
)
def test_wrong_values_are_said(arguments: list[str], sentence: str, seed_wikidata: Path, cli: Cli) -> None:
    cli("query", "--workspace", seed_wikidata, "--cypher", "RETURN $id AS id", *arguments).sentence(sentence)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (2**63, "the value of the parameter $id is a number of more than 64 bits; give it as text"),
        ([1, {"a": [-(2**63) - 1]}], "the value of the parameter $id is a number of more than 64 bits; give it as text"),
        ("\udcff", "the value of the parameter $id is not text (UTF-8); give it in UTF-8."),
        ({1: 2}, "the value of the parameter $id is a map with the key 1; a key must be text."),
    ],
)
@pytest.mark.parametrize("store", ["embedded", "server"])
def test_values_that_no_store_takes_are_said(given: object, sentence: str, store: str, request: pytest.FixtureRequest) -> None:
    with pytest.raises(QueryError) as error:
        request.getfixturevalue(store).read("RETURN $id AS id", {"id": given}, limits=FEW)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize("given", [[1, "x"], [[1], ["a"]], [{"x": "a"}, {"x": 5}], [{"x": 1}, {"y": 5}], [True, 1]])
def test_lists_that_the_embedded_store_would_spoil_are_said(given: object, embedded: GraphStore, server: GraphStore) -> None:
    assert server.read("RETURN $id AS id", {"id": given}, limits=FEW).to_pylist() == [{"id": given}]
    with pytest.raises(QueryError, match=r"^the value of the parameter \$id is a list of values of several kinds, .*one kind\.$"):
        embedded.read("RETURN $id AS id", {"id": given}, limits=FEW)


def test_a_map_without_a_value_is_said(embedded: GraphStore) -> None:
    with pytest.raises(QueryError, match=r"^the value of the parameter \$id is a map with null in it, "):
        embedded.read("RETURN $id AS id", {"id": {"a": {"b": None}}}, limits=FEW)


@pytest.mark.parametrize("given", [[], [1, 2.5], [None, 1], [[1], [2.5]], [{"x": 1}, {"x": 2}]])
def test_lists_of_one_kind_are_taken(given: list[object], embedded: GraphStore, server: GraphStore) -> None:
    for store in (embedded, server):
        rows = store.read("UNWIND $id AS id RETURN id", {"id": given}, limits=FEW)
        assert rows.to_pylist() == [{"id": value} for value in given]


def test_a_mistake_is_shown_where_it_is(server: GraphStore) -> None:
    with pytest.raises(QueryError, match=r"\(line 1, column 17\)\.$"):
        server.read("MATCH (n) RETURN", limits=FEW)
    with pytest.raises(QueryError, match=r"\(line 2, column 7\)\.$"):
        server.read("MATCH (n)\nRETURN", limits=FEW)


def test_cells_are_as_json_has_them(seed_wikidata: Path, cli: Cli) -> None:
    text = (
        "RETURN ['a', 'b'] AS list, true AS yes, 1 / 0.0 AS much, date('2020-02-29') AS day, null AS nothing, 'a\"b' AS text, 0.5 AS half"
    )
    ask = ["query", "--workspace", seed_wikidata, "--cypher", text, "--format"]
    assert json.loads(cli(*ask, "json").out, parse_constant=pytest.fail) == [
        {"list": ["a", "b"], "yes": True, "much": "inf", "day": "2020-02-29", "nothing": None, "text": 'a"b', "half": 0.5}
    ]
    (row,) = csv.DictReader(io.StringIO(cli(*ask, "csv").out))
    assert row == {"list": '["a", "b"]', "yes": "true", "much": "inf", "day": "2020-02-29", "nothing": "", "text": 'a"b', "half": "0.5"}
    shown = cli(*ask, "table").out
    assert '["a", "b"]' in shown
    assert "true" in shown


def test_values_go_with_cypher_alone(seed_wikidata: Path, cli: Cli) -> None:
    cli("query", "hubs", "--workspace", seed_wikidata, "--param", "id=1").sentence("--param requires --cypher")


@pytest.mark.parametrize(
    "text", ["CALL show_tables() RETURN *", "CALL table_info('Entity') RETURN *", "call SHOW_TABLES() RETURN name ORDER BY name"]
)
def test_what_tells_what_is_there_may_be_asked_of_the_embedded_store(text: str, embedded: GraphStore) -> None:
    assert embedded.read(text, limits=FEW).rows.num_rows > 3


@pytest.mark.parametrize("plan", ["EXPLAIN", "PROFILE", "profile"])
def test_plans_of_the_embedded_store(plan: str, embedded: GraphStore) -> None:
    assert embedded.read(f"{plan} MATCH (e:Entity) RETURN count(e.row) AS n", limits=FEW).rows.num_rows > 0


@pytest.mark.parametrize(
    "text",
    [
        "CALL db.labels()",
        "CALL db.labels() YIELD label RETURN label ORDER BY label",
        "CALL db.labels() YIELD label WITH label WHERE label <> 'Entity' RETURN label",
        "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type",
        "CALL db.propertyKeys()",
        "CALL db.schema.visualization()",
        "CALL db.schema.nodeTypeProperties()",
        "CALL dbms.components()",
        "SHOW INDEXES",
        "SHOW RANGE INDEXES YIELD name, state RETURN name ORDER BY name",
        "show constraints yield *",
    ],
)
def test_what_tells_what_is_there_may_be_asked_of_a_server(text: str, server: GraphStore) -> None:
    assert server.read(text, limits=FEW).rows.num_rows > 0


@pytest.mark.parametrize("plan", ["EXPLAIN", "PROFILE"])
def test_plans_of_a_server(plan: str, server: GraphStore) -> None:
    steps = server.read(f"{plan} MATCH (e:Entity {{id: $id}}) RETURN e.label AS label", {"id": "Q90"}, limits=FEW).rows
    assert steps.column_names == ["step", "details", "estimated_rows", "rows", "db_hits"]
    assert any("NodeUniqueIndexSeek" in step for step in steps["step"].to_pylist())
    assert (steps["db_hits"].null_count == 0) == (plan == "PROFILE")


HOSTILE = [
    "CALL { MATCH (n) DETACH DELETE n }",
    "CALL { CREATE (n) } IN TRANSACTIONS",
    "CALL apoc.cypher.runWrite('CREATE (n)', {})",
    "CALL dbms.security.createUser('x', 'y', false)",
    "CALL db.labels() CREATE (n)",
    "CALL db.labels() YIELD label CREATE (n)",
    "CALL db.labels() YIELD label SET label.a = 1",
    "CALL db.labels() YIELD label WITH label DETACH DELETE label",
    "CALL db.labels(COUNT { CREATE (n) })",
    "CALL db . createLabel('x')",
    "CALL db.create.setNodeVectorProperty(n, 'x', [1])",
    "CALL db.clearQueryCaches()",
    "CALL db.labels() UNION CALL dbms.killConnection('x')",
    "CALL `db`.`labels`()",
    "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()",
    "PROFILE CREATE (n)",
    "EXPLAIN MATCH (n) SET n.a = 1",
    "PROFILE PROFILE MATCH (n) RETURN n",
    "PROFILE CALL apoc.load.json('file:///x')",
    "EXPLAIN",
    "SHOW USERS",
    "SHOW DATABASES",
    "SHOW TRANSACTIONS",
    "SHOW SETTINGS",
    "SHOW PROCEDURES",
    "SHOW INDEXES YIELD name TERMINATE TRANSACTIONS name",
    "SHOW INDEXES DROP INDEX x",
    "SHOW INDEXES; DROP INDEX x",
    "CALL show_tables() COPY Entity TO 'x.csv'",
    "CALL checkpoint()",
    "CALL clear_warnings()",
    "CALL threads=1",
    "CALL file_info('x') RETURN *",
    "CALL db.labels() LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "MATCH (n) CALL { WITH n DELETE n } RETURN n",
    "USE system MATCH (n) RETURN n",
]


@pytest.mark.parametrize("store", list(PROCEDURES))
@pytest.mark.parametrize("text", HOSTILE)
def test_what_does_more_is_refused_by_its_words(text: str, store: str) -> None:
    with pytest.raises(QueryError):
        check_reads_only(text, (), store=store)


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_what_does_more_is_refused_by_the_store_too(text: str, server: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the words not looked at, the server's own reading of the query would stop what writes."""
    monkeypatch.setattr("kgqa.store.neo4j.connection.check_reads_only", lambda text, values, store: ("", text))
    before = counts(server)
    try:
        answer: Answer | None = server.read(text, limits=FEW)
    except KgqaError:
        answer = None
    assert answer is None or "SHOW" in text or "CALL" in text
    assert counts(server) == before


def counts(server: Neo4jStore) -> list[dict[str, Any]]:
    text = "MATCH (n) RETURN labels(n)[0] AS label, count(n) AS n ORDER BY label"
    return server.read(text, limits=FEW).to_pylist()


def test_python_takes_values_too(seed_wikidata: Path) -> None:
    answer = kgqa.cypher("MATCH (e:Entity) WHERE e.id = $id RETURN e.label AS label", parameters={"id": "Q90"}, workspace=seed_wikidata)
    assert answer.to_pylist() == [{"label": "Paris"}]
    assert check_reads_only("RETURN 1", {}) == ("", "RETURN 1")
