"""BoolQ's lines come back as they were, and its contrast set as lines with the same questions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, KgqaError, MissingInput
from kgqa.formats import boolq
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset

EXAMPLES = Path(__file__).parent / "examples"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    """Lines with and without what is optional, as this format writes them: with an id."""
    record: dict[str, Any] = {"question": draw(TEXT), "passage": draw(TEXT), "id": draw(TEXT.filter(bool))}
    record |= draw(st.dictionaries(st.sampled_from(["source", "perturbed", "data"]), st.none() | TEXT, max_size=2))
    if draw(st.booleans()):
        record["answer"] = draw(st.booleans())
    if draw(st.booleans()):
        record["title"] = draw(TEXT)
    if draw(st.booleans()):
        record["perturbs"] = f"of {record['id']}"
    return record


def write(records: list[dict[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@given(st.lists(lines(), min_size=1, max_size=3, unique_by=lambda record: record["id"]))
def test_what_is_read_is_written(tmp_path_factory: pytest.TempPathFactory, given_lines: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("boolq")
    instances = list(boolq.read(write(given_lines, folder / "x.jsonl")))
    boolq.write(instances, folder / "y.jsonl")
    assert [json.loads(line) for line in (folder / "y.jsonl").read_bytes().splitlines()] == given_lines
    assert list(boolq.read(folder / "y.jsonl")) == instances


def test_what_a_line_becomes() -> None:
    first, second, third, perturbed, unlabelled = boolq.read(EXAMPLES / "boolq_dev.jsonl")
    assert [instance.id for instance in (first, second, third, perturbed, unlabelled)] == ["7", "1", "h1", "h1.1", "4"]
    assert (first.answers, first.answer_type, second.answers) == (("yes",), "boolean", ("no",))
    (paragraph,) = first.paragraphs
    assert (paragraph.id, paragraph.title, paragraph.supporting) == ("0", "Žofín", True)
    assert noted(second, "boolq") == {"source": "atlas"}
    assert (third.group, perturbed.group) == ("h1", "h1")
    assert (unlabelled.answers, unlabelled.answer_type, unlabelled.answerable) == ((), "none", True)
    assert (unlabelled.paragraphs[0].title, unlabelled.paragraphs[0].supporting) == (None, None)


def test_a_contrast_set_holds_originals_and_perturbed_questions_without_its_headings(tmp_path: Path) -> None:
    source = open_dataset(EXAMPLES / "boolq_dev.json")
    instances = list(source.instances())
    assert [(one.id, one.group, one.answers) for one in instances] == [
        ("1", "1", ("yes",)), ("1.1", "1", ("no",)), ("1.2", "1", ("yes",)), ("2", "2", ("no",)), ("2.1", "2", ()),
    ]  # fmt: skip
    assert [one.question for one in instances][:2] == ["is Žofín on the Sill", "is Žofín above the old mill"]
    assert {one.paragraphs[0].text for one in instances[:3]} == {"Žofín lies on the Sill, below the old mill."}
    assert noted(instances[2], "boolq") == {"entry": {"annotator": "b"}}
    done = kgqa.convert(EXAMPLES / "boolq_dev.json", to="boolq", out=tmp_path / "out")
    assert done.changed == {}
    assert list(open_dataset(tmp_path / "out").instances()) == instances


def test_what_stands_beside_the_questions_is_noted(tmp_path: Path) -> None:
    value = json.loads((EXAMPLES / "boolq_dev.json").read_bytes()) | {"version": "1"}
    (tmp_path / "x.json").write_text(json.dumps(value), "utf-8")
    assert {str(noted(one, "boolq")["file"]) for one in boolq.read(tmp_path / "x.json")} == {"{'version': '1'}"}


def test_superglue_s_names_are_known(tmp_path: Path) -> None:
    path = write([{"question": "q", "passage": "p", "idx": 3, "label": True}], tmp_path / "x_dev.jsonl")
    (instance,) = open_dataset(path).instances()
    assert (instance.id, instance.answers, instance.provenance) == ("3", ("yes",), None)


def test_lines_of_another_set_are_not_taken_for_these(tmp_path: Path) -> None:
    record = {"question": "q", "passage": "p"}
    assert boolq.recognises(record)
    for fields in ({"answer": "yes"}, {"answer": 2}, {"answers": ["yes"]}, {"answers_spans": {"spans": ["x"]}}):
        assert not boolq.recognises({**record, **fields})
    assert open_dataset(write([{**record, "qid": "x"}], tmp_path / "x_dev.jsonl")).format == "strategyqa"


def test_odd_fields_of_a_contrast_set_change_no_question(tmp_path: Path) -> None:
    value = json.loads((EXAMPLES / "boolq_dev.json").read_bytes())
    value["data"] = value["data"][1:]
    value["data"][0] |= {"id": "odd", "perturbs": "odd", "passage": "odd", "source": "x"}
    value["data"][0]["perturbed_questions"][0] |= {"passage": "odd", "title": "odd"}
    (tmp_path / "x.json").write_text(json.dumps(value), "utf-8")
    original, first, second, *_ = boolq.read(tmp_path / "x.json")
    assert [(one.id, one.group, one.paragraphs) for one in (original, first, second)] == [
        (key, "0", original.paragraphs) for key in ("0", "0.1", "0.2")
    ]
    assert original.paragraphs[0].text == "Žofín lies on the Sill, below the old mill."
    assert noted(original, "boolq")["entry"]["source"] == "x"
    assert noted(first, "boolq") == {"entry": {"passage": "odd", "title": "odd"}}
    assert noted(second, "boolq") == {"entry": {"annotator": "b"}}


def test_a_note_does_not_answer() -> None:
    first = next(boolq.read(EXAMPLES / "boolq_dev.jsonl"))
    assert boolq.to_record(replace(first, provenance='{"boolq": {"answer": false}}'))["answer"] is True


@pytest.mark.parametrize(
    ("record", "error", "part"),
    [
        ({"question": "q", "passage": "p", "answer": "yes"}, BrokenInput, "line 1, field 'answer': expected true or false, found text"),
        ({"question": "q", "passage": "p", "answer": 2}, BrokenInput, "field 'answer': expected true or false, found a number"),
        ({"question": "q"}, MissingInput, "the field 'passage' is missing"),
        ({"question": "q", "passage": "p", "id": 1.5}, BrokenInput, "field 'id': expected text or a whole number"),
        ({"question": "q", "passage": "p", "id": ""}, BrokenInput, "line 1: the id is empty"),
    ],
)
def test_broken_lines(record: dict[str, Any], error: type[KgqaError], part: str, tmp_path: Path) -> None:
    with pytest.raises(error) as caught:
        list(boolq.read(write([record], tmp_path / "x.jsonl")))
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "error", "part"),
    [
        ({"answer": True}, BrokenInput, "x.json, entry 2, field 'answer': expected text, found true or false"),
        ({"perturbed_questions": [{"perturbed_q": "q", "answer": 1}]}, BrokenInput, "field 'perturbed_questions.0.answer': expected text"),
        ({"paragraph": None}, BrokenInput, "entry 2, field 'paragraph': expected text, found null"),
        ({"perturbed_questions": [{"answer": "TRUE"}]}, MissingInput, "the field 'perturbed_questions.0.perturbed_q' is missing"),
    ],
)
def test_broken_contrast_sets(change: dict[str, Any], error: type[KgqaError], part: str, tmp_path: Path) -> None:
    value = json.loads((EXAMPLES / "boolq_dev.json").read_bytes())
    value["data"][1] |= change
    (tmp_path / "x.json").write_text(json.dumps(value), "utf-8")
    with pytest.raises(error) as caught:
        list(boolq.read(tmp_path / "x.json"))
    assert part in str(caught.value)


def test_an_id_may_be_that_of_a_place_only_once(tmp_path: Path) -> None:
    record = {"question": "q", "passage": "p"}
    with pytest.raises(DuplicateId, match="line 2: id 1 was already used in line 1"):
        list(boolq.read(write([{**record, "id": 1}, record], tmp_path / "x.jsonl")))


def test_what_has_no_place_in_a_line() -> None:
    first = next(boolq.read(EXAMPLES / "boolq_dev.jsonl"))
    for other, part in (
        (replace(first, answers=("the Sill",)), "instance 7: BoolQ's answers are yes and no"),
        (replace(first, paragraphs=first.paragraphs * 2), "instance 7: BoolQ's questions have one passage, and this one has 2"),
        (replace(first, paragraphs=()), "and this one has 0"),
    ):
        with pytest.raises(BrokenInput, match=part):
            boolq.to_record(other)


@pytest.mark.real_data
def test_the_public_contrast_set(real_data: Path) -> None:
    source = open_dataset(real_data / "boolq" / "boolq_perturbed.json", "boolq")
    instances = list(source.instances())
    assert (len(instances), sum(one.id != one.group for one in instances)) == (409, 340)
    assert sum(not one.answers for one in instances) == 5
