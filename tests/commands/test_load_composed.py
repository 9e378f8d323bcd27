"""Composed questions on the graph: the steps of a question are its chain, in both stores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.errors import BrokenInput
from kgqa.settings.neo4j import Neo4jSettings

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
    table = pq.read_table(folder / "train.parquet")
    values = [value, *table[column].to_pylist()[1:]]
    place = table.schema.get_field_index(column)
    pq.write_table(
        table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type)), folder / "train.parquet"
    )
    (folder / "manifest.json").write_text(json.dumps({"dataset": "changed"}))
    return folder


def test_the_steps_of_a_question_are_its_chain(workspace: Path) -> None:
    question = pq.read_table(workspace / TRAIN).to_pylist()[0]
    entities = json.loads(question["provenance"])["compose"]["entities"]
    steps = [place for step, entity in zip(question["decomposition"], entities, strict=True) for place in (step["paragraph_id"], entity)]
    loaded = kgqa.load(workspace, store="embedded", dataset="musique", rejected=True)
    assert loaded.samples == pq.read_metadata(workspace / TRAIN).num_rows
    chain = kgqa.query("sample_chain", {"sample": question["id"]}, workspace=workspace).to_pylist()
    assert [row["id"] for row in chain] == steps
    assert [row["position"] for row in chain] == [*range(1, len(steps) + 1)]
    assert kgqa.query("used_bridges", {}, workspace=workspace)["bridge"].to_pylist() == entities[:-1]
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
