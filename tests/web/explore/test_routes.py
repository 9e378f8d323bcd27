"""Every address of the page: what it shows, on both stores, and how it says no."""

from __future__ import annotations

import html
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markupsafe import escape
from starlette.routing import BaseRoute, Route
from starlette.testclient import TestClient

import kgqa
from kgqa.errors import QueryTimeout, SettingsError, StoreUnreachable
from kgqa.formats import native
from kgqa.records import Grade, Instance, Mention
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.limits import Answer
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import erase, load
from kgqa.web.explore.addresses import node_link
from kgqa.web.explore.app import FOLDER, STATIC, create_app
from kgqa.web.explore.datasets import PAGE, datasets, samples
from kgqa.web.explore.neighbours import Subject
from kgqa.web.explore.picture import Edge, Node, Picture, in_turn
from kgqa.web.explore.project import Project, open_project
from kgqa.web.explore.queries import show
from kgqa.web.explore.server_svg import server_svg
from kgqa.web.explore.stores import StorePool
from kgqa.web.explore.uses import ROLES, uses
from kgqa.web.guard import POLICY
from kgqa.web.marks import pieces
from kgqa.web.rendering import Pages
from kgqa.web.serving import check_installed, listening
from tests.command import COMMAND, environment
from tests.conftest import Cli
from tests.contents import renew_manifest
from tests.neo4j.server import Neo4jServer
from tests.store.graphs import rows_of
from tests.web.explore.awkward import ARABIC, CHINESE, ENTITY, LABEL, TEXT, TITLE
from tests.web.explore.conftest import Client


def pictures(page: str) -> list[dict[str, Any]]:
    """The pictures in a page."""
    (found,) = re.findall(r'<script type="application/json" id="pictures">(.*?)</script>', page, re.DOTALL)
    return list(json.loads(found))


def every_route(app: Any) -> Iterator[BaseRoute]:
    """All routes, those of routers inside it included."""
    waiting: list[Any] = list(app.routes)
    while waiting:
        route = waiting.pop()
        waiting.extend(getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None) or [])
        yield route


def shown_by(ask: TestClient) -> dict[str, str]:
    """The main addresses of the seed domain → what they answer; all must be well."""
    sample = re.findall(r'href="(/sample\?[^"]+)"', ask.get("/dataset?name=wikihop&split=test").text)[0]
    addresses = {
        "start": "/", "hubs": "/hubs", "find": "/find?q=lisb", "suggest": "/suggest?q=lisb", "entity": "/entity?id=Q45",
        "relation": "/entity?id=Q46&relation=in:P30", "document": "/document?id=seed:1", "panel": "/panel?node=e:Q597",
        "bridges": "/bridges?from=Q45&to=Q46", "datasets": "/datasets", "dataset": "/dataset?name=wikihop&q=europe",
        "sample": html.unescape(sample),
        "queries": "/queries", "query": "/query?name=facts_about&run=1&p.entity=Q45", "neighbours": "/api/neighbours?node=e:Q45",
    }  # fmt: skip
    answers = {name: ask.get(address) for name, address in addresses.items()}
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(addresses, 200)
    return {name: answer.text for name, answer in answers.items()}


def test_every_page_shows_what_it_is_about(wikidata: Project, client: Client) -> None:
    result = shown_by(client(wikidata))
    assert "Lisbon" in result["find"]
    assert 'href="/entity?id=Q597"' in result["suggest"]
    assert "<h1>Portugal</h1>" in result["entity"]
    (picture,) = pictures(result["entity"])
    assert picture["root"] == "e:Q45"
    assert {"e:Q597", "d:seed:1"} <= {node["key"] for node in picture["nodes"]}
    assert {"source": "e:Q45", "target": "e:Q597", "kind": "fact", "label": "capital", "chain": False} in picture["edges"]
    assert {edge["label"] for edge in pictures(result["relation"])[0]["edges"]} == {"continent"}
    assert 'class="mention start" data-entity="Q45"' in result["document"]
    assert "Port wine from" in result["document"]
    assert "Bridge entities" in result["bridges"]
    assert 'class="mention answer"' in result["sample"]
    assert "capital" in result["query"]
    assert pictures(result["query"])[0]["root"] == "e:Q45"


