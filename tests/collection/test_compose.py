"""The task ``compose``: what people see, what is refused, and the dataset of their questions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgqa.collection.project import Project, ProjectSettings
from kgqa.collection.task import AuthoredAnswer, DecidedItem, Item, find_task, majority
from kgqa.collection.tasks.compose import Composed, ComposeTask
from kgqa.errors import EmptyResult, SettingsError
from kgqa.formats.provenance import noted
from tests.collection.composed import composed, composed_set
from tests.small_questions import question, write_set

OWN = "Which country's capital is the birthplace of {}?"


def task(dataset: Path, **settings: Any) -> ComposeTask:
    content = {"name": "n", "task": "compose", "data": str(dataset), "people": ["ann", "bob", "cat"], **settings}
    made = find_task("compose")(Project(path=dataset.parent / "project.toml", settings=ProjectSettings.model_validate(content)))
    assert isinstance(made, ComposeTask)
    return made


def decided(made: ComposeTask, item: Item, *answers: Composed, lead: Composed | None = None) -> DecidedItem:
    step = made.steps["compose"]
    given = tuple(AuthoredAnswer(person=name, answer=answer) for name, answer in zip(("ann", "bob", "cat"), answers, strict=False))
    labels = step.labels(lead) if lead is not None else majority(step, given, share=0.5)
    assert labels is not None
    return DecidedItem(item=item, answers=given, labels=labels, lead=lead)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return composed_set(tmp_path / "set")


def test_an_item_shows_steps_pairs_and_the_draft(dataset: Path) -> None:
    items = {item.id: item for item in task(dataset).items()}
    assert set(items) == {f"c{number}" for number in range(6)}
    shown = json.loads(json.dumps(items["c2"].shown))
    assert [step["filled"] for step in shown["steps"]] == ["Where was Cy born?", "What country is Zorton the capital of?"]
    assert shown["pairs"] == [{"answer_to": 1, "answer": "Zorton", "step": 2}]
    assert shown["draft"] == composed(2).question
    assert shown["steps"][0]["paragraph"] == {"id": "p0", "title": "Cy", "text": "Cy was born in Zorton."}
    assert [item.id for item in task(dataset, sample=3).items()] == [item.id for item in task(dataset, sample=3).items()]


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        (Composed(), ["same", "question"]),
        (Composed(same=("yes",), question=composed(2).question), []),
        (Composed(same=("yes", "yes"), question=composed(2).question), ["same"]),
        (Composed(same=("no",)), []),
        (Composed(same=("yes",), refusal="There is no such thing as a capital."), []),
        (Composed(same=("yes",), refusal="None", question="What?"), ["refusal"]),
        (Composed(same=("yes",), question="What country has the capital where Cy was born"), ["question"]),
        (Composed(same=("yes",), question="What country has the capital Zorton, where Cy was born?"), ["question"]),
        (Composed(same=("yes",), question=composed(2).question, steps=("Where was Cy born?",)), ["steps"]),
        (Composed(same=("yes",), question=composed(2).question, steps=("Where was Cy born?", "What country?")), ["steps.1"]),
    ],
)
def test_what_is_refused(dataset: Path, answer: Composed, fields: list[str]) -> None:
    made = task(dataset)
    item = next(item for item in made.items() if item.id == "c2")
    assert [fault.field for fault in made.steps["compose"].faults(item, answer) if fault.blocking] == fields


def test_peoples_questions_replace_the_drafts(dataset: Path) -> None:
    made = task(dataset)
    items = {item.id: item for item in made.items()}
    own, edited = OWN.format("Ada"), ("In which town was Bo born?", "What country is #1 the capital of?")
    cases = [
        decided(made, items["c0"], Composed(same=("yes",), question=f"  {own} ")),
        decided(made, items["c1"], Composed(same=("yes",), question=OWN.format("Bo"), steps=edited)),
        decided(made, items["c2"], Composed(same=("no",))),
        decided(made, items["c3"], Composed(same=("yes",), refusal="no")),
        decided(made, items["c4"], Composed(same=("no",)), lead=Composed(same=("yes",), question=OWN.format("Eli"))),
        decided(
            made, items["c5"], Composed(same=("no",)), Composed(same=("yes",), question=OWN.format("Fay")),
            Composed(same=("yes",), question=composed(5).question),
        ),
    ]  # fmt: skip
    found = {instance.id: (split, instance) for split, instance in made.instances(cases)}
    assert set(found) == {"c0", "c1", "c4", "c5"}
    assert {split for split, _ in found.values()} == {"train", "dev"}
    assert found["c5"][0] == "dev"
    first = found["c0"][1]
    assert replace(first, question=composed(0).question, provenance=composed(0).provenance) == composed(0)
    assert first.question == own
    assert noted(first, "compose") == {"composer": "people", "shape": "2hop", "sources": ["small", "small"]}
    assert noted(first, "people") == {"composed_by": "ann"}
    assert [step.question for step in found["c1"][1].decomposition or ()] == list(edited)
    assert noted(found["c4"][1], "people") == {"composed_by": "lead"}
    assert found["c5"][1].question == OWN.format("Fay")  # of the majority's questions the first one
    figures = {figure.name: (round(figure.value.mean, 1), figure.items) for figure in made.figures(cases)}
    assert figures == {"names mean the same": (75.0, 8), "composed": (66.7, 6), "draft kept": (20.0, 5)}


def test_sets_without_chains_and_unknown_options(dataset: Path, tmp_path: Path) -> None:
    plain = write_set(tmp_path / "plain", train=[question(0), question(1)])
    with pytest.raises(EmptyResult, match="no question has two steps"):
        list(task(plain).items())
    twin = replace(composed(0), id="twin", answerable=False, answers=())
    mixed = write_set(tmp_path / "mixed", train=[composed(0), twin, question(1)])
    assert [item.id for item in task(mixed).items()] == ["c0"]
    with pytest.raises(SettingsError, match=r"options\.max_word"):
        task(dataset, options={"max_word": 3})
