"""The task ``validate``: what is shown, what stays hidden, what is refused, and what the validated set holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kgqa.collection.project import Project, ProjectSettings
from kgqa.collection.task import AuthoredAnswer, DecidedItem, Item, find_task, majority
from kgqa.collection.tasks.samples import item_id
from kgqa.collection.tasks.validate import Validate, ValidateStep, Validation
from kgqa.errors import InputChanged, SettingsError
from kgqa.formats import native
from kgqa.metrics.wilson import wilson
from kgqa.records import Instance, Step
from tests.small_questions import question, write_set

STEP = ValidateStep()


def task(dataset: Path, **settings: Any) -> Validate:
    """The task on ``dataset``."""
    content = {"name": "n", "task": "validate", "data": str(dataset), "people": ["ann", "bob", "cat"], "seed": 7, **settings}
    made = find_task("validate")(Project(path=dataset.parent / "project.toml", settings=ProjectSettings.model_validate(content)))
    assert isinstance(made, Validate)
    return made


def decided(item: Item, *answers: Validation, share: float = 0.5) -> DecidedItem:
    """An item with its answers."""
    given = tuple(AuthoredAnswer(person=name, answer=answer) for name, answer in zip(("ann", "bob", "cat"), answers, strict=False))
    labels = majority(STEP, given, share=share)
    assert labels is not None
    return DecidedItem(item=item, answers=given, labels=labels)


def chained(number: int) -> Instance:
    """A question with candidates, a chain to each, and a decomposition."""
    made = question(number, candidates=True)
    chains = tuple(
        ((f"s{number}", paragraph.id, candidate.id),) for paragraph, candidate in zip(made.paragraphs, made.candidates or (), strict=True)
    )
    step = Step(id="1", question="what is it?", answer=made.answers[0], paragraph_id=f"p{number}", depends_on=())
    return replace(made, chains=chains, decomposition=(step,))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Six questions in two splits."""
    return write_set(tmp_path / "set", train=[chained(number) for number in range(4)], dev=[chained(4), chained(5)])


def test_items_hold_the_whole_sample_as_json_and_are_found_again(dataset: Path) -> None:
    made = task(dataset, sample=4)
    items = [replace(item, shown=json.loads(json.dumps(item.shown)), hidden=json.loads(json.dumps(item.hidden))) for item in made.items()]
    assert [item.id for item in items] == list(made.drawn.splits)
    assert items == list(task(dataset, sample=4).items())
    for item, instance in made.samples([DecidedItem(item=item, answers=(), labels={}) for item in items]):
        shown = item.item.shown
        assert (shown["question"], shown["answer"]["text"]) == (instance.question, instance.answers[0])
        assert [document["text"] for document in shown["documents"]] == [paragraph.text for paragraph in instance.paragraphs]
        assert [other["id"] for other in shown["others"]] == [
            each.id for each in instance.candidates or () if each.id != instance.answer_id
        ]
        assert [step["answer"] for step in shown["steps"]] == [instance.answers[0]]
        (hop,) = shown["answer"]["chains"][0]
        assert (hop["entity"], shown["names"][hop["before"]], shown["knows_graph"]) == (instance.answer_id, hop["before"], False)


def test_a_hidden_answer_is_nowhere_until_it_is_uncovered(dataset: Path) -> None:
    made = task(dataset, options={"hide_answer": True})
    for item in made.items():
        whole = item.hidden["whole"]
        assert set(item.shown) == {"sample", "split", "question", "candidates", "documents"}
        assert all("supporting" not in document for document in item.shown["documents"])
        assert STEP.shown(item, {"own": "c1", "uncovered": "yes"}) == item.shown
        assert STEP.shown(item, {"own": "c1", "uncovered": True}) == whole
        assert [fault.field for fault in STEP.faults(item, Validation(verdict="follows"))] == ["own"]
        assert STEP.faults(item, Validation(verdict="follows", uncovered=True)) == []


