"""Cypher of one's own on the page: rows, files and links on both stores; what is refused, stopped and cut; and names that would do harm."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

import kgqa
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.cypher import check_reads_only
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import erase, load
from kgqa.web.explore.app import create_app
from kgqa.web.explore.cypher_box import LONGEST, MOST_ROWS, QueryForm, of_named
from kgqa.web.explore.project import Project, open_project
from tests.neo4j.server import Neo4jServer
from tests.store.graphs import rows_of
from tests.web.explore.awkward import ARABIC, CHINESE, ENTITY, LABEL, UNBROKEN
from tests.web.explore.conftest import Client, served_app
from tests.web.explore.test_routes import pictures, without_mark

FACTS = "MATCH (e:Entity)-[f:FACT]->(o:Entity) WHERE e.id = $id RETURN e, f, o, o.id AS id, o.label AS label ORDER BY f.row LIMIT 5"
ENTITIES = "MATCH (e:Entity) RETURN e.id AS id ORDER BY e.row"
MANY = "UNWIND range(1, 4000) AS a UNWIND range(1, 2500) AS b RETURN a, b"
"""Ten million rows."""
ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b UNWIND range(1, 100000) AS c WITH a + b + c AS d WHERE d < 0 RETURN d"


@pytest.fixture(params=["wikidata", pytest.param("on_server", marks=pytest.mark.slow)])
def either(request: pytest.FixtureRequest) -> Project:
    """The seed workspace in each store."""
    project: Project = request.getfixturevalue(request.param)
    return project


def sentence(answer: Any) -> str:
    """The one sentence of what went wrong; empty where nothing did."""
    matches = re.findall(r'<p class="trouble" role="alert">(.*?)</p>', answer.text)
    assert len(matches) <= 1
    assert (answer.status_code == 200) == (not matches)
    return html.unescape("".join(matches))


def field(answer: Any, name: str) -> str:
    """What a field of the form holds, as a browser reads it."""
    (found,) = re.findall(rf'<textarea[^>]* name="{name}"[^>]*>(.*?)</textarea>', answer.text, re.DOTALL)
    return html.unescape(found.removeprefix("\n"))


def files(answer: Any) -> list[str]:
    """Where the rows are as files."""
    return [html.unescape(link) for link in re.findall(r'<a class="button" href="(/cypher\.[^"]+)" download', answer.text)]


def test_nodes_alone_are_drawn_with_what_is_between_them(either: Project, client: Client) -> None:
    ask = client(either)
    text = "MATCH (d:Document)-[:MENTIONS]->(e:Entity) WHERE e.id = 'Q45' RETURN d, e ORDER BY d.row LIMIT 5"
    (picture,) = pictures(ask.get("/cypher", params={"q": text}).text)
    documents = {node["key"] for node in picture["nodes"]} - {"e:Q45"}
    mentions = {(edge["source"], edge["target"]) for edge in picture["edges"] if edge["label"] == "mentions"}
    assert mentions == {(document, "e:Q45") for document in documents}
    (alone,) = pictures(ask.get("/cypher", params={"q": FACTS.replace("RETURN e, f, o", "RETURN e, o"), "params": "id=Q45"}).text)
    (whole,) = pictures(ask.get("/cypher", params={"q": FACTS, "params": "id=Q45"}).text)
    drawn = {(edge["source"], edge["target"], edge["label"]) for edge in alone["edges"]}
    assert {(edge["source"], edge["target"], edge["label"]) for edge in whole["edges"]} <= drawn
    (article,) = pictures(ask.get("/cypher", params={"q": "MATCH (e:Entity)-[:ABOUT]->(d:Document) WHERE e.id = 'Q45' RETURN e, d"}).text)
    assert "article" in {edge["label"] for edge in article["edges"]}
    (one,) = pictures(ask.get("/cypher", params={"q": "MATCH (e:Entity) WHERE e.id = 'Q45' RETURN e"}).text)
    assert one["edges"] == []


def test_a_link_gives_rows_graph_and_files(either: Project, client: Client) -> None:
    ask = client(either)
    sent = {"q": FACTS, "params": "id=Q45", "rows": "50", "seconds": "9"}
    answer = ask.get("/cypher", params=sent)
    assert sentence(answer) == ""
    assert (field(answer, "q"), field(answer, "params")) == (FACTS, "id=Q45")
    assert 'name="rows" type="number" min="1" max="100000" step="1" value="50"' in answer.text
    assert 'value="9"' in answer.text
    rows = either.graph.stores.use(lambda store: store.read(FACTS, {"id": "Q45"}), seconds=30).to_pylist()
    assert len(rows) == 3
    (picture,) = pictures(answer.text)
    assert picture["root"] == "e:Q45"
    assert {node["key"] for node in picture["nodes"]} == {"e:Q45", *(f"e:{row['id']}" for row in rows)}
    assert {edge["label"] for edge in picture["edges"]} == {row["f"]["properties"]["label"] for row in rows}
    table = re.findall(r"<td[^>]*>(.*?)</td>", answer.text.split('class="rows"')[1])
    assert table[0] == '<a data-item href="/entity?id=Q45">Portugal</a>'
    assert html.unescape(table[1]).startswith('[:FACT {label: "')
    as_csv, as_json = (ask.get(link) for link in files(answer))
    assert as_json.json() == rows
    lines = list(csv.reader(io.StringIO(as_csv.text)))
    assert lines[0] == ["e", "f", "o", "id", "label"]
    assert [(json.loads(line[0]), json.loads(line[1]), line[3], line[4]) for line in lines[1:]] == [
        (row["e"], row["f"], row["id"], row["label"]) for row in rows
    ]
    assert as_csv.headers["content-disposition"] == 'attachment; filename="cypher.csv"'
    assert as_csv.headers["content-type"] == "text/csv; charset=utf-8"


def test_both_stores_show_the_same(wikidata: Project, on_server: Project, client: Client) -> None:
    mine, theirs = client(wikidata), client(on_server)
    path = (
        "MATCH p = (a:Entity)<-[:MENTIONS]-(d:Document)-[:MENTIONS]->(b:Entity) WHERE a.id = 'Q45' AND b.id = 'Q29' RETURN p ORDER BY d.row"
    )
    for sent in (
        {"q": FACTS, "params": "id=Q45"},
        {"q": path},
        {"q": "MATCH (e:Entity) RETURN e.id, e.label, e.documents, e.aliases ORDER BY e.row", "rows": "7"},
        {"q": "MATCH (d:Document) RETURN d ORDER BY d.row LIMIT 3"},
        {"q": "UNWIND $ids AS id RETURN id, id = 'Q45' AS known", "params": 'ids=["Q45", "seed:1", "none"]'},
        {"q": "MATCH (e:Entity) WHERE e.id = 'nothing' RETURN e.id"},
        {"q": "CREATE (n)"},
        {"q": "RETURN $x", "params": ""},
    ):
        one, other = mine.get("/cypher", params=sent), theirs.get("/cypher", params=sent)
        assert one.status_code == other.status_code
        assert without_mark(one.text) == without_mark(other.text), sent
    assert "(Portugal)&lt;-[:MENTIONS]-(" in mine.get("/cypher", params={"q": path}).text


WRITING = (
    "CREATE (n:Entity {id: 'x'})", "MATCH (e:Entity) SET e.label = 'x'", "MATCH (e:Entity) DETACH DELETE e", "MATCH (e) REMOVE e.label",
    "MERGE (n:Entity {id: 'x'})", "DROP TABLE Entity", "MATCH (e:Entity) RETURN e; MATCH (e) DETACH DELETE e", "COPY Entity TO 'x.csv'",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "LOAD FROM '/etc/passwd' RETURN *", "CALL dbms.shutdown()",
    "CALL { CREATE (n) } RETURN 1", "MATCH (e) CALL { WITH e SET e.x = 1 } RETURN e", "EXPLAIN CREATE (n)", "PROFILE MATCH (e) DELETE e",
    "FOREACH (x IN [1] | CREATE (n))", "MATCH (e) /* */ SET/**/ e.label = 1", "\\u0043REATE (n)", "INSTALL httpfs", "EXPORT DATABASE 'x'",
)  # fmt: skip


def test_writing_is_refused_in_any_way(either: Project, client: Client) -> None:
    ask = client(either)
    before = ask.get("/cypher.json", params={"q": ENTITIES}).json()
    for query in WRITING:
        answer = ask.get("/cypher", params={"q": query})
        assert answer.status_code == 400, query
        assert sentence(answer).endswith(".")
        assert field(answer, "q") == query
        for form in ("csv", "json"):
            assert ask.get(f"/cypher.{form}", params={"q": query}).status_code == 400
    assert ask.get("/cypher.json", params={"q": ENTITIES}).json() == before
    for method in ("POST", "PUT", "DELETE"):
        assert ask.request(method, "/cypher").status_code == 405
        assert ask.request(method, "/cypher.csv").status_code == 405


def test_what_runs_for_ever_is_stopped(either: Project, client: Client) -> None:
    begin = time.monotonic()
    answer = client(either).get("/cypher", params={"q": ENDLESS, "seconds": "1"})
    assert answer.status_code == 504
    assert sentence(answer).startswith("The query took more than 1 seconds;")
    assert field(answer, "q") == ENDLESS
    assert time.monotonic() - begin < 30
    assert sentence(client(either).get("/cypher", params={"q": "RETURN 1 AS one"})) == ""


def test_it_is_stopped_on_the_server_too(on_server: Project, neo4j_database: Neo4jSettings, client: Client) -> None:
    from neo4j import GraphDatabase

    assert client(on_server).get("/cypher", params={"q": ENDLESS, "seconds": "1"}).status_code == 504
    login = (neo4j_database.username, neo4j_database.password)
    with GraphDatabase.driver(neo4j_database.uri, auth=login) as driver, driver.session() as session:
        ends = time.monotonic() + 30
        while running := [row["currentQuery"] for row in session.run("SHOW TRANSACTIONS") if "range" in row["currentQuery"]]:
            assert time.monotonic() < ends, running
            time.sleep(0.2)


@pytest.mark.slow
def test_ten_million_rows_are_cut_and_that_is_said(seed_wikidata: Path, on_server: Project, client: Client) -> None:
    with closing(open_project(seed_wikidata, seconds=90)) as patient:
        for project in (patient, on_server):
            ask = client(project)
            answer = ask.get("/cypher", params={"q": MANY, "rows": "300"})
            match = re.sub(r"\s+", " ", re.findall(r'role="status">([^<]*300.*?)</p>', answer.text, re.DOTALL)[0])
            assert match.startswith("300 rows, the first 200 are shown. <strong>Cut:</strong> there are more; ask for more rows")
            assert answer.text.count("<tr>") >= 200
            saved = ask.get(files(answer)[0])
            assert saved.headers["content-disposition"] == 'attachment; filename="cypher-first-300-rows.csv"'
            assert len(saved.text.splitlines()) == 301


@pytest.mark.parametrize(
    ("sent", "part"),
    [
        ({"rows": "0"}, "rows '0' is not a whole number from 1 to 100,000"),
        ({"rows": f"{MOST_ROWS + 1}"}, "is not a whole number"),
        ({"rows": "-1"}, "is not a whole number"),
        ({"rows": "1_000"}, "is not a whole number"),
        ({"rows": "٣"}, "is not a whole number"),
        ({"rows": "9" * 5000}, "is not a whole number"),
        ({"seconds": "11"}, "seconds '11' is not a number above 0 and up to 10"),
        ({"seconds": "0"}, "is not a number above 0"),
        ({"seconds": "nan"}, "is not a number above 0"),
        ({"seconds": "inf"}, "is not a number above 0"),
        ({"seconds": "soon"}, "is not a number above 0"),
        ({"params": "id"}, "the parameter 'id' is not NAME=VALUE"),
        ({"params": "id=\n"}, "the parameter 'id' has no value; write one after the ="),
        ({"params": "id=1\nid=2"}, "the parameter 'id' is given twice"),
        ({"params": "id=1"}, "there is a value for the parameter 'id', which the query does not use"),
        ({"params": "id=" + "[" * 9000}, "too many lists in lists"),
        ({"params": 'id="\\ud800"'}, "half a character"),
        ({"params": "id=99999999999999999999"}, "more than 64 bits"),
        ({"q": "RETURN $id"}, "the query uses the parameter $id, but it has no value; give one, as id=VALUE."),
        ({"q": "MATCH (e RETURN e"}, "the query cannot be run: "),
        ({"q": f"RETURN '{'x' * LONGEST}'"}, "more than 20,000 characters"),
        ({"name": "no_such_query", "q": ""}, "no query"),
        ({"name": "facts_about", "q": "", "p.limit": "many"}, "not an integer"),
        ({"name": "facts_about", "q": "", "p.entity": "zzzzqqqq"}, "no entity has the id or the name"),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_written_is_lost(sent: dict[str, str], part: str, wikidata: Project, client: Client) -> None:
    sent = {"q": "RETURN 1 AS one", **sent}
    answer = client(wikidata).get("/cypher", params=sent)
    assert part.lower() in sentence(answer).lower()
    assert answer.status_code == 400
    assert field(answer, "params") == sent.get("params", "").removeprefix("\n")
    if sent["q"]:
        assert field(answer, "q") == sent["q"]
    elif sent["name"] == "facts_about":
        assert field(answer, "q").startswith("MATCH (e:Entity)-[f:FACT]-(o:Entity)")
    saved = client(wikidata).get("/cypher.json", params=sent)
    assert saved.status_code == 400


def test_parameters_are_values(either: Project, client: Client) -> None:
    ask = client(either)
    sent = {"q": "RETURN $a AS a, $b AS b, $c AS c, $d AS d, $e AS e", "params": 'a=Q45\r\n b = "5" \r\nc=5\n\nd=["x","y"]\ne=\'}) SET //'}
    (row,) = ask.get("/cypher.json", params=sent).json()
    assert row == {"a": "Q45", "b": "5", "c": 5, "d": ["x", "y"], "e": "'}) SET //"}
    for text in ('x=[1, "a"]', 'x={"a": [1, null]}', "x=null", "x=[]", "x=1e999", 'x="\\u0000"'):
        answer = ask.get("/cypher", params={"q": "RETURN $x AS x", "params": text})
        assert answer.status_code in {200, 400}, text
        sentence(answer)
        saved = ask.get("/cypher.json", params={"q": "RETURN $x AS x", "params": text})
        assert saved.status_code == answer.status_code
        if saved.status_code == 200:
            json.loads(saved.text, parse_constant=pytest.fail)


def test_lines_end_as_they_do_in_the_form(either: Project, client: Client) -> None:
    query = "MATCH (e:Entity) // all\r\nWHERE e.id = 'Q45'\r\nRETURN e.label AS label"
    assert client(either).get("/cypher.json", params={"q": query}).json() == [{"label": "Portugal"}]


def test_every_named_query_can_be_opened_and_gives_the_same_rows(either: Project, client: Client) -> None:
    ask, store = client(either), either.graph.stores.name
    ran = 0
    searches = {name for name, query in either.queries.items() if query.search}
    assert searches == {"paths_over_facts", "paths_over_documents"}
    for query in either.queries.values():
        answer = ask.get("/cypher", params={"name": query.name})
        if query.search:
            assert "is a search of several queries" in sentence(answer)
            assert field(answer, "q") == ""
            assert "/cypher?" not in ask.get("/query", params={"name": query.name}).text
            continue
        assert sentence(answer) == "", query.name
        assert field(answer, "q") == query.text.strip()
        assert 'id="answer" class="answer-of-query">\n</div>' in answer.text  # it waits for Run
        result = QueryForm(text=field(answer, "q"), assignments=field(answer, "params"))
        check_reads_only(result.text, result.names(), store=store)
        if all(parameter.default is not None for parameter in query.params):
            mine = ask.get("/cypher.json", params=result.address)
            expected = either.graph.stores.run(query, query.arguments({}), seconds=30).to_pylist()
            assert mine.json() == expected, query.name
            ran += 1
    assert ran > 5
    changed = ask.get("/cypher", params={"name": "facts_about", "p.entity": "Portugal", "p.limit": "3"})
    assert field(changed, "params") == "entity=Q45\nlimit=3"
    listed = ask.get("/queries").text
    assert all((f'href="/cypher?name={name}"' in listed) == (name not in searches) for name in either.queries)
    page = ask.get("/query?name=facts_about&run=1&p.entity=Portugal&p.limit=3").text
    assert 'href="/cypher?p.entity=Portugal&amp;p.limit=3&amp;name=facts_about"' in page


def test_a_text_that_looks_like_another_value_stays_text(wikidata: Project) -> None:
    query = wikidata.queries["find_entity"]
    for text in ("5", "true", "null", '"x"', "[1]", "NaN", "a=b", "Lisbon", "名前", 'say "x"', "1_0"):
        result = of_named(wikidata.graph, query, {"text": text})
        assert result.parameters()["text"] == text
    assert of_named(wikidata.graph, query, {"text": "Lisbon"}).assignments.startswith("text=Lisbon\n")


def test_a_form_takes_names_and_suggests_them(wikidata: Project, client: Client) -> None:
    ask = client(wikidata)
    by_id, by_name = (ask.get("/query", params={"name": "facts_about", "run": "1", "p.entity": text}).text for text in ("Q45", "Portugal"))
    assert pictures(by_id) == pictures(by_name)
    near = ask.get("/query", params={"name": "bridges_between", "run": "1", "p.entity": "Portgal", "p.other": "Spain"})
    assert near.status_code == 400
    assert "No entity is called “Portgal”; these come near." in near.text
    result = next(html.unescape(address) for address in re.findall(r'href="(/query[^"]+)"', near.text) if "p.entity=Q45" in address)
    assert "<th" in ask.get(result).text
    empty = ask.get("/query", params={"name": "samples_of_split", "p.split": "dev", "run": "1"}).text
    assert "No rows: no dataset is on this graph; put it there with kgqa load --store embedded --dataset NAME." in empty
    assert "or one like it. Try fewer letters." in ask.get("/query", params={"name": "samples_of_relation", "p.relation": "qqqqqqqq"}).text
    assert 'data-value="Q45"' in ask.get("/suggest", params={"fill": "entity", "p.entity": "portug"}).text
    documents = ask.get("/suggest", params={"fill": "document", "p.document": "portug"}).text
    assert 'data-value="seed:1"' in documents
    assert "/entity" not in documents


def test_text_that_a_table_would_run_is_marked(wikidata: Project, client: Client) -> None:
    query = "RETURN '=1+1' AS `@a`, '+1' AS b, '-x' AS c, '\\t=1' AS d, 'a=b' AS e, -5 AS f, ['=1', '\"'] AS g, -0.5 AS h"
    answer = client(wikidata).get("/cypher.csv", params={"q": query})
    names, row = csv.reader(io.StringIO(answer.text))
    assert names == ["'@a", "b", "c", "d", "e", "f", "g", "h"]
    assert row == ["'=1+1", "'+1", "'-x", "'\t=1", "a=b", "-5", '["=1", "\\""]', "-0.5"]
    (plain,) = client(wikidata).get("/cypher.json", params={"q": query}).json()
    assert (plain["@a"], plain["g"]) == ("=1+1", ["=1", '"'])


def test_what_is_written_and_what_is_found_is_shown_as_it_is(awkward: Project, worldly: Project, client: Client) -> None:
    query = "MATCH (e:Entity) WHERE e.id = $id RETURN e, e.label AS `</script><img src=x>`, {a: e.label} AS m // </textarea><script>1"
    answer = client(awkward).get("/cypher", params={"q": query, "params": f"id={json.dumps(ENTITY)}"})
    assert sentence(answer) == ""
    for harm in ("<img src=x", "<script>1", "<script>window"):
        assert harm not in answer.text
    assert field(answer, "q") == query
    assert html.unescape(answer.text).count(LABEL) >= 3
    assert answer.text.count("</textarea>") == 2
    bad = client(awkward).get("/cypher", params={"q": "RETURN 1", "rows": '"><script>1</script>', "seconds": "<b>"})
    assert "<script>1" not in bad.text
    for label in (ARABIC, CHINESE, UNBROKEN):
        result = client(worldly).get("/cypher", params={"q": "MATCH (e:Entity) WHERE e.label = $name RETURN e", "params": f"name={label}"})
        assert f">{label}</a></td>" in result.text


def test_a_link_from_another_site_runs_nothing_by_itself(wikidata: Project, client: Client) -> None:
    ask = client(wikidata)
    for site in ("cross-site", "same-site"):
        answer = ask.get("/cypher", params={"q": ENTITIES}, headers={"Sec-Fetch-Site": site})
        assert answer.status_code == 200
        assert "was not run" in answer.text
        assert "<tbody data-list>" not in answer.text
        assert field(answer, "q") == ENTITIES
        assert ask.get("/cypher.csv", params={"q": ENTITIES}, headers={"Sec-Fetch-Site": site}).status_code == 400
    for site in ("none", "same-origin"):
        assert "<tbody data-list>" in ask.get("/cypher", params={"q": ENTITIES}, headers={"Sec-Fetch-Site": site}).text


def test_long_values_are_cut_in_the_table_only(wikidata: Project, client: Client) -> None:
    sent = {
        "q": "MATCH (e:Entity) WITH e ORDER BY e.row LIMIT 1000 WITH collect(e.id) AS ids RETURN ids, $long AS long",
        "params": f"long={'x' * 3000}",
    }
    answer = client(wikidata).get("/cypher", params=sent)
    assert "Long values end in …" in answer.text
    (picture,) = pictures(answer.text)
    assert (len(picture["nodes"]), picture["hidden"]) == (16, "Of rows with more than 16 ids the first 16 are drawn.")
    assert f"<td >{'x' * 1000}…</td>" in answer.text
    (row,) = client(wikidata).get("/cypher.json", params=sent).json()
    assert (len(row["long"]), len(row["ids"])) == (3000, wikidata.graph.rows("page_graph_size")[0]["entities"])


def test_a_long_query_in_any_script_goes_through_the_address(wikidata: Project) -> None:
    query = f"RETURN size('{'国' * (LONGEST - 100)}') AS n"
    with served_app(create_app(wikidata)) as address, urllib.request.urlopen(f"{address}/cypher.json?{urlencode({'q': query})}") as answer:
        assert json.load(answer) == [{"n": LONGEST - 100}]


def test_the_page_says_what_may_be_written(wikidata: Project, client: Client) -> None:
    page = client(wikidata).get("/cypher").text
    assert "It may take 10 seconds" in page
    for part in ("(:Entity)", "[:FACT]", "Chain → Entity, Chain → Document", 'maxlength="20000"', 'aria-autocomplete="list"'):
        assert part in page
    content = client(wikidata).get("/api/complete", params={"q": "MATCH (e:En", "at": 11}).json()
    assert content["begun"] == "En"
    assert content["suggestions"][0]["word"] == "Entity"
    assert (
        client(wikidata).get("/api/complete", params={"q": "RETURN $", "at": 8, "params": "id=1\nname=x"}).json()["suggestions"][1]["word"]
        == "name"
    )
    assert client(wikidata).get("/api/complete", params={"q": "x", "at": "y"}).json()["error"]["status"] == 400


def marked(ask: TestClient) -> dict[str, str]:
    """What the form sends beside its fields: the mark of the graph on which the page was opened."""
    (found,) = re.findall(r'hx-headers="([^"]+)"', ask.get("/cypher").text)
    headers: dict[str, str] = json.loads(html.unescape(found))
    return headers


@pytest.mark.slow
def test_a_server_that_dies_and_comes_back(on_spare_server: Project, spare_server: Neo4jServer, client: Client) -> None:
    ask, sent = client(on_spare_server), {"q": ENTITIES}
    headers = marked(ask)
    assert ask.get("/cypher", params=sent, headers=headers).status_code == 200
    spare_server.kill()
    try:
        answer = ask.get("/cypher", params=sent, headers=headers)
        assert answer.status_code == 503
        assert "no Neo4j server answers here" in sentence(answer)
        assert field(answer, "q") == ENTITIES
        assert ask.get("/cypher.csv", params=sent).status_code == 503
        assert ask.get("/cypher").status_code == 503
    finally:
        spare_server.start()
    for _ in range(3):
        assert ask.get("/cypher", params=sent, headers=headers).status_code == 200


def test_a_graph_that_is_taken_out_or_replaced_meanwhile(on_server: Project, neo4j_database: Neo4jSettings, client: Client) -> None:
    ask, sent = client(on_server), {"q": ENTITIES}
    headers = marked(ask)
    named = {"name": "hubs", "run": "1"}
    with Neo4jStore(neo4j_database) as store:
        erase(store)
        for answer in (ask.get("/cypher", params=sent, headers=headers), ask.get("/query", params=named, headers=headers)):
            assert answer.status_code == 409
            assert "has been taken out of the database" in sentence(answer)
        load(store, "other", rows_of(entities=["one", "two"]))
    answer = ask.get("/cypher", params=sent, headers=headers)
    assert answer.status_code == 409
    assert "the database has a different graph than when this page was opened; load the page again." in sentence(answer)
    assert field(answer, "q") == ENTITIES
    assert ask.get("/query", params=named, headers=headers).status_code == 409
    assert ask.get("/cypher", params=sent, headers=marked(ask)).status_code == 200  # as the same link, opened again


def test_a_graph_file_that_is_replaced_meanwhile(wikidata_copy: Path, tmp_path: Path, client: Client) -> None:
    with closing(open_project(wikidata_copy)) as project:
        path = project.workspace.graph
        other = shutil.copy(path, tmp_path / "other")
        Path(other).replace(path)
        ask = client(project)
        moved = "another graph, or none, has taken the place of the one that was opened; start again."
        for address in ("/cypher?q=RETURN+1", "/query?name=hubs"):
            answer = ask.get(address)
            assert answer.status_code == 409
            assert moved in sentence(answer)
        assert moved in ask.get("/api/neighbours?node=e:Q45").json()["error"]["sentence"]
        path.unlink()
        assert ask.get("/cypher", params={"q": ENTITIES}).status_code == 409


def test_the_rows_are_those_of_the_command(wikidata: Project, client: Client) -> None:
    saved = client(wikidata).get("/cypher.json", params={"q": FACTS, "params": "id=Q45"}).json()
    assert saved == kgqa.cypher(FACTS, parameters={"id": "Q45"}, workspace=wikidata.workspace.path).to_pylist()


@pytest.fixture(autouse=True)
def _nothing_is_left(wikidata: Project) -> Iterator[None]:
    """Every store that was lent comes back."""
    yield
    assert wikidata.graph.stores._free.qsize() == 2


def test_lists_in_cells_are_as_json_has_them(wikidata: Project, client: Client) -> None:
    shown = client(wikidata).get("/cypher", params={"q": "RETURN [true, false, null] AS l"}).text
    assert "true, false, null" in shown
    assert "None" not in shown
