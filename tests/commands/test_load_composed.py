"""Composed questions on the graph: the steps of a question are its chain, in both stores."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.errors import BrokenInput
from kgqa.runs.graph import open_store
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.limits import Limits
from kgqa.store.neo4j import samples
from kgqa.store.queries import askable_queries
from tests.conftest import Cli
from tests.store.steps_truth import QUERIES, StepsTruth, composed_set

TRAIN = Path("datasets") / "musique" / "train.parquet"


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("composed") / "w"
    kgqa.compose(domain="wikidata", workspace=folder)
    return folder


@pytest.fixture
def workspace(composed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(composed, tmp_path / "w"))


def changed(workspace: Path, column: str, value: object) -> Path:
    """The dataset as a folder of its own, whose first question has another ``value`` in ``column``."""
    folder = Path(shutil.copytree(workspace / "datasets" / "musique", workspace.parent / "changed"))
    (folder / "manifest.json").write_text(json.dumps({"dataset": "changed"}))
    return again(folder, column, value)


def again(folder: Path, column: str, value: object) -> Path:
    """The same folder with another ``value`` in ``column`` of its first question."""
    table = pq.read_table(folder / "train.parquet")
    place = table.schema.get_field_index(column)
    values = pa.array([value, *table[column].to_pylist()[1:]], table.schema.field(place).type)
    pq.write_table(table.set_column(place, table.schema.field(place), values), folder / "train.parquet")
    return folder


def test_the_steps_of_a_question_are_its_chain(workspace: Path) -> None:
    question = pq.read_table(workspace / TRAIN).to_pylist()[0]
    entities = json.loads(question["provenance"])["compose"]["entities"]
    steps = [place for step, entity in zip(question["decomposition"], entities, strict=True) for place in (step["paragraph_id"], entity)]
    loaded = kgqa.load(workspace, store="embedded", dataset="musique", rejected=True)
    assert loaded.samples == sum(pq.read_metadata(workspace / TRAIN.with_stem(split)).num_rows for split in ("train", "dev", "test"))
    chain = kgqa.query("sample_chain", {"sample": question["id"]}, workspace=workspace).to_pylist()
    assert [row["id"] for row in chain] == steps
    assert [row["position"] for row in chain] == [*range(1, len(steps) + 1)]
    questions = [row for split in ("train", "dev", "test") for row in pq.read_table(workspace / TRAIN.with_stem(split)).to_pylist()]
    bridges = {entity for row in questions for entity in json.loads(row["provenance"])["compose"]["entities"][:-1]}
    assert set(kgqa.query("used_bridges", {}, workspace=workspace)["bridge"].to_pylist()) == bridges
    over = kgqa.query("samples_over", {"entity": entities[0]}, workspace=workspace).to_pylist()
    assert [row["sample"] for row in over] == [question["id"]]
    documents = kgqa.query("sample_documents", {"sample": question["id"]}, workspace=workspace).to_pylist()
    assert [row["document"] for row in documents] == [paragraph["id"] for paragraph in question["paragraphs"]]
    assert {row["document"] for row in documents if row["supporting"]} == set(steps[::2])
    answered = kgqa.query("samples_answered_by", {"entity": entities[-1]}, workspace=workspace).to_pylist()
    assert [row["sample"] for row in answered] == [question["id"]]
    assert kgqa.query("sample_candidates", {"sample": question["id"]}, workspace=workspace).num_rows == 0
    assert kgqa.load(workspace, store="embedded", dataset="musique", rejected=True).samples_already


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("provenance", "{}", "do not name their paragraphs and entities; load what kgqa compose made from the graph of a domain"),
        ("answer_id", None, "do not name their paragraphs and entities"),
        ("decomposition", None, "has no subject, candidates and chains"),
    ],
)
def test_a_set_without_steps_on_the_graph_is_refused(workspace: Path, column: str, value: object, sentence: str) -> None:
    with pytest.raises(BrokenInput, match=sentence):
        kgqa.load(workspace, store="embedded", dataset=changed(workspace, column, value))
    assert not (workspace / "store" / "loaded.json").exists()


@pytest.mark.parametrize(("needs", "identifier"), [(["b"], "b"), (["c"], "b"), (["elsewhere"], "b"), ([None], "b"), (["a"], "a")])
def test_steps_that_do_not_follow_one_another_are_refused(workspace: Path, needs: list[str | None], identifier: str) -> None:
    ids = ["a", identifier, "c"]
    question = pq.read_table(workspace / TRAIN).to_pylist()[0]
    entities = json.loads(question["provenance"])["compose"]["entities"]
    paragraph = question["decomposition"][0]["paragraph_id"]
    steps = [
        {"id": name, "question": "?", "answer": "x", "paragraph_id": paragraph, "depends_on": needs if place == 1 else []}
        for place, name in enumerate(ids)
    ]
    folder = changed(workspace, "decomposition", steps)
    folder = again(folder, "provenance", json.dumps({"compose": {"entities": [*entities, entities[-1]]}}))
    with pytest.raises(BrokenInput, match="a step depends on itself or a later step, or two steps have the same id"):
        kgqa.load(workspace, store="embedded", dataset=folder)
    assert not (workspace / "store" / "loaded.json").exists()


@pytest.mark.parametrize("store", ["embedded", pytest.param("neo4j", marks=pytest.mark.slow)])
def test_every_query_about_steps_gives_what_the_files_hold(
    store: str, workspace: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    neo4j: Neo4jSettings | None = request.getfixturevalue("neo4j_database") if store == "neo4j" else None
    monkeypatch.setattr(samples, "BATCH_ROWS", 60)  # several batches, each with questions of several steps
    folder = composed_set(tmp_path / "d", Workspace(workspace))
    loaded = kgqa.load(workspace, store=store, dataset=folder, neo4j=neo4j)
    truth, asked, found = StepsTruth(folder, Workspace(workspace)), set(), 0
    assert loaded.samples == len(truth.questions) == 15
    with closing(open_store(store, Workspace(workspace), neo4j=neo4j)) as graph:
        for name, arguments, expected in truth.asked():
            query = askable_queries()[name]
            rows = [tuple(row.values()) for row in graph.run(query, query.arguments(arguments)).to_pylist()]
            assert rows == expected, (name, arguments)
            asked.add(name)
            found += bool(expected)
        counts = "MATCH (u:SubQuestion) OPTIONAL MATCH (u)-[r]->(n) RETURN count(r) AS n"
        steps = [step for question in truth.questions for step in question["steps"]]
        assert graph.read(counts, limits=Limits(rows=1)).rows["n"].to_pylist() == [
            2 * len(steps) + sum(len(step["needs"]) for step in steps)
        ]
    assert asked == QUERIES
    assert found > 100
    # What is replaced leaves nothing behind.
    kgqa.load(workspace, store=store, dataset=folder, neo4j=neo4j, replace=True)
    with closing(open_store(store, Workspace(workspace), neo4j=neo4j)) as graph:
        assert graph.read("MATCH (u:SubQuestion) RETURN count(u) AS n", limits=Limits(rows=1)).rows["n"].to_pylist() == [len(steps)]


@pytest.fixture(scope="module")
def companies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with many composed questions, and many that were rejected."""
    folder = tmp_path_factory.mktemp("companies") / "w"
    kgqa.compose(domain="companies", filter="none", workspace=folder)
    return folder


