"""``kgqa load``: what it says, what it leaves alone, and what it erases only when asked."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import InterruptedRun, KgqaError, StoreConflict, UnknownId
from kgqa.formats import native
from kgqa.formats.graph_rows import sample_rows
from kgqa.records import SPLITS
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.neo4j import graph as loading
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.layouts import GRAPH, ON_SAMPLES
from kgqa.store.queries import Query, read_queries
from tests import contents
from tests.conftest import Cli
from tests.neo4j.server import PASSWORD


def run(settings: Neo4jSettings, text: str, **values: Any) -> list[dict[str, Any]]:
    """Somebody else at work in the database."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(settings.uri, auth=("neo4j", settings.password)) as driver:
        return [dict(row) for row in driver.execute_query(text, **values)[0]]


def labels(settings: Neo4jSettings) -> dict[str, int]:
    return {row["label"]: row["n"] for row in run(settings, "MATCH (n) RETURN labels(n)[0] AS label, count(n) AS n")}


def test_a_graph_and_its_samples_are_loaded_once(seed_wikidata: Path, neo4j_database: Neo4jSettings, cli: Cli) -> None:
    before = contents.files(seed_wikidata)
    outcome = cli("load", "--store", "neo4j", "--workspace", seed_wikidata, "--dataset", "datasets/wikihop")
    assert outcome.status == 0, outcome.err
    rows = Workspace(seed_wikidata).read_table("documents").num_rows
    total = sum(1 for path in native.split_files(seed_wikidata / "datasets" / "wikihop").values() for _ in native.read(path))
    assert f"document {rows:,}" in outcome.out
    assert f"{total:,} samples of wikihop." in outcome.out
    assert PASSWORD not in outcome.out
    there = labels(neo4j_database)
    assert there["Sample"] == total
    for dataset in ("wikihop", seed_wikidata / "datasets" / "wikihop", "datasets/wikihop"):
        again = cli("load", "--workspace", seed_wikidata, "--dataset", dataset)
        assert again.out.count("there already") == 4, again.out
    assert labels(neo4j_database) == there
    assert contents.files(seed_wikidata) == before


MADE = tuple(name for name in (*GRAPH.keys, *GRAPH.indexes, *ON_SAMPLES) if name != "await_indexes")
"""Queries that make constraints and indexes."""


class Counting:
    """Progress that can be stopped, as a user does."""

    def __init__(self, stop: int = 10**9) -> None:
        self.stages: dict[str, list[int | None]] = {}
        self.stop = stop
        self.moves = 0

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        self.stage = self.stages.setdefault(stage, [total, 0])

    def advance(self, amount: int) -> None:
        self.moves += 1
        self.stage[1] = (self.stage[1] or 0) + amount
        if self.moves == self.stop:
            raise KeyboardInterrupt

    def finish(self, note: str = "") -> None:
        pass


def test_progress_reaches_its_total_wherever_it_was_cut_off(
    seed_wikidata: Path, neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 500)
    with pytest.raises(InterruptedRun, match="run the same command again"):
        kgqa.load(seed_wikidata, dataset="wikihop", progress=Counting(6))
    assert not run(neo4j_database, "MATCH (g:KgqaGraph) RETURN g.finished AS finished")[0]["finished"]
    progress = Counting()
    assert not kgqa.load(seed_wikidata, dataset="wikihop", progress=progress).already
    for stage in ("Loading the graph", "Loading samples of wikihop"):
        total, done = progress.stages[stage]
        assert total == done
    counts = kgqa.load(seed_wikidata, dataset="wikihop")
    assert counts.already
    assert counts.samples_already
    chains = sample_rows(seed_wikidata / "datasets" / "wikihop", "wikihop")["chain"].num_rows
    assert labels(neo4j_database) == {
        "Entity": counts.rows["entity"], "Document": counts.rows["document"], "Relation": counts.rows["relation"], "KgqaGraph": 2,
        "Sample": counts.samples, "Chain": chains,
    }  # fmt: skip


def test_a_stop_in_the_middle_of_a_message_is_said_as_one(
    seed_wikidata: Path, neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, stops = socket.socket.sendall, 0

    def sendall(connection: socket.socket, data: bytearray) -> None:
        nonlocal stops
        with memoryview(data) as view:
            half = len(view) // 2
            if half < 5_000 or stops:
                return whole(connection, view)
            stops += 1
            whole(connection, view[:half])
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.1)  # here Ctrl-C comes where it is the main thread that sends
            return whole(connection, view[half:])

    monkeypatch.setattr(socket.socket, "sendall", sendall)
    with pytest.raises(InterruptedRun, match="run the same command again"):
        kgqa.load(seed_wikidata, dataset="wikihop")
    assert stops == 1
    assert not kgqa.load(seed_wikidata, dataset="wikihop").already
    assert kgqa.load(seed_wikidata, dataset="wikihop").already


