"""The graph of questions in a Neo4j database: loads go on, the next one replaces it, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from kgqa.errors import StoreConflict, StoreError
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.neo4j import graph
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.layouts import QUESTIONS
from kgqa.store.neo4j.questions import check_can_put, put_questions
from kgqa.store.questions import QUESTION_TABLES
from tests.store.graphs import ad_hoc, rows_of


def rows(count: int) -> dict[str, pa.Table]:
    """So many questions in a row, each of which names the answer to the one before."""
    every = list(range(count))
    return {
        "question": pa.table(
            {"row": every, "id": [f"q{n}" for n in every], "question": [f"'{n}`?" for n in every], "answer": [f"a{n}" for n in every],
             "tokens": every, "paragraph": every, "entity": [""] * count, "own": every, "named": [True] * count}
        ),
        "answer": pa.table({"row": every, "name": [f"a{n}" for n in every]}),
        "subject": pa.table({"row": [0], "entity": ["e"]}),
        "answered_by": pa.table({"question": every, "answer": every, "turn": every}),
        "names": pa.table(
            {"question": every[1:], "answer": every[:-1], "start": every[1:], "stop": every[1:], "whole": [True] * (count - 1),
             "turn": every[1:]}
        ),
        "asks_about": pa.table({"question": [0], "subject": [0], "slot": [0]}),
        "composes": pa.table({"question": every[:-1], "other": every[1:], "row": every[:-1], "start": every[1:], "bridge": every[:-1]}),
    }  # fmt: skip


@pytest.fixture
def server(neo4j_database: Neo4jSettings) -> Iterator[Neo4jStore]:
    with Neo4jStore(neo4j_database) as store:
        yield store


def counts(server: Neo4jStore) -> dict[str, int]:
    marker = graph.read_marker(server, QUESTIONS)
    assert marker is not None
    assert marker.finished
    graph._check_whole(server, marker, QUESTIONS)
    return marker.rows


def sizes(count: int) -> dict[str, int]:
    return {name: rows(count)[name].num_rows for name in QUESTION_TABLES}


def test_a_load_that_was_cut_off_goes_on(server: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "BATCH_ROWS", 3)
    items = []

    def stop(number: int) -> None:
        items.append(number)
        if sum(items) > 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put_questions(server, "one", rows(10), advance=stop)
    begun = graph.read_marker(server, QUESTIONS)
    assert begun is not None
    assert not begun.finished
    items = []
    assert put_questions(server, "one", rows(10), advance=items.append)
    assert sum(items) == sum(sizes(10).values())
    assert items[0] == begun.rows["question"] == 10
    assert counts(server) == sizes(10)
    assert not put_questions(server, "one", rows(10))


def test_other_questions_take_the_place_of_those_that_are_there(server: Neo4jStore) -> None:
    put_questions(server, "one", rows(10))
    check_can_put(server)
    assert put_questions(server, "two", rows(4))
    assert counts(server) == sizes(4)
    chain = ad_hoc("MATCH (a:Question)-[c:COMPOSES]->(b:Question) RETURN a.id AS a, b.id AS b ORDER BY c.row", "a: string, b: string")
    assert server.run(chain)["b"].to_pylist() == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    "text", ["CREATE (:Film {name: 'Alien'})", "CREATE (:Question {row: 99})", "MATCH (q:Question {row: 0}) CREATE (q)-[:LIKES]->(q)"]
)
def test_what_somebody_added_is_neither_erased_nor_are_questions_beside_it(server: Neo4jStore, text: str) -> None:
    put_questions(server, "one", rows(5))
    server.write(ad_hoc(text, "none"))
    for put in (lambda: check_can_put(server), lambda: put_questions(server, "two", rows(4))):
        with pytest.raises(StoreConflict, match="someone added nodes or relationships to kgqa's graph, so kgqa does not erase it"):
            put()
    assert server.run(ad_hoc("MATCH (n) RETURN count(n) AS n", "n: integer"))["n"][0].as_py() >= 5 + 5 + 1 + 1


def test_a_database_that_holds_something_else_is_left_alone(server: Neo4jStore) -> None:
    server.write(ad_hoc("CREATE (:Film {name: 'Alien'})", "none"))
    with pytest.raises(StoreConflict, match="1 nodes in it were not written by kgqa; give kgqa an empty database"):
        put_questions(server, "one", rows(3))


def test_questions_and_the_graph_of_documents_need_two_databases(server: Neo4jStore) -> None:
    graph.load(server, "documents", rows_of(entities=["a", "b"]))
    with pytest.raises(StoreConflict, match="holds kgqa's graph of entities and documents; give the graph of questions another one"):
        put_questions(server, "one", rows(3))
    graph.erase(server)
    put_questions(server, "one", rows(3))
    with pytest.raises(StoreConflict, match="holds kgqa's graph of questions; give the graph of entities and documents another one"):
        graph.load(server, "documents", rows_of(entities=["a", "b"]))


def test_a_relationship_without_its_nodes_is_not_passed_over(server: Neo4jStore) -> None:
    broken = {**rows(3), "names": rows(5)["names"]}
    with pytest.raises(StoreError, match="nodes are missing from the graph; give kgqa an empty database"):
        put_questions(server, "one", broken)
