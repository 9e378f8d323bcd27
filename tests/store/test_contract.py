"""What every store must do, asked of the embedded store and of a real Neo4j by the same class."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgqa.errors import HeaderMismatch, QueryError, QueryLimit, QueryTimeout, StoreError
from kgqa.runs.graph import tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import GraphStore
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.graph import SOURCES, graph_rows
from kgqa.store.limits import Limits
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from kgqa.store.queries import Parameter, Query, askable_queries
from tests.neo4j.server import Neo4jServer
from tests.store.graphs import NAMES, ad_hoc, rows_of

SLOW = "UNWIND range(1, 30000) AS x UNWIND range(1, 30000) AS y WITH x * y AS z WHERE z % 7 = 3 RETURN count(z) AS number"


@pytest.fixture(scope="class", params=["seed_wikidata", pytest.param("seed_medline", marks=pytest.mark.thorough)])
def workspace(request: pytest.FixtureRequest) -> Workspace:
    return Workspace(request.getfixturevalue(request.param))


class StoreContract:
    """The same for every store; ``store`` holds the graph of ``workspace``, ``named`` one whose entities have the ``NAMES``."""

    def test_the_graph_holds_the_tables(self, store: GraphStore, workspace: Workspace) -> None:
        facts = store.run(
            ad_hoc(
                "MATCH (h:Entity)-[f:FACT]->(t:Entity) RETURN h.id AS head, f.relation AS relation, t.id AS tail ORDER BY f.row",
                "head: string, relation: string, tail: string",
            )
        )
        links = store.run(
            ad_hoc(
                "MATCH (d:Document)-[m:MENTIONS]->(e:Entity) "
                "RETURN d.id AS document, e.id AS entity, m.count AS count ORDER BY d.row, e.row",
                "document: string, entity: string, count: integer",
            )
        )
        texts = store.run(
            ad_hoc(
                "MATCH (d:Document) RETURN d.id AS id, d.title AS title, d.text AS text ORDER BY d.row",
                "id: string, title: string, text: string",
            )
        )
        entities = store.run(
            ad_hoc(
                "MATCH (e:Entity) RETURN e.id AS id, e.kind AS kind, e.label AS label, e.description AS description ORDER BY e.row",
                "id: string, kind: string, label: string, description: string",
            )
        )
        about = store.run(
            ad_hoc("MATCH (e:Entity)-[a:ABOUT]->(d:Document) RETURN d.id AS id, e.id AS about ORDER BY d.row", "id: string, about: string")
        )
        left_out = store.run(ad_hoc("MATCH (d:Document) WHERE NOT d.usable RETURN d.id AS id ORDER BY d.row", "id: string"))
        assert facts.to_pylist() == workspace.read_table("facts").to_pylist()
        result = workspace.read_table("links").select(["document", "entity", "count"])
        assert links.to_pylist() == result.sort_by([("document", "ascending"), ("entity", "ascending")]).to_pylist()
        documents = workspace.read_table("documents").to_pylist()
        assert texts.to_pylist() == [{name: row[name] for name in ("id", "title", "text")} for row in documents]
        assert entities.to_pylist() == workspace.read_table("entities").to_pylist()
        assert about.to_pylist() == [{"id": row["id"], "about": row["about"]} for row in documents if row["about"]]
        assert left_out["id"].to_pylist() == sorted(set(workspace.read_table("unused")["document"].to_pylist()))

    def test_every_query_answers_as_its_header_says(self, store: GraphStore, workspace: Workspace) -> None:
        items = [query for query in askable_queries().values() if store.name in query.stores]
        assert len(items) > 15
        for query in items:
            arguments = query.arguments({parameter.name: value(parameter, workspace) for parameter in query.params})
            rows = store.run(query, arguments)
            assert rows.column_names == list(query.returns)
            assert rows.equals(store.run(query, arguments)), query.name

    def test_counts_are_those_of_the_tables(self, store: GraphStore, workspace: Workspace) -> None:
        queries = askable_queries()
        hubs = store.run(queries["hubs"], {"limit": 1_000_000}).to_pylist()
        assert {row["entity"]: row["documents"] for row in hubs} == Counter(workspace.read_table("links")["entity"].to_pylist())
        facts = store.run(queries["relation_counts"], {"limit": 1_000_000}).to_pylist()
        assert {row["relation"]: row["facts"] for row in facts} == Counter(workspace.read_table("facts")["relation"].to_pylist())

    def test_a_filtered_multi_hop_count_is_right(self, store: GraphStore, workspace: Workspace) -> None:
        # What other versions of the embedded engine count wrongly (docs/decisions/0002-embedded-engine.md).
        links = workspace.read_table("links").to_pylist()
        documents: dict[str, set[str]] = {}
        for row in links:
            documents.setdefault(row["entity"], set()).add(row["document"])
        entity = max(documents, key=lambda name: (len(documents[name]), name))
        beside = {other: len(rows & documents[entity]) for other, rows in documents.items() if other != entity}
        text = (
            "MATCH (a:Entity)<-[x:MENTIONS]-(d:Document)-[y:MENTIONS]->(b:Entity) WHERE a.id = $entity AND b.row <> a.row "
            "RETURN b.id AS other, count(DISTINCT d.id) AS documents ORDER BY other"
        )
        rows = store.run(ad_hoc(text, "other: string, documents: integer", "entity: string"), {"entity": entity}).to_pylist()
        assert {row["other"]: row["documents"] for row in rows} == {other: count for other, count in beside.items() if count}

    def test_values_are_parameters_never_query_text(self, store: GraphStore) -> None:
        for text in ("x' OR true RETURN 1 //", "'", '"', "$limit", "\\", "{}", "🌍", "\n"):
            assert store.run(askable_queries()["facts_about"], {"entity": text, "limit": 5}).num_rows == 0

    @pytest.mark.parametrize("column", ["d", "m", "collect(d)", "{id: d.id}"])
    def test_objects_in_place_of_ids_are_named_with_their_column(self, store: GraphStore, column: str) -> None:
        text = f"MATCH (d:Document)-[m:MENTIONS]->(e:Entity) RETURN {column} AS document, e.id AS entity"
        for own in (False, True):
            with pytest.raises(
                HeaderMismatch, match=r"^query t \(t\.cypher\): the column 'document' holds whole nodes.*as d\.id of a document d\.$"
            ):
                store.run(ad_hoc(text, "document: string, entity: string", own=own))

    @pytest.mark.parametrize(
        "text",
        [
            "MATCH (d:Document) SET d.title = 'x' RETURN d.id AS id",
            "COPY (MATCH (d:Document) RETURN d.id) TO 'stolen.csv'",
            "EXPORT DATABASE 'stolen'",
            "MATCH (d:Document) RETURN d.id AS id; MATCH (d:Document) RETURN d.id AS id",
            "CALL db.labels() YIELD label RETURN label AS id",
        ],
    )
    def test_a_users_query_that_does_more_than_to_read_never_runs(
        self, store: GraphStore, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(QueryError, match=r"^query t \(t\.cypher\): the query .*\.$|^query t \(t\.cypher\): a query begins with"):
            store.run(ad_hoc(text, "id: string", own=True))
        assert not list(tmp_path.iterdir())

    def test_a_users_query_that_reads_gives_what_the_same_of_kgqa_gives(self, store: GraphStore) -> None:
        text = "MATCH (d:Document)-[m:MENTIONS]->(e:Entity) WHERE e.id <> $stranger RETURN d.id AS d, collect(e.id) AS es ORDER BY d;"
        returns = ("d: string, es: strings", "stranger: string")
        mine, yours = ad_hoc(text, *returns, own=True), ad_hoc(text.rstrip(";"), *returns)
        # Twice: the first value must not stay.
        for stranger in ("nobody", "Q2"):
            expected = store.run(yours, {"stranger": stranger}).to_pylist()
            rows = store.run(mine, {"stranger": stranger}).to_pylist()
            assert [(row["d"], sorted(row["es"])) for row in rows] == [(row["d"], sorted(row["es"])) for row in expected]

    def test_a_users_query_ends_in_time(self, store: GraphStore) -> None:
        with pytest.raises(QueryTimeout, match=r"^query t \(t\.cypher\) took more than 0\.5 seconds; narrow it\.$"):
            store.run(ad_hoc(SLOW, "number: integer", own=True), seconds=0.5)

    @pytest.mark.parametrize(
        ("returns", "part"),
        [
            ("id: string", "it returns id: integer"),
            ("other: integer", "it returns other: integer, but it returns id"),
            ("id: integer, more: string", "more"),
            ("id: strings", "id: integer"),
        ],
    )
    def test_a_header_that_lies_is_said(self, store: GraphStore, returns: str, part: str) -> None:
        with pytest.raises(StoreError, match="its header says") as error:
            store.run(ad_hoc("MATCH (e:Entity) RETURN count(e.id) AS id", returns))
        assert part in str(error.value)

    def test_types_are_those_of_the_header_also_without_a_value(self, store: GraphStore) -> None:
        returns = "id: string, number: integer, share: number, flag: boolean, ids: strings"
        text = (
            "MATCH (e:Entity) WHERE e.id = $id "
            "RETURN e.id AS id, e.row AS number, e.row * 0.5 AS share, e.row > 1 AS flag, collect(e.id) AS ids"
        )
        empty = store.run(ad_hoc(text, returns, "id: string"), {"id": "nobody"})
        full = store.run(ad_hoc(text.replace("WHERE e.id = $id", "WHERE e.id <> $id"), returns, "id: string"), {"id": "nobody"})
        assert full.num_rows > 5
        assert empty.num_rows == 0
        assert empty.schema == full.schema

    def test_what_the_engine_refuses_is_one_sentence(self, store: GraphStore) -> None:
        for text in ("MATCH", "MATCH (x:Entity) RETURN y.id AS id", "CREATE (e:Entity {id: 'x'}) RETURN e.id AS id"):
            with pytest.raises(StoreError, match=r"query t .*[^\n]*\.$") as error:
                store.run(ad_hoc(text, "id: string"))
            assert "\n" not in str(error.value)
        assert not store.run(ad_hoc("MATCH (e:Entity) WHERE e.id = 'x' RETURN e.id AS id", "id: string")).num_rows

    def test_a_query_for_another_store_is_refused(self, store: GraphStore) -> None:
        other = "neo4j" if store.name == "embedded" else "embedded"
        query = ad_hoc("RETURN 1 AS one", "one: integer")
        foreign = Query(**{name: getattr(query, name) for name in Query.__slots__} | {"stores": (other,)})
        with pytest.raises(StoreError, match=f"does not run on the {store.name} store, only on: {other}"):
            store.run(foreign)

    def test_a_slow_query_ends_in_time(self, store: GraphStore) -> None:
        with pytest.raises(QueryTimeout, match=r"took more than 0.3 seconds; narrow it, or allow more \(kgqa query --seconds\)\.$"):
            store.run(ad_hoc(SLOW, "number: integer"), seconds=0.3)
        with pytest.raises(QueryTimeout):
            store.read(SLOW, limits=Limits(rows=1, seconds=0.3))
        assert store.run(ad_hoc("RETURN 1 AS one", "one: integer"), seconds=5).to_pylist() == [{"one": 1}]

    def test_any_cypher_that_reads_is_answered_up_to_a_limit(self, store: GraphStore, workspace: Workspace) -> None:
        entities, few = workspace.read_table("entities").num_rows, Limits(rows=3, seconds=5)
        first = store.read("MATCH (e:Entity) RETURN e.id AS id, e.row ORDER BY e.row", limits=few)
        assert first.cut == "rows"
        assert first.rows.column_names == ["id", "e.row"]
        assert first.rows["e.row"].to_pylist() == [0, 1, 2]
        whole = store.read("MATCH (e:Entity) RETURN count(e) AS n // SET", limits=few)
        assert whole.cut == ""
        assert whole.rows["n"].to_pylist() == [entities]
        assert store.read("UNWIND range(1, 3) AS x RETURN x;", limits=few).cut == ""  # exactly as many as may be
        objects = store.read("MATCH (e:Entity)-[f:FACT]->(t:Entity) RETURN e, f, t, 'CREATE' AS `set` LIMIT 2", limits=few)
        assert objects.rows.num_rows == 2
        assert objects.rows["set"].to_pylist() == ["CREATE", "CREATE"]
        result = store.read("MATCH (e:Entity) WHERE e.id = 'nobody' RETURN e.id AS id", limits=few)
        assert (result.rows.num_rows, result.rows.column_names, result.cut) == (0, ["id"], "")

    def test_a_parameter_that_nobody_gives_is_not_null(self, store: GraphStore) -> None:
        for text in ("MATCH (e:Entity {id: $id}) RETURN e.id", "RETURN $`my id`, '$id'"):
            with pytest.raises(QueryError, match=r"^the query uses the parameter \$.*id, but it has no value; give one, as .*id=VALUE\.$"):
                store.read(text)
        assert store.read("RETURN '$id' AS a").rows.to_pylist() == [{"a": "$id"}]

    def test_rows_are_cut_where_they_take_too_many_bytes(self, store: GraphStore) -> None:
        text = "UNWIND range(1, 20000) AS x RETURN x, 'a text of some length' AS text ORDER BY x"
        cut = store.read(text, limits=Limits(rows=None, bytes=100_000))
        assert cut.cut == "bytes"
        assert 500 < cut.rows.num_rows < 5000
        assert cut.rows["x"].to_pylist() == list(range(1, cut.rows.num_rows + 1))
        whole = store.read(text, limits=Limits(rows=None))
        assert (whole.rows.num_rows, whole.cut) == (20_000, "")
        assert store.read("RETURN range(1, 50000) AS xs", limits=Limits(bytes=1000)).cut == "bytes"

    def test_what_never_ends_is_ended(self, store: GraphStore) -> None:
        for text in (SLOW, "UNWIND range(1, 3000000000) AS x RETURN x", "UNWIND range(1, 30000000) AS x RETURN count(x) AS n"):
            begin = time.monotonic()
            try:
                store.read(text, limits=Limits(seconds=1, memory=300 << 20))
            except QueryLimit as error:
                assert str(error).endswith((" --seconds).", " --memory)."))  # noqa: PT017 - the third is fast on a server
            assert time.monotonic() - begin < 30  # unlimited the first two take minutes
        assert store.read("RETURN 1 AS one", limits=Limits()).rows.to_pylist() == [{"one": 1}]

    def test_columns_of_one_name_are_kept_apart(self, store: GraphStore) -> None:
        try:
            rows = store.read("RETURN 1 AS a, 2 AS a", limits=Limits()).rows
        except QueryError:  # a server refuses them
            return
        assert rows.to_pylist() == [{"a": 1, "a (2)": 2}]

    @pytest.mark.parametrize(
        "text",
        [
            "CREATE (n:Entity {id: 'x'}) RETURN n",
            "MATCH (n:Entity) SET n.label = 'x' RETURN n",
            "MATCH (n:Entity) DETACH DELETE n",
            "MATCH (n:Entity) delete n",
            "MATCH (n) RETURN n; CREATE (m:Entity {id: 'x'})",
            "MATCH (n:Entity) /* */ ReMoVe n.label RETURN n",
            "MERGE (n:Entity {id: 'x'}) RETURN n",
            "DROP TABLE Entity",
            "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
            "WITH 1 AS x LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
            "CALL db.clearQueryCaches()",
            "CALL threads = 1",
            "RETURN 1 AS x UNION CALL db.labels() YIELD label AS x RETURN x",
            "SHOW USERS",
            "MATCH (n:Entity) WHERE n.row<1LOAD FROM 'x.csv' RETURN *",
            "MATCH (n:Entity) WHERE n.row < 1.5CALL db.labels() YIELD label RETURN label",
            "// comment\rLOAD CSV FROM 'file:///x' AS r RETURN r",
            "MATCH (n:Entity) RETURN '\udcff'",
            "MATCH (n) WITH n LIMIT 1 LO\\u0041D CSV FROM 'file:///etc/hostname' AS row RETURN row",
            "",
            "   // nothing",
            "COPY (MATCH (e:Entity) RETURN e.id) TO 'x.csv'",
            "EXPORT DATABASE 'x'",
            "IMPORT DATABASE 'x'",
            "ATTACH 'x' AS y (dbtype duckdb)",
            "INSTALL httpfs",
            "LOAD EXTENSION httpfs",
            "CREATE MACRO one() AS 1",
            "USE system MATCH (n) RETURN n",
            "CALL apoc.export.csv.all('x.csv', {})",
            "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10 ROWS",
            "CALL { MATCH (n) RETURN n } IN TRANSACTIONS RETURN n",
            "MATCH (n:Entity) RETURN n.id AS id; MATCH (n:Entity) RETURN n.id AS id",
            "MATCH (n:Entity) WITH * LOAD CSV FROM 'file:///x' AS r RETURN r",
            "MATCH (n:Entity) RETURN 1. /* */ CALL db.labels()",
            "MATCH (n:Entity) RETURN 'it''s' AS a /* ; CREATE (m)",
            "MATCH (n:Entity) RETURN n.id ORDER BY n.id DESC FROB (m)",
            "MATCH (n:Entity) RETURN n.id AS a UNION ALL FROB 1 AS a",
            "EXPLAIN CREATE (n)",
            "PROFILE MATCH (n) SET n.a = 1",
        ],
    )
    def test_cypher_that_could_write_is_refused(self, store: GraphStore, workspace: Workspace, text: str) -> None:
        with pytest.raises(QueryError) as error:
            store.read(text, limits=Limits(rows=5, seconds=5))
        assert str(error.value).endswith(".")
        assert "\n" not in str(error.value)
        count = ad_hoc("MATCH (e:Entity) RETURN count(e.id) AS n", "n: integer")
        assert store.run(count)["n"].to_pylist() == [workspace.read_table("entities").num_rows]


def value(parameter: Parameter, workspace: Workspace) -> str:
    """Something that the graph holds, by the name of the parameter."""
    links, facts = workspace.read_table("links"), workspace.read_table("facts")
    known = {
        "document": links["document"][0],
        "relation": facts["relation"][0],
        "subject": facts["head"][0],
        "answer": facts["tail"][0],
        "candidate": facts["tail"][1],
        "other": links["entity"][1],
        "limit": 20,
        "text": "a",
        "label": "a",
        "dataset": "wikihop",
        "sample": "none",
    }
    if parameter.default is not None:
        return str(parameter.default)
    if parameter.kind in {"integer", "number"}:
        return "5"
    return str(known.get(parameter.name, links["entity"][0]))


@pytest.fixture(scope="class")
def embedded_graph(workspace: Workspace) -> Iterator[GraphStore]:
    with EmbeddedStore(workspace.graph) as store:
        yield store


@pytest.fixture(scope="class")
def neo4j_graph(workspace: Workspace, neo4j_server: Neo4jServer) -> Iterator[GraphStore]:
    neo4j_server.empty()
    with Neo4jStore(Neo4jSettings(uri=neo4j_server.uri, password=neo4j_server.password)) as store:
        rows = graph_rows({name: workspace.read_table(name) for name in SOURCES})
        assert load(store, tables_hash(workspace), rows)
        yield store


class TestEmbedded(StoreContract):
    @pytest.fixture
    def store(self, embedded_graph: GraphStore) -> GraphStore:
        return embedded_graph


class TestNeo4j(StoreContract):
    @pytest.fixture
    def store(self, neo4j_graph: GraphStore) -> GraphStore:
        return neo4j_graph

    @pytest.mark.slow
    def test_every_query_answers_as_its_header_says(self, store: GraphStore, workspace: Workspace) -> None:
        super().test_every_query_answers_as_its_header_says(store, workspace)


class NamesContract:
    """``named`` holds a graph whose entities have the ``NAMES``."""

    def test_names_and_texts_come_back_as_they_were(self, named: GraphStore) -> None:
        rows = named.run(
            ad_hoc(
                "MATCH (e:Entity) RETURN e.label AS label, e.description AS description ORDER BY e.row",
                "label: string, description: string",
            )
        )
        assert rows["label"].to_pylist() == NAMES
        assert rows["description"].to_pylist() == NAMES[::-1]
        (text,) = named.run(ad_hoc("MATCH (d:Document) RETURN d.text AS text", "text: string"))["text"].to_pylist()
        assert text == "\n".join(NAMES)


class TestNamesEmbedded(NamesContract):
    @pytest.fixture
    def named(self, tmp_path: Path) -> Iterator[GraphStore]:
        build(tmp_path / "graph", rows_of(entities=NAMES))
        with EmbeddedStore(tmp_path / "graph") as store:
            yield store


class TestNamesNeo4j(NamesContract):
    @pytest.fixture
    def named(self, neo4j_database: Neo4jSettings) -> Iterator[GraphStore]:
        with Neo4jStore(neo4j_database) as store:
            assert load(store, "named", rows_of(entities=NAMES))
            yield store
