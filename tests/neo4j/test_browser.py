"""Neo4j Browser, as a person meets it: connect, drop the style sheet and the favourites, run one, see a graph."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.graph import with_measures
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from tests.command import ROOT
from tests.conftest import unavailable
from tests.neo4j.browser import BrowserPage, missing, neo4j_browser
from tests.neo4j.server import Neo4jServer
from tests.store.steps_truth import composed_set
from tests.store.test_import_files import strange_rows

FOLDER = ROOT / "cypher" / "browser"
FAVOURITES = sorted((FOLDER / "kgqa").glob("*.cypher"))
STYLE = FOLDER / "kgqa.grass"
HOSTILE = [
    "<b>bold</b><script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "`back`tick` 'single' \"double\"",
    "'}) DETACH DELETE n //",
    "&amp; &lt; ${1+1} {{2}}",
]


@pytest.fixture
def browser(neo4j_server: Neo4jServer) -> Iterator[BrowserPage]:
    if reason := missing():
        unavailable(reason)
    with neo4j_browser(neo4j_server) as page:
        yield page


@pytest.mark.slow
def test_a_first_session(browser: BrowserPage, seed_wikidata: Path, neo4j_database: Neo4jSettings) -> None:
    kgqa.load(seed_wikidata, dataset="wikihop", neo4j=neo4j_database)
    browser.connect("wrong password")
    browser.page.get_by_text("The client is unauthorized").first.wait_for()
    browser.connect()
    browser.page.get_by_text("You are connected as user").wait_for()
    browser.drop(STYLE)
    browser.page.get_by_text("node.Sample {").wait_for()
    browser.drop(FOLDER / "favourites.zip")
    assert browser.favourites() == [path.read_text("utf-8").splitlines()[0].removeprefix("// ") for path in FAVOURITES]
    frame = browser.run_favourite("5 A question, its chain")
    nodes = frame.locator("svg g.node")
    nodes.first.wait_for()
    sample = kgqa.show(seed_wikidata / "datasets" / "wikihop")
    assert sample.chains
    assert sample.candidates
    (answer,) = [index for index, candidate in enumerate(sample.candidates) if candidate.id == sample.answer_id]
    assert nodes.count() == len(set(sample.chains[answer][0])) + 1
    assert sample.answers[0].split()[0] in " ".join(nodes.all_text_contents())
    # The style sheet is in force: its colours are those of the nodes.
    colours = set(frame.locator("svg g.node circle").evaluate_all("all => all.map(one => one.getAttribute('fill'))"))
    assert {"#F2B134", "#4C8EDA", "#6A4C93"} <= {str(colour).upper() for colour in colours}


@pytest.mark.slow
def test_strange_names_are_shown_as_text(browser: BrowserPage, neo4j_database: Neo4jSettings) -> None:
    rows = strange_rows()
    entities = rows["entity"]
    names = [*HOSTILE, *entities["label"].to_pylist()[len(HOSTILE) :]]
    entities = entities.set_column(3, "label", [names]).append_column("aliases", [[[name[::-1]] for name in names]])
    rows = with_measures({**rows, "entity": entities.append_column("common", [[0] * len(names)])})
    with Neo4jStore(neo4j_database) as store:
        load(store, "of these", rows)
    browser.connect()
    browser.page.get_by_text("You are connected as user").wait_for()
    browser.drop(STYLE)
    frame = browser.run(f"MATCH (e:Entity) WHERE e.row < {len(HOSTILE)} RETURN e ORDER BY e.row")
    frame.locator("svg g.node").nth(len(HOSTILE) - 1).wait_for()
    # Captions are broken over several lines and cut; what is left of them is text of the drawing.
    shown = " ".join(frame.locator("svg g.node").all_text_contents())
    for part in ("<b>bold", "<img", "`back`tick`", "'})", "&amp;"):
        assert part in shown
    frame.get_by_text("Table", exact=True).click()
    contents = frame.get_by_test_id("frameContents")
    contents.get_by_text(HOSTILE[0]).first.wait_for()
    # The table writes a text in quotes, and what is in it with a backslash before some of them.
    table = re.sub(r'[\\"]', "", contents.inner_text())
    assert [name for name in HOSTILE if name.replace('"', "") not in table] == []
    assert "owned" not in browser.page.title()
    assert frame.locator("img[src=x], b, script").count() == 0
    assert kgqa.cypher("MATCH (e:Entity) RETURN count(e) AS n", store="neo4j", neo4j=neo4j_database).rows["n"].to_pylist() == [len(names)]


@pytest.mark.parametrize("favourite", FAVOURITES, ids=lambda path: path.stem)
def test_every_favourite_finds_something(favourite: Path, loaded: Neo4jSettings) -> None:
    from neo4j import GraphDatabase

    text = favourite.read_text("utf-8")
    title, explained = text.splitlines()[:2]
    assert re.fullmatch(r"// [\dA] .{3,26}", title)
    assert title[3].lower() == favourite.stem[0]
    assert explained.startswith("// ")
    assert ";" not in text.replace(explained, "")
    with GraphDatabase.driver(loaded.uri, auth=(loaded.username, loaded.password)) as driver:
        rows, summary, _ = driver.execute_query(text, routing_="r")
    assert rows
    assert not summary.counters.contains_updates


@pytest.fixture(scope="module")
def loaded(neo4j_server: Neo4jServer, seed_wikidata: Path, tmp_path_factory: pytest.TempPathFactory) -> Neo4jSettings:
    """The seed domain with its samples and composed questions, loaded once for all favourites."""
    neo4j_server.empty()
    settings = Neo4jSettings(uri=neo4j_server.uri, password=neo4j_server.password)
    kgqa.load(seed_wikidata, dataset="wikihop", rejected=True, neo4j=settings)
    # Composed questions come first by name, and must not take the place of samples with chains to candidates.
    folder = composed_set(tmp_path_factory.mktemp("composed") / "a", Workspace(seed_wikidata))
    kgqa.load(seed_wikidata, dataset=folder, neo4j=settings)
    return settings


def test_hubs_are_answers_of_samples_and_not_of_rejected_questions(loaded: Neo4jSettings) -> None:
    from neo4j import GraphDatabase

    (favourite,) = (path for path in FAVOURITES if path.stem == "8_hubs")
    counts = "MATCH (e:Entity {label: $label})<-[:ANSWER]-(s:Sample) RETURN count(s) AS answers"
    with GraphDatabase.driver(loaded.uri, auth=(loaded.username, loaded.password)) as driver:
        for row in driver.execute_query(favourite.read_text("utf-8"), routing_="r").records[:5]:
            assert row["answers"] == driver.execute_query(counts, label=row["entity"]).records[0]["answers"]
            assert row["answers"] <= row["times_candidate"]


def test_chains_go_over_the_article_about_an_entity(loaded: Neo4jSettings) -> None:
    from neo4j import GraphDatabase

    about = "MATCH (e:Entity)-[:ABOUT]->(d:Document), (e)<-[:MENTIONS]-(d) RETURN e.id AS entity, d.id AS document"
    drawn = set()
    with GraphDatabase.driver(loaded.uri, auth=(loaded.username, loaded.password)) as driver:
        both = {(row["entity"], row["document"]) for row in driver.execute_query(about, routing_="r").records}
        for favourite in (path for path in FAVOURITES if path.stem[0] in "56"):
            for number in range(3):
                text = favourite.read_text("utf-8").replace("{row: 0}", f"{{row: {number}}}")
                for row in driver.execute_query(text, routing_="r").records:
                    hop = row["hop"]
                    if (hop.start_node.get("id"), hop.end_node.get("id")) in both:
                        drawn.add(hop.relationships[0].type)
    assert drawn == {"ABOUT"}


def test_the_archive_holds_the_favourites() -> None:
    with zipfile.ZipFile(FOLDER / "favourites.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    assert held == {f"kgqa/{path.name}": path.read_bytes() for path in FAVOURITES}, "make favourites"


def test_the_style_sheet_knows_every_label_and_type() -> None:
    text = STYLE.read_text("utf-8")
    styled = set(re.findall(r"^(?:node|relationship)\.(\w+) \{", text, re.MULTILINE))
    made = set()
    for name in ("load.cypher", "load_samples.cypher"):
        query = (ROOT / "cypher" / name).read_text("utf-8")
        made |= set(re.findall(r"(?:CREATE |->)\(\w+:(\w+) \{", query)) | set(re.findall(r"-\[\w*:(\w+)", query))
    assert styled == made
    # Neo4j Browser's parser takes a comment for a part of the next name.
    assert "/*" not in text
    assert "//" not in text


def test_the_server_of_the_compose_file_is_private_and_has_a_password() -> None:
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    assert re.findall(r'^      - "([\d.]+):\d+:\d+"$', text, re.MULTILINE) == ["127.0.0.1", "127.0.0.1"]
    assert "neo4j/${NEO4J_PASSWORD:?" in text
    assert re.search(r"image: neo4j:5\.26", text)
    assert "healthcheck:" in text
