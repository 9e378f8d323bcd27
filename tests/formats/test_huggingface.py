"""What ``datasets`` reads: our sets load there, its layouts and the hub's flat sets are read here, and what is missing is named."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, KgqaError, MissingInput, SettingsError
from kgqa.formats import drop, native
from kgqa.formats.faults import faults_of
from kgqa.formats.huggingface import format as huggingface, hub, rows as hub_rows
from kgqa.formats.instance_json import to_row
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.records import HUB_SPLITS, Instance
from tests.command import run_command
from tests.formats.drawing import instances, sets

SQUAD = {
    "id": "s1",
    "title": "Harne",
    "context": "Harne lies on the Sill.",
    "question": "On which river does Harne lie?",
    "answers": {"text": ["the Sill", "Sill"], "answer_start": [14, 18]},
}
HOTPOTQA = {
    "id": "h1",
    "question": "What flows past the mill's town?",
    "answer": "the Sill",
    "type": "bridge",
    "level": "easy",
    "supporting_facts": {"title": ["Mill", "Harne"], "sent_id": [1, 0]},
    "context": {"title": ["Mill", "Harne"], "sentences": [["It grinds.", " It is in Harne."], ["Harne lies on the Sill."]]},
}
MUSIQUE = {
    "id": "2hop__1_2",
    "paragraphs": [{"idx": 0, "title": "Harne", "paragraph_text": "Harne lies on the Sill.", "is_supporting": True}],
    "question": "What flows past it?",
    "question_decomposition": [{"id": 1, "question": "Harne >> river", "answer": "Sill", "paragraph_support_idx": 0}],
    "answer": "Sill",
    "answer_aliases": ["the Sill"],
    "answerable": True,
}
STRATEGYQA = {"qid": "y1", "term": "Harne", "description": "town", "question": "Is Harne dry?", "answer": False, "facts": ["A river."]}
QANGAROO = {"id": "w1", "query": "river harne", "answer": "sill", "candidates": ["orr", "sill"], "supports": ["Harne lies on the Sill."]}
DROP = {
    "section_id": "nfl_1",
    "query_id": "d1",
    "passage": "Ada ran 3 yards and Bo ran 5.",
    "question": "Who ran?",
    "answers_spans": {"spans": ["Ada", "Bo", "Ada", "Bo"], "types": ["span"] * 4},
}
UNANSWERABLE = {**SQUAD, "id": "s2", "answers": {"text": [], "answer_start": []}}
FLAT: dict[str, dict[str, Any]] = {
    "squad": SQUAD,
    "hotpotqa": HOTPOTQA,
    "musique": MUSIQUE,
    "strategyqa": STRATEGYQA,
    "qangaroo": QANGAROO,
    "drop": DROP,
}


def parquet(path: Path, *rows: dict[str, Any], schema: pa.Schema | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)
    return path


def read(path: Path) -> list[Instance]:
    return list(open_dataset(path).instances())


@given(sets(instances()), sets(instances(), at_least=1))
@settings(deadline=None, max_examples=30)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, dev: list[Instance], test: list[Instance]) -> None:
    folder = tmp_path_factory.mktemp("huggingface") / "set"
    huggingface.write_folder({"dev": dev, "test": test}, folder)
    assert open_dataset(folder).format == "huggingface"
    found = huggingface.splits(folder)
    assert list(huggingface.read(found["test"])) == test
    if dev:
        assert list(huggingface.read(found["dev"])) == dev


def test_our_sets_load_with_datasets(seed_wikidata: Path, tmp_path: Path) -> None:
    import datasets

    source = seed_wikidata / "datasets" / "wikihop"
    done = kgqa.convert(source, to="huggingface", out=tmp_path / "hub")
    assert done.changed == {}
    loaded = datasets.load_dataset(str(tmp_path / "hub"), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "validation", "test"}
    for split, name in HUB_SPLITS.items():
        rows = [json.loads(json.dumps(to_row(instance))) for instance in native.read(source / f"{split}.parquet")]
        assert list(loaded[name]) == rows


@pytest.mark.parametrize("form", FLAT)
def test_a_flat_set_is_read_as_its_format(form: str, tmp_path: Path) -> None:
    (found,) = read(parquet(tmp_path / "set" / "data" / "validation-00000-of-00001.parquet", FLAT[form]).parent)
    assert hub_rows.form_of(FLAT[form], "x").name == form
    native.write([found], tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet") == [found]


def test_what_the_flat_sets_say(tmp_path: Path) -> None:
    found = {form: read(parquet(tmp_path / f"{form}.parquet", row))[0] for form, row in FLAT.items()}
    assert found["squad"].answers == ("the Sill", "Sill")
    assert (found["squad"].paragraphs[0].title, found["squad"].paragraphs[0].text) == ("Harne", "Harne lies on the Sill.")
    assert noted(found["squad"], "squad")["answers"] == [{"text": "the Sill", "answer_start": 14}, {"text": "Sill", "answer_start": 18}]
    hotpotqa = found["hotpotqa"]
    assert [(p.title, p.supporting_sentences) for p in hotpotqa.paragraphs] == [("Mill", (1,)), ("Harne", (0,))]
    assert (hotpotqa.paragraphs[0].text, noted(hotpotqa, "hotpotqa")) == ("It grinds. It is in Harne.", {"type": "bridge", "level": "easy"})
    assert found["musique"].answers == ("Sill", "the Sill")
    assert (found["strategyqa"].answers, found["strategyqa"].answer_type) == (("no",), "boolean")
    assert found["qangaroo"].answer_id == "sill"


@pytest.mark.parametrize(
    ("spans", "types", "answers", "gold"),
    [
        (["Ada", "Bo"], ["span", "span"], ("Ada", "Bo"), (("Ada", "Bo"),)),
        (["Ada", "Bo", "Ada", "Bo"], ["span"] * 4, ("Ada", "Bo"), (("Ada", "Bo"), ("Ada", "Bo"))),
        (["3", "4"], ["number", "number"], ("3", "4"), (("3",), ("4",))),
        (["3", "May 1990"], ["number", "date"], ("3", "May 1990"), (("3",), ("May 1990",))),
        (["May 1990", "3"], ["date", "number"], ("May 1990", "3"), (("May 1990",), ("3",))),
        (["May 1990", "May"], ["date", "span"], ("May 1990", "May"), (("May 1990",), ("May",))),
    ],
)
def test_the_answers_of_drops_annotators(
    spans: list[str], types: list[str], answers: tuple[str, ...], gold: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    (found,) = read(parquet(tmp_path / "x.parquet", {**DROP, "answers_spans": {"spans": spans, "types": types}}))
    assert found.answers == answers
    assert drop.gold_answers(found) == gold


def test_a_question_without_answers_is_that_of_squad_2(tmp_path: Path) -> None:
    first, second = read(parquet(tmp_path / "x.parquet", SQUAD, UNANSWERABLE))
    assert (first.answerable, second.answerable, second.answers) == (True, False, ())
    assert kgqa.convert(tmp_path / "x.parquet", to="squad2", out=tmp_path / "squad2.json").counts == {"test": 2}


def test_the_hubs_layouts(tmp_path: Path) -> None:
    rows = [{**SQUAD, "id": str(number)} for number in range(4)]
    for number in (0, 1):
        parquet(tmp_path / "a" / "data" / f"train-{number:05}-of-00002.parquet", *rows[2 * number : 2 * number + 2])
    parquet(tmp_path / "a" / "data" / "test-00000-of-00001.parquet", rows[0])
    found = open_dataset(tmp_path / "a")
    assert {split: path.name for split, path in found.files.items()} == {
        "train": "train-*-of-00002.parquet",
        "test": "test-00000-of-00001.parquet",
    }
    assert [instance.id for instance in found.read("train")] == ["0", "1", "2", "3"]
    for number in (0, 1):
        parquet(tmp_path / "b" / "plain_text" / "validation" / f"{number:04}.parquet", *rows[2 * number : 2 * number + 2])
    assert [instance.id for instance in open_dataset(tmp_path / "b").read("dev")] == ["0", "1", "2", "3"]
    (tmp_path / "a" / "data" / "train-00000-of-00002.parquet").unlink()
    with pytest.raises(MissingInput, match=r"train-00000-of-00002\.parquet: this part is missing"):
        open_dataset(tmp_path / "a")


def test_two_configurations_are_a_question(tmp_path: Path) -> None:
    for config in ("distractor", "fullwiki"):
        parquet(tmp_path / config / "validation-00000-of-00001.parquet", HOTPOTQA)
    with pytest.raises(BrokenInput, match=r"its dev split is in several folders \(distractor, fullwiki\); give one of these"):
        open_dataset(tmp_path)
    assert len(read(tmp_path / "distractor")) == 1
    parquet(tmp_path / "distractor" / "dev.parquet", HOTPOTQA)
    with pytest.raises(BrokenInput, match=r"both dev\.parquet and validation-00000-of-00001\.parquet are its dev split"):
        open_dataset(tmp_path / "distractor")


@pytest.mark.parametrize(
    ("rows", "kind", "part"),
    [
        ([{"text": "x", "label": 1}], BrokenInput, "x.parquet, row 1: no known question set has these columns (text, label); rename them"),
        ([SQUAD, SQUAD], DuplicateId, "x.parquet, row 2: id s1 was already used in row 1"),
        ([{**SQUAD, "context": None}], MissingInput, "x.parquet, row 1: the field 'context' is missing"),
        ([{**SQUAD, "question": None}], MissingInput, "x.parquet, row 1: the field 'question' is missing"),
        (
            [{**SQUAD, "answers": {"text": ["Sill"], "answer_start": [1, 2]}}],
            BrokenInput,
            "row 1, field 'answers': text and answer_start are not of the same length",
        ),
        ([{**SQUAD, "answers": {"text": ["Sill"]}}], MissingInput, "row 1: the field 'answers.answer_start' is missing"),
        ([{**SQUAD, "title": 3}], BrokenInput, "row 1, field 'title': expected text, found a number"),
        ([{**SQUAD, "score": float("nan")}], BrokenInput, "row 1, field 'score': expected only text, numbers, lists and objects"),
        ([{**SQUAD, "image": b"x"}], BrokenInput, "row 1, field 'image': expected only text, numbers, lists"),
        ([{**HOTPOTQA, "context": "x"}], BrokenInput, "row 1, field 'context': expected an object, found text"),
        ([{**DROP, "section_id": 3.5}], BrokenInput, "row 1, field 'section_id': expected text, found a number"),
    ],
)
def test_what_is_broken_is_named(rows: list[dict[str, Any]], kind: type[InputError], part: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as error:
        read(parquet(tmp_path / "x.parquet", *rows))
    assert part in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("row", "place", "kind"),
    [
        ({**SQUAD, "answers": {"text": ["Sill"], "answer_start": [3]}}, "answers.0.answer_start", "wrong-place"),
        ({**UNANSWERABLE, "answers": {"text": ["Orr"], "answer_start": [-1]}}, "answers.0.answer_start", "wrong-place"),
        ({**HOTPOTQA, "supporting_facts": {"title": ["Mill"], "sent_id": [9]}}, "supporting_facts.0", "absent-support"),
        ({**DROP, "answers_spans": {"spans": [""], "types": ["number"]}}, "answer", "absent-answer"),
    ],
)
def test_rows_with_faults_of_content_are_kept(row: dict[str, Any], place: str, kind: str, tmp_path: Path) -> None:
    path = parquet(tmp_path / "x.parquet", row)
    (instance,) = read(path)
    assert [(fault.place, fault.kind) for fault in faults_of(instance)] == [(place, kind)]
    with pytest.raises(BrokenInput, match=rf"^x\.parquet, question {instance.id}, field '{place}'"):
        list(open_dataset(path, strict=True).instances())


def test_files_that_are_no_parquet(tmp_path: Path) -> None:
    path = parquet(tmp_path / "x.parquet", SQUAD)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BrokenInput, match=r"x\.parquet: this is not a complete Parquet file"):
        read(path)
    parquet(path, schema=pa.schema([(name, pa.string()) for name in SQUAD]))
    with pytest.raises(BrokenInput, match=r"x\.parquet: the split has no rows"):
        read(path)
    huggingface.write_folder({"dev": [replace(read(parquet(path, SQUAD))[0], provenance=None)]}, tmp_path / "set")
    for file in (tmp_path / "set" / "data").iterdir():
        file.unlink()
    with pytest.raises(MissingInput, match="no file here is named train, dev or test"):
        open_dataset(tmp_path / "set")


class TestTheHub:
    @pytest.fixture
    def mirrored(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None, str | None]]:
        """A folder in place of the hub; which names, configs and revisions were asked for."""
        import datasets

        parquet(tmp_path / "hub" / "data" / "validation-00000-of-00001.parquet", HOTPOTQA, {**HOTPOTQA, "id": "h2"})
        parquet(tmp_path / "hub" / "data" / "extra-00000-of-00001.parquet", HOTPOTQA)
        asked: list[tuple[str, str | None, str | None]] = []
        load = datasets.load_dataset

        def from_folder(name: str, config: str | None, *, revision: str | None, split: str | None, streaming: bool) -> Any:
            asked.append((name, config, revision))
            return load(str(tmp_path / "hub"), config, split=split, streaming=streaming)

        monkeypatch.setattr(datasets, "load_dataset", from_folder)
        return asked

    def test_a_set_is_streamed(self, mirrored: list[Any], tmp_path: Path) -> None:
        done = kgqa.convert("hf://owner/name@refs/pr/1", to="hotpotqa", out=tmp_path / "dev.json")
        assert (done.source.format, done.counts, done.changed) == ("huggingface", {"dev": 2}, {})
        assert mirrored[0] == ("owner/name", None, "refs/pr/1")
        assert [record["_id"] for record in json.loads((tmp_path / "dev.json").read_text("utf-8"))] == ["h1", "h2"]

    @pytest.mark.usefixtures("mirrored")
    def test_a_configuration_that_is_not_there(self) -> None:
        with pytest.raises(BrokenInput, match=r"hf://owner/name#other: the set cannot be read from the hub .*'other'"):
            open_dataset("hf://owner/name#other")

    @pytest.mark.usefixtures("mirrored")
    def test_columns_that_are_unknown(self, tmp_path: Path) -> None:
        parquet(tmp_path / "hub" / "data" / "validation-00000-of-00001.parquet", {"text": "x", "label": 1})
        (tmp_path / "hub" / "data" / "extra-00000-of-00001.parquet").unlink()
        with pytest.raises(BrokenInput, match=r"hf://owner/name, row 1: no known question set has these columns \(text, label\)"):
            list(open_dataset("hf://owner/name").instances())

    @pytest.mark.parametrize("name", ["hf://", "hf:/a/b", "hf://a/b/c", "hf://a b", "hf://owner/name@", "hf://owner/name#"])
    def test_what_is_no_name(self, name: str) -> None:
        with pytest.raises(SettingsError, match=f"^{name}: a set on the hub is named hf://owner/name"):
            open_dataset(name)

    @pytest.mark.usefixtures("mirrored")
    def test_every_sentence_shows_the_address_as_it_was_given(self, tmp_path: Path) -> None:
        name = "hf://owner/name@refs/pr/1"
        parquet(tmp_path / "hub" / "data" / "validation-00000-of-00001.parquet", HOTPOTQA, HOTPOTQA)
        with pytest.raises(DuplicateId, match=f"^{name}, row 2: id h1 was already used in row 1"):
            list(open_dataset(name).instances())
        with pytest.raises(SettingsError, match=f"^{name}: a set on the hub is read as huggingface; leave out --from musique"):
            open_dataset(name, "musique")
        parquet(tmp_path / "hub" / "data" / "validation-00000-of-00001.parquet", HOTPOTQA)
        (tmp_path / "predictions.json").write_text(json.dumps({"answer": {"other": "x"}, "sp": {}}))
        with pytest.raises(KgqaError, match=f"another set than {name}"):
            kgqa.evaluate(name, tmp_path / "predictions.json", metric="hotpotqa")
        (tmp_path / "hub" / "data" / "validation-00000-of-00001.parquet").unlink()
        with pytest.raises(MissingInput, match=rf"^{name}: it has no split called train"):
            open_dataset(name, "huggingface")

    @pytest.mark.usefixtures("mirrored")
    def test_what_is_made_of_it_has_its_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        name = "hf://owner/name@refs/pr/1"
        monkeypatch.chdir(tmp_path)
        kgqa.convert(name, to="native", out="native")
        assert "\n# name\n" in Path("native", "README.md").read_text()
        assert json.loads(Path("native", "manifest.json").read_text())["inputs"] == {}
        done = kgqa.audit(name, against=[name, "hf://owner/other", tmp_path / "native"])
        assert (done.dataset, done.html) == ("name", Path("name-audit", "audit.html"))
        assert set(done.questions) == {"name/dev", "other/dev", "native/dev", "dev"}
        texts = {"title": [*"abcd", "Mill", "Harne"], "sentences": [*[["Rye."]] * 4, *HOTPOTQA["context"]["sentences"]]}  # type: ignore[index]
        parquet(tmp_path / "hub" / "data" / "validation-00000-of-00001.parquet", {**HOTPOTQA, "context": texts})
        made = kgqa.contrast("probe", name, out="made")
        settings = json.loads(Path("made", "manifest.json").read_text())
        assert (made.source.name, settings["inputs"]) == ("name", {})
        assert "hf:" not in Path("made", "README.md").read_text()

    def test_the_parts_of_a_name(self) -> None:
        name = "hf://owner/name@refs/convert/parquet#a/b"
        parts = hub.HubAddress(name=name, repository="owner/name", revision="refs/convert/parquet", config="a/b")
        assert hub.address(name) == parts
        assert hub.address(Path("hf:") / "owner") is None
        assert hub.address("some/hf://owner") is None

    def test_a_hub_that_cannot_be_reached(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        done = run_command("convert", "hf://owner/name", "--to", "native", "--out", tmp_path / "out")
        done.sentence("hf://owner/name: the hub cannot be reached; check the connection, or fetch the set and give its folder.")
        assert not list(tmp_path.iterdir())

    def test_a_missing_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "datasets", None)
        with pytest.raises(SettingsError, match=r"needs datasets, which is not installed; run: pip install 'kgqa\[huggingface\]'"):
            open_dataset("hf://owner/name")


def test_what_is_wrong_in_content_is_kept(tmp_path: Path) -> None:
    rows: dict[str, tuple[dict[str, Any], str]] = {
        "hotpotqa": ({**HOTPOTQA, "supporting_facts": {"title": ["Mill"], "sent_id": [9]}}, "absent-support"),
        "qangaroo": ({**QANGAROO, "answer": "sea"}, "unlisted-answer"),
    }
    for name, (row, kind) in rows.items():
        source = open_dataset(parquet(tmp_path / f"{name}.parquet", row))
        assert len(list(source.instances())) == 1
        assert source.faults.kinds == {kind: 1}
