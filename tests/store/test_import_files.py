"""Import files hold the graph: really imported, every node and relationship is as the driver loads it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import kgqa
from kgqa.errors import MissingInput, SettingsError, WorkspaceBusy, WorkspaceError
from kgqa.formats.dataset_on_graph import relations_on_graph
from kgqa.formats.graph_rows import rejected_rows, sample_rows
from kgqa.runs.graph import rows_of, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.graph import TABLES
from kgqa.store.kinds import NODES, RELATIONSHIPS
from kgqa.store.neo4j import graph as loading, import_files as neo4j_import
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import imported_marker
from tests import contents
from tests.conftest import Cli, SmallDisk, unavailable
from tests.neo4j.server import Neo4jServer, missing
from tests.store.steps_truth import composed_set

TEXTS = [
    "plain",
    "",
    '"',
    'a "quoted" word',
    '""',
    "a, comma",
    "two\nlines",
    "carriage\rreturn",
    "both\r\nkinds",
    "\n",
    "tab\there",
    "back\\slash",
    "\\",
    'backslash before a quote \\"',
    " leading",
    "trailing ",
    "  ",
    "\t",
    "null",
    "NULL",
    "'single'",
    "`tick`",
    "semi;colon",
    "Ω é Ⅷ ß",
    "🌍 beyond the basic plane 𝒳",
    "e\u0301",
    "\ufeffbyte order mark",
    "\u2028line separator",
    "nul \x00 inside",
    "\x01\x1b[2J\x7f",
    "=1+1",
    "1",
    "true",
]
LONG = "x" * 1_500_000


def strange_rows() -> dict[str, pa.Table]:
    """A graph whose ids and texts are what breaks CSV files."""
    ids = [f"{text[:40]}{i}{text[:40]}" for i, text in enumerate(TEXTS)]
    numbers = list(range(len(ids)))
    return {
        "entity": pa.table({"id": ids, "row": numbers, "kind": TEXTS[::-1], "label": TEXTS, "description": TEXTS[1:] + TEXTS[:1]}),
        "document": pa.table(
            {
                "id": ids[::-1],
                "row": numbers,
                "title": TEXTS,
                "text": [*TEXTS[:-1], LONG],
                "usable": [number % 2 == 0 for number in numbers],
            }
        ),
        "relation": pa.table(
            {
                "row": numbers,
                "id": TEXTS,
                "label": TEXTS[::-1],
                "facts": numbers,
                "answers": numbers,
                "no_article": numbers,
                "stated": numbers,
            }
        ),
        "fact": pa.table({"head": ids, "tail": ids[1:] + ids[:1], "row": numbers, "relation": TEXTS, "label": TEXTS[::-1]}),
        "mentions": pa.table(
            {"document": ids, "entity": ids[::-1], "count": [2**40 + number for number in numbers], "start": numbers, "stop": numbers}
        ),
        "about": pa.table({"entity": ids[3:6], "document": ids[1:4]}),
    }


@pytest.fixture(scope="module")
def second_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server of this module's own, stopped, whose database may be overwritten."""
    if reason := missing():
        unavailable(reason)
    server = Neo4jServer(tmp_path_factory.mktemp("imported") / "home")
    yield server
    server.stop()


