"""kgqa's own format loses nothing."""

from __future__ import annotations

import copy
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput
from kgqa.formats import columns, native
from kgqa.formats.huggingface import format as huggingface
from kgqa.records import Instance
from tests.formats.drawing import instances, sets


@given(sets(instances()), st.integers(1, 5))
@settings(deadline=None)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, drawn: list[Instance], batch: int) -> None:
    path = tmp_path_factory.mktemp("native") / "x.parquet"
    native.write(drawn, path)
    assert list(native.read(path, batch=batch)) == drawn
    for instance in drawn:
        found = native.find(path, instance.id)
        assert found == instance
    assert native.find(path, "not there at all") is None
    told = [None if one.grades is None else [grade and asdict(grade) for grade in one.grades] for one in drawn]
    assert [row["grades"] for row in native.read_fields(path, "id", "grades")] == told


def test_the_chains_of_answers_are_read_alone(seed_wikidata: Path) -> None:
    path = native.split_files(seed_wikidata / "datasets" / "wikihop")["train"]
    instances = list(native.read(path))
    expected = {
        instance.id: [list(chain) for chain in chains]
        for instance in instances
        for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=True)
        if candidate.id == instance.answer_id
    }
    assert any(len(instance.candidates or ()) > 1 for instance in instances)
    assert dict(native.answer_chains(path).collect().iter_rows()) == expected


@given(sets(instances(), at_least=1))
@settings(deadline=None)
def test_an_older_file_has_neither_grades_nor_alternatives(tmp_path_factory: pytest.TempPathFactory, drawn: list[Instance]) -> None:
    path = tmp_path_factory.mktemp("native") / "train.parquet"
    pq.write_table(columns.table_of(drawn).drop_columns(["grades", "alternatives"]), path)
    older = [replace(instance, grades=None, alternatives=None) for instance in drawn]
    assert list(native.read(path)) == older
    assert native.find(path, drawn[0].id) == older[0]
    assert list(native.read_fields(path, "grades")) == [{"grades": None}] * len(drawn)
    assert list(native.read_fields(path, "grades.list.element.text", "id")) == [{"grades": None, "id": one.id} for one in drawn]
    assert native.is_folder(path)
    assert list(huggingface.read(path)) == older