@pytest.mark.parametrize("store", ["embedded", pytest.param("neo4j", marks=pytest.mark.slow)])
def test_what_was_rejected_and_why_is_found(store: str, companies: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    neo4j: Neo4jSettings | None = request.getfixturevalue("neo4j_database") if store == "neo4j" else None
    place = Path(shutil.copytree(companies, tmp_path / "w"))
    rejected = pq.read_table(place / "datasets" / "musique" / "rejected.parquet").to_pylist()
    names = {row["id"]: row["label"] for row in Workspace(place).read_table("entities").to_pylist()}
    assert {row["setting"] for row in rejected} > {"musique.split.max_answer_share"}
    assert kgqa.load(place, store=store, dataset="musique", rejected=True, neo4j=neo4j).rejected == len(rejected)

    def ask(name: str, **arguments: str) -> list[dict[str, object]]:
        return list(kgqa.query(name, {"limit": "1000", **arguments}, workspace=place, store=store, neo4j=neo4j).to_pylist())

    by_filter = ask("rejected_by_filter", filter="max_answer_share")
    expected = [row for row in rejected if row["setting"] == "musique.split.max_answer_share"]
    assert [(row["id"], row["question"], row["answer"], row["reason"]) for row in by_filter] == [
        (row["id"], row["question"], names[row["answer"]], row["reason"]) for row in expected
    ]
    answer = expected[0]["answer"]
    around = [(row["id"], row["stage"]) for row in ask("rejected_around", entity=answer)]
    assert around == [(row["id"], row["stage"]) for row in rejected if row["answer"] == answer]
    assert len(around) > 1


def test_only_composed_questions_have_steps(workspace: Path, seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    place = Path(shutil.copytree(seed_wikidata, tmp_path / "both"))
    kgqa.load(place, store="embedded", dataset="wikihop")
    kgqa.load(place, store="embedded", dataset=workspace / "datasets" / "musique")
    composed = pq.read_table(workspace / TRAIN)["id"][0].as_py()
    chosen = pq.read_table(place / "datasets" / "wikihop" / "train.parquet")["id"][0].as_py()
    assert kgqa.query("sample_steps", {"sample": composed}, workspace=place).num_rows == 2
    assert kgqa.query("sample_chain", {"sample": chosen}, workspace=place).num_rows
    outcome = cli("query", "sample_steps", "--sample", chosen, "--workspace", place)
    assert f"sample '{chosen}' has no steps; only composed questions have steps" in " ".join((outcome.out + outcome.err).split())
    hints = {
        ("--step", "7"): f"sample '{composed}' has the steps 1 to 2, and --step 7 is none of them; 0 means all.",
        ("--later", "-1"): f"sample '{composed}' has the steps 1 to 2, and --later -1 is none of them; 0 means all.",
        ("--step", "2", "--later", "1"): f"no step of sample '{composed}' asks about another with --step 2 and --later 1; leave these out",
    }
    for options, hint in hints.items():
        outcome = cli("query", "bridges_of_steps", "--sample", composed, *options, "--workspace", place)
        assert hint in " ".join(outcome.out.split())


def test_a_hostile_id_is_only_a_value(workspace: Path) -> None:
    name = "a/b'}) DETACH DELETE n // \N{SNOWMAN}"
    kgqa.load(workspace, store="embedded", dataset=changed(workspace, "id", name))
    assert kgqa.query("sample_chain", {"sample": name}, workspace=workspace).num_rows == 4


def test_both_stores_answer_alike(workspace: Path, neo4j_database: Neo4jSettings) -> None:
    loaded = kgqa.load(workspace, store="embedded", dataset="musique", rejected=True)
    assert kgqa.load(workspace, dataset="musique", rejected=True, neo4j=neo4j_database).samples == loaded.samples
    assert kgqa.load(workspace, dataset="musique", rejected=True, neo4j=neo4j_database).samples_already
    question = pq.read_table(workspace / TRAIN)["id"][0].as_py()
    for name in ("sample_chain", "sample_documents", "used_bridges", "loaded_datasets", "rejected_counts"):
        arguments = {"sample": question} if name.startswith("sample_") else {}
        rows = kgqa.query(name, arguments, workspace=workspace)
        assert rows.equals(kgqa.query(name, arguments, workspace=workspace, store="neo4j", neo4j=neo4j_database)), name
        assert rows.num_rows or name == "rejected_counts"
