"""HotpotQA's format: official records come back as they were, and a supporting fact means one sentence of one paragraph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, DuplicateId
from kgqa.formats import hotpotqa, native
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset

EXAMPLES = Path(__file__).parent / "examples" / "hotpotqa_dev.json"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
CONTEXTS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3)), max_size=4)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Questions with paragraphs, or gold without; with facts that are there, in any order and repeated, and facts that are not."""
    context = draw(CONTEXTS)
    there = [(title, number) for title, sentences in context for number in range(len(sentences))]
    absent = [("nowhere at all", 3), *[(title, place) for title, sentences in context for place in (len(sentences), -1)]]
    facts = draw(st.none() | st.lists(st.sampled_from(there + absent), max_size=5))
    record: dict[str, Any] = {"_id": draw(TEXT.filter(bool))}
    for field in draw(st.sets(st.sampled_from(["answer", "type", "level", "more"]))):
        record[field] = draw(TEXT)
    if facts is not None:
        record["supporting_facts"] = [list(fact) for fact in facts]
    whole: dict[str, Any] = {"question": draw(TEXT), "context": [list(entry) for entry in context]}
    is_gold = {"answer", "supporting_facts"} <= record.keys()
    return record | {field: value for field, value in whole.items() if not is_gold or draw(st.booleans())}


@given(st.lists(records(), max_size=3, unique_by=lambda record: record["_id"]).filter(bool))
@settings(deadline=None)
def test_what_is_read_is_written(tmp_path_factory: pytest.TempPathFactory, given_records: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("hotpotqa")
    (folder / "x.json").write_text(json.dumps(given_records), "utf-8")
    instances = list(hotpotqa.read(folder / "x.json"))
    hotpotqa.write(instances, folder / "y.json")
    assert list(hotpotqa.read(folder / "y.json")) == instances
    assert json.loads((folder / "y.json").read_text("utf-8")) == given_records


def test_what_a_record_becomes() -> None:
    bridge, comparison, fullwiki, unlabelled = hotpotqa.read(EXAMPLES)
    assert [paragraph.id for paragraph in bridge.paragraphs] == ["0", "1", "2"]
    assert [paragraph.supporting for paragraph in bridge.paragraphs] == [True, True, False]  # the second Harne is another paragraph
    assert [paragraph.supporting_sentences for paragraph in bridge.paragraphs] == [(1,), (0,), ()]
    first = bridge.paragraphs[0]
    assert first.text == "The mill of Aldern grinds rye. It stands in Harne."
    assert first.sentences == (0, 30)
    assert (bridge.answers, bridge.answer_type, noted(bridge, "hotpotqa")) == (("the Sill",), "span", {"type": "bridge", "level": "hard"})
    assert (comparison.answers, comparison.answer_type) == (("yes",), "boolean")
    assert comparison.paragraphs[2].sentences == ()
    assert noted(fullwiki, "hotpotqa")["absent_facts"] == [["Bridge of Aldern", 0]]
    assert (unlabelled.answers, unlabelled.answer_type, unlabelled.paragraphs[0].supporting) == ((), "none", None)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"supporting_facts": [["Harne"]]}, "the field 'supporting_facts.0.1' is missing"),
        ({"context": [["Harne", "a text"]]}, "field 'context.0.1': expected a list, found text"),
        ({"answer": 5}, "field 'answer': expected text, found a number"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(change: dict[str, Any], part: str, tmp_path: Path) -> None:
    record = json.loads(EXAMPLES.read_text("utf-8"))[0]
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{**record, "_id": "other"}, {**record, **change}]), "utf-8")
    with pytest.raises(Exception, match=r"x.json, record 2") as error:
        list(hotpotqa.read(path))
    assert part in str(error.value)


def test_an_id_twice(tmp_path: Path) -> None:
    record = json.loads(EXAMPLES.read_text("utf-8"))[0]
    (tmp_path / "x.json").write_text(json.dumps([record, record]), "utf-8")
    with pytest.raises(DuplicateId, match=r"x.json, record 2: id hb1 was already used in record 1"):
        list(hotpotqa.read(tmp_path / "x.json"))


def test_another_format_in_between(tmp_path: Path) -> None:
    records = json.loads(EXAMPLES.read_text("utf-8"))
    (tmp_path / "x.json").write_text(json.dumps([records[0], {"id": "w", "query": "q", "candidates": []}]), "utf-8")
    with pytest.raises(Exception, match="record 2: the field '_id' is missing"):
        list(hotpotqa.read(tmp_path / "x.json"))
    (tmp_path / "y.json").write_text('[{"_id": "a"}]', "utf-8")
    with pytest.raises(BrokenInput, match="no known format"):
        open_dataset(tmp_path / "y.json")


@pytest.mark.real_data
def test_the_official_records_come_back(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "hotpotqa" / "hotpot_dev_distractor_200.json"
    source = open_dataset(path)
    instances = list(source.instances())
    assert (source.format, list(source.files), len(instances)) == ("hotpotqa", ["dev"], 200)
    assert all(sum(bool(paragraph.supporting) for paragraph in instance.paragraphs) == 2 for instance in instances)
    hotpotqa.write(instances, tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(path.read_text("utf-8"))
    native.write(instances, tmp_path / "again.parquet")
    assert list(native.read(tmp_path / "again.parquet")) == instances
