"""QAngaroo's format: official records come back unchanged, ours look like them, and malformed ones are named."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, KgqaError, MissingInput
from kgqa.formats import native, qangaroo
from kgqa.formats.json.validate import validated
from kgqa.records import SPLITS, Candidate
from tests.lengths import example_count

RECORD: dict[str, Any] = {
    "id": "WH_dev_0",
    "query": "country of origin é",
    "answer": "usa",
    "candidates": ["canada", "usa"],
    "supports": ["One text.", "Another text 🌍."],
    "annotations": [["follows", "single"], ["likely", "multiple"]],
}
OFFICIAL = validated(RECORD, qangaroo.RECORD, "file.json")
TYPES = {"id": str, "query": str, "answer": str, "candidates": list, "supports": list}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


def official(folder: Path) -> list[Path]:
    """The official files."""
    paths = sorted((folder / "qangaroo").glob("*.json"))
    assert len(paths) == 8
    return paths


@pytest.mark.real_data
def test_official_records_come_back_unchanged(real_data: Path, tmp_path: Path) -> None:
    for path in official(real_data):
        records = json.loads(path.read_text("utf-8"))
        instances = list(qangaroo.read(path))
        assert [qangaroo.to_record(instance) for instance in instances] == records
        assert [qangaroo.from_record(record) for record in records] == instances
        assert [
            qangaroo.from_record(validated(qangaroo.to_record(instance), qangaroo.RECORD, path.name)) for instance in instances
        ] == instances
        qangaroo.write(instances, tmp_path / "again.json")
        assert json.loads((tmp_path / "again.json").read_text("utf-8")) == records
        native.write(instances, tmp_path / "native.parquet")
        assert list(native.read(tmp_path / "native.parquet")) == instances


@pytest.mark.real_data
def test_our_files_look_like_the_official_ones(real_data: Path, tmp_path: Path, seed_wikidata: Path, seed_medline: Path) -> None:
    for folder, name in ((seed_wikidata / "datasets" / "wikihop", "wikihop"), (seed_medline / "datasets" / "medhop", "medhop")):
        kgqa.export(folder, to="qangaroo", out=tmp_path / name)
        ours = json.loads((tmp_path / name / "train.json").read_text("utf-8"))[0]
        theirs = json.loads(next((real_data / "qangaroo").glob(f"{name}_train_*.json")).read_text("utf-8"))[0]
        assert {field: type(value) for field, value in ours.items()} == {field: type(value) for field, value in theirs.items()}
        assert bool(re.fullmatch(r"interacts_with DB\d{5}\?", ours["query"])) == bool(
            re.fullmatch(r"interacts_with DB\d{5}\?", theirs["query"])
        )


@pytest.mark.parametrize(("domain", "masked"), [("wikidata", False), ("wikidata", True), ("medline", False), ("medline", True)])
def test_an_exported_dataset_is_as_the_format_wants_it(domain: str, masked: bool, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    (dataset,) = (request.getfixturevalue(f"seed_{domain}") / "datasets").iterdir()
    written = kgqa.export(dataset, to="qangaroo", out=tmp_path)
    assert len(written) == 6
    seen: set[str] = set()
    for split in SPLITS:
        path = tmp_path / f"{split}{'.masked' if masked else ''}.json"
        records = json.loads(path.read_text("utf-8"))
        assert records
        for record, instance, source in zip(
            records, qangaroo.read(path), native.read((dataset / "masked" if masked else dataset) / f"{split}.parquet"), strict=True
        ):
            assert {field: type(record[field]) for field in record} == TYPES
            assert record["id"] not in seen
            seen.add(record["id"])
            candidates = record["candidates"]
            assert candidates == sorted(set(candidates))
            assert record["answer"] in candidates
            assert all(isinstance(text, str) and text for text in record["supports"])
            check_surface(domain, masked, record)
            # Reading back gives what was written.
            assert (instance.id, instance.question, instance.answers) == (record["id"], record["query"], (record["answer"],))
            assert [candidate.text for candidate in instance.candidates or ()] == candidates
            assert [paragraph.text for paragraph in instance.paragraphs] == record["supports"]
            assert qangaroo.to_record(instance) == record
            # And it says what the dataset says.
            assert (record["id"], len(candidates), len(record["supports"])) == (
                source.id,
                len(source.candidates or ()),
                len(source.paragraphs),
            )
            if domain == "wikidata":
                assert record["supports"] == [paragraph.text for paragraph in source.paragraphs]
                if not masked:
                    assert record["answer"] == source.answers[0].lower()


def check_surface(domain: str, masked: bool, record: dict[str, Any]) -> None:
    """MedHop shows ids, WikiHop lower-cased names, and the masked twins placeholders."""
    if masked:
        assert all(re.fullmatch(r"___MASK\d+___", candidate) for candidate in record["candidates"])
    elif domain == "medline":
        assert all(re.fullmatch(r"DB\d{5}", candidate) for candidate in record["candidates"])
        assert any(record["answer"] in text for text in record["supports"])
    else:
        assert [candidate.lower() for candidate in record["candidates"]] == record["candidates"]
    if domain == "medline":
        assert re.fullmatch(r"interacts_with DB\d{5}\?", record["query"])
    else:
        assert record["query"] == record["query"].lower()


def test_an_instance_without_candidates_cannot_be_written() -> None:
    instance = qangaroo.from_record(OFFICIAL)
    with pytest.raises(BrokenInput, match="instance WH_dev_0: QAngaroo has only questions with candidates"):
        qangaroo.to_record(replace(instance, candidates=None))


def test_what_a_recipe_made_or_somebody_answered_freely_is_not_written_if_it_breaks_what_official_files_promise() -> None:
    instance = qangaroo.from_record(OFFICIAL)
    free = replace(instance, answer_id=None, answers=("Mexico",), answer_type="span")
    made = replace(instance, answer_id=None, answers=("Mexico",), provenance='{"surface": "label"}')
    for each in (free, made):
        with pytest.raises(BrokenInput, match="instance WH_dev_0, field 'answer': 'Mexico' is not among the candidates"):
            qangaroo.to_record(each)
    alike = (Candidate(id="Q1", text="usa"), Candidate(id="Q2", text="USA"))
    with pytest.raises(BrokenInput, match="instance WH_dev_0, field 'candidates': 'usa' occurs twice"):
        qangaroo.to_record(replace(instance, candidates=alike, provenance='{"surface": "label"}'))
    with pytest.raises(BrokenInput, match="its provenance is not what kgqa writes"):
        qangaroo.to_record(replace(instance, provenance='{"surface": "upper"}'))


def test_unknown_fields_are_noted_and_never_replace_what_the_instance_says() -> None:
    instance = qangaroo.from_record(validated({**RECORD, "source": "é"}, qangaroo.RECORD, "x"))
    assert json.loads(instance.provenance or "") == {"qangaroo": {"annotations": RECORD["annotations"], "source": "é"}}
    stale = replace(instance, question="new", provenance=json.dumps({"qangaroo": {"query": "old", "id": "old", "source": "é"}}))
    assert qangaroo.to_record(stale) == {**{key: RECORD[key] for key in TYPES}, "query": "new", "source": "é"}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
ANNOTATIONS = st.lists(st.lists(TEXT, max_size=2), max_size=2)


@st.composite
def instances(draw: st.DrawFn) -> list[kgqa.Instance]:
    """What the format can hold."""
    records = []
    for id in draw(st.lists(TEXT.filter(bool), max_size=3, min_size=1, unique=True)):  # noqa: A001
        candidates = draw(st.lists(TEXT, max_size=4))
        answer = draw(st.sampled_from([*candidates, "none of them"]))
        record: dict[str, Any] = {"id": id, "query": draw(TEXT), "answer": answer, "candidates": candidates}
        record["supports"] = draw(st.lists(TEXT, max_size=3))
        if draw(st.booleans()):
            record["annotations"] = draw(ANNOTATIONS)
        records.append(qangaroo.from_record(validated(record, qangaroo.RECORD, "x")))
    return records


@given(instances())
@settings(deadline=None)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, instances: list[kgqa.Instance]) -> None:
    path = tmp_path_factory.mktemp("qangaroo") / "x.json"
    qangaroo.write(instances, path)
    assert list(qangaroo.read(path)) == instances


def test_candidates_are_sorted_as_they_are_shown() -> None:
    names = ("Zoo", "apple", "Émile")
    candidates = tuple(Candidate(id=f"Q{n}", text=name) for n, name in enumerate(names))
    provenance = json.dumps({"surface": "label"})
    instance = replace(qangaroo.from_record(OFFICIAL), candidates=candidates, answer_id="Q0", answers=("Zoo",), provenance=provenance)
    record = qangaroo.to_record(instance)
    assert record["candidates"] == ["apple", "zoo", "émile"]
    assert record["answer"] == "zoo"


def read(folder: Path, content: str | bytes) -> list[kgqa.Instance]:
    """What a file with this content holds."""
    path = folder / "file.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(qangaroo.read(path))


@pytest.mark.parametrize(
    ("content", "kind", "part"),
    [
        (b"", BrokenInput, "file.json: the file has no records"),
        (b"[]", BrokenInput, "file.json: the file has no records"),
        (b"[", BrokenInput, "file.json, record 1, character 1: this is not JSON"),
        (b"[" * 100_000, BrokenInput, "file.json, record 1: expected an object"),
        (b"{}", MissingInput, "file.json, line 1: the field 'id' is missing"),
        (b"3", BrokenInput, "file.json, line 1: expected an object, found a number"),
        (b"\xff", BrokenInput, "file.json, line 1, byte 0: this is not UTF-8"),
        (json.dumps([RECORD, 3]), BrokenInput, "record 2: expected an object"),
        (json.dumps([RECORD, RECORD]), DuplicateId, "record 2: id WH_dev_0 was already used in record 1"),
        (json.dumps([{**RECORD, "query": None}]), BrokenInput, "record 1, field 'query': expected text, found null"),
        (json.dumps([{**RECORD, "supports": ["x", 3]}]), BrokenInput, "record 1, field 'supports.1': expected text, found a number"),
        (json.dumps([{**RECORD, "supports": "x"}]), BrokenInput, "record 1, field 'supports': expected a list, found text"),
        (json.dumps([{**RECORD, "supports": ["\ud800"]}]), BrokenInput, "record 1: a text holds half of a surrogate pair"),
        (json.dumps([{**RECORD, "annotations": [3]}]), BrokenInput, "record 1, field 'annotations.0': expected a list, found a number"),
        (
            json.dumps([{name: value for name, value in RECORD.items() if name != "query"}]),
            MissingInput,
            "record 1: the field 'query' is missing",
        ),
    ],
)
def test_a_malformed_file_is_named(content: str | bytes, kind: type[KgqaError], part: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as error:
        read(tmp_path, content)
    assert part in str(error.value)


def test_a_whole_surrogate_pair_is_a_character(tmp_path: Path) -> None:
    (instance,) = read(tmp_path, json.dumps([RECORD]))
    assert qangaroo.to_record(instance) == RECORD


def check_sentence(text: str) -> None:
    """One sentence that names the file."""
    assert text.startswith("file.json")
    assert text.endswith(".")


@given(st.data())
@settings(deadline=None, max_examples=example_count(400))
def test_any_mutation_of_a_record_is_read_or_named(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    record = copy.deepcopy(RECORD)
    for _ in range(data.draw(st.integers(1, 3))):
        field = data.draw(st.sampled_from(sorted(RECORD)))
        how = data.draw(st.sampled_from(["drop", "replace", "inside", "rename"]))
        if how == "drop":
            record.pop(field, None)
        elif how == "rename":
            record[field + "s"] = record.pop(field, None)
        elif how == "inside" and isinstance(record.get(field), list):
            record[field].insert(0, data.draw(JSON))
        else:
            record[field] = data.draw(JSON)
    text = json.dumps([record], ensure_ascii=True)
    cut = data.draw(st.integers(0, len(text)) | st.just(len(text)))
    folder = tmp_path_factory.mktemp("fuzz")
    try:
        instances = read(folder, text[:cut])
    except KgqaError as error:
        check_sentence(str(error))
    else:
        qangaroo.write(instances, folder / "again.json")
        assert [qangaroo.to_record(instance) for instance in qangaroo.read(folder / "again.json")] == [
            qangaroo.to_record(instance) for instance in instances
        ]