def test_live_checks(dataset: Path) -> None:
    item = next(iter(task(dataset).items()))
    other = item.shown["others"][0]["id"]
    answer = item.shown["answer"]["id"]
    cases: list[tuple[Validation, list[str]]] = [
        (Validation(), ["verdict"]),
        (Validation(verdict="likely"), []),
        (Validation(verdict="likely", candidate=other), ["candidate"]),
        (Validation(verdict="likely", candidate=answer, marks=("another",)), ["candidate"]),
        (Validation(verdict="likely", candidate=other, marks=("another", "trivial")), []),
    ]
    for given, fields in cases:
        assert [fault.field for fault in STEP.faults(item, given)] == fields
    for wrong in ({"verdict": "perhaps"}, {"marks": ["anothr"]}, {"note": "x" * 2001}, {"path": "x"}, {"verdict": None}):
        with pytest.raises(ValidationError):
            Validation.model_validate(wrong)


def test_people_decide_whether_it_is_valid_and_the_rest_follows_where_most_agree(dataset: Path) -> None:
    item = next(iter(task(dataset).items()))
    both = decided(item, Validation(verdict="follows", marks=("trivial",)), Validation(verdict="likely"))
    assert both.labels == {"valid": "yes", "wrong-link": "no", "another": "no"}
    apart = [
        AuthoredAnswer(person=name, answer=Validation(verdict=verdict))  # type: ignore[arg-type]
        for name, verdict in (("ann", "follows"), ("bob", "unreadable"))
    ]
    assert majority(STEP, apart, share=0.5) is None
    most = decided(item, Validation(verdict="follows"), Validation(verdict="follows"), Validation(verdict="does-not-follow"))
    assert (most.labels["valid"], most.labels["verdict"]) == ("yes", "follows")


def test_the_validated_set_and_its_figures(dataset: Path) -> None:
    made = task(dataset)
    good, bad, trivial = (
        Validation(verdict="follows"),
        Validation(verdict="does-not-follow"),
        Validation(verdict="likely", marks=("trivial",)),
    )
    votes: Sequence[tuple[Validation, ...]] = [(good, good, bad), (bad, bad, good), (trivial, trivial, bad), (good, good, good)]
    some = [decided(item, *answers) for item, answers in zip(made.items(), votes, strict=False)]
    found = list(made.instances(some))
    assert {instance.id for _, instance in found} == {some[place].item.id for place in (0, 2, 3)}
    assert all(instance in native.take(native.split_files(dataset)[split], {instance.id}) for split, instance in found)
    strict = task(dataset, options={"without": ["trivial"]})
    assert {instance.id for _, instance in strict.instances(some)} == {some[0].item.id, some[3].item.id}
    figures = {figure.name: figure for figure in made.figures(some)}
    assert list(figures) == ["valid", "another", "wrong-link", "trivial"]
    assert (figures["valid"].value.mean, figures["valid"].items) == (75.0, 4)
    assert figures["trivial"].value.low == 100 * wilson(1, 4).low
    assert made.figures([]) == []


def test_own_answers_are_compared_with_the_hidden_one(dataset: Path) -> None:
    made = task(dataset, options={"hide_answer": True}, sample=2)
    first, second = made.items()
    right = Validation(verdict="follows", own=first.hidden["whole"]["answer"]["id"], uncovered=True)
    wrong = Validation(verdict="follows", own="", uncovered=True)
    figures = {figure.name: figure for figure in made.figures([decided(first, right), decided(second, wrong)])}
    assert (figures["own answer is the dataset's"].value.mean, figures["own answer is the dataset's"].items) == (50.0, 2)


def test_a_dataset_that_changed_is_refused(dataset: Path) -> None:
    made = task(dataset)
    some = [decided(item, Validation(verdict="follows")) for item in made.items()]
    write_set(dataset, dev=[chained(6)])
    with pytest.raises(InputChanged, match="the dataset has changed since item q"):
        list(made.instances(some))


def test_options_that_are_not_known_name_the_key(dataset: Path) -> None:
    for options, part in (
        ({"hide": True}, "unknown setting 'options.hide'; "),
        ({"hide_answer": "yes"}, "the setting 'options.hide_answer' cannot be \"yes\": it must be true or false"),
        ({"without": ["bad"]}, "the setting 'options.without' cannot be "),
    ):
        with pytest.raises(SettingsError, match=f"project.toml: {part}"):
            task(dataset, options=options)


def test_long_ids_stay_apart() -> None:
    ids = [item_id("x" * length) for length in (200, 201, 202)]
    assert [len(each) for each in ids] == [200, 200, 200]
    assert len(set(ids)) == 3
