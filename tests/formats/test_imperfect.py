"""A set of which every record is imperfect is converted, scored and audited by the commands, with one line about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import BrokenInput
from tests.conftest import Cli
from tests.formats.keeping import written
from tests.formats.mutations import parsed

EXAMPLES = Path(__file__).parent / "examples"


def squad(file: Any) -> dict[str, str]:
    """Every answer stands elsewhere; of SQuAD 2.0 every question contradicts itself too."""
    said = {}
    for article in file["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                for answer in question["answers"]:
                    answer["answer_start"] = -1
                if "is_impossible" in question:
                    question["is_impossible"] = not question["is_impossible"]
                said[question["id"]] = "rye"
    return said


def drop(file: Any) -> dict[str, str]:
    """Every answer is empty."""
    questions = [question for passage in file.values() for question in passage["qa_pairs"]]
    for question in questions:
        question["answer"] = {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": []}
    return {question["query_id"]: "none" for question in questions}


def iirc(file: Any) -> dict[str, str]:
    """Every answer is of a type without what it needs."""
    questions = [question for record in file for question in record["questions"]]
    for number, question in enumerate(questions):
        question["answer"] = [{"type": "span"}, {"type": "value", "answer_value": ""}, {"type": "binary", "answer_value": "?"}][number % 3]
    return {question["qid"]: "none" for question in questions}


def outputs(file: Any) -> dict[str, str]:
    """Every answer is of another type than is said."""
    for record in file:
        record["qa"]["gold_answer_type"] = "binary" if record["qa"]["gold_answer_type"] == "none" else "none"
    return {str(number): "none" for number in range(len(file))}


def nq(file: Any) -> dict[str, str]:
    """Records of QED, whose answers and sentences stand elsewhere."""
    del file[1:]
    for spans in file[0]["original_nq_answers"]:
        for span in spans:
            span["start"] -= 1
    file[0]["sentence_starts"].reverse()
    return {str(file[0]["example_id"]): "Mount Falterona"}


@pytest.mark.parametrize(
    ("name", "spoil", "metric"),
    [
        ("squad_dev.json", squad, "squad"),
        ("squad2_dev.json", squad, "squad2"),
        ("drop_dev.json", drop, "iirc"),
        ("drop_dev.json", drop, "drop"),
        ("iirc_dev.json", iirc, "iirc"),
        ("iirc_dev.jsonl", outputs, "iirc"),
        ("nq_dev.jsonl", nq, "squad"),
    ],
)
def test_a_set_without_a_perfect_record(name: str, spoil: Callable[[Any], dict[str, str]], metric: str, tmp_path: Path, cli: Cli) -> None:
    value, _ = parsed((EXAMPLES / name).read_bytes())
    said = spoil(value)
    path = written(value, tmp_path / name)
    predictions = written(said, tmp_path / "predictions.json")
    form = name.partition("_dev")[0]
    commands: list[list[str | Path]] = [
        ["convert", path, "--to", form, "--out", tmp_path / "again"],
        ["evaluate", path, predictions, "--metric", metric, "--json", tmp_path / "report.json"],
        ["audit", path, "--out", tmp_path / "audit"],
    ]
    for command in commands:
        done = cli(*command)
        assert (done.status, done.err) == (0, ""), command
        lines = [line for line in done.out.splitlines() if "faults of content" in line]
        assert len(lines) == 1, done.out
        assert lines[0].startswith(
            f"{len(said)} of {len(said)} questions ha{'s' if len(said) == 1 else 've'} faults of content, kept as they are: "
        )
        assert len(lines[0]) < 400
    kgqa.convert(path, to="native", out=tmp_path / "native")
    manifest = json.loads((tmp_path / "native" / "manifest.json").read_text("utf-8"))
    assert manifest["faults"]["imperfect"] == len(said)
    with pytest.raises(BrokenInput, match=rf"^{name}, question [^ ]+, field '"):
        kgqa.convert(path, to=form, out=tmp_path / "strict", strict=True)
    assert not (tmp_path / "strict").exists()
