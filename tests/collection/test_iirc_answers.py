"""IIRC's answers without a server: items of three kinds of set, what is refused, who agrees, and both forms of the dataset."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kgqa.collection.iirc import REASONS, TYPES, IircAnswer, QuestionsAnswer
from kgqa.collection.task import AuthoredAnswer, DecidedItem, Item, find_task, majority
from kgqa.collection.tasks.iirc_answers import IircAnswers, answer_label
from kgqa.collection.tasks.iirc_questions import IircQuestions
from kgqa.errors import EmptyResult, KgqaError, SettingsError, UnknownId
from kgqa.formats import native
from kgqa.formats.iirc import format as official
from kgqa.records import Instance
from tests.collection.iirc_corpus import TOWNS, secret, write_project, write_tables

EXAMPLES = Path(__file__).parent.parent / "formats" / "examples"
PEOPLE = ("ann", "ben", "cem", "dua")


def question_set(folder: Path, *, split: str = "dev", passages: int = 6) -> Path:
    """A dataset by the task iirc-questions: two questions for each passage, all by ann."""
    write_tables(folder / "corpus", passages=passages)
    options = {"links": 4, "questions": 2, "several": 1, "dev": 0.0, "test": 0.0}
    task = IircQuestions(write_project(folder, "iirc-questions", "corpus", sample=passages, options=options))
    decided = []
    for item in task.items():
        first, second, *_ = (link["title"] for link in item.shown["links"])
        context = [{"document": "passage", "start": 0, "end": 1, "text": item.shown["text"][0]}]
        questions = [
            {"question": "Which of the towns has more bridges?", "links": [first, second], "context": context},
            {"question": f"How many bridges does {first} have?", "links": [first], "context": context},
        ]
        answer = QuestionsAnswer.model_validate({"questions": questions})
        assert task.steps["questions"].faults(item, answer) == []
        decided.append(DecidedItem(item=item, answers=(AuthoredAnswer(person="ann", answer=answer),), labels={}))
    dataset = folder / "questions"
    dataset.mkdir()
    native.write([instance for _, instance in task.instances(decided)], dataset / f"{split}.parquet")
    return dataset


@pytest.fixture
def task(tmp_path: Path) -> IircAnswers:
    question_set(tmp_path)
    return IircAnswers(write_project(tmp_path, "iirc-answers", "questions", options={"articles": "corpus"}))


def mark(task: IircAnswers, item: Item, document: str, text: str) -> dict[str, Any]:
    start = (task.text_of(item, document) or "").index(text)
    return {"document": document, "start": start, "end": start + len(text), "text": text}


def answer_of(task: IircAnswers, item: Item, **changed: Any) -> IircAnswer:
    """A faultless answer, a span of an article, with ``changed`` fields."""
    article = f"article:{item.shown['named'][0]}"
    context = [mark(task, item, article, secret(item.shown["named"][0])), mark(task, item, "passage", "café owner".replace("é", "e\u0301"))]
    return IircAnswer(**{"type": "span", "spans": [mark(task, item, article, "Rill")], "context": context, **changed})


def sentences(task: IircAnswers, item: Item, answer: IircAnswer) -> list[tuple[str, str]]:
    return [(fault.field, fault.sentence) for fault in task.steps["iirc-answer"].faults(item, answer) if fault.blocking]


def test_the_task_is_found_by_its_name() -> None:
    assert find_task("iirc-answers") is IircAnswers


def test_items_are_the_questions_with_articles_that_open(task: IircAnswers) -> None:
    items = list(task.items())
    assert len(items) == 12
    for item in items:
        assert (item.seats, item.authors, item.hidden["split"]) == (3, ("ann",), "dev")
        assert item.shown["context"] == [(0, 1)]
        assert len(item.shown["links"]) == 4
        assert all(link["opens"] for link in item.shown["links"])
        for link in item.shown["links"]:
            document = task.document(item, f"article:{link['title']}")
            assert document["text"].endswith(secret(link["title"]))
        for unknown in ("article:Town39", "article:", "Town00", "question", "passage", "article:../../etc"):
            with pytest.raises(UnknownId):
                task.document(item, unknown)


def test_without_a_corpus_only_the_articles_of_the_set_open(tmp_path: Path) -> None:
    question_set(tmp_path)
    task = IircAnswers(write_project(tmp_path, "iirc-answers", "questions"))
    for item in task.items():
        named = {title for other in task.items() if other.shown["text"] == item.shown["text"] for title in other.shown["named"]}
        assert named <= {link["title"] for link in item.shown["links"] if link["opens"]}


def test_an_official_file_shows_nothing_of_its_answers(tmp_path: Path) -> None:
    for name in ("iirc_dev.json", "iirc_dev_context_articles.json"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    task = IircAnswers(write_project(tmp_path, "iirc-answers", "iirc_dev.json"))
    items = {item.id: item for item in task.items()}
    assert set(items) == {"i1", "i2", "i3", "i4"}  # the passage of i5 has no links
    assert items["i1"].shown["context"] == []
    assert "the Sill" not in json.dumps(dict(items["i1"].shown))
    assert items["i1"].hidden["answer"]["answer_spans"][0]["text"] == "the Sill"
    assert [(link["title"], link["opens"]) for link in items["i1"].shown["links"]] == [
        ("Harne", True), ("Žofín", False), ("Aldern Prize", True),
    ]  # fmt: skip
    assert task.document(items["i1"], "article:Harne")["text"] == "Harne lies on the Sill. It has a mill."


def test_one_person_answers_train_and_three_the_rest(tmp_path: Path) -> None:
    question_set(tmp_path, split="train")
    task = IircAnswers(write_project(tmp_path, "iirc-answers", "questions"))
    assert {item.seats for item in task.items()} == {1}


def test_too_few_people_are_refused(tmp_path: Path) -> None:
    question_set(tmp_path)
    with pytest.raises(SettingsError, match="needs 3 people, and 2 of those listed did not write"):
        IircAnswers(write_project(tmp_path, "iirc-answers", "questions", people=["ann", "ben", "cem"]))
    project = write_project(tmp_path, "iirc-answers", "questions", people=["ann", "ben", "cem"], options={"others": 2})
    assert {item.seats for item in IircAnswers(project).items()} == {2}


def test_wrong_data_is_one_sentence(tmp_path: Path) -> None:
    paragraph_free = Instance(
        id="q", question="Who?", paragraphs=(), answers=(), answer_type="none", answerable=True, group="g", provenance=None
    )
    native.write([paragraph_free], tmp_path / "dev.parquet")
    for data, error, part in (
        ("dev.parquet", EmptyResult, "no question is about a passage with links"),
        ("nothing", KgqaError, "no such file"),
    ):
        with pytest.raises(error, match=part):
            IircAnswers(write_project(tmp_path, "iirc-answers", data))
    question_set(tmp_path)
    for values, part in (
        ({"split": "train"}, "split: .* has none"),
        ({"options": {"articles": "nowhere"}}, "no such file or folder"),
        ({"options": {"article": "corpus"}}, "unknown setting 'options.article'; did you mean articles?"),
    ):
        with pytest.raises(KgqaError, match=part):
            IircAnswers(write_project(tmp_path, "iirc-answers", "questions", **values))


def test_each_kind_of_answer_is_checked(task: IircAnswers) -> None:
    item = next(task.items())
    article = f"article:{item.shown['named'][0]}"
    span = mark(task, item, article, "Rill")
    right: list[dict[str, Any]] = [
        {},
        {"spans": [mark(task, item, "question", "bridges"), span]},
        {"spans": [], "type": "number", "value": "1,200.5", "unit": "bridges"},
        {"spans": [], "type": "number", "value": "−3"},
        {"spans": [], "type": "yes"},
        {"spans": [], "type": "none", "context": []},
        {"spans": [], "type": "bad", "reason": "misread", "context": []},
        {"spans": [], "type": "bad", "reason": "other", "note": "Two questions.", "context": []},
    ]
    for changed in right:
        assert sentences(task, item, answer_of(task, item, **changed)) == []
    for changed, field, part in (
        ({"type": ""}, "type", "Choose a kind"),
        ({"spans": []}, "spans", "Mark the answer"),
        ({"spans": [{**span, "start": span["start"] + 1}]}, "spans", "does not match the text"),
        ({"spans": [{**span, "document": "article:Town39"}]}, "spans", "does not match the text"),
        ({"type": "number", "value": "twelve"}, "value", "in digits"),
        ({"type": "number", "value": "1,20"}, "value", "in digits"),
        ({"type": "no", "context": []}, "context", "Mark the sentences"),
        ({"type": "bad"}, "reason", "Choose what is wrong"),
        ({"type": "bad", "reason": "other"}, "note", "Say what is wrong"),
    ):
        found = sentences(task, item, answer_of(task, item, **changed))
        assert [entry[0] for entry in found] == [field], changed
        assert part in found[0][1]
    alone = answer_of(task, item, context=[mark(task, item, "passage", "owner")])
    assert [fault.sentence.split(".")[0] for fault in task.steps["iirc-answer"].faults(item, alone)] == [
        "All of the context is in the passage"
    ]


def test_answers_agree_as_the_scorer_compares_them(task: IircAnswers) -> None:
    step, item = task.steps["iirc-answer"], next(task.items())

    def spans(*texts: str) -> IircAnswer:
        marks = [{"document": "passage", "start": 0, "end": 1, "text": text} for text in texts]
        return IircAnswer.model_validate({"type": "span", "spans": marks})

    def number(value: str, unit: str = "") -> IircAnswer:
        return IircAnswer(type="number", value=value, unit=unit)

    assert answer_label(spans("The Rill.", "Aa")) == answer_label(spans("aa", "rill"))
    assert answer_label(spans("The")) != answer_label(spans("A"))
    assert answer_label(number("1,200", "m")) == answer_label(number("1200.0"))
    assert answer_label(number("-5")) != answer_label(number("5"))
    assert answer_label(spans("5")) != answer_label(number("5"))

    def decide(*answers: IircAnswer) -> dict[str, str] | None:
        return majority(step, [AuthoredAnswer(person=str(place), answer=answer) for place, answer in enumerate(answers)], share=0.5)

    assert decide(spans("the Rill"), number("3"), spans("Rill")) == {"type": "span", "answer": "span: rill"}
    assert decide(spans("Rill"), spans("Sill"), number("3")) is None
    assert decide(IircAnswer(type="yes"), IircAnswer(type="no"), IircAnswer(type="none")) is None
    assert set(TYPES) == {"span", "number", "yes", "no", "none", "bad"}
    assert set(REASONS) == {"senseless", "misread", "passage", "apart", "other"}
    assert item.seats == 3


def given(*answers: IircAnswer) -> tuple[AuthoredAnswer, ...]:
    return tuple(AuthoredAnswer(person=person, answer=answer) for person, answer in zip(PEOPLE[1:], answers, strict=True))


def answers_to(task: IircAnswers, item: Item, number: int) -> tuple[IircAnswer, ...]:
    """Three people answer: of six questions in a row five are agreed on, each with another kind of answer, and one is bad."""
    kinds: list[dict[str, Any]] = [
        {},
        {"type": "number", "spans": [], "value": "1,200", "unit": "bridges"},
        {"type": "yes", "spans": []},
        {"type": "none", "spans": []},
        {"type": "bad", "spans": [], "reason": "misread"},
        {"spans": [mark(task, item, "question", "bridges"), mark(task, item, f"article:{item.shown['named'][0]}", "Rill")]},
    ]
    same = answer_of(task, item, **kinds[number % 6])
    return same, IircAnswer(type="no", context=same.context), same


def test_both_forms_of_the_dataset_are_read_back_equal(task: IircAnswers, tmp_path: Path) -> None:
    step = task.steps["iirc-answer"]
    decided = []
    for number, item in enumerate(task.items()):
        answers = tuple(
            AuthoredAnswer(person=person, answer=answer) for person, answer in zip(PEOPLE[1:], answers_to(task, item, number), strict=True)
        )
        labels = majority(step, answers, share=0.5)
        assert labels
        decided.append(DecidedItem(item=item, answers=answers, labels=labels))
    found = list(task.instances(decided))
    figures = {figure.name: (figure.items, round(figure.value.mean)) for figure in task.figures(decided)}
    assert figures == {"bad": (12, 17), "no answer": (10, 20)}
    assert len(found) == 10
    assert {split for split, _ in found} == {"dev"}
    instances = [instance for _, instance in found]
    assert sorted(instance.answer_type for instance in instances) == sorted(["span", "number", "boolean", "none", "spans"] * 2)
    by_type = {instance.answer_type: instance for instance in instances}
    assert by_type["spans"].answers == ("bridges", "Rill")
    assert by_type["number"].answers == ("1200",)
    native.write(instances, tmp_path / "dev.parquet")
    assert list(native.read(tmp_path / "dev.parquet")) == instances
    instances.sort(key=lambda instance: instance.paragraphs[0].text)  # consecutive questions of a passage form a record
    official.write(instances, tmp_path / "dev.json")
    assert list(official.read(tmp_path / "dev.json")) == instances
    record = json.loads((tmp_path / "dev.json").read_text())[0]
    for entry in [entry for question in record["questions"] for entry in question["context"] if entry["passage"] == "main"]:
        assert record["text"][slice(*entry["indices"])] == entry["text"] == "cafe\u0301 owner"
    assert {question["author"] for question in record["questions"]} == {"ann"}
    assert {link["target"] for link in record["links"]} <= set(TOWNS)


def test_a_lead_settles_what_people_do_not_agree_on(task: IircAnswers) -> None:
    item = next(task.items())
    answers = given(*(answer_of(task, item, type="number", spans=[], value=str(number)) for number in range(3)))
    (undecided,) = [DecidedItem(item=item, answers=answers, labels={})]
    assert list(task.instances([undecided])) == []
    lead = answer_of(task, item, type="yes", spans=[])
    settled = DecidedItem(item=item, answers=answers, labels=task.steps["iirc-answer"].labels(lead), lead=lead)
    assert [instance.answers for _, instance in task.instances([settled])] == [("yes",)]
    bad = answer_of(task, item, type="bad", spans=[], reason="misread")
    assert list(task.instances([DecidedItem(item=item, answers=answers, labels=task.steps["iirc-answer"].labels(bad), lead=bad)])) == []
