"""Projects of composing and of strategy questions from their files to datasets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kgqa
from kgqa.collection.journal import Journal
from kgqa.collection.project import read_project
from kgqa.collection.tasks.compose import Composed
from kgqa.database import database_at
from kgqa.formats import native
from tests.collection.composed import composed, composed_set
from tests.collection.strategy import COMPANIES, FOUND, QUESTION, STEPS, verified


def answer(file: Path, answers: Mapping[str, list[Any]]) -> None:
    """Everybody answers what they get: each step's answers in turn."""
    project = read_project(file)
    journal = Journal(database_at(file.with_name(f"{project.settings.name}.sqlite"), option="--journal", file="j"), project)
    try:
        number = 0
        while reserved := [(person, item) for person in project.settings.people if (item := journal.next_item(person)) is not None]:
            for person, reservation in reserved:
                given = answers[reservation.item.step]
                body = given[number % len(given)].model_dump(mode="json")
                journal.submit(person, reservation.item.id, body, token=f"token-{number:04}")
                number += 1
    finally:
        journal.close()


def test_strategy_questions_become_a_dataset_and_the_official_files(tmp_path: Path) -> None:
    file = tmp_path / "project.toml"
    file.write_text(
        f"""name = "strategy"
task = "strategyqa"
data = "{COMPANIES / "documents.jsonl"}"
people = ["ann", "bob", "cat", "dan"]
sample = 4
seed = 3

[options]
terms = "{COMPANIES / "entities.tsv"}"
test = ["dan"]
""",
        "utf-8",
    )
    answer(file, {"question": [QUESTION], "decomposition": [STEPS], "evidence": [FOUND], "verification": [verified("yes")]})
    made = kgqa.annotate_export(file, to="native", out=tmp_path / "made")
    instances = {split: list(native.read(path)) for split, path in native.split_files(made.out).items()}
    # Two of the four were to have the answer no, which nobody finds in their evidence.
    assert [each.answers for some in instances.values() for each in some] == [("yes",), ("yes",)]
    official = kgqa.convert(made.out, to="strategyqa", out=tmp_path / "official")
    records = [record for path in sorted(tmp_path.glob("official/*.json")) for record in json.loads(path.read_text("utf-8"))]
    assert official is not None
    assert len(records) == 2
    assert all(record["decomposition"] == [step.question for step in STEPS.steps] for record in records)
    assert all(len(record["evidence"]) == 3 for record in records)
    status = kgqa.annotate_status(file)
    own = {figure.name: round(figure.value.mean) for figure in status.own}
    assert own == {"answer is right and definite": 100, "evidence for each step": 100, "evidence gives the answer": 50}


def test_composed_questions_become_a_dataset(tmp_path: Path) -> None:
    composed_set(tmp_path / "set")
    file = tmp_path / "project.toml"
    file.write_text('name = "c"\ntask = "compose"\ndata = "set"\npeople = ["ann", "bob"]\nsample = 3\n', "utf-8")
    answer(file, {"compose": [Composed(same=("no",))]})
    status = kgqa.annotate_status(file)
    assert {figure.name: figure.value.mean for figure in status.own} == {"names mean the same": 0.0, "composed": 0.0}
    second = tmp_path / "second.toml"
    second.write_text('name = "d"\ntask = "compose"\ndata = "set"\npeople = ["ann"]\nsample = 1\nsplit = "dev"\n', "utf-8")
    answer(second, {"compose": [Composed(same=("yes",), question="Which country's capital is the birthplace of Fay?")]})
    made = kgqa.annotate_export(second, to="native", out=tmp_path / "made")
    [instance] = native.read(native.split_files(made.out)["dev"])
    assert instance.question == "Which country's capital is the birthplace of Fay?"
    assert instance.paragraphs == composed(5).paragraphs
