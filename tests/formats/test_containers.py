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
