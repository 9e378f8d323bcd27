"""The table of predictions: everything comes back, the same predictions have the same bytes, other files are refused in a sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from kgqa.errors import BrokenInput, MissingInput
from kgqa.records import ANSWER_TYPES, Step
from kgqa.training import predictions
from kgqa.training.predictions import SCHEMA, read_table, write_table
from kgqa.training.reader import Prediction

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SHARE = st.floats(0, 1)
STEPS = st.builds(
    Step, id=TEXT, question=TEXT, answer=st.none() | TEXT, paragraph_id=st.none() | TEXT,
    depends_on=st.lists(TEXT, max_size=2).map(tuple),
)  # fmt: skip
PREDICTIONS = st.builds(
    Prediction, id=TEXT, answer=TEXT, candidate=st.none() | TEXT, confidence=SHARE, supporting=st.lists(TEXT, max_size=3).map(tuple),
    supporting_sentences=st.lists(st.tuples(TEXT, st.integers(0, 99)), max_size=3).map(tuple), answerable=st.booleans(),
    sufficiency=st.integers(-1, 1), paragraph_scores=st.lists(st.tuples(TEXT, SHARE), max_size=3).map(tuple),
    steps=st.lists(STEPS, max_size=2).map(tuple), parts=st.lists(TEXT, max_size=3).map(tuple),
    type=st.sampled_from(["", *ANSWER_TYPES]), value=st.none() | st.floats(-1e9, 1e9), unit=TEXT,
)  # fmt: skip


def test_the_columns_are_the_fields() -> None:
    assert SCHEMA.names == [field.name for field in fields(Prediction)]


@given(st.lists(PREDICTIONS, max_size=5))
def test_everything_comes_back(tmp_path_factory: pytest.TempPathFactory, said: list[Prediction]) -> None:
    path = tmp_path_factory.mktemp("table") / "predictions.parquet"
    assert write_table(said, path) == len(said)
    assert list(read_table(path)) == said
    first = path.read_bytes()
    write_table(iter(said), path)
    assert path.read_bytes() == first


def test_many_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "ROWS", 3)
    said = [Prediction(id=str(number), answer="x" * number) for number in range(10)]
    assert write_table(iter(said), tmp_path / "p.parquet") == 10
    assert list(read_table(tmp_path / "p.parquet")) == said


def test_a_reader_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    write_table([Prediction(id="a", answer="x")], tmp_path / "p.parquet")

    def failing() -> Iterator[Prediction]:
        yield Prediction(id="b", answer="x")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_table(failing(), tmp_path / "p.parquet")
    assert [predicted.id for predicted in read_table(tmp_path / "p.parquet")] == ["a"]
    assert os.listdir(tmp_path) == ["p.parquet"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no such file"):
        list(read_table(tmp_path / "p.parquet"))
    (tmp_path / "p.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(BrokenInput, match="not a complete Parquet file"):
        list(read_table(tmp_path / "p.parquet"))
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "p.parquet")
    with pytest.raises(BrokenInput, match="columns"):
        list(read_table(tmp_path / "p.parquet"))
