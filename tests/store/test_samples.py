"""Samples in the database are those of the dataset, loaded once, and replaced only when asked."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import StoreConflict, StoreError
from kgqa.formats import native
from kgqa.formats.graph_rows import sample_rows
from kgqa.records import Grade, Instance
from kgqa.runs.graph import open_store, rows_of, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.limits import Limits
from kgqa.store.neo4j import samples
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from kgqa.store.neo4j.samples import SAMPLES, PartMarker, add_part, erase_part, part_markers
from kgqa.store.queries import STORES, Query, askable_queries, read_queries
from kgqa.store.samples import SAMPLES_VERSION
from tests.store.samples_truth import SamplesTruth
from tests.store.steps_truth import QUERIES


@pytest.fixture(params=["seed_wikidata", pytest.param("seed_medline", marks=pytest.mark.thorough)])
def workspace(request: pytest.FixtureRequest) -> Workspace:
    return Workspace(request.getfixturevalue(request.param))


@pytest.fixture
def folder(workspace: Workspace, tmp_path: Path) -> Path:
    """The dataset of ``workspace`` with grades of all kinds; some samples have none."""
    made = tmp_path / "graded"
    for path in native.split_files(next((workspace.path / "datasets").iterdir())).values():
        made.mkdir(exist_ok=True)
        native.write([graded(instance, number) for number, instance in enumerate(native.read(path))], made / path.name)
    return made


def graded(instance: Instance, number: int) -> Instance:
    def grade(confidence: int) -> Grade | None:
        return None if confidence > 10 else Grade(confidence=confidence / 10, path="twin → country" * (confidence > 0), text="apart")

    count = len(instance.candidates or ())
    return replace(instance, grades=None if number % 5 == 4 else tuple(grade((number + 3 * place) % 13) for place in range(count)))


@pytest.fixture
def server(workspace: Workspace, neo4j_database: Neo4jSettings) -> Iterator[Neo4jStore]:
    """A database with the graph of ``workspace``, without samples."""
    with Neo4jStore(neo4j_database) as store:
        load(store, tables_hash(workspace), rows_of(workspace))
        yield store


def add(server: Neo4jStore, workspace: Workspace, folder: Path, *, dataset: str = "d", **changed: Any) -> bool:
    told = {"tables": tables_hash(workspace), "content": "these", **changed}
    return add_part(server, SAMPLES, sample_rows(folder, dataset), dataset=dataset, **told)


def marker(server: Neo4jStore, dataset: str = "d") -> PartMarker:
    return part_markers(server)[dataset, "samples"]


def instances(folder: Path) -> list[tuple[str, Instance]]:
    return [(split, instance) for split, path in native.split_files(folder).items() for instance in native.read(path)]


def ask(server: Neo4jStore, name: str, **arguments: str) -> list[dict[str, object]]:
    query = askable_queries()[name]
    return list(server.run(query, query.arguments(arguments)).to_pylist())


def counted(server: Neo4jStore) -> dict[str, int]:
    """How many relationships of each type, and nodes of each label."""
    few = Limits(rows=10, seconds=60)
    rows = server.read(
        "MATCH (s:Sample|Chain) OPTIONAL MATCH (s)-[r]->() RETURN type(r) AS type, count(r) AS n", limits=few
    ).rows.to_pylist()
    nodes = server.read("MATCH (n) RETURN labels(n)[0] AS label, count(n) AS n", limits=few).rows.to_pylist()
    return {row["type"]: row["n"] for row in rows} | {row["label"]: row["n"] for row in nodes}


def test_every_sample_is_there_with_its_candidates_documents_and_chains(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    assert add(server, workspace, folder)
    every = instances(folder)
    assert counted(server)["Sample"] == len(every) == marker(server).rows
    for split, instance in every[:: max(1, len(every) // 20)]:
        assert instance.candidates
        assert instance.chains
        candidates = ask(server, "sample_candidates", sample=instance.id)
        assert [row["candidate"] for row in candidates] == [candidate.id for candidate in instance.candidates]
        assert [row["candidate"] for row in candidates if row["correct"]] == [instance.answer_id]
        assert [row["chains"] for row in candidates] == [len(chains) for chains in instance.chains]
        grades = [(round(g.confidence, 1), g.path, g.text) if g else (None,) * 3 for g in instance.grades or [None] * len(candidates)]
        assert [(row["grade"], row["path"], row["text"]) for row in candidates] == grades
        documents = ask(server, "sample_documents", sample=instance.id)
        assert [(row["document"], row["supporting"]) for row in documents] == [(p.id, p.supporting) for p in instance.paragraphs]
        for candidate, chains in zip(instance.candidates, instance.chains, strict=True):
            steps = ask(server, "sample_chain", sample=instance.id, candidate=candidate.id)
            again: dict[object, list[object]] = {}
            for number, row in enumerate(steps):
                assert row["kind"] == ("Document" if row["position"] % 2 else "Entity"), number  # type: ignore[operator]
                again.setdefault(row["chain"], []).append(row["id"])
            assert list(again.values()) == [list(chain) for chain in chains]
        subject = instance.chains[0][0][0]
        about = {row["sample"]: row for row in ask(server, "samples_about", entity=subject, limit="1000")}
        assert about[instance.id]["split"] == split
        assert about[instance.id]["question"] == instance.question
        assert about[instance.id]["answer"] == instance.answers[0]
        assert instance.id in {row["sample"] for row in ask(server, "samples_answered_by", entity=str(instance.answer_id), limit="1000")}
    answers = Counter(instance.answer_id for _, instance in every)
    assert {row["answer"]: row["samples"] for row in ask(server, "sample_answer_counts", limit="100000")} == dict(answers)
    assert ask(server, "sample_answer_counts", dataset="another") == []


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
def test_every_query_about_samples_gives_what_the_parquet_files_hold(
    store: str, workspace: Workspace, folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = Path(shutil.copytree(workspace.path, tmp_path / "w"))
    neo4j: Neo4jSettings | None = request.getfixturevalue("neo4j_database") if store == "neo4j" else None
    there = Path(shutil.copytree(folder, tmp_path / "d"))
    (there / "manifest.json").write_text('{"dataset": "d"}')
    shutil.copyfile(next((workspace.path / "datasets").iterdir()) / "rejected.parquet", there / "rejected.parquet")
    kgqa.load(place, store=store, dataset=there, rejected=True, neo4j=neo4j)
    truth = SamplesTruth(there, workspace)
    assert truth.queries() | QUERIES == {query.name for query in read_queries().values() if query.file == "samples.cypher"}
    asked = 0
    with closing(open_store(store, Workspace(place), neo4j=neo4j)) as graph:
        for name, arguments, expected in truth.questions():
            query = askable_queries()[name]
            items = [tuple(row.values()) for row in graph.run(query, query.arguments(arguments)).to_pylist()]
            assert items == expected, (name, arguments)
            asked += bool(expected)
    assert asked > 150


def test_what_has_no_grade_has_no_such_property(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, folder)
    text = "MATCH (:Sample)-[c:CANDIDATE]->() RETURN keys(c) AS keys, count(c) AS n"
    result = Counter[frozenset[str]]()
    for row in server.read(text, limits=Limits(rows=100, seconds=60)).rows.to_pylist():
        result[frozenset(row["keys"])] += row["n"]  # in any order
    grades = [grade for _, i in instances(folder) for grade in i.grades or [None] * len(i.candidates or ())]
    known = sum(grade is not None for grade in grades)
    plain = frozenset({"position", "correct"})
    assert result == {plain: len(grades) - known, plain | {"grade", "path", "text"}: known}


def test_samples_of_an_older_kgqa_are_replaced_only_when_asked(
    workspace: Workspace, folder: Path, neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.formats.dataset_on_graph.SAMPLES_VERSION", SAMPLES_VERSION - 1)
    kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database)
    monkeypatch.undo()
    with pytest.raises(StoreConflict, match=r"other samples of graded; replace them with kgqa load .* --replace\.$"):
        kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database)
    assert not kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database, replace=True).samples_already
    assert kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database).samples_already


def test_the_database_of_an_older_kgqa_gets_one_sentence_and_is_replaced_when_asked(
    workspace: Workspace, neo4j_database: Neo4jSettings
) -> None:
    from neo4j import GraphDatabase

    folder = next((workspace.path / "datasets").iterdir())
    first = kgqa.load(workspace.path, dataset=folder, rejected=True, neo4j=neo4j_database)
    with GraphDatabase.driver(neo4j_database.uri, auth=("neo4j", neo4j_database.password)) as driver:
        # As version 4 left it: rejected questions had this label.
        driver.execute_query("MATCH (q:Rejected) SET q:Question REMOVE q:Rejected")
        driver.execute_query("MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.version = 4, g.tables = 'those of version 4'")
    for do in (
        lambda: kgqa.query("hubs", {}, store="neo4j", neo4j=neo4j_database),
        lambda: kgqa.load(workspace.path, dataset=folder, rejected=True, neo4j=neo4j_database),
    ):
        with pytest.raises(StoreConflict, match=r"older kgqa loaded.*--replace"):
            do()
    again = kgqa.load(workspace.path, dataset=folder, rejected=True, replace=True, neo4j=neo4j_database)
    assert (again.samples, again.rejected, again.already) == (first.samples, first.rejected, False)
    with Neo4jStore(neo4j_database) as store:
        assert store.read("MATCH (q:Question) RETURN count(q) AS n", limits=Limits(rows=1)).rows["n"].to_pylist() == [0]


def test_every_sample_is_joined_with_its_relation(workspace: Workspace, neo4j_database: Neo4jSettings) -> None:
    folder = next((workspace.path / "datasets").iterdir())
    kgqa.load(workspace.path, dataset=folder, rejected=True, neo4j=neo4j_database)
    labels = dict(zip(*(workspace.read_table("relations")[name].to_pylist() for name in ("id", "label")), strict=True))
    with Neo4jStore(neo4j_database) as store:
        few = Limits(rows=100, seconds=60)
        rows = store.read(
            "MATCH (s:Sample)-[o:OF_RELATION]->(r:Relation) RETURN s.relation AS id, s.relation_label AS label, r.id AS to, count(o) AS n",
            limits=few,
        ).rows.to_pylist()
        asked = Counter(json.loads(instance.provenance or "")["relation"] for _, instance in instances(folder))
        assert {row["id"]: (row["label"], row["to"], row["n"]) for row in rows} == {
            name: (labels[name], name, number) for name, number in asked.items()
        }
        filters = "MATCH (f:Filter) RETURN f.questions AS n, COUNT { (f)<-[:REJECTED_BY]-(:Rejected) } AS joined"
        counts = store.read(filters, limits=few).rows.to_pylist()
        assert counts
        assert all(row["n"] == row["joined"] for row in counts)
        places = "MATCH (d:Document)-[m:MENTIONS]->(e:Entity) RETURN d.id AS d, e.id AS e, m.start AS start, m.stop AS stop"
        found = {
            (row["d"], row["e"]): (row["start"], row["stop"]) for row in store.read(places, limits=Limits(rows=10**5)).rows.to_pylist()
        }
    first: dict[tuple[str, str], tuple[int, int]] = {}
    for row in workspace.read_table("mentions").to_pylist():
        place = (row["start"], row["end"])
        first[row["document"], row["entity"]] = min(place, first.get((row["document"], row["entity"]), place))
    assert found == first


def test_a_chain_without_a_candidate_is_that_of_the_answer(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, folder)
    _, instance = instances(folder)[-1]
    assert ask(server, "sample_chain", sample=instance.id) == ask(
        server, "sample_chain", sample=instance.id, candidate=str(instance.answer_id)
    )


def test_loading_twice_adds_nothing(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, folder)
    before = counted(server)
    assert not add(server, workspace, folder)
    assert counted(server) == before


def test_an_interrupted_load_goes_on_to_the_same(
    server: Neo4jStore, workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "BATCH_ROWS", 300)
    add(server, workspace, folder)
    whole = counted(server)
    erase_part(server, SAMPLES, "d", rows=2)
    assert "Sample" not in counted(server)
    assert part_markers(server) == {}
    stops = 0
    while True:
        items: list[int] = []

        def advance(amount: int, items: list[int] = items) -> None:
            items.append(amount)
            if len(items) > 3:
                raise KeyboardInterrupt

        try:
            assert add(server, workspace, folder, advance=advance)
            break
        except KeyboardInterrupt:
            stops += 1
            assert not marker(server).finished
    assert stops > 2
    assert sum(items) == whole["Sample"]
    assert counted(server) == whole


def test_an_answer_that_was_lost_is_not_written_again(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    real = server.write
    lost: list[list[list[object]]] = []

    def write(query: Query, arguments: Any = None, **expected: Any) -> list[list[Any]]:
        # The first commit's answer never came, and the driver sent the batch again.
        if query.name == "add_samples" and not lost:
            lost.append(real(query, arguments, **expected))
        return real(query, arguments, **expected)

    server.write = write  # type: ignore[method-assign]
    assert add(server, workspace, folder)
    assert len(lost) == 1
    assert counted(server)["Sample"] == len(instances(folder))


def test_of_two_loaders_the_last_goes_on(server: Neo4jStore, workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "BATCH_ROWS", 300)

    def takes_over(amount: int) -> None:
        if amount and not marker(server).finished:
            add(server, workspace, folder)

    with pytest.raises(StoreConflict, match="took over"):
        add(server, workspace, folder, advance=takes_over)
    assert counted(server)["Sample"] == len(instances(folder))
    assert marker(server).finished


def test_other_samples_of_that_name_are_not_touched(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, folder)
    before = counted(server)
    with pytest.raises(StoreConflict, match=r"other samples of d; replace them with kgqa load .* --replace\.$"):
        add(server, workspace, folder, content="others")
    assert counted(server) == before
    # The same questions in a dataset of another name are other samples.
    assert add(server, workspace, folder, dataset="e", content="others")
    assert counted(server)["Sample"] == 2 * before["Sample"]
    erase_part(server, SAMPLES, "d", rows=2)
    assert counted(server) == before
    assert list(part_markers(server)) == [("e", "samples")]


def test_a_graph_that_is_no_longer_this_one_takes_no_samples(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    with pytest.raises(StoreConflict, match="replaces the graph"):
        add(server, workspace, folder, tables="another")
    assert "Sample" not in counted(server)


def test_an_entity_that_is_gone_is_noticed(server: Neo4jStore, workspace: Workspace, folder: Path, neo4j_database: Neo4jSettings) -> None:
    from neo4j import GraphDatabase

    _, instance = instances(folder)[0]
    with GraphDatabase.driver(neo4j_database.uri, auth=("neo4j", neo4j_database.password)) as driver:
        driver.execute_query("MATCH (e:Entity {id: $id}) DETACH DELETE e", id=instance.answer_id)
    with pytest.raises(StoreError, match="missing from the graph"):
        add(server, workspace, folder)


@pytest.mark.parametrize("label", ["Sample", "Filter"])
def test_samples_of_somebody_else_are_noticed(
    server: Neo4jStore, workspace: Workspace, folder: Path, neo4j_database: Neo4jSettings, label: str
) -> None:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(neo4j_database.uri, auth=("neo4j", neo4j_database.password)) as driver:
        driver.execute_query(f"CREATE (:{label} {{id: 'mine'}})")
    for change in (lambda: add(server, workspace, folder), lambda: kgqa.load(workspace.path, replace=True)):
        with pytest.raises(StoreConflict, match=f"1 {label.lower()}s in it were not added by kgqa"):
            change()
    assert counted(server)[label] == 1
