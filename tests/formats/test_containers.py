"""Reading depends neither on the container nor on harmless types: the same rows are the same questions."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.errors import BrokenInput
from kgqa.formats.question_set import open_dataset
from kgqa.records import Instance

Rows = list[dict[str, Any]]
PAGES = {"title": ["Weir", "Una Holm"], "sentences": [["Una Holm built the weir."], ["She grew up in Skarn.", " She died old."]]}
FACTS = {"title": ["Weir", "Una Holm"], "sent_id": [0, 0]}
HOTPOT = {"question": "Where did the builder of the weir grow up?", "answer": "Skarn", "context": PAGES, "supporting_facts": FACTS}
TRIPLES = [["Weir", "builder", "Una Holm"], ["Una Holm", "residence", "Skarn"]]
FLAT: dict[str, Rows] = {
    "hotpotqa": [{"id": "h1", "type": "bridge", "level": "easy", **HOTPOT}, {"id": "h2", "type": "bridge", "level": "hard", **HOTPOT}],
    "twowiki": [{"id": "w1", "type": "compositional", "evidences": TRIPLES, **HOTPOT}],
    "squad": [
        {"id": "s1", "title": "Skarn", "context": "Skarn has 12 mills.", "question": "How many mills has Skarn?",
         "answers": {"text": ["12", "12 mills"], "answer_start": [10, 10]}},
        {"id": "s2", "title": "Skarn", "context": "Skarn has 12 mills.", "question": "What has Skarn?",
         "answers": {"text": ["12 mills"], "answer_start": [10]}},
    ],
    "drop": [
        {"section_id": "p", "query_id": "d1", "passage": "Holm threw 3 passes.", "question": "How many passes?",
         "answers_spans": {"spans": ["3"], "types": ["number"]}},
    ],
    "boolq": [{"question": "is moss a plant", "answer": True, "passage": "Moss is a small plant."},
              {"question": "is slate a plant", "answer": False, "passage": "Slate is a rock."}],
}  # fmt: skip


def parquet(path: Path, rows: Rows) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def lines(path: Path, rows: Rows) -> Path:
    path.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path.with_suffix(".jsonl")


def listed(path: Path, rows: Rows) -> Path:
    path.with_suffix(".json").write_text(json.dumps(rows, indent=1), "utf-8")
    return path.with_suffix(".json")


def packed(path: Path, rows: Rows) -> Path:
    file = path.with_suffix(".jsonl.gz")
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode("utf-8")))
    return file


def questions(path: Path) -> list[Instance]:
    return list(open_dataset(path).instances())


@pytest.mark.parametrize("write", [lines, listed, packed])
@pytest.mark.parametrize("form", sorted(FLAT))
def test_rows_are_the_same_questions_in_every_container(form: str, write: Callable[[Path, Rows], Path], tmp_path: Path) -> None:
    expected = questions(parquet(tmp_path / "parquet_dev", FLAT[form]))
    assert questions(write(tmp_path / "other_dev", FLAT[form])) == expected
    assert len(expected) == len(FLAT[form])


def test_a_folder_of_rows_has_its_splits(tmp_path: Path) -> None:
    lines(tmp_path / "train", FLAT["squad"][:1])
    lines(tmp_path / "validation", FLAT["squad"][1:])
    assert list(open_dataset(tmp_path).files) == ["train", "dev"]


def test_evidence_of_rows_is_scored_and_kept(tmp_path: Path) -> None:
    rows = parquet(tmp_path / "rows_dev", FLAT["twowiki"])
    facts = [[title, sentence] for title, sentence in zip(["Weir", "Una Holm"], [0, 0], strict=True)]
    predictions = tmp_path / "predictions.json"
    predictions.write_text(json.dumps({"answer": {"w1": "Skarn"}, "sp": {"w1": facts}, "evidence": {"w1": TRIPLES}}))
    scores = kgqa.evaluate(rows, predictions).scores.official
    assert scores["evi_em"] == scores["joint_em"] == 100
    kgqa.convert(rows, to="twowiki", out=tmp_path / "official")
    (record,) = json.loads((tmp_path / "official" / "dev.json").read_text("utf-8"))
    assert record["evidences"] == TRIPLES


SQUAD2 = {
    "version": "2",
    "data": [{"title": "Skarn", "paragraphs": [{"context": "Skarn has 12 mills.", "qas": [
        {"id": "a", "question": "How many?", "is_impossible": False, "answers": [{"text": "12", "answer_start": 10}]},
        {"id": "b", "question": "Who?", "is_impossible": True, "answers": []}]}]}],
}  # fmt: skip
OFFICIAL: dict[str, tuple[str, Any]] = {
    "squad2": (".json", SQUAD2),
    "hotpotqa": (".json", [{"_id": "7", "question": "q", "answer": "a", "supporting_facts": [["T", 0]], "context": [["T", ["a b"]]]}]),
    "twowiki": (".json", [{"_id": "7", "question": "q", "answer": "a", "evidences": [], "supporting_facts": [["T", 0]],
                           "context": [["T", ["a b"]]]}]),
    "strategyqa": (".json", [{"qid": "7", "question": "q", "answer": True, "decomposition": ["q1"], "facts": ["f"]}]),
    "musique": (".jsonl", [{"id": "7", "question": "q", "answer": "a", "answer_aliases": [], "answerable": True,
                            "question_decomposition": [],
                            "paragraphs": [{"idx": 0, "title": "t", "paragraph_text": "a b", "is_supporting": True}]}]),
}  # fmt: skip
CHANGES: list[tuple[str, Callable[[Any], Any]]] = [
    ("squad2", lambda file: file["data"][0]["paragraphs"][0]["qas"][0].update(id=41)),
    ("squad2", lambda file: file["data"][0]["paragraphs"][0]["qas"][0].update(is_impossible="false")),
    ("squad2", lambda file: file["data"][0]["paragraphs"][0]["qas"][1].update(is_impossible="True")),
    ("squad2", lambda file: file["data"][0]["paragraphs"][0]["qas"][1].update(is_impossible=1)),
    ("squad2", lambda file: file["data"][0]["paragraphs"][0]["qas"][0]["answers"][0].update(answer_start="10")),
    ("squad2", lambda file: file["data"][0]["paragraphs"][0]["qas"][0]["answers"][0].update(answer_start=10.0)),
    ("squad2", lambda file: file["data"][0]["paragraphs"][0]["qas"][0].update(answers={"text": ["12"], "answer_start": [10]})),
    ("hotpotqa", lambda file: file[0].update(_id=7)),
    ("twowiki", lambda file: file[0].update(_id=7)),
    ("strategyqa", lambda file: file[0].update(qid=7)),
    ("strategyqa", lambda file: file[0].update(answer="true")),
    ("musique", lambda file: file[0].update(id=7)),
    ("musique", lambda file: file[0].update(answerable="true")),
    ("musique", lambda file: file[0]["paragraphs"][0].update(idx="0")),
]


def write_official(folder: Path, name: str, content: Any) -> Path:
    path = folder / f"questions_dev{OFFICIAL[name][0]}"
    folder.mkdir()
    text = json.dumps(content) if path.suffix == ".json" else "".join(json.dumps(record) + "\n" for record in content)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_a_harmless_type_is_read_counted_and_written_back(name: str, change: Callable[[Any], Any], tmp_path: Path) -> None:
    content = copy.deepcopy(OFFICIAL[name][1])
    change(content)
    plain = open_dataset(write_official(tmp_path / "plain", name, OFFICIAL[name][1]))
    opened = open_dataset(write_official(tmp_path / "changed", name, content))
    expected = list(plain.instances())
    found = list(opened.instances())
    assert opened.format == plain.format == name
    assert [(each.answers, each.answerable, each.paragraphs) for each in found] == [
        (each.answers, each.answerable, each.paragraphs) for each in expected
    ]
    assert opened.faults.kinds["other-type"] == 1
    assert "another type than the format's" in " ".join(opened.remarks)
    kgqa.convert(tmp_path / "changed" / f"questions_dev{OFFICIAL[name][0]}", to=name, out=tmp_path / "back")
    (back,) = (tmp_path / "back").glob("dev*")
    text = back.read_text("utf-8")
    again = json.loads(text) if back.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    assert flattened(again) == flattened(content)


def flattened(content: Any) -> Any:
    """All fields, whatever their order, and without the version."""
    return {**content, "version": ""} if isinstance(content, dict) else content


@pytest.mark.parametrize(
    ("field", "value"), [("is_impossible", "perhaps"), ("id", 1.5), ("id", True), ("answers", {"text": ["a"], "at": []})]
)
def test_what_can_mean_several_things_is_refused(field: str, value: object, tmp_path: Path) -> None:
    content = copy.deepcopy(SQUAD2)
    content["data"][0]["paragraphs"][0]["qas"][0][field] = value  # type: ignore[index]
    with pytest.raises(BrokenInput, match=field):
        list(open_dataset(write_official(tmp_path / "set", "squad2", content)).instances())


def test_one_key_does_not_make_a_format(tmp_path: Path) -> None:
    rows = [{"qid": "1", "question": "Who?", "answer": "Una", "facts_used": 2, "pages": [], "hops": 1}]
    with pytest.raises(BrokenInput, match=r"It is not strategyqa, some of whose fields it has: field 'answer': expected true or false"):
        open_dataset(lines(tmp_path / "dev", rows))
    broken = [{**OFFICIAL["strategyqa"][1][0], "answer": "perhaps"}]
    with pytest.raises(BrokenInput, match=r"line 1, field 'answer': expected true or false"):
        list(open_dataset(lines(tmp_path / "test", broken)).instances())


def as_objects(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, entry, strict=True)) for entry in zip(*columns.values(), strict=True)]


def as_pairs(columns: dict[str, list[Any]]) -> list[list[Any]]:
    return [list(entry) for entry in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("write", [parquet, lines, listed])
@pytest.mark.parametrize("shape", [as_objects, as_pairs, json.dumps])
@pytest.mark.parametrize("form", ["hotpotqa", "twowiki", "squad"])
def test_lists_of_rows_in_every_shape(form: str, shape: Callable[[Any], Any], write: Callable[[Path, Rows], Path], tmp_path: Path) -> None:
    if shape is as_pairs and (write is parquet or form == "squad"):
        pytest.skip("a column has one type, and SQuAD has no pairs")
    fields = {"context", "supporting_facts", "answers"}
    changed = [{name: shape(value) if name in fields and isinstance(value, dict) else value for name, value in row.items()}
               for row in FLAT[form]]  # fmt: skip
    expected = questions(lines(tmp_path / "expected_dev", FLAT[form]))
    assert questions(write(tmp_path / "changed_dev", changed)) == expected


@pytest.mark.parametrize("form", ["hotpotqa", "twowiki"])
def test_official_records_with_the_hubs_name_of_the_id(form: str, tmp_path: Path) -> None:
    official = [{"_id" if name == "id" else name: as_pairs(value) if isinstance(value, dict) else value for name, value in row.items()}
                for row in FLAT[form]]  # fmt: skip
    renamed = [{"id" if name == "_id" else name: value for name, value in row.items()} for row in official]
    assert questions(listed(tmp_path / "renamed_dev", renamed)) == questions(listed(tmp_path / "official_dev", official))
    columns = [{"_id" if name == "id" else name: value for name, value in row.items()} for row in FLAT[form]]
    assert questions(parquet(tmp_path / "columns_dev", columns)) == questions(listed(tmp_path / "official_dev", official))


PEOPLE = "Rana Vik and Tor Hald dug the canal with Ola Moe."
PARTS = {"id": "q1", "title": "Canal", "url": "u", "context": PEOPLE, "question": "Which two people dug it with Moe?",
         "answers": {"text": ["Rana Vik", "Tor Hald"], "answer_start": [0, 13]}}  # fmt: skip
ONE = PARTS | {"id": "q2", "question": "Who helped?", "answers": {"text": ["Ola Moe"], "answer_start": [41]}}
ALIKE = PARTS | {"answers": {"text": ["Tor Hald", "Hald"], "answer_start": [13, 17]}}


@pytest.mark.parametrize("write", [parquet, lines, listed])
def test_several_spans_of_rows_are_one_answer(write: Callable[[Path, Rows], Path], tmp_path: Path) -> None:
    both, one = questions(write(tmp_path / "parts_dev", [PARTS, ONE]))
    assert (both.answers, both.answer_type, one.answer_type) == (("Rana Vik", "Tor Hald"), "spans", "span")
    (alike,) = questions(write(tmp_path / "alike_dev", [ALIKE]))
    assert alike.answer_type == "span"
    set_ = write(tmp_path / "parts_dev", [PARTS])
    with pytest.raises(BrokenInput, match="its answer is 2 spans together"):
        kgqa.convert(set_, to="squad", out=tmp_path / "out")
    predictions = tmp_path / "predictions.json"
    predictions.write_text(json.dumps({"q1": "Rana Vik"}), "utf-8")
    assert kgqa.evaluate(set_, predictions, metric="drop").scores.official["Exact-match accuracy"] == 0


@pytest.mark.parametrize("write", [parquet, lines])
def test_columns_do_not_make_a_set(write: Callable[[Path, Rows], Path], tmp_path: Path) -> None:
    rows = [{"qid": "1", "question": "Wo wuchs sie auf?", "answer": "Skarn", "page_ids": ["1"], "kind": "bridge", "year": 1990, "n": 2}]
    with pytest.raises(BrokenInput, match=r"not strategyqa, some of whose .* it has: field 'answer': expected true or false") as error:
        questions(write(tmp_path / "x_dev", rows))
    assert "fix or drop" not in str(error.value)


@pytest.mark.parametrize("name", ["squad", "squad2", "quoref"])
def test_a_file_of_articles_alone(name: str, tmp_path: Path) -> None:
    content = copy.deepcopy(SQUAD2)
    if name != "squad2":
        for question in content["data"][0]["paragraphs"][0]["qas"]:  # type: ignore[index]
            del question["is_impossible"]
            parts = [("12", 10), ("mills", 13)] if name == "quoref" else [("12", 10), ("12 mills", 10)]
            question["answers"] = [{"text": text, "answer_start": start} for text, start in parts]
    whole, bare = tmp_path / "whole_dev.json", tmp_path / "bare_dev.json"
    whole.write_text(json.dumps(content), "utf-8")
    bare.write_text(json.dumps(content["data"], indent=2), "utf-8")
    assert (open_dataset(bare).format, open_dataset(whole).format) == (name, name)
    for one, other in zip(questions(bare), questions(whole), strict=True):
        assert (one.answers, one.answer_type, one.answerable, one.paragraphs) == (
            other.answers, other.answer_type, other.answerable, other.paragraphs
        )  # fmt: skip
    assert kgqa.convert(bare, to=name, out=tmp_path / "out").changed == {}
