"""IIRC's questions without a server: what is drawn and shown, what is refused, and the dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgqa.collection.iirc import QuestionsAnswer
from kgqa.collection.project import Project
from kgqa.collection.task import AuthoredAnswer, DecidedItem, Item, find_task
from kgqa.collection.tasks.iirc_questions import IircQuestions
from kgqa.errors import BrokenInput, EmptyResult, KgqaError, MissingInput, SettingsError
from kgqa.formats import native
from tests.collection.iirc_corpus import TOWNS, secret, write_lines, write_project, write_tables

OPTIONS = {"links": 4, "questions": 3, "several": 1}


def project_on(folder: Path, **values: Any) -> Project:
    return write_project(folder, "iirc-questions", "corpus", **{"options": OPTIONS, **values})


@pytest.fixture
def task(tmp_path: Path) -> IircQuestions:
    write_tables(tmp_path / "corpus")
    return IircQuestions(project_on(tmp_path))


def mark(item: Item, start: int = 0, end: int = 10, **changed: Any) -> dict[str, Any]:
    return {"document": "passage", "start": start, "end": end, "text": item.shown["text"][start:end], **changed}


def written(item: Item, *links: int, text: str = "How many bridges has it?", **changed: Any) -> dict[str, Any]:
    """A question that names the links at these places."""
    titles = [item.shown["links"][place]["title"] for place in links]
    return {"question": text, "links": titles, "context": [mark(item)], **changed}


def whole(item: Item, *changed: dict[str, Any]) -> QuestionsAnswer:
    """A faultless answer whose first questions are ``changed``."""
    questions = [
        written(item, 0, 1, text="Which has more bridges?"),
        written(item, 2, text="Where is it?"),
        written(item, 3, text="How old?"),
    ]
    return QuestionsAnswer.model_validate({"questions": [*changed, *questions[len(changed) :]]})


def sentences(task: IircQuestions, item: Item, answer: QuestionsAnswer) -> list[tuple[str, str]]:
    return [(fault.field, fault.sentence) for fault in task.steps["questions"].faults(item, answer)]


def test_the_task_is_found_by_its_name() -> None:
    assert find_task("iirc-questions") is IircQuestions


@pytest.mark.parametrize("kind", ["import", "workspace", "lines"])
def test_passages_are_drawn_from_every_corpus(kind: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    if kind == "lines":
        write_lines(corpus)
    else:
        write_tables(corpus, workspace=kind == "workspace")
    items = list(IircQuestions(project_on(tmp_path)).items())
    assert len(items) == 6
    for item in items:
        assert [item.shown["text"][link["start"] : link["end"]] for link in item.shown["links"]] == [
            link["title"] for link in item.shown["links"]
        ]
        assert len(item.shown["links"]) == 4
    assert items == list(IircQuestions(project_on(tmp_path)).items())
    assert [item.id for item in IircQuestions(project_on(tmp_path, sample=2)).items()] == [item.id for item in items[:2]]
    others = [[item.id for item in IircQuestions(project_on(tmp_path, seed=seed)).items()] for seed in range(4)]
    assert len({tuple(ids) for ids in others}) > 1
    assert {frozenset(ids) for ids in others} == {frozenset(others[0])}


def test_links_that_a_source_marks_come_before_those_that_were_found(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "corpus", workspace=True) / "tables"
    (folder / "mentions.parquet").rename(folder / "annotations.parquet")
    assert len(list(IircQuestions(project_on(tmp_path)).items())) == 6


def test_nothing_shown_says_what_a_linked_article_says(task: IircQuestions) -> None:
    for item in task.items():
        shown = json.dumps(item.shown)
        assert not any(secret(town) in shown or f"Rill{town[4:]}" in shown for town in TOWNS)
        assert "d-Town" not in shown
        for document in (*item.hidden["articles"].values(), *item.hidden["articles"]):
            with pytest.raises(KgqaError):
                task.document(item, document)
        with pytest.raises(KgqaError):
            task.search(item, "bridges", 5)


def test_a_passage_needs_enough_links_to_different_articles(tmp_path: Path) -> None:
    write_tables(tmp_path / "corpus")
    with pytest.raises(EmptyResult, match="links to 5 articles; lower links"):
        IircQuestions(project_on(tmp_path, options={**OPTIONS, "links": 5}))
    lines = tmp_path / "lines.jsonl"
    record = {"title": "T", "text": "aa aa", "links": [{"target": "A", "indices": [0, 2]}, {"target": "A", "indices": [3, 5]}]}
    lines.write_text(json.dumps(record))
    with pytest.raises(EmptyResult):
        IircQuestions(write_project(tmp_path, "iirc-questions", "lines.jsonl", options={"links": 2}))
    assert len(list(IircQuestions(write_project(tmp_path, "iirc-questions", "lines.jsonl", options={"links": 1})).items())) == 1


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"several": 4, "questions": 3}, "options: several is 4, and there are 3 questions; lower it."),
        ({"question": 3}, "unknown setting 'options.question'; did you mean questions?"),
        ({"links": 0}, "the setting 'options.links' cannot be 0: it must be at least 1."),
        ({"dev": 0.5, "test": 0.5}, "leave nothing for train"),
    ],
)
def test_a_wrong_option_is_one_sentence(options: dict[str, Any], part: str, tmp_path: Path) -> None:
    write_tables(tmp_path / "corpus")
    with pytest.raises(SettingsError) as caught:
        IircQuestions(project_on(tmp_path, options=options))
    assert part in str(caught.value)


def test_wrong_data_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no such file or folder"):
        IircQuestions(project_on(tmp_path))
    (tmp_path / "corpus").mkdir()
    with pytest.raises(MissingInput, match="neither a workspace nor"):
        IircQuestions(project_on(tmp_path))
    (write_tables(tmp_path / "broken") / "documents.parquet").write_bytes(b"PAR1")
    with pytest.raises(BrokenInput, match="broken: its tables cannot be read"):
        IircQuestions(write_project(tmp_path, "iirc-questions", "broken"))
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps({"title": "T", "text": "aa", "links": [{"target": "A", "indices": [1, 9]}]}))
    with pytest.raises(BrokenInput, match=r"lines.jsonl, line 1, links: a link at 1 to 9 is outside"):
        IircQuestions(write_project(tmp_path, "iirc-questions", "lines.jsonl"))


def test_a_whole_answer_has_no_faults(task: IircQuestions) -> None:
    for item in task.items():
        assert sentences(task, item, whole(item)) == []


def test_each_question_is_checked(task: IircQuestions) -> None:
    item = next(task.items())
    for changed, part in (
        (written(item, 0, 1, text=""), "is empty"),
        (written(item, 0, 1, text="It has bridges."), "question mark"),
        (written(item, 0, 1, text="?"), "no words"),
        (written(item), "Choose the links"),
        (written(item, 0, 1, links=["Town39", "Town38"]), "not one of this passage"),
        (written(item, 0, 1, context=[]), "Mark what of the passage"),
        (written(item, 0, 1, context=[mark(item, text="other")]), "does not match the text"),
        (written(item, 0, 1, context=[mark(item, 5, 5)]), "does not match the text"),
        (written(item, 0, 1, context=[mark(item, document="question")]), "does not match the text"),
    ):
        found = sentences(task, item, whole(item, changed))
        assert [field for field, _ in found] == ["questions.0", ""], found
        assert part in found[0][1]
        assert found[1][1] == "2 of 3 questions are complete; write 1 more."
    same = sentences(task, item, whole(item, written(item, 0, 1, text="Where  is IT?"), written(item, 2, text="Where is it?")))
    assert same[0] == ("questions.1", "It is the same as question 1; ask something else.")
    few = sentences(task, item, whole(item, written(item, 0)))
    assert few == [("", "0 of the questions need two or more links; 1 must.")]
    assert sentences(task, item, QuestionsAnswer()) == [("", "0 of 3 questions are complete; write 3 more.")]


def test_pasted_lines_become_one(task: IircQuestions) -> None:
    item = next(task.items())
    answer = whole(item, written(item, 0, 1, text=" Who\n  built <b>it</b>\t?\n"))
    assert answer.questions[0].question == "Who built <b>it</b> ?"


def decided(task: IircQuestions) -> list[DecidedItem]:
    people = ("ann", "ben")
    return [
        DecidedItem(item=item, answers=tuple(AuthoredAnswer(person=person, answer=whole(item)) for person in people), labels={})
        for item in task.items()
    ]


def test_the_dataset_has_each_question_without_an_answer(task: IircQuestions, tmp_path: Path) -> None:
    found = list(task.instances(decided(task)))
    assert len(found) == 6 * 2 * 3
    assert len({instance.id for _, instance in found}) == len(found)
    for _, instance in found:
        assert (instance.hidden, instance.answers, instance.answer_type) == (True, (), "none")
        passage, *articles = instance.paragraphs
        assert (passage.id, passage.supporting) == ("main", True)
        assert [secret(article.title or "") in article.text for article in articles] == [True] * len(articles)
        assert len(articles) == (2 if instance.question.startswith("Which") else 1)
    split_of = {instance.group: split for split, instance in found}
    assert all(split_of[instance.group] == split for split, instance in found)
    (figure,) = task.figures(decided(task))
    assert (figure.name, figure.items, round(figure.value.mean)) == ("needs several links", 36, 33)
    native.write([instance for _, instance in found], tmp_path / "train.parquet")
    assert list(native.read(tmp_path / "train.parquet")) == [instance for _, instance in found]