@pytest.mark.parametrize("domain", ["wikidata", "medline"])
def test_a_dataset_is_read_and_written_alike(domain: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    (dataset,) = (request.getfixturevalue(f"seed_{domain}") / "datasets").iterdir()
    for folder in (dataset, dataset / "masked"):
        for path in native.split_files(folder).values():
            instances = list(native.read(path))
            native.write(instances, tmp_path / "again.parquet")
            assert list(native.read(tmp_path / "again.parquet")) == instances


def test_what_is_no_dataset_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with pytest.raises(MissingInput, match="there is no such file"):
        list(native.read(path))
    path.write_text("x")
    with pytest.raises(BrokenInput, match="not a complete Parquet file"):
        list(native.read(path))
    pq.write_table(pa.table({"id": ["1"]}), path)
    with pytest.raises(MissingInput, match="the column 'question' is missing"):
        list(native.read(path))
    pq.write_table(pa.table({name: pa.array([None], pa.string()) for name in columns.SCHEMA.names}), path)
    with pytest.raises(BrokenInput, match=r"x\.parquet: the column 'paragraphs' is of another type than an Instance's"):
        list(native.read(path))
    with pytest.raises(MissingInput, match="holds no dataset"):
        native.split_files(tmp_path)


ROW: dict[str, Any] = {
    "id": "q1",
    "question": "Who built the bridge of Orrin?",
    "paragraphs": [
        {
            "id": "0",
            "title": None,
            "text": "Ada built it.",
            "supporting": None,
            "mentions": [{"entity": "Q1", "start": 0, "end": 3}],
            "sentences": [0],
            "supporting_sentences": [0],
        }
    ],
    "answers": ["Ada"],
    "answer_id": None,
    "answer_type": "span",
    "candidates": [{"id": "Q1", "text": "Ada"}],
    "chains": [[["Q1", "0"]]],
    "grades": [{"confidence": 0.5, "path": "built by", "text": "in one sentence"}],
    "decomposition": [{"id": "1", "question": "?", "answer": None, "paragraph_id": None, "depends_on": []}],
    "answerable": True,
    "group": "q1",
    "provenance": None,
}


def changed(*path: str | int, value: object) -> dict[str, Any]:
    """The sound row with one value changed."""
    row = copy.deepcopy(ROW)
    place: Any = row
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return row


@pytest.mark.parametrize(
    ("rows", "kind", "part"),
    [
        ([ROW, ROW], DuplicateId, "row 2: id q1 was already used in row 1"),
        ([ROW, changed("id", value=None)], BrokenInput, "row 2, field 'id': this is null"),
        ([changed("paragraphs", value=None)], BrokenInput, "row 1, field 'paragraphs': this is null"),
        ([changed("paragraphs", 0, value=None)], BrokenInput, "field 'paragraphs.element': this is null"),
        ([changed("paragraphs", 0, "text", value=None)], BrokenInput, "field 'paragraphs.text': this is null"),
        ([changed("paragraphs", 0, "mentions", 0, "start", value=None)], BrokenInput, "'paragraphs.mentions.start': this is null"),
        ([changed("answers", value=[None])], BrokenInput, "field 'answers.element': this is null"),
        ([changed("chains", value=[[["Q1", None]]])], BrokenInput, "field 'chains.element': this is null"),
        ([changed("grades", value=[])], BrokenInput, "field 'grades': expected one for each candidate"),
        ([changed("candidates", value=None)], BrokenInput, "field 'grades': expected one for each candidate"),
        ([changed("grades", 0, "confidence", value=None)], BrokenInput, "field 'grades.confidence': this is null"),
        ([changed("grades", 0, "path", value=None)], BrokenInput, "field 'grades.path': this is null"),
        ([changed("grades", 0, "confidence", value=1.5)], BrokenInput, "field 'grades.confidence': 1.5 is not from 0 to 1"),
        ([changed("grades", 0, "confidence", value=math.nan)], BrokenInput, "field 'grades.confidence': nan is not from 0 to 1"),
        ([changed("decomposition", 0, "depends_on", value=None)], BrokenInput, "field 'decomposition.depends_on': this is null"),
        ([changed("answer_type", value="name")], BrokenInput, "field 'answer_type': 'name' is none of candidate, span"),
        ([changed("paragraphs", value=ROW["paragraphs"] * 2)], DuplicateId, "row 1: two paragraphs of question q1 have the same id"),
    ],
)
def test_a_row_that_is_no_instance_is_named(rows: list[dict[str, Any]], kind: type[InputError], part: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    # A hundred sound rows before it: a fault is found wherever it stands in a batch.
    sound = [{**ROW, "id": str(number)} for number in range(100)]
    pq.write_table(pa.Table.from_pylist([ROW], schema=columns.SCHEMA), path)
    assert list(native.read(path)) == [native.instance(ROW)]
    for before in ([], sound):
        pq.write_table(pa.Table.from_pylist([*before, *rows], schema=columns.SCHEMA), path)
        with pytest.raises(kind) as error:
            list(native.read(path, batch=64))
        assert part.replace("row 1", f"row {1 + len(before)}").replace("row 2", f"row {2 + len(before)}") in str(error.value)
        assert str(error.value).startswith("x.parquet, row")


def test_columns_of_another_type(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = pa.Table.from_pylist([ROW], schema=columns.SCHEMA)
    wide = table.set_column(0, "id", table["id"].cast(pa.large_string())).set_column(
        3, "answers", table["answers"].cast(pa.large_list(pa.large_string()))
    )
    pq.write_table(wide, path)
    assert list(native.read(path)) == [native.instance(ROW)]
    double = pa.list_(pa.struct([("confidence", pa.float64()), ("path", pa.string()), ("text", pa.string())]))
    place = table.schema.get_field_index("grades")
    pq.write_table(table.set_column(place, "grades", table["grades"].cast(double)), path)
    assert list(native.read(path)) == [native.instance(ROW)]
    pq.write_table(table.set_column(place, "grades", pa.array([[0.5]])), path)
    with pytest.raises(BrokenInput, match="the column 'grades' is of another type"):
        list(native.read(path))
    pq.write_table(table.set_column(0, "id", pa.array([1])), path)
    with pytest.raises(BrokenInput, match="the column 'id' is of another type"):
        list(native.read(path))
    assert native.is_folder(path)
    path.write_bytes(path.read_bytes()[:-9])
    assert not native.is_folder(path)


def test_a_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    native.write([native.instance(ROW)], path)
    pq.write_table(pa.Table.from_pylist([ROW], schema=columns.SCHEMA), path, compression="none", use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"Ada built it.", b"Ada built \xff\xff."))
    with pytest.raises(BrokenInput, match="not a complete Parquet file"):
        list(native.read(path))
