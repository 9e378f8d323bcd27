"""Samples in the database are those of the dataset, loaded once, and replaced only when asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.commands.load import _samples
from kgqa.errors import StoreConflict, StoreError
from kgqa.formats import native
from kgqa.records import Grade, Instance
from kgqa.runs.graph import rows_of, tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.limits import Limits
from kgqa.store.neo4j import samples
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from kgqa.store.neo4j.samples import SampleRow, add_samples, erase_samples, sample_markers
from kgqa.store.queries import Query, askable_queries, read_queries
from tests.store.samples_truth import SamplesTruth


@pytest.fixture(params=["seed_wikidata", pytest.param("seed_medline", marks=pytest.mark.slow)])
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


def add(server: Neo4jStore, workspace: Workspace, rows: Iterator[SampleRow], content: str = "these") -> bool:
    return add_samples(server, rows, tables=tables_hash(workspace), dataset="d", content=content)


def instances(folder: Path) -> list[tuple[str, Instance]]:
    return [(split, instance) for split, path in native.split_files(folder).items() for instance in native.read(path)]


def ask(server: Neo4jStore, name: str, **arguments: str) -> list[dict[str, object]]:
    query = askable_queries()[name]
    return list(server.run(query, query.arguments(arguments)).to_pylist())


def counted(server: Neo4jStore) -> dict[str, int]:
    """How many relationships of each type, and nodes of each label."""
    few = Limits(rows=10, seconds=60)
    found = server.read("MATCH (s:Sample) OPTIONAL MATCH (s)-[r]->() RETURN type(r) AS type, count(r) AS n", limits=few).rows.to_pylist()
    nodes = server.read("MATCH (n) RETURN labels(n)[0] AS label, count(n) AS n", limits=few).rows.to_pylist()
    return {row["type"]: row["n"] for row in found} | {row["label"]: row["n"] for row in nodes}


def test_every_sample_is_there_with_its_candidates_documents_and_chains(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    assert add(server, workspace, _samples(folder))
    every = instances(folder)
    assert counted(server)["Sample"] == len(every) == sample_markers(server)["d"].samples
    for split, instance in every[:: max(1, len(every) // 20)]:
        assert instance.candidates
        assert instance.chains
        candidates = ask(server, "sample_candidates", sample=instance.id)
        assert [row["candidate"] for row in candidates] == [candidate.id for candidate in instance.candidates]
        assert [row["candidate"] for row in candidates if row["answer"]] == [instance.answer_id]
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
def test_every_query_about_samples_gives_what_the_parquet_files_hold(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, _samples(folder))
    truth = SamplesTruth(folder, workspace)
    assert truth.queries() == {query.name for query in read_queries().values() if query.file == "samples.cypher"}
    asked = 0
    for name, arguments, expected in truth.questions():
        found = [tuple(row.values()) for row in ask(server, name, **arguments)]
        assert found == expected, (name, arguments)
        asked += bool(expected)
    assert asked > 150


def test_what_has_no_grade_has_no_such_property(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, _samples(folder))
    text = "MATCH (:Sample)-[c:CANDIDATE]->() RETURN keys(c) AS keys, count(c) AS n"
    found = Counter[frozenset[str]]()
    for row in server.read(text, limits=Limits(rows=100, seconds=60)).rows.to_pylist():
        found[frozenset(row["keys"])] += row["n"]  # in any order
    grades = [grade for _, i in instances(folder) for grade in i.grades or [None] * len(i.candidates or ())]
    known = sum(grade is not None for grade in grades)
    plain = frozenset({"position", "answer"})
    assert found == {plain: len(grades) - known, plain | {"grade", "path", "text"}: known}


def test_samples_of_an_older_kgqa_are_replaced_only_when_asked(
    workspace: Workspace, folder: Path, neo4j_database: Neo4jSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.commands.load.SAMPLES_VERSION", samples.SAMPLES_VERSION - 1)
    kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database)
    monkeypatch.undo()
    with pytest.raises(StoreConflict, match=r"other samples of graded; replace them with kgqa load .* --replace\.$"):
        kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database)
    assert not kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database, replace=True).samples_already
    assert kgqa.load(workspace.path, dataset=folder, neo4j=neo4j_database).samples_already


def test_a_chain_without_a_candidate_is_that_of_the_answer(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, _samples(folder))
    _, instance = instances(folder)[-1]
    assert ask(server, "sample_chain", sample=instance.id) == ask(
        server, "sample_chain", sample=instance.id, candidate=str(instance.answer_id)
    )


def test_chains_of_one_document_have_no_entity_between_their_ends(server: Neo4jStore, workspace: Workspace) -> None:
    links = workspace.read_table("links").to_pylist()
    document = next(row["document"] for row in links if sum(other["document"] == row["document"] for other in links) > 2)
    subject, right, wrong = [row["entity"] for row in links if row["document"] == document][:3]
    row = SampleRow(
        id="s", split="train", row=0, question="q", relation="r", answer="a", subject=subject, answer_id=right, candidates=(right, wrong),
        supports=(document,), chains=(((subject, document, right),), ((subject, document, wrong),)),
    )  # fmt: skip
    assert add(server, workspace, iter([row]))
    for candidate in (right, wrong):
        steps = ask(server, "sample_chain", sample="s", candidate=candidate)
        assert [step["id"] for step in steps] == [subject, document, candidate]
    assert counted(server)["STEP"] == 1


def test_loading_twice_adds_nothing(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, _samples(folder))
    before = counted(server)
    assert not add(server, workspace, _samples(folder))
    assert counted(server) == before


def test_an_interrupted_load_goes_on_to_the_same(
    server: Neo4jStore, workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "BATCH_STEPS", 300)
    add(server, workspace, _samples(folder))
    whole = counted(server)
    erase_samples(server, "d")
    assert "Sample" not in counted(server)
    assert sample_markers(server) == {}
    stops = 0
    while True:
        seen: list[int] = []

        def advance(amount: int, seen: list[int] = seen) -> None:
            seen.append(amount)
            if len(seen) > 3:
                raise KeyboardInterrupt

        try:
            assert add_samples(server, _samples(folder), tables=tables_hash(workspace), dataset="d", content="these", advance=advance)
            break
        except KeyboardInterrupt:
            stops += 1
            assert not sample_markers(server)["d"].finished
    assert stops > 2
    assert sum(seen) == whole["Sample"]
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
    assert add(server, workspace, _samples(folder))
    assert len(lost) == 1
    assert counted(server)["Sample"] == len(instances(folder))


def test_of_two_loaders_the_last_goes_on(server: Neo4jStore, workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "BATCH_STEPS", 300)

    def takes_over(amount: int) -> None:
        if amount and not sample_markers(server)["d"].finished:
            add(server, workspace, _samples(folder))

    with pytest.raises(StoreConflict, match="took over"):
        add_samples(server, _samples(folder), tables=tables_hash(workspace), dataset="d", content="these", advance=takes_over)
    assert counted(server)["Sample"] == len(instances(folder))
    assert sample_markers(server)["d"].finished


def test_other_samples_of_that_name_are_not_touched(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    add(server, workspace, _samples(folder))
    before = counted(server)
    with pytest.raises(StoreConflict, match=r"other samples of d; replace them with kgqa load .* --replace\.$"):
        add(server, workspace, _samples(folder), content="others")
    assert counted(server) == before
    # The same questions in a dataset of another name are other samples.
    assert add_samples(server, _samples(folder), tables=tables_hash(workspace), dataset="e", content="others")
    assert counted(server)["Sample"] == 2 * before["Sample"]
    erase_samples(server, "d")
    assert counted(server) == before
    assert list(sample_markers(server)) == ["e"]


def test_a_graph_that_is_no_longer_this_one_takes_no_samples(server: Neo4jStore, workspace: Workspace, folder: Path) -> None:
    with pytest.raises(StoreConflict, match="replaces the graph"):
        add_samples(server, _samples(folder), tables="another", dataset="d", content="these")
    assert "Sample" not in counted(server)


def test_an_entity_that_is_gone_is_noticed(server: Neo4jStore, workspace: Workspace, folder: Path, neo4j_database: Neo4jSettings) -> None:
    from neo4j import GraphDatabase

    _, instance = instances(folder)[0]
    with GraphDatabase.driver(neo4j_database.uri, auth=("neo4j", neo4j_database.password)) as driver:
        driver.execute_query("MATCH (e:Entity {id: $id}) DETACH DELETE e", id=instance.answer_id)
    with pytest.raises(StoreError, match="missing from the graph"):
        add(server, workspace, _samples(folder))


def test_samples_of_somebody_else_are_noticed(
    server: Neo4jStore, workspace: Workspace, folder: Path, neo4j_database: Neo4jSettings
) -> None:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(neo4j_database.uri, auth=("neo4j", neo4j_database.password)) as driver:
        driver.execute_query("CREATE (:Sample {id: 'mine'})")
    for change in (lambda: add(server, workspace, _samples(folder)), lambda: kgqa.load(workspace.path, replace=True)):
        with pytest.raises(StoreConflict, match="1 samples are here that kgqa did not add"):
            change()
    assert counted(server)["Sample"] == 1
