"""kgqa's own format loses nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.errors import BrokenInput, MissingInput
from kgqa.formats import native
from kgqa.records import ANSWER_TYPES, Candidate, Instance, Mention, Paragraph, Step

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["é", "e\u0301", "🌍 日本", "\0", "a\nb"])
PLACE = st.integers(0, 2**31 - 1)


def some(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Nothing, or several."""
    return st.none() | st.lists(values, max_size=3).map(tuple)


MENTIONS = st.builds(Mention, entity=TEXT, start=PLACE, end=PLACE)
PARAGRAPHS = st.builds(
    Paragraph,
    id=TEXT,
    title=st.none() | TEXT,
    text=TEXT,
    supporting=st.none() | st.booleans(),
    mentions=some(MENTIONS),
    sentences=some(PLACE),
    supporting_sentences=some(PLACE),
)
STEPS = st.builds(
    Step, id=TEXT, question=TEXT, answer=st.none() | TEXT, paragraph_id=st.none() | TEXT, depends_on=st.lists(TEXT, max_size=2).map(tuple)
)
INSTANCES = st.builds(
    Instance,
    id=TEXT,
    question=TEXT,
    paragraphs=st.lists(PARAGRAPHS, max_size=2).map(tuple),
    answers=st.lists(TEXT, max_size=2).map(tuple),
    answer_id=st.none() | TEXT,
    answer_type=st.sampled_from(sorted(ANSWER_TYPES)),
    candidates=some(st.builds(Candidate, id=TEXT, text=TEXT)),
    chains=some(st.lists(st.lists(TEXT, max_size=3).map(tuple), max_size=2).map(tuple)),
    decomposition=some(STEPS),
    answerable=st.booleans(),
    group=TEXT,
    provenance=st.none() | TEXT,
)


@given(st.lists(INSTANCES, max_size=4), st.integers(1, 5))
@settings(deadline=None)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, instances: list[Instance], batch: int) -> None:
    path = tmp_path_factory.mktemp("native") / "x.parquet"
    native.write(instances, path)
    assert list(native.read(path, batch=batch)) == instances
    for instance in instances:
        found = native.find(path, instance.id)
        assert found == next(other for other in instances if other.id == instance.id)
    assert native.find(path, "not there at all") is None


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
    with pytest.raises(BrokenInput, match="not a whole Parquet file"):
        list(native.read(path))
    pq.write_table(pa.table({"id": ["1"]}), path)
    with pytest.raises(MissingInput, match="the column 'question' is missing"):
        list(native.read(path))
    pq.write_table(pa.table({name: pa.array([None], pa.string()) for name in native.SCHEMA.names}), path)
    with pytest.raises(BrokenInput, match="a row is no Instance"):
        list(native.read(path))
    with pytest.raises(MissingInput, match="holds no dataset"):
        native.split_files(tmp_path)
