"""Any graph of a Neo4j database by the user's own Cypher, and the movies of Neo4j read back from a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from neo4j import GraphDatabase
from pydantic import ValidationError

from kgqa.errors import KgqaError, MissingInput, QueryError
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.sources.graphs.neo4j_graph import Neo4jGraph, value_of_cell
from kgqa.sources.rows import plain_rows
from kgqa.store.neo4j import connection
from kgqa.store.neo4j.connection import Neo4jStore

FACTS = "MATCH (a)-[r]->(b) RETURN coalesce(a.name, a.title) AS head, type(r) AS relation, coalesce(b.name, b.title) AS tail"
ENTITIES = (
    "MATCH (n) RETURN coalesce(n.name, n.title) AS id, coalesce(n.name, n.title) AS label, labels(n)[0] AS kind, n.tagline AS description, "
    "n.born AS born, n.released AS released"
)
MOVIES = Neo4jGraph(facts=FACTS, entities=ENTITIES)


class Given:
    """A store that has answers."""

    def __init__(self, **answers: dict[str, Any]) -> None:
        self.answers = answers

    def tables(self, text: str) -> Iterator[pa.Table]:
        yield pa.table(self.answers[text])


def tables_of(queries: Neo4jGraph, store: Given | Neo4jStore, token: str = "") -> dict[str, set[tuple[object, ...]]]:
    found: dict[str, set[tuple[object, ...]]] = {}
    for rows, _ in queries.pages(store, token):
        for name, some in plain_rows(rows).items():
            found.setdefault(name, set()).update(some)
    return found


@pytest.fixture
def store(neo4j_database: Neo4jSettings) -> Iterator[Neo4jStore]:
    with Neo4jStore(neo4j_database) as store:
        yield store


def write(settings: Neo4jSettings, *statements: str) -> None:
    with GraphDatabase.driver(settings.uri, auth=(settings.username, settings.password)) as driver, driver.session() as session:
        for statement in statements:
            session.run(statement).consume()


def test_columns_become_rows() -> None:
    answers: dict[str, dict[str, Any]] = {
        "f": {"head": [1, 2, None], "relation": ["KNOWS", "LIKES", "KNOWS"], "tail": [2, 1, 1]},
        "e": {
            "id": [1, 2],
            "label": ["Ada", None],
            "aliases": [["A. L.", ""], None],
            "born": [date(1815, 12, 10), None],
            "size": [1.5, None],
        },
        "r": {"id": ["LIKES"], "label": ["likes much"], "symmetric": [True]},
        "d": {"id": ["d1", ""], "text": ["A text.", "x"], "about": [1, None]},
    }
    queries = Neo4jGraph(facts="f", entities="e", relations="r", documents="d", symmetric=("KNOWS",), kind="person")
    found = tables_of(queries, Given(**answers))
    assert found["facts"] == {("1", "KNOWS", "2"), ("2", "LIKES", "1")}
    assert found["entities"] == {("1", "person", "Ada", ""), ("2", "person", "", "")}
    assert {("KNOWS", "", True), ("LIKES", "likes much", True)} <= found["relations"]
    assert {("1", "Ada", "label"), ("1", "A. L.", "alias"), ("2", "2", "id"), ("KNOWS", "knows", "id")} <= found["names"]
    assert found["values"] == {
        ("1", "born", "time", "1815-12-10", "", 11, "gregorian", "", ""), ("1", "size", "quantity", "1.5", "", None, "", "", ""),
    }  # fmt: skip
    assert found["documents"] == {("d1", "", "1", "A text.", 0)}
    reasons = {reason: count for rows, _ in queries.pages(Given(**answers)) for reason, count in rows.skipped.items()}
    assert reasons == {"row without a head, relation or tail": 1, "document without an id or a text": 1}


def test_entities_come_from_the_facts_where_no_query_gives_them() -> None:
    found = tables_of(Neo4jGraph(facts="f"), Given(f={"head": ["a_b"], "relation": ["r"], "tail": ["c"], "head_kind": ["Town"]}))
    assert found["entities"] == {("a_b", "Town", "", ""), ("c", "entity", "", "")}


def test_reading_goes_on_after_a_whole_query() -> None:
    given = Given(f={"head": ["a"], "relation": ["r"], "tail": ["c"]}, e={"id": ["a"]})
    queries = Neo4jGraph(facts="f", entities="e")
    assert [token for _, token in queries.pages(given)] == ["0", "1", "1", "2"]
    assert "facts" in tables_of(queries, given, "1")
    assert "entities" not in tables_of(queries, given, "1")
    assert not tables_of(queries, given, "2")


@pytest.mark.parametrize(
    ("facts", "error", "sentence"),
    [
        ({"head": ["a"], "rel": ["r"], "tail": ["b"]}, MissingInput, "query facts: it returns no column 'relation' but head, rel, tail"),
        ({"head": [["a"]], "relation": ["r"], "tail": ["b"]}, QueryError, "query facts: its column 'head' has nodes, lists"),
        ({"head": [1.5], "relation": ["r"], "tail": ["b"]}, QueryError, "query facts: its column 'head' has nodes, lists"),
        (
            {"head": ["a"], "relation": ["r"], "tail": ["b"], "since": [1]},
            QueryError,
            "query facts: it returns the column 'since', which is not used",
        ),
    ],
)
def test_what_a_query_must_return(facts: dict[str, list[object]], error: type[KgqaError], sentence: str) -> None:
    with pytest.raises(error, match=re.escape(sentence)):
        tables_of(Neo4jGraph(facts="f"), Given(f=facts))
    with pytest.raises(ValidationError):
        Neo4jGraph(fact="f")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (True, ("text", "true")),
        (3, ("quantity", "3")),
        (float("nan"), None),
        ({"x": 12.5, "y": 41.9, "srid": 4326}, ("coordinate", "41.9,12.5")),
        ({"x": 1, "y": 2, "srid": 7203}, None),
        ("2020-01-02T03:04:05.000000000+00:00", ("time", "2020-01-02")),
        (" ", None),
        ("x", ("text", "x")),
    ],
)
def test_values_of_properties(cell: object, expected: tuple[str, str] | None) -> None:
    found = value_of_cell(cell)
    assert (found and (found["kind"], found["value"])) == expected


def test_values_from_a_server(neo4j_database: Neo4jSettings, store: Neo4jStore) -> None:
    write(
        neo4j_database,
        "CREATE (:A {id: 'a', on: date('1952-03-11'), at: datetime('2020-01-02T03:04:05Z'), "
        "where: point({latitude: 41.9, longitude: 12.5}), mixed: 1, many: ['x', 'y']}), (:A {id: 'b', mixed: 'one', flag: true})",
    )
    columns = ", ".join(f"n.{name} AS {name}" for name in ("id", "on", "at", "where", "mixed", "many", "flag"))
    found = tables_of(Neo4jGraph(facts=FACTS, entities=f"MATCH (n) RETURN {columns}"), store)
    assert {row[:4] for row in found["values"]} == {
        ("a", "on", "time", "1952-03-11"), ("a", "at", "time", "2020-01-02"), ("a", "where", "coordinate", "41.9,12.5"),
        ("a", "mixed", "quantity", "1"), ("b", "mixed", "text", "one"), ("a", "many", "text", "x"), ("a", "many", "text", "y"),
        ("b", "flag", "text", "true"),
    }  # fmt: skip


def test_only_reading_queries_run(neo4j_database: Neo4jSettings, store: Neo4jStore) -> None:
    write(neo4j_database, "CREATE (:A {id: 'a'})")
    for text in (
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) SET n.x = 1 RETURN n.id AS head",
        "LOAD CSV FROM 'file:///etc/passwd' AS x RETURN x",
    ):
        with pytest.raises(QueryError, match=r"^query facts: "):
            tables_of(Neo4jGraph(facts=text), store)
    with pytest.raises(QueryError, match=r"^query facts: the query cannot be run: "):
        tables_of(Neo4jGraph(facts="MATCH (n) RETURN nothing AS head"), store)
    with pytest.raises(QueryError, match=r"^query facts: its column 'head' has nodes"):
        tables_of(Neo4jGraph(facts="MATCH (n) RETURN n AS head, 'r' AS relation, n.id AS tail"), store)
    assert store.read("MATCH (n) RETURN count(n) AS n").rows.to_pylist() == [{"n": 1}]


@pytest.mark.real_data
def test_movies_loaded_and_read_back(
    neo4j_database: Neo4jSettings, store: Neo4jStore, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (real_data / "sources" / "graphs" / "neo4j-movies.cypher").read_text("utf-8")
    # Without the constraints, which other tests of this server do not want.
    write(neo4j_database, *(part for part in re.split(r";\s*", script) if part and "CONSTRAINT" not in part and "INDEX" not in part))
    monkeypatch.setattr(connection, "FETCH", 50)  # so that there are several batches
    found = tables_of(MOVIES, store)
    edges = store.read("MATCH (a)-[r]->(b) RETURN DISTINCT elementId(a) AS a, type(r) AS r, elementId(b) AS b").rows.num_rows
    assert len(found["facts"]) == edges > 200
    assert len(found["facts"]) == len({(m[1], m[2], m[3]) for m in re.finditer(r"\((\w+)\)-\[:(\w+).*?\]->\((\w+)\)", script)})
    assert {row[1] for row in found["facts"]} == {"ACTED_IN", "DIRECTED", "PRODUCED", "WROTE", "FOLLOWS", "REVIEWED"}
    nodes = store.read("MATCH (n) RETURN count(n) AS n").rows.to_pylist()[0]["n"]
    assert len(found["entities"]) == nodes == len(re.findall(r"\(\w+:(?:Person|Movie) ", script))
    assert ("The Matrix", "Movie", "The Matrix", "Welcome to the Real World") in found["entities"]
    assert ("Keanu Reeves", "born", "quantity", "1964", "", None, "", "", "") in found["values"]
    assert ("ACTED_IN", "acted in", "id") in found["names"]
