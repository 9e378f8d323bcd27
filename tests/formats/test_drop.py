"""DROP's format: files come back as they were, and all gold answers reach the scorer."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, KgqaError, MissingInput
from kgqa.formats import drop, native
from kgqa.formats.faults import faults_of
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.drop import NAMES, answer_spans, drop as scores_of
from kgqa.records import Instance
from tests.formats.drawing import TEXT, instances, sets
from tests.formats.keeping import check_kept, written

EXAMPLES = Path(__file__).parent / "examples" / "drop_dev.json"
EXTRA = st.dictionaries(st.sampled_from(["x", "wiki_url"]), TEXT, max_size=1)
DATES = st.fixed_dictionaries({}, optional={"day": TEXT, "month": TEXT, "year": TEXT})
ANSWERS = st.fixed_dictionaries(
    {}, optional={"number": st.just("") | TEXT, "spans": st.lists(TEXT, max_size=3), "date": DATES, "worker_id": TEXT}
)


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """Files in which every passage has questions."""
    file = {}
    number = 0
    for passage_id in draw(st.lists(TEXT, min_size=1, max_size=3, unique=True)):
        questions = []
        for _ in range(draw(st.integers(1, 3))):
            number += 1
            question: dict[str, Any] = {**draw(EXTRA), "query_id": f"q{number}", "question": draw(TEXT)}
            for field, values in (("answer", ANSWERS), ("validated_answers", st.lists(ANSWERS, max_size=2))):
                if draw(st.booleans()):
                    question[field] = draw(values)
            questions.append(question)
        file[passage_id] = {**draw(EXTRA), "passage": draw(TEXT), "qa_pairs": questions}
    return file


@given(files())
@settings(deadline=None)
def test_files_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, file: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("drop")
    (folder / "x.json").write_text(json.dumps(file), "utf-8")
    found = list(drop.read(folder / "x.json"))
    drop.write(found, folder / "y.json")
    assert json.loads((folder / "y.json").read_text("utf-8")) == file
    assert list(drop.read(folder / "y.json")) == found
    assert drop.recognises(file)


@given(sets(instances(), at_least=1))
@settings(deadline=None)
def test_of_any_question_the_essentials_come_back(tmp_path_factory: pytest.TempPathFactory, given_instances: list[Instance]) -> None:
    folder = tmp_path_factory.mktemp("drop")
    held = [instance for instance in given_instances if instance.answerable]
    for instance in given_instances:
        if not instance.answerable:
            with pytest.raises(BrokenInput, match="which DROP does not know"):
                drop.to_question(instance)
    if not held:
        return
    drop.write(held, folder / "y.json")
    again = list(drop.read(folder / "y.json"))
    assert [(i.id, i.question) for i in again] == [(i.id, i.question) for i in held]
    assert [i.paragraphs[0].text for i in again] == ["\n\n".join(p.text for p in i.paragraphs) for i in held]
    for before, after in zip(held, again, strict=True):
        if all(before.answers) and before.answers:
            assert drop.gold_answers(after) == drop.gold_answers(before)
            assert after.answers == (before.answers if before.answer_type == "spans" else before.answers[:1])
    drop.write(again, folder / "z.json")
    assert (folder / "y.json").read_bytes() == (folder / "z.json").read_bytes()


def test_what_a_question_becomes() -> None:
    found = {instance.id: instance for instance in drop.read(EXAMPLES)}
    assert {key: (i.answers, i.answer_type) for key, i in found.items()} == {
        "d1": (("3",), "number"),
        "d2": (("20", "31"), "spans"),
        "d3": (("Aldern",), "span"),
        "d4": (("3 May 1990",), "span"),
        "d5": (("1990",), "span"),
        "d6": ((), "none"),
        "d7": (("1900", "1950"), "spans"),
    }
    assert all(instance.answerable for instance in found.values())
    first = found["d1"]
    assert [(p.id, p.title, p.supporting) for p in first.paragraphs] == [("game_1", None, True)]
    assert noted(first, "drop")["passage"] == {"wiki_url": "https://example.org/harne"}
    assert noted(found["d3"], "drop")["question"] == {"original_question": "Which team scored three times?"}
    assert drop.gold_answers(first) == (("3",), ("3",), ("three",))
    assert drop.gold_answers(found["d2"]) == (("20", "31"),)


@given(ANSWERS)
def test_an_answer_is_what_the_scorer_takes_for_it(answer: dict[str, Any]) -> None:
    answer = {**answer, "date": {"day": "", "month": "", "year": "", **answer.get("date", {})}}
    assert [" ".join(span.split()) for span in drop.spans_of(answer)] == [" ".join(span.split()) for span in answer_spans(answer)]


def test_an_answer_that_was_changed_is_written_and_its_notes_are_not() -> None:
    first, several, *_ = drop.read(EXAMPLES)
    assert drop.to_question(replace(first, answers=("4",)))["answer"] == {
        "number": "4",
        "date": {"day": "", "month": "", "year": ""},
        "spans": [],
    }
    assert "validated_answers" not in drop.to_question(replace(first, answers=("4",)))
    assert drop.gold_answers(replace(first, answers=("4",))) == (("4",),)
    assert drop.to_question(replace(several, answers=("12", "20", "31")))["answer"]["spans"] == ["12", "20", "31"]
    assert "answer" not in drop.to_question(replace(first, answers=()))


def test_aliases_are_validated_answers_and_a_passage_is_there_once_under_an_id(tmp_path: Path) -> None:
    first, *_, last = (replace(instance, provenance=None) for instance in drop.read(EXAMPLES))
    third = replace(first, id="d0", answers=("three", "3"), answer_type="span")
    other = replace(last, id="d9", paragraphs=(replace(last.paragraphs[0], id="game_1"),))
    several = replace(last, id="d10", paragraphs=(*first.paragraphs, *last.paragraphs))
    drop.write([first, third, other, several, replace(first, id="d11")], tmp_path / "x.json")
    file = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert {key: [q["query_id"] for q in passage["qa_pairs"]] for key, passage in file.items()} == {
        "game_1": ["d1", "d0"],
        "game_1#2": ["d9"],
        "d10": ["d10"],
        "game_1#3": ["d11"],
    }
    assert [answer["spans"] for answer in file["game_1"]["qa_pairs"][1]["validated_answers"]] == [["3"]]
    assert file["d10"]["passage"] == f"{first.paragraphs[0].text}\n\n{last.paragraphs[0].text}"
    assert drop.gold_answers(third) == (("three",), ("3",))


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        ({"query_id": "d1"}, DuplicateId, "game_1.qa_pairs.1: id d1 was already used in game_1.qa_pairs.0"),
        ({"query_id": 2.5}, BrokenInput, "field 'game_1.qa_pairs.1.query_id': expected text, found a number"),
        ({"answer": {"number": 4}}, BrokenInput, "field 'game_1.qa_pairs.1.answer.number': expected text, found a number"),
        ({"answer": {"date": {"day": 4}}}, BrokenInput, "field 'game_1.qa_pairs.1.answer.date.day': expected text"),
        ({"answer": {"spans": "x"}}, BrokenInput, "field 'game_1.qa_pairs.1.answer.spans': expected a list, found text"),
        ({"answer": "x"}, BrokenInput, "field 'game_1.qa_pairs.1.answer': expected an object, found text"),
        ({"question": None}, BrokenInput, "field 'game_1.qa_pairs.1.question': expected text, found null"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(change: dict[str, Any], kind: type[KgqaError], part: str, tmp_path: Path) -> None:
    file = json.loads(EXAMPLES.read_text("utf-8"))
    file["game_1"]["qa_pairs"][1].update(change)
    (tmp_path / "x.json").write_text(json.dumps(file), "utf-8")
    with pytest.raises(kind) as error:
        list(drop.read(tmp_path / "x.json"))
    assert str(error.value).startswith("x.json")
    assert part in str(error.value)


EMPTY = {"date": {"day": "", "month": "", "year": ""}, "number": "", "spans": []}
BASELINE = {
    "q_1": {
        "passage": "Harne lies on the Sill.</s>The Sill is a river.",
        "qa_pairs": [
            {
                "question": "What flows past Harne?",
                "answer": {**EMPTY, "spans": ["the Sill"]},
                "validated_answers": [{**EMPTY, "spans": ["the Sill"]}],
                "query_id": "qid_1",
            }
        ],
    },
    "q_2": {
        "passage": "",
        "qa_pairs": [{"question": "Who built Harne?", "answer": EMPTY, "validated_answers": [EMPTY], "query_id": "qid_2"}],
    },
    "q_3": {
        "passage": "Harne has 30 houses.",
        "qa_pairs": [
            {
                "question": "How many houses has it?",
                "answer": {**EMPTY, "number": "30"},
                "validated_answers": [{**EMPTY, "number": "30"}],
                "query_id": "qid_3",
            }
        ],
    },
}
"""As the IIRC baseline writes its questions for its scorer (``make_drop_style.py``)."""


@pytest.mark.parametrize("answer", [EMPTY, {}, {"spans": []}, {"date": {}, "worker_id": "k"}])
def test_an_empty_answer_is_kept(answer: dict[str, Any], tmp_path: Path) -> None:
    file = json.loads(EXAMPLES.read_text("utf-8"))
    file["game_1"]["qa_pairs"][0]["answer"] = answer
    instance = check_kept(written(file, tmp_path / "x_dev.json"), "d1", {"answer": "absent-answer"})
    assert (instance.answers, instance.answer_type, instance.answerable) == ((), "none", False)
    assert instance.paragraphs[0].supporting is None
    assert drop.gold_answers(instance) == ((), ("3",), ("three",))
    with pytest.raises(BrokenInput, match="which DROP does not know"):
        drop.to_question(replace(instance, provenance=None))


def test_an_answer_that_is_not_there_is_no_empty_one(tmp_path: Path) -> None:
    unknown = next(instance for instance in drop.read(EXAMPLES) if instance.id == "d6")
    assert (unknown.answerable, unknown.answers, faults_of(unknown)) == (True, (), ())
    given = written({"d6": "260"}, tmp_path / "p.json")
    with pytest.raises(MissingInput, match="instance d6: it has no answer to compare with"):
        kgqa.evaluate(EXAMPLES, given)


def test_iircs_questions_in_this_form_are_scored_as_its_script_does(tmp_path: Path) -> None:
    path = written(BASELINE, tmp_path / "drop_dev.json")
    instance = check_kept(path, "qid_2", {"answer": "absent-answer"})
    assert drop.gold_answers(instance) == ((), ())
    said = written({"qid_1": ["the Sill"], "qid_2": "none", "qid_3": "31"}, tmp_path / "p.json")
    done = kgqa.evaluate(path, said)
    assert (done.metric, done.scores.per_record[NAMES[0]]) == ("iirc", {"qid_1": 1, "qid_2": 1, "qid_3": 0})
    # In DROP's own script the empty date is the span "  ", and a blank one is passed over.
    assert kgqa.evaluate(path, said, metric="drop").scores.per_record[NAMES[1]] == {"qid_1": 1, "qid_2": 0, "qid_3": 0}
    file = json.loads(json.dumps(BASELINE))
    file["q_2"]["qa_pairs"][0]["validated_answers"] = [EMPTY, {**EMPTY, "spans": ["Ada"]}]
    for answer, drops, iircs in (("Ada", 1, 1), ("none", 0, 1), ("Bo", 0, 0)):
        written({"qid_1": "x", "qid_2": answer}, said)
        scores = {metric: kgqa.evaluate(written(file, path), said, metric=metric).scores for metric in ("drop", "iirc")}
        assert {name: found.per_record[NAMES[0]]["qid_2"] for name, found in scores.items()} == {"drop": drops, "iirc": iircs}


def test_another_format_in_between(tmp_path: Path) -> None:
    file = json.loads(EXAMPLES.read_text("utf-8")) | {"a": {"context": "x", "qas": []}}
    (tmp_path / "x.json").write_text(json.dumps(file), "utf-8")
    with pytest.raises(MissingInput, match=r"x.json: the field 'a.passage' is missing"):
        list(drop.read(tmp_path / "x.json"))


@pytest.mark.parametrize("content", ["{}", "[]", '{"p": {"passage": "x", "qa_pairs": []}}', '{"p": 3}', "", "3"])
def test_a_file_of_something_else(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"^x.json"):
        list(drop.read(tmp_path / "x.json"))


def test_the_examples_are_recognised() -> None:
    source = open_dataset(EXAMPLES)
    assert (source.format, list(source.files)) == ("drop", ["dev"])


@pytest.mark.real_data
def test_the_contrast_set_comes_back_and_is_scored(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "drop" / "drop_contrast_sets_test.json"
    source = open_dataset(path)
    found = list(source.instances())
    assert (source.format, list(source.files), len(found)) == ("drop", ["test"], 947)
    assert len({instance.paragraphs[0].id for instance in found}) == 75
    # Five of the numbers have spans beside them, which do not count; 18 of the single spans are dates.
    assert Counter(instance.answer_type for instance in found) == {"number": 452, "span": 449, "spans": 46}
    assert sum(len(drop.gold_answers(instance)) for instance in found) == 947 + 17
    drop.write(found, tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(path.read_text("utf-8"))
    assert list(drop.read(tmp_path / "again.json")) == found
    native.write(found, tmp_path / "again.parquet")
    assert list(native.read(tmp_path / "again.parquet")) == found
    pairs = [pair for passage in json.loads(path.read_text("utf-8")).values() for pair in passage["qa_pairs"]]
    raw = {pair["query_id"]: [answer_spans(answer) for answer in (pair["answer"], *pair.get("validated_answers", []))] for pair in pairs}
    said = {key: answers[-1] for key, answers in raw.items()}
    ours = {instance.id: drop.gold_answers(instance) for instance in found}
    assert scores_of(ours, said) == scores_of(raw, said)
    assert scores_of(ours, {instance.id: instance.answers for instance in found}).official == dict.fromkeys(NAMES, 100)
