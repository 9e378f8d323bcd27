"""What a project gives: tables, the validated set with its card, and Label Studio's tasks and annotations."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import kgqa
from kgqa.collection.exports import decided, export
from kgqa.collection.label_studio import Submission, _controls as label_studio_controls, read_annotations
from kgqa.collection.project import TASKS, Project, ProjectSettings
from kgqa.collection.state import State
from kgqa.collection.task import Item, Step, find_task
from kgqa.errors import BrokenInput, DuplicateId, EmptyResult, InputError, KgqaError, SettingsError, StorageError, UnknownId
from kgqa.formats import native
from kgqa.runs.files import file_hashes
from tests.collection.test_state import Story
from tests.small_questions import question, write_set

VERDICTS = {
    "q0": ("follows", "likely"),
    "q1": ("follows", "follows"),
    "q2": ("does-not-follow", "unreadable"),
    "q3": ("likely", "unreadable"),
}
"""Sample → the verdicts of Ada and Ben; all but the last are decided."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    dataset = write_set(tmp_path / "small", train=[question(9)], test=[question(number, candidates=True) for number in range(5)])
    (dataset / "README.md").write_text('---\npretty_name: "small"\nlicense: "cc-by-4.0"\n---\n', "utf-8")
    settings = {"name": "n", "task": "validate", "data": "small", "split": "test", "people": ["Ada", "Ben"], "per_item": 2, "seed": 3}
    return Project(path=tmp_path / "project.toml", settings=ProjectSettings.model_validate(settings))


def state_of(project: Project, verdicts: dict[str, tuple[str, str]] = VERDICTS) -> State:
    """A journal in which Ada and Ben, and a model, judged the samples of ``verdicts``."""
    task = find_task("validate")(project)
    step = task.steps["validate"]
    story = Story()
    for item in task.items():
        story.item(item.id, step=item.step, shown=dict(item.shown), hidden=dict(item.hidden))
        labels: list[dict[str, str]] = []
        for person, verdict in zip(("Ada", "Ben", "model:m"), (*verdicts.get(item.id, ()), "unreadable"), strict=False):
            if item.id in verdicts:
                answer = {"verdict": verdict, "marks": ["trivial"] if verdict == "likely" else [], "note": f"of {person} “é”"}
                labels.append(step.labels(step.answer.model_validate(answer)))
                story.add("submit", person, item.id, answer=answer, labels=labels[-1], seconds=4.5)
        if item.id in verdicts:
            first, second = labels[0], labels[1]
            same = {question: label for question, label in first.items() if second.get(question) == label}
            story.add("decide", item=item.id, state="decided" if "valid" in same else "disputed", labels=same if "valid" in same else {})
    return story.state()


def test_the_validated_set_is_written_beside_the_whole(project: Project, tmp_path: Path) -> None:
    done = export(project, state_of(project), to="native")
    assert (done.out, done.counts) == (tmp_path / "small-validated", {"test": 2})
    source = {instance.id: instance for instance in native.read(project.data / "test.parquet")}
    kept = list(native.read(done.out / "test.parquet"))
    assert sorted(instance.id for instance in kept) == ["q0", "q1"]
    # As they were, groups included, so that what no two splits of the whole share they do not share here.
    assert all(instance == source[instance.id] for instance in kept)
    assert kgqa.open_dataset(done.out).format == "native"


def test_its_card_says_who_judged_and_how_far_they_agree(project: Project) -> None:
    done = export(project, state_of(project), to="native")
    card = (done.out / "README.md").read_text("utf-8")
    for words in (
        "The 2 samples of small that a majority of the people who read them holds valid, of 3 that are decided",
        "Ada (4) and Ben (4) gave 8 answers",
        "Of 5 items, 1 open, 1 disputed, 3 decided",
        "model:m (4) is a model, not people: their answers decide nothing",
        "| valid | 4 | 75.0 |",
        "| valid | 3 | 66.7 (20.8 to 93.9) |",
        "Models against the label that most people gave",
        'license: "cc-by-4.0"',
    ):
        assert words in card, words
    manifest = native.manifest_of(done.out)
    assert manifest["files"] == {name: value for name, value in file_hashes(done.out).items() if name != "manifest.json"}
    assert manifest["figures"]["agreement"][1]["agreement"]["items"] == 4
    assert str(project.folder) not in card + json.dumps(manifest)