@pytest.mark.slow
def test_another_graph_is_replaced_only_when_asked(
    seed_wikidata: Path, seed_medline: Path, neo4j_database: Neo4jSettings, cli: Cli
) -> None:
    kgqa.load(seed_wikidata, dataset="wikihop")
    before = labels(neo4j_database)
    cli("load", "--workspace", seed_medline, "--dataset", "medhop").sentence("other tables", "kgqa load --store neo4j --replace")
    assert labels(neo4j_database) == before
    outcome = cli("load", "--workspace", seed_medline, "--dataset", "medhop", "--replace")
    assert outcome.status == 0, outcome.err
    assert "Erasing samples of wikihop" in outcome.out
    assert {row["dataset"] for row in run(neo4j_database, "MATCH (s:Sample) RETURN DISTINCT s.dataset AS dataset")} == {"medhop"}
    counts = kgqa.load(seed_medline, dataset="medhop")
    assert counts.already
    assert labels(neo4j_database)["Entity"] == counts.rows["entity"]


@pytest.mark.slow
def test_constraints_and_indexes_are_there_at_the_end_however_the_graph_came(
    seed_wikidata: Path, seed_medline: Path, neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {word for name in MADE for word in read_queries()[name].text.split() if word.startswith("kgqa_")}
    result = list[set[str]]()

    def made() -> set[str]:
        rows = run(neo4j_database, "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name")
        return {row["name"] for row in rows} & wanted

    write = Neo4jStore.write

    def watched(store: Neo4jStore, query: Query, arguments: Any = None, **expected: Any) -> list[list[Any]]:
        if query.name in {"add_entity", "add_samples", "add_rejected"}:
            result.append(made())
        return write(store, query, arguments, **expected)

    monkeypatch.setattr(Neo4jStore, "write", watched)
    run(neo4j_database, "DROP CONSTRAINT kgqa_entity IF EXISTS")
    kgqa.load(seed_wikidata, dataset="wikihop", rejected=True)
    assert made() == wanted
    result.clear()
    kgqa.load(seed_medline, dataset="medhop", rejected=True, replace=True)
    assert made() == wanted
    # Those of the graph that was erased did not slow down the new one: what is not looked up by the loader is made last.
    assert result[0] == set()
    assert not any("kgqa_chain" in names for names in result)


@pytest.mark.slow
def test_an_erasing_that_was_cut_off_goes_on(
    seed_wikidata: Path, seed_medline: Path, neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kgqa.load(seed_wikidata)
    monkeypatch.setattr(loading, "ERASE_NODES", 50)
    with pytest.raises(InterruptedRun):
        kgqa.load(seed_medline, replace=True, progress=Counting(2))
    with pytest.raises(StoreConflict, match="--replace"):
        kgqa.load(seed_wikidata)
    assert not kgqa.load(seed_medline, replace=True).already
    assert kgqa.load(seed_medline).already


@pytest.mark.slow
@pytest.mark.parametrize("moves", [*(pytest.param(moves, marks=pytest.mark.thorough) for moves in (1, 2)), 4])
def test_a_load_that_was_cut_off_can_be_replaced(
    moves: int, seed_wikidata: Path, seed_medline: Path, neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BATCH_ROWS", 500)
    with pytest.raises(InterruptedRun):
        kgqa.load(seed_wikidata, progress=Counting(moves))
    assert not kgqa.load(seed_medline, replace=True).already


def test_changed_samples_are_replaced_only_when_asked(seed_wikidata: Path, tmp_path: Path, neo4j_database: Neo4jSettings, cli: Cli) -> None:
    kgqa.load(seed_wikidata, dataset="wikihop")
    folder = shutil.copytree(seed_wikidata / "datasets" / "wikihop", tmp_path / "wikihop")
    few = list(native.read(folder / "train.parquet"))[:3]
    for split in SPLITS[1:]:
        (folder / f"{split}.parquet").unlink()
    (folder / "manifest.json").unlink()  # it names all splits
    native.write(few, folder / "train.parquet")
    cli("load", "--workspace", seed_wikidata, "--dataset", folder).sentence("other samples of wikihop", "--replace")
    graph = run(neo4j_database, "MATCH (g:KgqaGraph {id: 'kgqa'}) RETURN g.loader AS loader")
    result = kgqa.load(seed_wikidata, dataset=folder, replace=True)
    assert result.already
    assert result.samples == labels(neo4j_database)["Sample"] == len(few)
    assert graph == run(neo4j_database, "MATCH (g:KgqaGraph {id: 'kgqa'}) RETURN g.loader AS loader")


def test_somebodys_data_is_never_touched(seed_medline: Path, neo4j_database: Neo4jSettings, cli: Cli) -> None:
    run(neo4j_database, "CREATE (:Person {name: 'Ada'})")
    for extra in ([], ["--replace"]):
        cli("load", "--workspace", seed_medline, *extra).sentence("1 nodes in it were not written by kgqa")
    run(neo4j_database, "MATCH (n) DELETE n")
    kgqa.load(seed_medline)
    run(neo4j_database, "CREATE (:Entity {id: 'mine'})")
    cli("load", "--workspace", seed_medline).sentence("someone changed it")
    cli("load", "--workspace", seed_medline, "--replace").sentence("does not erase")
    assert run(neo4j_database, "MATCH (e:Entity {id: 'mine'}) RETURN e.id AS id")


def test_nothing_is_erased_before_everything_is_checked(
    wikidata_copy: Path, seed_medline: Path, neo4j_database: Neo4jSettings, cli: Cli
) -> None:
    kgqa.load(wikidata_copy, dataset="wikihop")
    before = labels(neo4j_database)
    assert before["Sample"] > 100
    cli("load", "--workspace", wikidata_copy, "--replace", "--dataset", seed_medline / "datasets" / "medhop").sentence("medhop")
    (wikidata_copy / "datasets" / "wikihop" / "dev.parquet").unlink()
    cli("load", "--workspace", wikidata_copy, "--replace", "--dataset", "wikihop").sentence("dev.parquet", "missing")
    run(neo4j_database, "CREATE (:Film)")
    cli("load", "--workspace", wikidata_copy, "--replace").sentence("someone added nodes or relationships")
    assert labels(neo4j_database) == {**before, "Film": 1}


def test_a_dataset_of_another_graph_is_refused(seed_wikidata: Path, seed_medline: Path, neo4j_database: Neo4jSettings) -> None:
    with pytest.raises(UnknownId, match="give the workspace of the dataset"):
        kgqa.load(seed_medline, dataset=seed_wikidata / "datasets" / "wikihop")
    assert "Sample" not in labels(neo4j_database)


def _nothing(workspace: Path) -> None:
    shutil.rmtree(workspace / "tables")


def _damaged(workspace: Path) -> None:
    (workspace / "tables" / "links.parquet").write_bytes(b"x")


def _no_chains(workspace: Path) -> None:
    path = workspace / "datasets" / "wikihop" / "train.parquet"
    (first, *_) = native.read(path)
    native.write([kgqa.Instance(**{**{name: getattr(first, name) for name in first.__slots__}, "chains": None})], path)
    contents.renew_manifest(path.parent)


def _no_dataset(workspace: Path) -> None:
    shutil.rmtree(workspace / "datasets")


@pytest.mark.parametrize(
    ("spoil", "part"),
    [
        (_nothing, "there is no graph in this workspace"),
        (_damaged, "damaged or unfinished"),
        (_no_chains, "has no subject, candidates and chains"),
        (_no_dataset, "there is no dataset of this name"),
    ],
)
def test_what_cannot_be_loaded_is_said(
    spoil: Callable[[Path], None], part: str, wikidata_copy: Path, neo4j_database: Neo4jSettings, cli: Cli
) -> None:
    spoil(wikidata_copy)
    cli("load", "--workspace", wikidata_copy, "--dataset", "wikihop").sentence(part)


def test_mistakes_are_sentences_without_a_server(wikidata_copy: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("NEO4J_PASSWORD", "open-sesame")
    assert "open-sesame" not in cli("load", "--workspace", wikidata_copy).sentence("no Neo4j server answers here")
    cli("load", "--store", "embedded", "--workspace", wikidata_copy).sentence("made by kgqa generate")
    cli("load", "--store", "neo4", "--workspace", wikidata_copy).sentence("did you mean neo4j?")
    cli("load", "--workspace", tmp_path / "nothing").sentence("run kgqa generate")
    assert not (tmp_path / "nothing").exists()
    with Workspace(wikidata_copy):
        cli("load", "--workspace", wikidata_copy).sentence("another run uses this workspace")


def test_the_name_of_a_dataset_is_in_its_manifest(seed_wikidata: Path, tmp_path: Path, neo4j_database: Neo4jSettings) -> None:
    folder = shutil.copytree(seed_wikidata / "datasets" / "wikihop", tmp_path / "elsewhere")
    assert kgqa.load(seed_wikidata, dataset=folder).dataset == "wikihop"
    (folder / "manifest.json").write_text(json.dumps({}))
    assert kgqa.load(seed_wikidata, dataset=folder).dataset == "elsewhere"
    with pytest.raises(KgqaError):
        kgqa.load(seed_wikidata, dataset=tmp_path)


OLDER = r"a graph that an older kgqa loaded, .*; replace it with kgqa load --store neo4j --replace, or give another database\.$"


def test_a_graph_that_an_older_kgqa_loaded_is_said_to_be_one(seed_wikidata: Path, neo4j_database: Neo4jSettings) -> None:
    kgqa.load(seed_wikidata)
    run(neo4j_database, "MATCH (r:Relation) DELETE r")
    run(neo4j_database, "MATCH (g:KgqaGraph {id: 'kgqa'}) REMOVE g.version, g.relation SET g.tables = 'of an older version'")
    before = labels(neo4j_database)
    with pytest.raises(StoreConflict, match=OLDER):
        kgqa.query("hubs", workspace=seed_wikidata, store="neo4j", neo4j=neo4j_database)
    with pytest.raises(StoreConflict, match=OLDER):
        kgqa.load(seed_wikidata)
    assert labels(neo4j_database) == before
    kgqa.load(seed_wikidata, replace=True)
    assert kgqa.query("hubs", workspace=seed_wikidata, store="neo4j", neo4j=neo4j_database).num_rows == 20
