"""Names in place of ids, on both stores: one bearer, five hundred, none; names that are ids, in any script, with Cypher in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from kgqa.errors import AmbiguousName, QueryError, UnknownName
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import GraphStore
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.names import Names, find_names, resolve, resolved
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from kgqa.store.queries import Query, Value, find_query, read_queries
from tests.neo4j.server import Neo4jServer
from tests.store.graphs import rows_of

HOSTILE = "'}) DETACH DELETE n // \"`$x` {y}"
LABELS = [
    "Portugal", "Port-au-Prince", "e0", HOSTILE, "لشبونة", "里斯本" * 100, "Lisbon", "lisbon", "Common", "Paris too", "Ångström",
    *["Same Name"] * 500,
]  # fmt: skip
"""Entity i is e{i}; every third one has "… too" as an alias, and every third "… too" and "… also" (see rows_of)."""
RELATIONS = [
    ("P36", "capital"), ("P1376", "capital of"), ("target", "Target"), ("P36", "capital city"), ("P9", "capital of"),
    ("P1376", "capital of"),
]  # fmt: skip
"""Id and label of the relation of each fact: one has two labels, and one label is that of two relations."""


@pytest.fixture(scope="module", params=["embedded", pytest.param("neo4j", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    rows = rows_of(entities=LABELS, documents=8, facts=[(i, i + 1) for i in range(len(RELATIONS))], relations=RELATIONS)
    if request.param == "embedded":
        path: Path = tmp_path_factory.mktemp("names") / "graph.lbug"
        build(path, rows)
        with EmbeddedStore(path) as embedded:
            yield embedded
        return
    server: Neo4jServer = request.getfixturevalue("neo4j_server")
    server.empty()
    with Neo4jStore(Neo4jSettings(uri=server.uri, password=server.password)) as on_server:
        load(on_server, "names", rows)
        yield on_server


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("e3", "e3"),
        ("Portugal", "e0"),
        ("  Portugal\n", "e0"),
        (HOSTILE, "e3"),
        ("لشبونة", "e4"),
        ("里斯本" * 100, "e5"),
        ("Lisbon", "e6"),
        ("lisbon", "e7"),
        ("A\u030angstro\u0308m", "e10"),
        ("e0", "e0"),  # an id comes before the label of another
        ("Paris too", "e9"),
        ("Port-au-Prince too", "e1"),  # an alias
    ],
)
def test_what_one_bears_is_found(text: str, meant: str, store: GraphStore) -> None:
    assert resolve(store, text, "entity") == meant


def test_several_bearers_are_listed_and_the_way_to_all_of_them_is_said(store: GraphStore) -> None:
    with pytest.raises(AmbiguousName) as error:
        resolve(store, "Same Name", "entity")
    message = str(error.value)
    assert message.startswith("500 entities are called 'Same Name': e11 (Same Name, ")
    assert message.count("; e") == 7
    assert "; and 492 more (kgqa query bearers --name NAME lists them). Give the id of the one that you mean." in message
    assert isinstance(error.value.names, Names)
    assert error.value.names.total == len(error.value.names.exact) == 500


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("portugal", "e0"), ("PORTUGAL", "e0"), ("Protugal", "e0"), ("Portugl", "e0"), ("لشبون", "e4"), ("E3", "e3"), ("angström", "e10")],
)
def test_what_is_near_is_offered(text: str, nearest: str, store: GraphStore) -> None:
    with pytest.raises(UnknownName, match="Give the id of one of them") as error:
        resolve(store, text, "entity")
    assert isinstance(error.value.names, Names)
    assert error.value.names.near[0].id == nearest
    assert find_names(store, text, "entity", 3).near[0].id == nearest


@pytest.mark.parametrize("text", ["", "   ", "\n", "' OR true //", "}) MATCH (n) DETACH DELETE n //", "q" * 5000])
def test_what_nothing_is_like_is_said(text: str, store: GraphStore) -> None:
    with pytest.raises(UnknownName, match="nothing has a similar name either; look for a part of a name with kgqa query find_entity"):
        resolve(store, text, "entity")
    assert resolve(store, "e3", "entity") == "e3"


def test_text_that_is_none_is_said(store: GraphStore) -> None:
    with pytest.raises(QueryError, match="is not text"):
        resolve(store, "\udcff", "entity")


def test_documents_have_names_too(store: GraphStore) -> None:
    assert resolve(store, "title 3", "document") == "d3"
    with pytest.raises(UnknownName, match=r"similar names are: d3 \(title 3\)"):
        resolve(store, "Title 3", "document")


@pytest.mark.parametrize(("text", "meant"), [("P36", "P36"), ("capital", "P36"), ("capital city", "P36"), ("Target", "target")])
def test_relations_have_names_too(text: str, meant: str, store: GraphStore) -> None:
    assert resolve(store, text, "relation") == meant


def test_several_relations_of_a_label_are_listed(store: GraphStore) -> None:
    text = r"^2 relations are called 'capital of': P1376 \(capital of, 2 facts\); P9 \(capital of, 1 fact\)\. Give the id of the one"
    with pytest.raises(AmbiguousName, match=text):
        resolve(store, "capital of", "relation")


def test_relations_that_are_near_are_offered(store: GraphStore) -> None:
    with pytest.raises(
        UnknownName, match=r"no relation has the id or the name 'Capital'; similar names are: P36 \(capital, 1 fact\); P1376"
    ):
        resolve(store, "Capital", "relation")
    with pytest.raises(UnknownName, match="nothing has a similar name either; look for it among all with kgqa query relation_counts"):
        resolve(store, HOSTILE, "relation")


def test_only_what_wants_an_id_is_looked_up(store: GraphStore) -> None:
    bridges = find_query("bridges_between", read_queries(), suggested=[])
    assert resolved(store, bridges, {"entity": "Portugal", "other": "Lisbon", "limit": 3}) == {"entity": "e0", "other": "e6", "limit": 3}
    result = find_query("find_entity", read_queries(), suggested=[])
    assert resolved(store, result, {"text": "Portugal", "limit": 3}) == {"text": "Portugal", "limit": 3}
    chain = find_query("sample_chain", read_queries(), suggested=[])
    assert resolved(store, chain, {"sample": "x", "candidate": ""}) == {"sample": "x", "candidate": ""}
    with pytest.raises(
        UnknownName, match=r"^query bridges_between, other: no entity has the id or the name 'Lisbom'; similar names are: e"
    ):
        resolved(store, bridges, {"entity": "Portugal", "other": "Lisbom", "limit": 3})


class OneName:
    """A store in which entities of one name are in so many documents each."""

    def __init__(self, *documents: int) -> None:
        self.documents = documents

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float) -> pa.Table:
        bearers = [
            {"id": f"e{n}", "label": "Varr", "kind": "city", "description": "", "documents": each} for n, each in enumerate(self.documents)
        ]
        return pa.Table.from_pylist(bearers if query.name == "entities_named" else [])


def test_of_several_bearers_the_only_one_that_documents_mention_is_taken_and_said() -> None:
    items: list[str] = []
    assert resolve(OneName(0, 3, 0), "Varr", "entity", tell=items.append) == "e1"
    assert items == ["'Varr' is taken for e1 (Varr, city, 3 documents); the 2 others are in no document. Give an id to mean another one."]
    for documents in [(1, 3), (0, 0), (2, 0, 1)]:
        with pytest.raises(AmbiguousName):
            resolve(OneName(*documents), "Varr", "entity", tell=items.append)
    assert len(items) == 1