def test_exports_are_the_same_bytes_again(project: Project, tmp_path: Path) -> None:
    for to in ("native", "parquet", "label-studio"):
        hashes = [file_hashes(export(project, state_of(project), to=to, out=tmp_path / f"{to}{turn}" / "set").out) for turn in (0, 1)]
        assert hashes[0] == hashes[1]


def test_decided_items_have_the_answers_of_people(project: Project) -> None:
    state = state_of(project)
    task = find_task("validate")(project)
    found = {each.item.id: each for each in decided(state, task.steps)}
    assert list(found) == [item.id for item in task.items() if item.id in {"q0", "q1", "q2"}]
    assert [given.person for given in found["q0"].answers] == ["Ada", "Ben"]
    assert found["q0"].labels["valid"] == "yes"
    items = {item.id: item for item in task.items()}
    assert all(each.item.shown == items[name].shown and each.item.hidden == items[name].hidden for name, each in found.items())


def test_tables_have_a_row_per_answer_and_per_decision(project: Project, tmp_path: Path) -> None:
    done = export(project, state_of(project), to="parquet", out=tmp_path / "tables")
    answers, decisions, items = (pl.read_parquet(done.out / f"{name}.parquet") for name in ("answers", "decisions", "items"))
    assert (answers.height, decisions.height, items.height) == (12, 4, 5) == tuple(done.counts.values())
    row = answers.filter(pl.col("person") == "Ada", pl.col("item") == "q0").row(0, named=True)
    assert json.loads(row["answer"])["note"] == "of Ada “é”"
    assert json.loads(row["labels"])["valid"] == "yes"
    assert (row["seconds"], row["model"], row["step"]) == (4.5, False, "validate")
    assert row["time"].timestamp() == row["number"]
    assert decisions.filter(pl.col("disputed"))["item"].to_list() == ["q3"]


def test_nothing_is_left_behind(project: Project, tmp_path: Path) -> None:
    with pytest.raises(EmptyResult, match="no item is decided yet"):
        export(project, state_of(project, {}), to="native")
    with pytest.raises(EmptyResult, match="none of the 1 decided items gives a question"):
        export(project, state_of(project, {"q2": VERDICTS["q2"]}), to="native")
    with pytest.raises(SettingsError, match="--to 'parket' is not known; did you mean"):
        export(project, state_of(project), to="parket", out=tmp_path / "x")
    with pytest.raises(SettingsError, match="needs a new folder; give one as --out"):
        export(project, state_of(project), to="parquet")
    (tmp_path / "small-validated").write_text("mine", "utf-8")
    with pytest.raises(StorageError, match="already there"):
        export(project, state_of(project), to="native")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small", "small-validated"]


# Label Studio


def items_of(project: Project) -> tuple[dict[str, Item], dict[str, Step]]:
    task = find_task("validate")(project)
    return {item.id: item for item in task.items()}, dict(task.steps)


def imported(project: Project, tasks: Any, path: Path, **choice: Any) -> list[Submission]:
    path.write_text(json.dumps(tasks), "utf-8")
    items, steps = items_of(project)
    return list(read_annotations(path, items, steps, person="Cleo", **choice))


def test_tasks_with_annotations_come_back_as_answers(project: Project, tmp_path: Path) -> None:
    state = state_of(project)
    done = export(project, state, to="label-studio", out=tmp_path / "tasks")
    assert done.counts == {"validate": 5}
    tasks = json.loads((done.out / "validate.json").read_text("utf-8"))
    found = imported(project, tasks, tmp_path / "export.json", annotator="Ada")
    ours = state.answers.filter(pl.col("person") == "Ada")
    assert {each.item: each.answer.model_dump_json() for each in found} == {
        item: Step.answer.model_validate_json(answer).model_dump_json()
        for item, answer in ours.select("item", "answer").iter_rows()
        for Step in [find_task("validate").steps["validate"]]
    }
    assert {each.seconds for each in found} == {4.5}
    assert {each.person for each in found} == {"Cleo"}
    assert {each.labels["valid"] for each in found if each.item == "q2"} == {"no"}
    # No model among the annotators, and nothing that annotators must not see.
    assert {by["person"] for task in tasks for by in task["annotations"]} == {"Ada", "Ben"}
    assert "hidden" not in (done.out / "validate.json").read_text("utf-8")


