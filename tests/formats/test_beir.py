"""BEIR's folders: everything comes back, texts are shared where they are equal, and other tools' files are read as they are."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput, UnknownId
from kgqa.formats.beir import format as beir
from kgqa.formats.provenance import note
from kgqa.formats.question_set import open_dataset
from kgqa.records import Instance, Paragraph
from tests.formats.drawing import instances, paragraphs, sets

CORPUS = [
    {"_id": "d1", "title": "Mill of Aldern", "text": "The mill of Aldern grinds rye.", "metadata": {}},
    {"_id": "d2", "title": "", "text": "Harne lies on the Sill.", "metadata": {"url": "https://example.org/harne"}},
    {"_id": "d3", "title": "Sill", "text": "Der Fluß Sill ist kalt.", "metadata": {}},
]
QUERIES = [
    {"_id": "q2", "text": "Which river is cold?", "metadata": {"answer": "Sill"}},
    {"_id": "q1", "text": "What does the mill grind?", "metadata": {}},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td3\t2\nq1\td2\t0\n"


def folder_of(folder: Path, *, corpus: list[Any] = CORPUS, queries: list[Any] = QUERIES, **qrels: str | bytes) -> Path:
    """A folder as other tools write it."""
    (folder / "qrels").mkdir(parents=True)
    for name, records in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    for name, table in (qrels or {"test": QRELS}).items():
        (folder / "qrels" / f"{name}.tsv").write_bytes(table if isinstance(table, bytes) else table.encode())
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def paragraph(id: str, text: str, **fields: Any) -> Paragraph:  # noqa: A002
    unknown: dict[str, Any] = {"title": None, "supporting": None, "mentions": None, "sentences": None, "supporting_sentences": None}
    return Paragraph(**{**unknown, "id": id, "text": text, **fields})


def question(id: str, *paragraphs: Paragraph, **fields: Any) -> Instance:  # noqa: A002
    unknown: dict[str, Any] = dict.fromkeys(("answer_id", "candidates", "chains", "decomposition", "provenance"))
    said = {"question": "?", "answers": ("a",), "answer_type": "span", "answerable": True, "group": id}
    return Instance(**{**unknown, **said, "id": id, "paragraphs": paragraphs, **fields})


def test_what_other_tools_write_is_read_as_it_is(tmp_path: Path) -> None:
    found = open_dataset(folder_of(tmp_path / "set"))
    assert (found.format, list(found.files)) == ("beir", ["test"])
    first, second = found.instances()
    assert (first.id, first.question, first.answers, first.answer_type, first.group) == (
        "q1",
        "What does the mill grind?",
        (),
        "none",
        "q1",
    )
    assert [(p.id, p.title, p.text, p.supporting) for p in first.paragraphs] == [
        ("d1", "Mill of Aldern", "The mill of Aldern grinds rye.", True),
        ("d2", None, "Harne lies on the Sill.", False),
    ]
    assert found.remarks == []
    assert json.loads(first.provenance or "") == {"beir": {"corpus": {"d2": {"metadata": {"url": "https://example.org/harne"}}}}}
    assert json.loads(second.provenance or "") == {"beir": {"metadata": {"answer": "Sill"}, "scores": {"d3": 2}}}


def test_a_title_that_is_empty_elsewhere_is_told_from_none(tmp_path: Path) -> None:
    found = [question("q", paragraph("0", "x", title="", supporting=True), paragraph("1", "y", supporting=False))]
    beir.write_folder({"dev": found}, tmp_path / "set")
    assert [text["title"] for text in lines(tmp_path / "set" / "corpus.jsonl")] == ["", ""]
    again = open_dataset(tmp_path / "set")
    assert list(again.instances()) == found
    assert again.faults.kinds == {"empty-title": 1}


def test_other_tools_files_come_back(tmp_path: Path) -> None:
    source = folder_of(
        tmp_path / "set",
        dev="query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n",
        test="query-id\tcorpus-id\tscore\nq2\td3\t2\n",
    )
    done = kgqa.convert(source, to="beir", out=tmp_path / "again")
    assert (done.counts, done.changed) == ({"dev": 1, "test": 1}, {})
    for name in ("corpus", "queries"):
        assert sorted(map(json.dumps, lines(tmp_path / "again" / f"{name}.jsonl"))) == sorted(
            map(json.dumps, lines(source / f"{name}.jsonl"))
        )
    for split in ("dev", "test"):
        assert (tmp_path / "again" / "qrels" / f"{split}.tsv").read_bytes() == (source / "qrels" / f"{split}.tsv").read_bytes()
    assert {path.name for path in (tmp_path / "again").iterdir()} == {"corpus.jsonl", "queries.jsonl", "qrels"}


FEW = st.text(st.sampled_from("ab\"'é,"), min_size=1, max_size=2)
SHARED = paragraphs(ids=st.sampled_from(["0", "1", '"']), texts=st.sampled_from(["", "x", "y"]))
HELD = sets(instances(FEW, SHARED), at_least=2)


@given(HELD)
@settings(deadline=None)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, drawn: list[Instance]) -> None:
    splits = {"train": drawn[:1], "test": drawn[1:]}
    folder = tmp_path_factory.mktemp("beir") / "set"
    beir.write_folder(splits, folder)
    assert beir.is_folder(folder)
    assert {split: list(beir.read(path)) for split, path in beir.splits(folder).items()} == splits
    # Equal texts are there once; ids are the paragraphs' own unless one stands for two texts.
    texts = {(p.id, p.title or "", p.text) for instance in drawn for p in instance.paragraphs}
    shared = len({text[0] for text in texts}) == len(texts)
    corpus = lines(folder / "corpus.jsonl")
    assert len(corpus) == (len(texts) if shared else sum(len(instance.paragraphs) for instance in drawn))
    if shared:
        assert {(text["_id"], text["title"], text["text"]) for text in corpus} == texts
    # BEIR's own loader reads the tables with Python's csv module (beir.datasets.data_loader).
    with (folder / "qrels" / "train.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL))[1:]
    names = [p.id if shared else f"{drawn[0].id}#{p.id}" for p in drawn[0].paragraphs]
    assert rows == [[drawn[0].id, name, str(int(bool(p.supporting)))] for name, p in zip(names, drawn[0].paragraphs, strict=True)]


def test_questions_without_paragraphs_are_kept_in_their_split_and_place(tmp_path: Path) -> None:
    bare = {name: question(name) for name in "abcdef"}
    splits = {
        "train": [bare["a"], question("x", paragraph("0", "x")), bare["b"], bare["c"], question("y", paragraph("0", "x")), bare["d"]],
        "dev": [bare["e"]],
        "test": [question("z", paragraph("0", "x")), replace(bare["f"], provenance=note("hotpotqa", {"level": "easy"}))],
    }
    beir.write_folder(splits, tmp_path / "set")
    assert {split: list(beir.read(path)) for split, path in beir.splits(tmp_path / "set").items()} == splits
    assert (tmp_path / "set" / "qrels" / "dev.tsv").read_text("utf-8") == HEAD
    metadata = {query["_id"]: query["metadata"]["kgqa"] for query in lines(tmp_path / "set" / "queries.jsonl")}
    assert metadata["e"] == {"answers": ["a"], "answer_type": "span", "split": "dev"}
    assert "split" not in metadata["x"]


def test_other_tools_queries_that_no_table_judges_are_of_no_split(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "set", queries=[{"_id": "q0", "text": "?"}, *QUERIES, {"_id": "q3", "text": "?", "metadata": {}}])
    assert [instance.id for instance in open_dataset(folder).instances()] == ["q1", "q2"]


def test_only_what_the_files_do_not_say_is_carried(tmp_path: Path) -> None:
    held = question("q", paragraph("0", "x", title="t", supporting=True), answers=(), answer_type="none")
    said = replace(held, id="p", group="q", provenance=note("hotpotqa", {"level": "easy"}), paragraphs=(paragraph("0", "x", title="t"),))
    beir.write_folder({"test": [held, said]}, tmp_path / "set")
    carried = {"group": "q", "paragraphs": {"0": {"supporting": None}}, "provenance": '{"hotpotqa": {"level": "easy"}}'}
    assert [query["metadata"] for query in lines(tmp_path / "set" / "queries.jsonl")] == [{}, {"kgqa": carried}]
    assert len(lines(tmp_path / "set" / "corpus.jsonl")) == 1


def test_what_the_instance_says_wins_over_notes(tmp_path: Path) -> None:
    (first, second) = beir.read(folder_of(tmp_path / "set") / "qrels" / "test.tsv")
    d3 = replace(second.paragraphs[0], supporting=False)
    again = {"test": [replace(first, paragraphs=first.paragraphs[:1]), replace(second, paragraphs=(d3,))]}
    beir.write_folder(again, tmp_path / "again")
    table = (tmp_path / "again" / "qrels" / "test.tsv").read_text("utf-8")
    assert table == "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td3\t0\n"
    assert [text["_id"] for text in lines(tmp_path / "again" / "corpus.jsonl")] == ["d1", "d3"]


@pytest.mark.parametrize(
    ("instances", "kind", "part"),
    [
        ([question("q", paragraph("a\tb", "x"))], BrokenInput, "instance q: BEIR's tables cannot contain an id with a tab"),
        ([question("q\n", paragraph("a", "x"))], BrokenInput, "BEIR's tables cannot contain an id with a tab or line break"),
        ([question("q", paragraph("a", "x"))] * 2, DuplicateId, "instance q: this id occurs twice"),
        (
            [question("q", paragraph("a#b", "x"), paragraph("b", "v")), question("q#a", paragraph("b", "y"))],
            BrokenInput,
            "instance q#a: another question has another text with the id q#a#b",
        ),
        ([question("q", paragraph("a", "x"), provenance='{"beir": {"scores": 3}}')], BrokenInput, "instance q, provenance, field 'scores'"),
    ],
)
def test_what_has_no_place_is_said(instances: list[Instance], kind: type[InputError], part: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as error:
        beir.write_folder({"test": instances}, tmp_path / "set")
    assert part in str(error.value)


HEAD = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize(
    ("parts", "kind", "message"),
    [
        ({"test": ""}, BrokenInput, "test.tsv: expected the header query-id, corpus-id, score"),
        ({"test": "q1\td1\t1\n"}, BrokenInput, "test.tsv, line 1: expected the header"),
        ({"test": HEAD}, BrokenInput, "test.tsv: the table has no judgements"),
        ({"test": HEAD + "q1 d1 1\n"}, BrokenInput, "test.tsv, line 2: expected 3 fields separated by tabs, found 1"),
        ({"test": HEAD + "q1\td1\t1.5\n"}, BrokenInput, "line 2, field 'score': expected a whole number of at most 9 digits, found '1.5'"),
        ({"test": HEAD + "q1\td1\t" + "9" * 10_000}, BrokenInput, "field 'score': expected a whole number"),
        ({"test": HEAD + "q1\td1\t1\nq1\td1\t0\n"}, DuplicateId, "line 3: text 'd1' was already judged for question 'q1'"),
        ({"test": HEAD + "q9\td1\t1\n"}, UnknownId, "test.tsv: none of its questions is in queries.jsonl"),
        ({"test": (HEAD + "q1\td\xff").encode("latin-1")}, BrokenInput, "test.tsv, line 2, byte 4: this is not UTF-8"),
        ({"test": HEAD + 'q1\t"d1\t1\n'}, BrokenInput, "test.tsv, line 2: the quotation marks are not those of a table"),
        ({"dev": QRELS, "validation": QRELS}, BrokenInput, "both dev.tsv and validation.tsv are its dev split"),
        ({"dev2": QRELS}, MissingInput, "no table here is named train.tsv, dev.tsv or test.tsv"),
        ({"corpus": [*CORPUS, CORPUS[0]]}, DuplicateId, "corpus.jsonl, line 4: id d1 was already used in line 1"),
        ({"queries": [*QUERIES, QUERIES[0]]}, DuplicateId, "queries.jsonl, line 3: id q2 was already used in line 1"),
        ({"corpus": [{"_id": "d1", "title": ""}]}, MissingInput, "corpus.jsonl, line 1: the field 'text' is missing"),
        ({"queries": [{"_id": 1.5, "text": ""}]}, BrokenInput, "queries.jsonl, line 1, field '_id': expected text, found a number"),
        (
            {"queries": [QUERIES[0], {"_id": "q1", "text": "", "metadata": {"kgqa": {"answers": [3]}}}]},
            BrokenInput,
            "queries.jsonl, line 2, field 'answers.0': expected text, found a number",
        ),
        (
            {"queries": [*QUERIES, {"_id": "q3", "text": "", "metadata": {"kgqa": {"split": "validation"}}}]},
            BrokenInput,
            "queries.jsonl, line 3, field 'metadata.kgqa.split': expected 'train', 'dev' or 'test', found 'validation'",
        ),
        (
            {"queries": [QUERIES[0], {"_id": "q1", "text": "", "metadata": {"kgqa": {"answer": "x"}}}]},
            BrokenInput,
            "queries.jsonl, line 2, field 'answer': expected no such field",
        ),
        (
            {"queries": [QUERIES[0], {"_id": "q1", "text": "", "metadata": {"kgqa": {"paragraphs": {"d1": {"id": "d2"}}}}}]},
            DuplicateId,
            "queries.jsonl, line 2: two paragraphs have the id d2",
        ),
    ],
)
def test_what_is_broken_is_named(parts: dict[str, Any], kind: type[InputError], message: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as error:
        list(open_dataset(folder_of(tmp_path / "set", **parts)).instances())
    assert message in str(error.value)
    assert str(error.value).endswith(".")


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name",
    [
        "hotpotqa/hotpot_dev_distractor_200.json",
        "qangaroo/wikihop_dev_28.json",
        "musique/musique_ans_dev_200.jsonl",
        "2wikimultihopqa/2wiki_dev_200.json",  # 36 of them without paragraphs
    ],
)
def test_a_real_set_comes_back(name: str, real_data: Path, tmp_path: Path) -> None:
    done = kgqa.convert(real_data / name, to="beir", out=tmp_path / "beir")
    assert done.changed == {}
    held = list(open_dataset(real_data / name).instances())
    assert list(open_dataset(tmp_path / "beir").instances()) == held
    # These formats number the paragraphs within each question.
    assert lines(tmp_path / "beir" / "corpus.jsonl")[0]["_id"] == f"{held[0].id}#0"
