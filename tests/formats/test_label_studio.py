"""Label Studio's tasks: everything comes back, what people answered is the answer, labels not at their place are named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput
from kgqa.formats.label_studio import answers as label_studio_answers, format as label_studio
from kgqa.formats.provenance import note, noted
from kgqa.formats.question_set import open_dataset
from kgqa.records import Instance
from tests.formats.drawing import instances, sets
from tests.formats.test_beir import paragraph, question

DATA: dict[str, Any] = {
    "id": "q1",
    "question": "Which river flows past the mill's town?",
    "paragraphs": [
        {"id": "a", "title": "Mill", "text": "The mill is in Harne."},
        {"title": None, "text": "Harne lies on the Sill 🌊 river."},
    ],
    "answers": ["Orr"],
    "candidates": [{"value": "Orr", "alias": "Q1"}, {"value": "Sill", "alias": "Q2"}],
}


def label(text: str | None, start: int, end: int, number: int | str = 1, last: int | str | None = None) -> dict[str, Any]:
    value = {
        "start": number,
        "end": number if last is None else last,
        "startOffset": start,
        "endOffset": end,
        "paragraphlabels": ["Answer"],
    }
    return {"type": "paragraphlabels", "from_name": "x", "to_name": "y", "value": value if text is None else {**value, "text": text}}


def choice(*chosen: str) -> dict[str, Any]:
    return {"type": "choices", "value": {"choices": list(chosen)}}


def written(*texts: str) -> dict[str, Any]:
    return {"type": "textarea", "value": {"text": list(texts)}}


def said(*results: dict[str, Any], by: object = 1, **fields: Any) -> dict[str, Any]:
    return {"id": 7, "completed_by": by, "result": list(results), **fields}


def read(folder: Path, *tasks: dict[str, Any]) -> list[Instance]:
    path = folder / "x.json"
    path.write_text(json.dumps(tasks), "utf-8")
    return list(label_studio.read(path))


@given(sets(instances(), at_least=1))
@settings(deadline=None)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, drawn: list[Instance]) -> None:
    path = tmp_path_factory.mktemp("tasks") / "dev.json"
    label_studio.write(drawn, path)
    assert list(label_studio.read(path)) == drawn
    assert {file.name for file in path.parent.iterdir()} == {"dev.json", "dev.config.xml"}


ANNOTATIONS = st.lists(
    st.builds(
        said,
        st.sampled_from([choice("Q1"), choice("yes"), choice("other"), written("4"), written("a", "b"), label("Sill", 18, 22)]),
        by=st.sampled_from([1, 2, None, {"id": 3}]),
        was_cancelled=st.booleans(),
    ),
    max_size=3,
)


@given(ANNOTATIONS, ANNOTATIONS, st.sets(st.sampled_from(["id", "answers", "candidates"])), st.booleans())
@settings(deadline=None)
def test_exported_tasks_come_back(
    tmp_path_factory: pytest.TempPathFactory, annotations: list[Any], predictions: list[Any], dropped: set[str], extra: bool
) -> None:
    data = {key: value for key, value in DATA.items() if key not in dropped} | ({"source": {"é": 1}} if extra else {})
    task = {"id": 5, "data": data, "annotations": annotations, "predictions": predictions, **({"meta": {}} if extra else {})}
    folder = tmp_path_factory.mktemp("tasks")
    found = read(folder, task)
    label_studio.write(found, folder / "again.json")
    assert list(label_studio.read(folder / "again.json")) == found
    (again,) = json.loads((folder / "again.json").read_text("utf-8"))
    assert {key: again.get(key, []) for key in ("id", "annotations")} == {key: task[key] for key in ("id", "annotations")}
    assert {key: again["data"][key] for key in ("question", "source") if key in data} == {
        key: data[key] for key in ("question", "source") if key in data
    }


@pytest.mark.parametrize(
    ("results", "answers", "answer_id", "answer_type"),
    [
        ([choice("Q2")], ("Sill",), "Q2", "candidate"),
        ([choice("Sill")], ("Sill",), "Q2", "candidate"),
        ([choice("no")], ("no",), None, "boolean"),
        ([choice("not answerable"), written("x")], (), None, "none"),
        ([written("the Sill", "Sill", "Sill")], ("the Sill", "Sill"), None, "span"),
        ([{"type": "textarea", "value": {"text": "12.5"}}], ("12.5",), None, "number"),
        ([label("Sill", 18, 22)], ("Sill",), None, "span"),
        ([label(None, 18, 22, "1")], ("Sill",), None, "span"),
        ([label("Harne", 15, 20, 0), label("Sill", 18, 22)], ("Harne", "Sill"), None, "spans"),
        # Counted in characters, and as a browser counts the wave.
        ([label("river", 25, 30)], ("river",), None, "span"),
        ([label("river", 26, 31)], ("river",), None, "span"),
        ([label(None, 15, 5, 0, 1)], ("Harne.\nHarne",), None, "span"),
        ([written("x"), choice("Q1")], ("Orr",), "Q1", "candidate"),
    ],
)
def test_what_a_person_said_is_the_answer(
    results: list[Any], answers: tuple[str, ...], answer_id: str | None, answer_type: str, tmp_path: Path
) -> None:
    (found,) = read(tmp_path, {"data": DATA, "annotations": [said(*results)], "predictions": [said(choice("Q1"))]})
    assert (found.answers, found.answer_id, found.answer_type, found.answerable) == (answers, answer_id, answer_type, answer_type != "none")
    notes = noted(found, "label_studio")
    assert (notes["annotators"], notes["annotated_answers"]) == (1, [list(answers)])
    assert notes["before"] == {"answers": ["Orr"], "answer_id": "Q1", "answer_type": "candidate", "answerable": True}


def test_the_answer_of_most_people(tmp_path: Path) -> None:
    votes = [said(choice("Q1"), by=1), said(written("Sill"), by=2), said(choice("Q2"), by={"id": 3}), said(choice("Q2"), by=4)]
    cancelled = [said(choice("Q1"), by=5, was_cancelled=True), said(choice("Q1"), by=5, was_cancelled=True), said(by=6)]
    (found,) = read(tmp_path, {"data": DATA, "annotations": [*votes, *cancelled]})
    assert (found.answers, found.answer_id) == (("Sill",), "Q2")
    assert noted(found, "label_studio")["annotators"] == 6
    assert noted(found, "label_studio")["annotated_answers"] == [["Orr"], ["Sill"], ["Sill"], ["Sill"]]
    (tied,) = read(tmp_path, {"data": DATA, "annotations": votes[1:3]})
    assert (tied.answers, tied.answer_type) == (("Sill",), "span")


def test_without_annotations_the_data_say_the_answer_and_then_a_model(tmp_path: Path) -> None:
    predictions = [said(choice("Q2"))]
    (found,) = read(tmp_path, {"data": DATA, "predictions": predictions})
    assert (found.answers, noted(found, "label_studio")) == (("Orr",), {"predictions": predictions})
    (found,) = read(tmp_path, {"data": {key: value for key, value in DATA.items() if key != "answers"}, "predictions": predictions})
    assert (found.answers, noted(found, "label_studio")) == (("Sill",), {"predictions": predictions, "before": None})


def test_one_text_instead_of_paragraphs(tmp_path: Path) -> None:
    marked = {"type": "labels", "value": {"start": 14, "end": 18, "text": "Sill", "labels": ["Answer"]}}
    (found,) = read(tmp_path, {"id": 3, "data": {"question": "?", "text": "Harne lies on Sill."}, "annotations": [said(marked)]})
    assert (found.id, found.answers, [p.text for p in found.paragraphs]) == ("3", ("Sill",), ["Harne lies on Sill."])
    label_studio.write([found], tmp_path / "again.json")
    assert list(label_studio.read(tmp_path / "again.json")) == [found]
    (task,) = json.loads((tmp_path / "again.json").read_text("utf-8"))
    assert task["data"]["text"] == "Harne lies on Sill."
    tags = [element.tag for element in ElementTree.parse(tmp_path / "again.config.xml").getroot()]
    assert tags == ["Text", "Text", "Labels", "Choices", "TextArea"]


def test_an_answer_whose_place_is_certain_is_marked_beforehand() -> None:
    mill = paragraph("m", "The mill is in Harne, on the Sill.", supporting=True)
    held = question("q", paragraph("0", "Sill"), mill, answers=("Sill", "the Sill"))
    (prediction,) = label_studio.to_record(held)["predictions"]
    (result,) = prediction["result"]
    assert result["value"] == {"start": "1", "end": "1", "startOffset": 29, "endOffset": 33, "text": "Sill", "paragraphlabels": ["Answer"]}
    twice = replace(mill, id="n")
    wave = replace(mill, text="🌊 Sill")
    for other in (
        replace(held, paragraphs=(mill, twice)),
        replace(held, paragraphs=(replace(mill, text="Sill and Sill"),)),
        replace(held, paragraphs=(replace(mill, supporting=None),)),
        replace(held, paragraphs=(wave,)),
        replace(held, answers=("Orr",)),
        replace(held, answers=("",)),
        replace(held, answers=("Sill",), answer_type="boolean"),
        replace(held, answers=("Sill", "Orr"), answer_type="spans"),
        replace(held, answers=(), answer_type="none"),
    ):
        assert label_studio.to_record(other)["predictions"] == []
    spans = label_studio.to_record(replace(held, answers=("Sill", "Harne"), answer_type="spans"))["predictions"]
    assert [result["value"]["text"] for result in spans[0]["result"]] == ["Sill", "Harne"]


def test_what_the_instance_says_wins_over_annotations(tmp_path: Path) -> None:
    (found,) = read(tmp_path, {"data": DATA, "annotations": [said(label("Sill", 18, 22))], "meta": {"page": 3}})
    assert "annotations" in label_studio.to_record(replace(found, id="q2"))
    for changed in (replace(found, answers=("Orr",)), replace(found, paragraphs=found.paragraphs[:1])):
        task = label_studio.to_record(changed)
        assert ("annotations" in task, task["meta"]) == (False, {"page": 3})
        again = label_studio.from_record(json.loads(json.dumps(task)), "x")
        assert replace(again, provenance=None) == replace(changed, provenance=None)


def test_the_configuration_shows_what_the_tasks_have(tmp_path: Path) -> None:
    held = question("q<&>", paragraph("0", "<script>"), provenance=note("x", {"y": 1}))
    label_studio.write([held], tmp_path / "dev.json")
    root = ElementTree.parse(tmp_path / "dev.config.xml").getroot()
    assert [element.tag for element in root] == ["Text", "Paragraphs", "ParagraphLabels", "Choices", "TextArea"]
    shown = {element.get("name") for element in root if element.tag in {"Text", "Paragraphs"}}
    assert {element.get("toName") for element in root if element.get("toName")} <= shown
    (task,) = json.loads((tmp_path / "dev.json").read_text("utf-8"))
    assert {str(element.get("value"))[1:] for element in root if str(element.get("value")).startswith("$")} <= task["data"].keys()
    assert {choice.get("value") for choice in root.iter("Choice")} == set(label_studio_answers.VERDICTS)
    assert "script" not in (tmp_path / "dev.config.xml").read_text("utf-8")
    (found,) = read(tmp_path, {"data": DATA})
    label_studio.write([found], tmp_path / "dev.json")
    assert [e.get("value") for e in ElementTree.parse(tmp_path / "dev.config.xml").getroot().iter("Choices")] == ["$candidates", None]


def test_the_configuration_lies_beside_a_single_file(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    read(tmp_path / "set", {"data": DATA})
    done = kgqa.convert(tmp_path / "set" / "x.json", to="label_studio", out=tmp_path / "tasks.json")
    assert {path.name for path in done.files} == {"tasks.json", "tasks.config.xml"}
    assert (open_dataset(tmp_path / "tasks.json").format, done.changed) == ("label_studio", {})


@pytest.mark.parametrize(
    ("task", "kind", "part"),
    [
        ({"data": {"question": "?", "text": ""}}, MissingInput, "x.json, record 1: the field 'data.id' is missing; give"),
        ({"data": {"question": "?", "id": "q"}}, MissingInput, "record 1: the field 'data.paragraphs' is missing; call the text"),
        ({"data": {"text": "?", "id": "q"}}, MissingInput, "record 1: the field 'data.question' is missing"),
        ({"data": {**DATA, "id": 3.5}}, BrokenInput, "record 1, field 'data.id': expected text, found a number"),
        ({"data": {**DATA, "paragraphs": [{"id": "a", "text": ""}] * 2}}, DuplicateId, "record 1: two paragraphs have the id a"),
        ({"data": {**DATA, "kgqa": {"answer": 3}}}, BrokenInput, "record 1, field 'answer': expected no such field"),
        ({"data": {**DATA, "kgqa": {"grades": [None]}}}, BrokenInput, "record 1, field 'grades': expected one for each candidate"),
        (
            {"data": {**DATA, "candidates": [{"value": "a"}], "kgqa": {"grades": [{"confidence": 2, "path": "", "text": ""}]}}},
            BrokenInput,
            "record 1, field 'grades.confidence': expected a number from 0 to 1",
        ),
        ({"data": {**DATA, "kgqa": {"chains": 3}}}, BrokenInput, "record 1, field 'chains': expected a list, found a number"),
        ({"data": DATA, "annotations": 3}, BrokenInput, "record 1, field 'annotations': expected a list, found a number"),
        ({"data": DATA, "annotations": [{}]}, MissingInput, "record 1: the field 'annotations.0.result' is missing"),
        ({"data": DATA, "annotations": [said(label("Sill", 18, 22, "one"))]}, BrokenInput, "a label has no position"),
        ({"data": DATA, "annotations": [said({"type": "labels", "value": {"start": 1}})]}, BrokenInput, "a label has no position"),
    ],
)
def test_what_is_broken_is_named(task: dict[str, Any], kind: type[InputError], part: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as error:
        read(tmp_path, task)
    assert part in str(error.value)
    assert str(error.value).endswith(".")


def test_an_id_twice(tmp_path: Path) -> None:
    with pytest.raises(DuplicateId, match="record 2: id q1 was already used in record 1"):
        read(tmp_path, {"data": DATA}, {"data": DATA})
    with pytest.raises(BrokenInput, match="instance q, provenance, field 'task': expected an object, found a number"):
        label_studio.to_record(question("q", provenance='{"label_studio": {"task": 3}}'))


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name", ["hotpotqa/hotpot_dev_distractor_200.json", "qangaroo/wikihop_dev_28.json", "musique/musique_ans_dev_200.jsonl"]
)
def test_a_real_set_comes_back(name: str, real_data: Path, tmp_path: Path) -> None:
    done = kgqa.convert(real_data / name, to="label_studio", out=tmp_path / "tasks.json")
    assert (done.changed, open_dataset(tmp_path / "tasks.json").format) == ({}, "label_studio")
    marked = sum(bool(task["predictions"]) for task in json.loads((tmp_path / "tasks.json").read_text("utf-8")))
    assert (marked > 0) == ("qangaroo" not in name)