def everything(settings: Neo4jSettings) -> tuple[list[str], list[str]]:
    """Every node and every relationship with all properties, but for what says who loaded it."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(settings.uri, auth=(settings.username, settings.password)) as driver:
        nodes, _, _ = driver.execute_query("MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties")
        links, _, _ = driver.execute_query(
            "MATCH (a)-[r]->(b) RETURN coalesce(a.key, a.id) AS a, type(r) AS type, properties(r) AS properties, coalesce(b.key, b.id) AS b"
        )
    for node in nodes:
        for name in ("loader", "lock"):
            node["properties"].pop(name, None)
    return _sorted(nodes), _sorted(links)


def _sorted(rows: list[Any]) -> list[str]:
    return sorted(json.dumps(dict(row), sort_keys=True) for row in rows)


def import_into(server: Neo4jServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Neo4jSettings:
    """Run the very command that the folder's README names, in the folder, and start the server."""
    server.stop()
    monkeypatch.chdir(folder)
    overwrite = ["--overwrite-destination"] if (server.home / "data" / "databases" / "neo4j").exists() else []
    server.admin(*neo4j_import.import_arguments(folder), *overwrite)
    server.start()
    return Neo4jSettings(uri=server.uri, password=server.password)


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["seed_wikidata", pytest.param("seed_medline", marks=pytest.mark.thorough)])
def test_an_imported_graph_is_the_one_that_the_driver_loads(
    domain: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    neo4j_database: Neo4jSettings,
    second_server: Neo4jServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace = request.getfixturevalue(domain)
    dataset = next((workspace / "datasets").iterdir())
    tables = rows_of(Workspace(workspace))
    kgqa.export(to="neo4j", out=tmp_path / "files", workspace=workspace)
    settings = import_into(second_server, tmp_path / "files", monkeypatch)
    assert kgqa.load(workspace, neo4j=neo4j_database).already is False
    nodes, links = everything(settings)
    assert (nodes, links) == everything(neo4j_database)
    assert len(nodes) == sum(tables[name].num_rows for name in neo4j_import.NODES if name in tables) + 1
    assert len(links) == sum(tables[name].num_rows for name in neo4j_import.RELATIONSHIPS if name in tables)
    # kgqa knows it for its own, and adds what the importer cannot: constraints.
    result = kgqa.load(workspace, neo4j=settings, dataset=dataset, rejected=True)
    assert (result.already, result.samples_already) == (True, False)
    assert result.samples
    assert result.rejected
    # With samples, chains and rejected questions in the files it is the same graph, and nothing is left to load.
    steps = composed_set(tmp_path / "steps", Workspace(workspace))
    shutil.copyfile(dataset / "rejected.parquet", steps / "rejected.parquet")
    kgqa.export([dataset, steps], to="neo4j", out=tmp_path / "more", workspace=workspace, rejected=True)
    settings = import_into(second_server, tmp_path / "more", monkeypatch)
    assert kgqa.load(workspace, neo4j=neo4j_database, dataset=dataset, rejected=True).samples_already is False
    assert kgqa.load(workspace, neo4j=neo4j_database, dataset=steps, rejected=True).samples_already is False
    assert everything(settings) == everything(neo4j_database)
    again = kgqa.load(workspace, neo4j=settings, dataset=dataset, rejected=True)
    assert (again.already, again.samples_already) == (True, True)
    assert (again.samples, again.rejected) == (result.samples, result.rejected)
    assert everything(settings) == everything(neo4j_database)
    assert _constraints(settings) == {
        "kgqa_graph",
        "kgqa_entity",
        "kgqa_document",
        "kgqa_sample",
        "kgqa_chain",
        "kgqa_subquestion",
        "kgqa_relation",
        "kgqa_blocked",
    }


def _constraints(settings: Neo4jSettings) -> set[str]:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(settings.uri, auth=(settings.username, settings.password)) as driver:
        return {row["name"] for row in driver.execute_query("SHOW CONSTRAINTS YIELD name")[0]}


@pytest.mark.slow
def test_strange_texts_come_through(
    tmp_path: Path, neo4j_database: Neo4jSettings, second_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = strange_rows()
    neo4j_import.write(tmp_path / "files", rows, markers=[imported_marker("of these", rows)])
    arguments = neo4j_import.import_arguments(tmp_path / "files")
    assert "--multiline-fields=true" in arguments
    assert "--read-buffer-size=6000000" in arguments
    settings = import_into(second_server, tmp_path / "files", monkeypatch)
    with Neo4jStore(neo4j_database) as store:
        assert loading.load(store, "of these", rows)
    assert everything(settings) == everything(neo4j_database)


def test_the_files_say_how_they_are_loaded(seed_medline: Path, tmp_path: Path, cli: Cli) -> None:
    outcome = cli("export", "--to", "neo4j", tmp_path / "files", "--workspace", seed_medline)
    assert outcome.status == 0, outcome.err
    text = (tmp_path / "files" / neo4j_import.README).read_text("utf-8")
    assert text in outcome.out
    arguments = neo4j_import.import_arguments(tmp_path / "files")
    assert arguments[:4] == ["database", "import", "full", "neo4j"]
    assert "--overwrite-destination" not in arguments
    # Newer importers want a folder before each name.
    files = [argument.split("=")[2].split(",") for argument in arguments[4:] if argument.count("=") == 2]
    items = [name.removeprefix("./") for two in files for name in two]
    assert sorted(items) == sorted(name for name in contents.files(tmp_path / "files") if name != neo4j_import.README)
    # Nothing is about a document in this domain, and the importer refuses empty files.
    assert not any("about" in name for name in items)
    assert "--array-delimiter=U+001F" in text
    assert "docker compose run" in text
    for name in items:
        assert f"/kgqa/{name}" in text


def test_the_files_hold_the_rows(seed_wikidata: Path, tmp_path: Path) -> None:
    files = kgqa.export(to="neo4j", out=tmp_path / "files", workspace=seed_wikidata)
    assert files == sorted((tmp_path / "files").iterdir())
    for name, table in rows_of(Workspace(seed_wikidata)).items():
        with (tmp_path / "files" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            items = list(csv.reader(file))
        assert items == [[_as_text(value) for value in row.values()] for row in table.to_pylist()]
        header = (tmp_path / "files" / f"{name}-header.csv").read_text("utf-8").strip().split(",")
        assert len(header) == table.num_columns
    with (tmp_path / "files" / "marker.csv").open(newline="", encoding="utf-8") as file:
        (marker,) = csv.reader(file)
    assert marker[1] == tables_hash(Workspace(seed_wikidata))
    assert len(marker) == 5 + len(TABLES)


def _as_text(value: object) -> str:
    if isinstance(value, list):
        return "\x1f".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_two_datasets_and_what_they_rejected_go_into_the_files(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    first = wikidata_copy / "datasets" / "wikihop"
    second = shutil.copytree(first, tmp_path / "second")
    (second / "manifest.json").unlink()
    options = ("--dataset", "wikihop", "--dataset", second, "--rejected")
    outcome = cli("export", "--to", "neo4j", tmp_path / "files", "--workspace", wikidata_copy, *options)
    assert outcome.status == 0, outcome.err
    rows = sample_rows(first, "wikihop", relations_on_graph(first, Workspace(wikidata_copy))) | rejected_rows(first, "wikihop")
    for name, table in rows.items():
        if not table.num_rows:
            assert not (tmp_path / "files" / f"{name}.csv").exists()
            continue
        with (tmp_path / "files" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            assert sum(1 for _ in csv.reader(file)) == 2 * table.num_rows, name
    files = [path for path in (tmp_path / "files").glob("marker*.csv") if not path.name.endswith("-header.csv")]
    markers = sorted(path.read_text("utf-8").split(",")[0].strip('"') for path in files)
    assert markers == ["kgqa", "rejected of second", "rejected of wikihop", "samples of second", "samples of wikihop"]


def test_its_former_name_still_does(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    for name in ("neo4j", "neo4j-import"):
        assert cli("export", "--to", name, tmp_path / name, "--workspace", seed_wikidata).status == 0
    one, other = (contents.files(tmp_path / name) for name in ("neo4j", "neo4j-import"))
    assert one == other


def test_the_files_and_the_graph_of_networkx_speak_of_the_same_kinds() -> None:
    ends = {kind.label: name for name, kind in NODES.items()}
    for name, kind in NODES.items():
        label, header = neo4j_import.NODES[name]
        assert (label, header.split(":", maxsplit=1)[0]) == (kind.label, kind.key)
    for name, link in RELATIONSHIPS.items():
        type_, header = neo4j_import.RELATIONSHIPS[name]
        match = re.match(r":START_ID\((\w+)\),:END_ID\((\w+)\)", header)
        assert match
        assert (type_, *(ends[label] for label in match.groups())) == (link.type, link.source, link.target)


def test_nothing_is_replaced(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "mine.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file").write_text("")
    for name in ("files", "link", "file"):
        cli("export", "--to", "neo4j", tmp_path / name, "--workspace", seed_wikidata).sentence(name, "already there")
    assert contents.files(tmp_path) == {"files/mine.txt": b"mine", "file": b""}
    (tmp_path / "empty").mkdir()
    assert kgqa.export(to="neo4j", out=tmp_path / "empty", workspace=seed_wikidata)


def test_a_full_disk_leaves_nothing(seed_wikidata: Path, small_disk: SmallDisk, cli: Cli) -> None:
    small_disk.mount("size=64k")
    cli("export", "--to", "neo4j", small_disk.path / "files", "--workspace", seed_wikidata).sentence("the disk is full")
    assert list(small_disk.path.iterdir()) == []


def test_mistakes_are_sentences(seed_wikidata: Path, wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    with pytest.raises(WorkspaceError, match=r"there is no graph.*run kgqa generate"):
        kgqa.export(to="neo4j", out=tmp_path / "files", workspace=tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    with pytest.raises(SettingsError, match="rejected questions are those of a dataset"):
        kgqa.export(to="neo4j", out=tmp_path / "files", workspace=seed_wikidata, rejected=True)
    with pytest.raises(SettingsError, match="the format neo4j exports the whole graph"):
        kgqa.export(to="neo4j", out=tmp_path / "files", workspace=seed_wikidata, entity="Q45")
    with pytest.raises(MissingInput, match="there is no dataset of this name"):
        kgqa.export("wikihopp", to="neo4j", out=tmp_path / "files", workspace=seed_wikidata)
    with pytest.raises(SettingsError, match="give the folder of one"):
        kgqa.export(to="qangaroo", out=tmp_path / "files")
    with pytest.raises(MissingInput):
        kgqa.export(tmp_path / "nothing", to="qangaroo", out=tmp_path / "files")
    with Workspace(wikidata_copy), pytest.raises(WorkspaceBusy):
        kgqa.export(to="neo4j", out=tmp_path / "files", workspace=wikidata_copy)
    (wikidata_copy / "tables" / "links.parquet").write_bytes(b"")
    cli("export", "--to", "neo4j", tmp_path / "files", "--workspace", wikidata_copy).sentence("damaged or unfinished", "kgqa generate")
    cli("export", "--to", "neo4j").sentence("give one new folder")
    cli("export", "--to", "graphml").sentence("give one new file")
    cli("export", seed_wikidata / "datasets" / "wikihop", "--to", "qangaroo").sentence("--out DIR")
    cli("export", "--to", "neo4j-imports", tmp_path / "files").sentence("choose one of graphml, musique, neo4j, qangaroo.")
    cli("export", "--to", "neo4js", "--out", tmp_path / "files").sentence("did you mean neo4j?")
    assert not (tmp_path / "files").exists()