def test_the_configuration_has_a_control_per_field(project: Project, tmp_path: Path) -> None:
    done = export(project, state_of(project), to="label-studio", out=tmp_path / "tasks")
    view = ElementTree.parse(done.out / "validate.config.xml").getroot()
    controls = {element.attrib["name"]: element for element in view if "toName" in element.attrib}
    verdicts = [choice.attrib["value"] for choice in controls["verdict"]]
    assert (controls["verdict"].tag, controls["verdict"].attrib["choice"]) == ("Choices", "single")
    assert verdicts == ["follows", "likely", "does-not-follow", "unreadable"]
    assert controls["marks"].attrib["choice"] == "multiple"
    assert controls["note"].tag == "TextArea"
    assert [choice.attrib["value"] for choice in controls["uncovered"]] == ["yes", "no"]
    # Every variable that it shows is in every task, else Label Studio refuses the import.
    tasks = json.loads((done.out / "validate.json").read_text("utf-8"))
    shown = {element.attrib["value"].removeprefix("$") for element in view if element.attrib.get("value", "").startswith("$")}
    assert all(shown <= task["data"].keys() for task in tasks)
    assert "shown_documents" in shown


def steps_of(task: str) -> list[type[Step]]:
    """The steps in the module of a task."""
    classes = [made for made in vars(import_module(TASKS[task])).values() if isinstance(made, type) and issubclass(made, Step)]
    return [made for made in classes if "answer" in vars(made)]


@pytest.mark.parametrize("step", [step for task in TASKS for step in steps_of(task)])
def test_every_field_of_every_step_has_a_control(step: type[Step]) -> None:
    controls = label_studio_controls(step.answer)
    assert controls.keys() == step.answer.model_fields.keys()
    for field, control in controls.items():
        kinds = {"choice": "a", "choices": ["a"], "boolean": False, "text": "a", "texts": ["a", "b"], "json": [{"a": None, "b": [1, "é"]}]}
        value = kinds[control.kind]
        written = control.results(value)
        assert written is not None
        kind = "choices" if "choices" in written else "textarea"
        assert control.value([{"type": kind, "value": written}]) == value, field  # type: ignore[typeddict-item]


def annotated(item: str = "q0", verdict: str = "follows", **more: Any) -> dict[str, Any]:
    """A task as Label Studio exports it."""
    result = [{"id": "x", "from_name": "verdict", "to_name": "item", "type": "choices", "value": {"choices": [verdict]}}]
    annotation = {"id": 7, "completed_by": {"id": 1, "email": "c@example.org"}, "result": result, "lead_time": 3.2} | more
    return {"id": 11, "data": {"item": item}, "annotations": [annotation]}


def test_annotations_made_in_label_studio_are_read(project: Project, tmp_path: Path) -> None:
    found = imported(project, [annotated("q0"), annotated("q1", was_cancelled=True), annotated("q2", "likely")], tmp_path / "e.json")
    assert [(each.item, each.labels["verdict"], each.seconds) for each in found] == [("q0", "follows", 3.2), ("q2", "likely", 3.2)]


@pytest.mark.parametrize(
    ("tasks", "error", "words"),
    [
        ([annotated("q99")], UnknownId, "e.json, record 1, annotation 1: 'q99' is not an item of this project"),
        ([annotated("q0"), annotated("q0")], DuplicateId, "record 2, annotation 1: item q0 has another annotation"),
        ([annotated("q0", "maybe")], BrokenInput, "record 1, annotation 1, verdict"),
        ([annotated("q0", result=[])], BrokenInput, "none of its results belongs to a control named verdict or marks"),
        ([annotated("q0"), annotated("q1", completed_by=5)], InputError, "annotations by c@example.org and 5; choose one"),
        ([annotated("q0", was_cancelled=True)], InputError, "there is no annotation; give an export"),
        ([{"data": 3}], KgqaError, "record 1"),
    ],
)  # fmt: skip
def test_annotations_that_are_no_answers_are_refused(
    tasks: list[Any], error: type[KgqaError], words: str, project: Project, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        imported(project, tasks, tmp_path / "e.json")