def test_an_entity_shows_its_samples_and_what_was_rejected(wikidata: Project, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.web.explore.uses.SHOWN", 1000)
    folder = wikidata.workspace.path / "datasets" / "wikihop"
    instance = next(one for one in native.read(folder / "train.parquet") if any(len(chain) > 3 for chain in answer_chains(one)))
    bridge = next(chain for chain in answer_chains(instance) if len(chain) > 3)[2]
    ask = client(wikidata)
    for entity, role in ((answer_chains(instance)[0][0], "subject"), (str(instance.answer_id), "answer"), (bridge, "bridge")):
        (of,) = uses(wikidata.workspace.path, entity)
        assert {use.id: use.role for use in of.samples}[instance.id] == role
        text = ask.get("/entity", params={"id": entity}).text
        assert f'In wikihop <span class="count">{of.total}</span>' in text
        (line,) = re.findall(rf"<li><a [^>]*id={instance.id}.*?</li>", text)
        assert ROLES[role] in line
    rejected = pq.read_table(folder / "rejected.parquet").to_pylist()
    subject = rejected[0]["subject"]
    (of,) = uses(wikidata.workspace.path, subject)
    assert of.total_rejected == sum(subject in {row["subject"], row["answer"]} for row in rejected)
    text = html.unescape(ask.get("/entity", params={"id": subject}).text)
    assert f"{of.total_rejected} rejected</summary>" in text
    assert rejected[0]["reason"] in text


def answer_chains(instance: Instance) -> list[tuple[str, ...]]:
    """The chains to the answer."""
    at = [candidate.id for candidate in instance.candidates or ()].index(str(instance.answer_id))
    return list((instance.chains or ())[at])


@pytest.mark.slow
def test_an_entity_shows_the_composed_questions_over_it(tmp_path: Path) -> None:
    made = kgqa.compose(domain="companies", workspace=tmp_path / "w")
    (first, *_) = native.read(made.dataset / "train.parquet")
    bridge, answer = json.loads(first.provenance or "{}")["compose"]["entities"][:2]
    for entity in (bridge, answer):
        (of,) = uses(tmp_path / "w", entity)
        assert of.dataset == "musique"
        assert of.total == sum(
            f'"{entity}"' in (one.provenance or "") for split in made.counts for one in native.read(made.dataset / f"{split}.parquet")
        )
    assert uses(tmp_path / "w", "nobody") == []


@pytest.mark.slow
def test_both_stores_show_the_same(wikidata: Project, on_server: Project, client: Client) -> None:
    mine, theirs = shown_by(client(wikidata)), shown_by(client(on_server))
    for name, text in mine.items():
        if name not in {"start", "queries"}:  # these name the store
            assert without_mark(theirs[name]) == without_mark(text), name


def without_mark(page: str) -> str:
    """A page without what its graph is known by, which a graph in a file does not need."""
    return re.sub(r'(data-mark|hx-headers)="[^"]*"', "", page)


def test_a_server_that_is_loaded_anew_is_noticed(on_server: Project, neo4j_database: Neo4jSettings, client: Client) -> None:
    ask = client(on_server)
    article = on_server.graph.rows("page_articles", entity="Q90")[0]["document"]
    assert on_server.spans(article)
    before = ask.get("/").text
    with Neo4jStore(neo4j_database) as store:
        erase(store)
        load(store, "other", rows_of(entities=["one", "two"]))
    after = ask.get("/").text
    assert "2 entities and 1 documents" in after
    assert "2 entities and 1 documents" not in before
    assert on_server.spans(article) == []  # the places are those of other texts


def test_medline_is_shown_as_well(medline: Project, client: Client) -> None:
    ask = client(medline)
    sample = html.unescape(re.findall(r'href="(/sample\?[^"]+)"', ask.get("/dataset?name=medhop&split=train").text)[0])
    for extra in ("", "&every=true", "&masked=true"):
        answer = ask.get(sample + extra)
        assert answer.status_code == 200
        assert pictures(answer.text)[0]["nodes"]


def test_what_is_hidden_is_counted(wikidata: Project, client: Client) -> None:
    ask = client(wikidata)
    for size in (0, 1, 5, 200):
        picture = ask.get("/api/neighbours", params={"node": "e:Q46", "open": f"{size}.{size}.{size}.{size}~e:Q46"}).json()
        for group in picture["groups"]:
            assert group["shown"] <= group["total"]
            assert len(group["keys"]) <= size
            assert len(group["keys"]) == size or group["shown"] == group["total"]
        facts = {group["name"]: group["total"] for group in picture["groups"]}
        assert facts["facts_in"] == kgqa.query("page_facts_to", {"entity": "Q46"}, workspace=wikidata.workspace.path).num_rows
        keys = {node["key"] for node in picture["nodes"]}
        assert all({edge["source"], edge["target"]} <= keys for edge in picture["edges"])


def test_an_address_opens_further_nodes(wikidata: Project, client: Client) -> None:
    answer = client(wikidata).get("/entity", params={"id": "Q45", "open": ["4.6.4.8~e:Q597", "1.1.1.1~e:Q45"]})
    root, more = pictures(answer.text)
    assert (root["root"], more["root"]) == ("e:Q45", "e:Q597")
    assert all(len(group["keys"]) == 1 for group in root["groups"])


def test_samples_are_listed_page_by_page_and_found(wikidata: Project, client: Client) -> None:
    (dataset,) = datasets(wikidata.workspace.path)
    total = dataset.counts["train"]
    items = [line.id for page in range(1, -(-total // PAGE) + 1) for line in samples(dataset, "train", page=page).samples]
    assert len(items) == len(set(items)) == total
    one = samples(dataset, "train", text=items[-1])
    assert [line.id for line in one.samples] == [items[-1]]
    assert items[-1] in client(wikidata).get("/dataset", params={"name": dataset.name, "split": "train", "q": items[-1].upper()}).text
    assert samples(dataset, "train", page=10_000).number == samples(dataset, "train").pages
    assert samples(dataset, "train", text="no such thing").total == 0


def test_a_sample_shows_its_chain_beside_its_documents(wikidata: Project, client: Client) -> None:
    (dataset,) = datasets(wikidata.workspace.path)
    ask = client(wikidata)
    for line in samples(dataset, "dev").samples[:5]:
        instance = kgqa.show(dataset.path, line.id)
        assert instance.candidates
        assert instance.chains
        chain = next(chains[0] for c, chains in zip(instance.candidates, instance.chains, strict=True) if c.id == instance.answer_id)
        text = ask.get("/sample", params={"dataset": dataset.name, "split": "dev", "id": line.id}).text
        (picture,) = pictures(text)
        drawn = {edge["source"]: edge["target"] for edge in picture["edges"] if edge["chain"]}
        walk = [picture["root"]]
        while walk[-1] in drawn:
            walk.append(drawn[walk[-1]])
        assert [key[2:] for key in walk] == list(chain)
        steps = {node["key"]: node["step"] for node in picture["nodes"] if node["step"]}
        assert steps == {f"d:{document}": number for number, document in enumerate(chain[1::2], start=1)}
        order = re.findall(r'data-document="d:([^"]+)"', text)
        assert order[: len(steps)] == list(chain[1::2])
        assert sorted(order) == sorted(paragraph.id for paragraph in instance.paragraphs)


def test_a_grade_stands_beside_its_candidate_and_on_the_chain(wikidata_copy: Path, client: Client) -> None:
    (dataset,) = datasets(wikidata_copy)
    path = dataset.path / "dev.parquet"
    first, second, *_ = native.read(path)
    assert first.candidates
    words = '<b>born</b> → "country"'
    grades = [Grade(confidence=place / 100, path=words, text="apart") if place else None for place in range(len(first.candidates))]
    native.write([replace(first, grades=tuple(grades)), replace(second, grades=None)], path)
    renew_manifest(dataset.path)
    with closing(open_project(wikidata_copy)) as project:
        ask = client(project)
        text = ask.get("/sample", params={"dataset": dataset.name, "split": "dev", "id": first.id}).text
        plain = ask.get("/sample", params={"dataset": dataset.name, "split": "dev", "id": second.id}).text
    assert "<b>born" not in text
    matches = re.findall(r"<li><a class=.*?</li>", text, re.DOTALL)
    for candidate, grade, line in zip(first.candidates, grades, matches, strict=True):
        assert f'title="{escape(candidate.id)}"' in line
        assert re.findall(r'grade" title="(.*?)">(.*?)<', line) == ([] if grade is None else [(escape(grade), f"{grade.confidence:.2f}")])
    answer = next(grade for candidate, grade in zip(first.candidates, grades, strict=True) if candidate.id == first.answer_id)
    assert re.findall(r'<p class="quiet-text grade".*?>(.*?)</p>', text) == ([] if answer is None else [str(escape(answer))])
    assert 'class="said grade"' not in plain
    assert "quiet-text grade" not in plain


@pytest.mark.parametrize(
    ("address", "status", "part"),
    [
        ("/nothing", 404, "no such page"),
        ("/entity?id=Q0", 404, "no entity &#39;Q0&#39;"),
        ("/entity", 400, "id"),
        ("/entity?id=Q45&open=x", 404, "does not open a node"),
        ("/entity?id=Q45&open=1.1.1.999~e:Q45", 404, "not between"),
        ("/entity?id=Q45&relation=P36", 404, "is not a relation"),
        ("/entity?id=Q45&open=1.1.1.1~e:nothing", 404, "no entity"),
        ("/document?id=nothing", 404, "no document"),
        ("/panel?node=Q45", 404, "is not a node"),
        ("/bridges?from=Q45&to=Q45", 404, "same entity"),
        ("/dataset?name=..", 404, "no dataset"),
        ("/dataset?name=wikihop/../wikihop", 404, "no dataset"),
        ("/dataset?name=wikihop&split=rejected", 404, "no split"),
        ("/dataset?name=wikihop&page=x", 400, "page"),
        ("/sample?dataset=wikihop&split=train&id=x", 404, "no sample"),
        ("/query?name=load_entity", 400, "no query"),
        ("/query?name=bridge_entities&run=1", 400, "is empty"),
        ("/query?name=bridge_entities&run=1&p.entity=Q45&p.limit=many", 400, "not an integer"),
        ("/query?name=bridge_entities&run=1&p.entity=Q45&p.other=1", 400, "no parameter"),
        ("/query?name=hubs&p.limit=-1", 400, "hubs"),
        ("/static/../app.py", 404, "no such page"),
        ("/static/%2e%2e/app.py", 404, "no such page"),
        ("/docs", 404, "no such page"),
        ("/openapi.json", 404, "no such page"),
    ],
)
def test_a_mistake_is_one_sentence(address: str, status: int, part: str, wikidata: Project, client: Client) -> None:
    answer = client(wikidata).get(address)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    (sentence,) = re.findall(r'role="alert">(.*?)</p>', answer.text)
    assert part in sentence
    assert sentence.endswith((".", "?"))
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("address", "status"),
    [("/api/neighbours?node=e:nothing", 404), ("/api/neighbours", 400), ("/api/nothing", 404), ("/api/neighbours?node=x&open=x", 404)],
)
def test_data_routes_say_no_in_one_shape(address: str, status: int, wikidata: Project, client: Client) -> None:
    answer = client(wikidata).get(address)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert set(answer.json()["error"]) == {"status", "sentence"}
    assert answer.json()["error"]["status"] == status


def test_what_htmx_asks_for_is_answered_with_the_sentence_alone(wikidata: Project, client: Client) -> None:
    answer = client(wikidata).get("/panel?node=e:nothing", headers={"HX-Request": "true"})
    assert answer.status_code == 404
    assert answer.text.strip().startswith('<p class="trouble"')


def test_nothing_but_reading_is_possible(wikidata: Project, client: Client) -> None:
    app = create_app(wikidata)
    methods = {method for route in every_route(app) if isinstance(route, Route) for method in route.methods or ()}
    assert methods == {"GET", "HEAD"}
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        for address in ("/", "/entity?id=Q45", "/api/neighbours?node=e:Q45", "/static/page.js"):
            assert client(wikidata).request(method, address).status_code == 405
    assert client(wikidata).head("/entity?id=Q45").status_code == 200
    assert client(wikidata).head("/entity?id=Q45").content == b""


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8484", "", "[::2]", "127.0.0.2", "localhost.evil"]
)
def test_another_host_name_gets_nothing(host: str, wikidata: Project, client: Client) -> None:
    for address in ("/", "/entity?id=Q45", "/api/neighbours?node=e:Q45", "/static/page.js"):
        answer = client(wikidata).get(address, headers={"Host": host})
        assert answer.status_code == 421
        assert "Portugal" not in answer.text
    for name in ("localhost", "LOCALHOST:99", "127.0.0.1:1", "[::1]:8484"):
        assert client(wikidata).get("/datasets", headers={"Host": name}).status_code == 200


def test_every_answer_forbids_what_is_not_ours(wikidata: Project, client: Client) -> None:
    for address in ("/", "/entity?id=Q45", "/nothing", "/api/neighbours?node=e:Q45", "/static/page.js"):
        headers = client(wikidata).get(address).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    assert "unsafe" not in POLICY
    page = client(wikidata).get("/entity?id=Q45").text
    assert not re.search(r"<script(?![^>]*(src=|application/json))", page)
    assert not re.search(r"\s(style|on\w+)=", page)
    assert set(re.findall(r'(?:src|href)="(https?:|//)', page)) == set()
    lasting = client(wikidata).get(re.findall(r'src="(/static/graph.js[^"]*)"', page)[0])
    assert "immutable" in lasting.headers["cache-control"]
    assert client(wikidata).get("/static/graph.js").headers["cache-control"] == "no-cache"


def test_what_the_page_loads_comes_with_its_licence() -> None:
    from kgqa.web.explore.app import STATIC

    vendored = sorted(path.name for path in (STATIC / "vendor").iterdir())
    assert vendored == ["cytoscape.LICENSE.txt", "cytoscape.min.js", "htmx.LICENSE.txt", "htmx.min.js"]
    assert "Permission is hereby granted" in (STATIC / "vendor" / "cytoscape.LICENSE.txt").read_text("utf-8")


def test_names_and_texts_are_shown_as_they_are(awkward: Project, client: Client) -> None:
    ask = client(awkward)
    document = "seed:1"
    for address, said in (
        ("/find?q=onerror", LABEL),
        (f"/entity?{_id(ENTITY)}", LABEL),
        (f"/document?id={document}", TITLE),
        ("/query?name=find_entity&run=1&p.text=onerror", LABEL),
    ):
        page = ask.get(address).text
        assert "<img src=x" not in page
        assert "<script>window" not in page
        assert str(escape(said)) in page
        assert "49" not in re.findall(r"<h1[^>]*>(.*?)</h1>", page)[0]
    text = ask.get(f"/document?id={document}").text
    plain = html.unescape(re.sub(r"<[^>]+>", "", re.findall(r'<div class="text">(.*?)</div>', text, re.DOTALL)[0]))
    assert plain == TEXT
    (picture,) = pictures(ask.get(f"/entity?{_id(ENTITY)}").text)
    assert picture["nodes"][0]["label"] == LABEL
    assert ask.get("/entity", params={"id": "x' OR 1=1 //"}).status_code == 404
    assert ask.get("/find", params={"q": "')) MATCH (n) DETACH DELETE n //"}).status_code == 200


def _id(entity: str) -> str:
    from urllib.parse import urlencode

    return urlencode({"id": entity})


def test_a_query_that_takes_too_long_is_one_sentence(seed_wikidata: Path, client: Client) -> None:
    class Slow(EmbeddedStore):
        def run(self, query: Any, arguments: Any = None, *, seconds: float | None = None) -> Any:
            if query.name == "hubs":
                raise QueryTimeout(f"query {query.name} took more than {seconds:g} seconds; narrow it, or allow more time.")
            return super().run(query, arguments, seconds=seconds)

    project = open_project(seed_wikidata, seconds=3)
    project.graph.stores.close()
    project.graph.stores = StorePool(lambda: Slow(project.workspace.graph))
    answer = client(project).get("/query?name=hubs")
    assert answer.status_code == 504
    assert "took more than 3 seconds" in answer.text
    assert "<form" in answer.text
    project.close()


def test_a_mistake_of_ours_shows_no_traceback(seed_wikidata: Path, client: Client) -> None:
    class Broken(EmbeddedStore):
        def run(self, query: Any, arguments: Any = None, *, seconds: float | None = None) -> Any:
            raise ZeroDivisionError("secret detail")

    project = open_project(seed_wikidata)
    project.graph.stores.close()
    project.graph.stores = StorePool(lambda: Broken(project.workspace.graph))
    for address in ("/entity?id=Q45", "/api/neighbours?node=e:Q45"):
        answer = client(project).get(address)
        assert answer.status_code == 500
        assert "mistake in kgqa" in answer.text
        assert "secret" not in answer.text
    project.close()


def test_stores_take_turns(seed_wikidata: Path, wikidata: Project) -> None:
    query = wikidata.graph.queries["hubs"]
    opened = []

    def open_one() -> EmbeddedStore:
        opened.append(EmbeddedStore(seed_wikidata / "store" / "graph.lbug"))
        return opened[-1]

    pool = StorePool(open_one, size=2)
    items: list[int] = []
    threads = [threading.Thread(target=lambda: items.append(pool.run(query, {"limit": 3}, seconds=30).num_rows)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert items == [3] * 12
    assert 1 <= len(opened) <= 2
    with pool._lend(1), pool._lend(1), pytest.raises(QueryTimeout, match="earlier queries"):
        pool.run(query, {"limit": 3}, seconds=0.05)
    pool.close()


def test_pieces_join_to_the_text_wherever_spans_point() -> None:
    text = "Lisbon lies on the Tagus."
    spans = [(0, 6), (3, 9), (0, 3), (19, 24), (19, 99), (-4, 3), (8, 8), (30, 40)]
    mentions = [Mention(entity=f"Q{number}", start=start, end=end) for number, (start, end) in enumerate(spans)]
    parts = pieces(text, mentions, roles={"Q0": "start"}, steps={"Q0": 1})
    assert "".join(part.text for part in parts) == text
    assert [(part.text, part.role) for part in parts if part.entity] == [("Lisbon", "start"), ("Tagus", "")]


def test_relations_take_turns_and_edges_merge() -> None:
    rows = [{"r": r, "n": n} for n, r in enumerate("aaabac")]
    assert [row["n"] for row in in_turn(rows, lambda row: str(row["r"]))] == [0, 3, 5, 1, 2, 4]
    picture = Picture()
    for label in ("capital", "contains", "capital"):
        picture.connect(Edge(source="e:1", target="e:2", kind="fact", label=label))
    assert [edge.label for edge in picture.edges.values()] == ["capital · contains"]


def test_the_command_says_what_is_wrong(seed_wikidata: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("explore", "--workspace", tmp_path / "none", "--port", "0").sentence("there is no graph in this workspace")
    cli("explore", "--workspace", seed_wikidata, "--port", "0", "--store", "graphy").sentence("'graphy' is not known")
    cli("explore", "--workspace", seed_wikidata, "--port", "70000").sentence("not between 0 and 65535")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        cli("explore", "--workspace", seed_wikidata, "--port", str(other.getsockname()[1])).sentence("cannot be used", "--port")
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    cli("explore", "--workspace", seed_wikidata, "--port", "0", "--store", "neo4j").sentence("no Neo4j server answers")
    with pytest.raises(StoreUnreachable):
        open_project(seed_wikidata, store="neo4j")


def test_the_command_runs_until_it_is_stopped(seed_wikidata: Path) -> None:
    command = [*COMMAND, "explore", "--workspace", str(seed_wikidata), "--port", "0"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().split()[0]
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
            with urllib.request.urlopen(f"{address}entity?id=Q45") as answer:
                assert b"<h1>Portugal</h1>" in answer.read()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()  # or a failure above would wait for it for ever
    assert (process.returncode, out, err) == (130, "", "kgqa: stopped; run the same command again.\n")


FROM_PYTHON = """
import sys
import kgqa
import kgqa.web.explore.app

try:
    kgqa.explore(sys.argv[1], port=0, ready=lambda address: print(address, flush=True))
except KeyboardInterrupt:
    print("stopped")
"""


def test_the_function_does_what_the_command_does_and_prints_nothing(seed_wikidata: Path) -> None:
    command = [sys.executable, "-c", FROM_PYTHON, str(seed_wikidata)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}entity?id=Q45") as answer:
            assert b"<h1>Portugal</h1>" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("stopped\n", "")


def test_a_missing_extra_gives_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SettingsError, match=r"pip install 'kgqa\[explore\]'"):
        check_installed("explore")


def test_only_this_machine_is_listened_to() -> None:
    with listening(0) as taken:
        assert taken.getsockname()[0] == "127.0.0.1"


def test_a_workspace_without_datasets_says_so(seed_wikidata: Path, tmp_path: Path, client: Client) -> None:
    import shutil

    copy = Path(shutil.copytree(seed_wikidata, tmp_path / "w", ignore=shutil.ignore_patterns("datasets")))
    project = open_project(copy)
    assert "There are none" in client(project).get("/datasets").text
    assert client(project).get("/dataset?name=wikihop").status_code == 404
    (copy / "datasets" / "broken").mkdir(parents=True)
    (copy / "datasets" / "broken" / "train.parquet").write_bytes(b"PAR1")
    assert "not a complete Parquet file" in client(project).get("/datasets").text
    project.close()


@pytest.mark.parametrize(("wait", "tries"), [(0.0, 2), (0.2, 1)])
def test_a_silent_server_is_not_waited_for_twice(wait: float, tries: int, seed_wikidata: Path) -> None:
    tried: list[float] = []
    open_at_first = [EmbeddedStore(seed_wikidata / "store" / "graph.lbug")]

    def open_one() -> EmbeddedStore:
        if open_at_first:
            return open_at_first.pop()
        tried.append(wait)
        time.sleep(wait)
        raise StoreUnreachable("nobody answers")

    def went_away(_: object) -> None:
        raise StoreUnreachable("it was there a moment ago")

    pool = StorePool(open_one, size=1)
    with pytest.raises(StoreUnreachable):
        pool.use(went_away, seconds=0.3)
    tried.clear()
    with pytest.raises(StoreUnreachable, match="nobody answers"):
        pool.use(lambda store: store.name, seconds=0.3)
    assert len(tried) == tries


@pytest.mark.slow
def test_a_server_that_went_away_is_said_and_used_again_once_it_is_back(
    on_spare_server: Project, spare_server: Neo4jServer, client: Client
) -> None:
    ask = client(on_spare_server)
    assert ask.get("/entity?id=Q45").status_code == 200
    mark = re.findall('data-mark="(.+?)"', ask.get("/entity?id=Q45").text)[0]
    spare_server.kill()
    try:
        for address in ("/entity?id=Q45", "/bridges?from=Q45&to=Q29", "/find?q=lisb", "/query?name=hubs"):
            answer = ask.get(address)
            assert answer.status_code == 503, address
            assert "no Neo4j server answers here; start it, or set NEO4J_URI, and load this page again." in html.unescape(answer.text)
        neighbours = ask.get("/api/neighbours", params={"node": "e:Q45", "mark": mark})
        assert (neighbours.status_code, neighbours.json()["error"]["status"]) == (503, 503)
        assert ask.get("/datasets").status_code == 200
    finally:
        spare_server.start()
    for _ in range(3):  # whichever of the stores is lent
        assert ask.get("/api/neighbours", params={"node": "e:Q45", "mark": mark}).status_code == 200
    # It came and went while nobody asked.
    spare_server.stop()
    spare_server.start()
    assert [ask.get(address).status_code for address in ("/entity?id=Q45", "/find?q=lisb", "/bridges?from=Q45&to=Q29")] == [200] * 3


def test_a_server_that_fell_silent_is_said(
    seed_wikidata: Path, on_server: Project, neo4j_server: Neo4jServer, neo4j_database: Neo4jSettings, client: Client
) -> None:
    project = open_project(seed_wikidata, store="neo4j", neo4j=neo4j_database, seconds=2)
    with closing(project), neo4j_server.paused():
        answer = client(project).get("/api/neighbours", params={"node": "e:Q45"})
    assert answer.status_code == 504
    sentence = answer.json()["error"]["sentence"]
    assert sentence == (f"{neo4j_database.place}: the server has not answered for 2 seconds; check it, then reload this page.")


def test_without_scripts_the_start_page_leads_to_the_hubs(wikidata: Project, client: Client) -> None:
    ask = client(wikidata)
    (address,) = re.findall(r'<div hx-get="/hubs"[^>]*>\s*<p[^>]*><a href="([^"]+)"', ask.get("/").text)
    assert "<td" in ask.get(html.unescape(address)).text


def test_a_page_of_another_graph_mixes_nothing(on_server: Project, neo4j_database: Neo4jSettings, client: Client) -> None:
    ask = client(on_server)
    mark = re.findall('data-mark="(.+?)"', ask.get("/entity?id=Q45").text)[0]
    with Neo4jStore(neo4j_database) as store:
        erase(store)
        gone = ask.get("/entity?id=Q45")
        assert gone.status_code == 409
        assert "has been taken out of the database" in gone.text
        # What is found nowhere is said of a graph alone.
        for address in ("/find?q=lisb", "/suggest?q=lisb"):
            result = ask.get(address)
            assert (result.status_code, "has been taken out of the database" in result.text) == (409, True), address
        load(store, "other", rows_of(entities=["one", "two"]))
    answer = ask.get("/api/neighbours", params={"node": "e:Q45", "mark": mark})
    assert answer.status_code == 409
    assert "a different graph" in answer.json()["error"]["sentence"]
    assert ask.get("/panel", params={"node": "e:Q45", "mark": mark}).status_code == 409
    again = ask.get("/entity?id=e0")
    assert again.status_code == 200
    assert re.findall('data-mark="(.+?)"', again.text) == ["other"]
    assert ask.get("/api/neighbours", params={"node": "e:e0", "mark": "other"}).status_code == 200


def test_pictures_are_drawn_without_scripts_too(wikidata: Project, awkward: Project, client: Client) -> None:
    ask = client(wikidata)
    sample = html.unescape(re.findall(r'href="(/sample\?[^"]+)"', ask.get("/dataset?name=wikihop&split=test").text)[0])
    for address in (
        "/entity?id=Q45", "/entity?id=Q46&open=4.6.4.8~e:Q45", "/document?id=seed:1", "/bridges?from=Q45&to=Q29", sample,
        f"{sample}&every=true", "/query?name=facts_about&run=1&p.entity=Q45",
    ):  # fmt: skip
        text = ask.get(address).text
        (part,) = re.findall(r"<noscript>(.*?)</noscript>", text, re.DOTALL)
        keys = {node["key"] for picture in pictures(text) for node in picture["nodes"]}
        result = ET.fromstring(part)
        boxes = [entry for entry in result.iter("g") if entry.get("class", "").startswith("box")]
        assert len(boxes) == len(keys), address
        assert len(list(result.iter("li"))) == len(keys), address
        assert all(link.get("href", "").startswith("/") for link in result.iter("a"))
        places = [(box.find("rect").get("x"), box.find("rect").get("y")) for box in boxes]  # type: ignore[union-attr]
        assert len(set(places)) == len(places), address
    (part,) = re.findall(r"<noscript>(.*?)</noscript>", client(awkward).get(f"/entity?{_id(ENTITY)}").text, re.DOTALL)
    titles = [entry.text for entry in ET.fromstring(part).iter("title")]
    assert LABEL in titles


def test_relations_of_one_label_are_told_apart() -> None:
    text = Pages(FOLDER / "templates", STATIC, node_link=node_link, server_svg=server_svg)
    rows = [{"relation": name, "label": label, "facts": 3} for name, label in (("P17", "country"), ("FB1", "country"), ("P36", "capital"))]
    macros = text._environment.get_template("macros.html").module
    message = str(macros.relations(Subject(node=Node(key="e:1", label="x"), id="1", description=""), rows, "in", "Facts to it", 9, ""))  # type: ignore[attr-defined]
    assert re.findall(r"<span>(.*?)</span>", message) == ["country <code>P17</code>", "country <code>FB1</code>", "capital"]


def test_a_line_is_labelled_with_nothing_that_is_said_of_other_nodes(wikidata: Project, client: Client) -> None:
    ask = client(wikidata)
    text = ask.get("/query?name=what_blocks_wikihop&run=1&p.subject=Q45&p.relation=P36&p.answer=Q29").text
    assert "there is no such fact" in text
    assert {edge["label"] for picture in pictures(text) for edge in picture["edges"]} == {""}
    (counted,) = pictures(ask.get("/query?name=documents_mentioning&run=1&p.entity=Q45").text)
    assert all(edge["label"].endswith(" mentions") for edge in counted["edges"])


def test_an_end_is_an_id_or_a_name(wikidata: Project, worldly: Project, client: Client) -> None:
    ask = client(wikidata)
    by_id = ask.get("/bridges?from=Q45&to=Q29").text
    assert "<h1><bdi>Portugal</bdi> – <bdi>Spain</bdi></h1>" in by_id
    assert pictures(ask.get("/bridges?from=Portugal&to=Kingdom of Spain").text) == pictures(by_id)
    assert pictures(ask.get("/bridges?from=Portugal&to=Spain&begin_was=Q45&end_was=Q142").text) == pictures(by_id)
    near = ask.get("/bridges?from=Portgal&to=Q29")
    assert near.status_code == 200
    assert "No entity is called “Portgal”; these come near." in near.text
    assert 'href="/bridges?from=Q45&amp;to=Q29"' in near.text
    assert "or one like it" in ask.get("/bridges?from=zzzzqqqqwwww&to=Q29").text
    assert ask.get("/bridges", params={"from": "'}) DETACH DELETE n //", "to": "Q29"}).status_code == 200
    assert "What connects two entities" in ask.get("/bridges").text
    assert f"<bdi>{ARABIC}</bdi>" in client(worldly).get("/bridges", params={"from": ARABIC, "to": CHINESE}).text


def test_the_page_ranks_bridges_as_the_query_does(wikidata: Project, client: Client) -> None:
    listed = re.findall(r'<tr><td><a data-item href="/entity\?id=([^"]+)">', client(wikidata).get("/bridges?from=Q45&to=Q29").text)
    rows = kgqa.query("bridges_between", {"entity": "Q45", "other": "Q29"}, workspace=wikidata.workspace.path)
    assert [html.unescape(name).replace("%3A", ":") for name in listed] == rows["bridge"].to_pylist()[: len(listed)]
    assert len(listed) == min(50, rows.num_rows)
    hubs = re.findall(r'href="/entity\?id=([^"]+)"', client(wikidata).get("/hubs").text)
    assert hubs == kgqa.query("hubs", {"limit": "12"}, workspace=wikidata.workspace.path)["entity"].to_pylist()


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        ("/paths/facts?from=Q45&to=Q29", "paths_over_facts&p.longest=4&p.limit=200"),
        ("/paths/documents?from=Q45&to=Q29", "paths_over_documents&p.longest=3&p.limit=200"),
        ("/bridges?from=Q45&to=Q29", "bridges_between&p.limit=200"),
    ],
)
def test_a_query_between_two_entities_is_drawn_as_its_page_does(page: str, asked: str, wikidata: Project, client: Client) -> None:
    ask = client(wikidata)
    (drawn,) = pictures(ask.get(page).text)
    assert drawn["nodes"][0]["role"] == "start"
    assert [node["layer"] for node in drawn["nodes"] if node["role"] == "answer"] == [max(node["layer"] for node in drawn["nodes"])]
    (by_query,) = pictures(ask.get(f"/query?name={asked}&run=1&p.entity=Portugal&p.other=Spain").text)
    assert {**by_query, "hidden": drawn["hidden"]} == drawn  # how many more there are depends on how many were asked for


def test_ids_of_entities_and_documents_in_one_column_are_links_to_each(wikidata: Project) -> None:
    chains = [("Q45", "seed:1", "Q29"), ("Q45", "seed:75", "Q597")]
    rows = [
        {"chain": chain, "position": at, "kind": "Document" if at % 2 else "Entity", "id": name, "text": name if at else "0.5"}
        for chain, names in enumerate(chains)
        for at, name in enumerate(names)
    ]
    answer = show(wikidata.graph, Answer(rows=pa.Table.from_pylist(rows)), arguments=[])
    keys = [f"{'d' if at % 2 else 'e'}:{name}" for names in chains for at, name in enumerate(names)]
    assert [row[3].keys for row in answer.rows] == [(key,) for key in keys]
    assert {row[4].keys for row in answer.rows} == {()}  # one of its values is no id
    assert answer.picture is not None
    assert {node.key: node.layer for node in answer.picture.nodes.values()} == {
        "e:Q45": 0, "d:seed:1": 1, "e:Q29": 2, "d:seed:75": 1, "e:Q597": 2,
    }  # fmt: skip
    assert len(answer.picture.edges) == 4
