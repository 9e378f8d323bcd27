"""The task ``answer``: nothing gives the answer away, wrong answers are refused, and the human figures are what a recount gives."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kgqa.collection.human import Answered, HumanAnswer, human_figures
from kgqa.collection.project import Project, ProjectSettings
from kgqa.collection.task import AuthoredAnswer, DecidedItem, Item, find_task, majority
from kgqa.collection.tasks.answer import AnswerStep, AnswerTask, QuestionAnswer, human_answer
from kgqa.errors import SettingsError
from kgqa.records import Instance
from tests.small_questions import CAPITALS, question, write_set

STEP = AnswerStep()
EXACT = "Exact-match accuracy"


def task(dataset: Path, **settings: Any) -> AnswerTask:
    """The task on ``dataset``, by MuSiQue's metric if no other is given."""
    content = {
        "name": "n", "task": "answer", "data": str(dataset), "people": ["ann", "bob", "cat"], "options": {"metric": "musique"}, **settings,
    }  # fmt: skip
    made = find_task("answer")(Project(path=dataset.parent / "project.toml", settings=ProjectSettings.model_validate(content)))
    assert isinstance(made, AnswerTask)
    return made


def span(text: str, *support: str) -> QuestionAnswer:
    """A typed span with its supporting paragraphs."""
    return QuestionAnswer.model_validate({"kind": "spans", "spans": [{"text": text}], "support": support})


def decided(item: Item, *answers: QuestionAnswer) -> DecidedItem:
    """An item with its answers."""
    given = tuple(AuthoredAnswer(person=name, answer=answer) for name, answer in zip(("ann", "bob", "cat"), answers, strict=False))
    labels = majority(STEP, given, share=0.5)
    assert labels is not None
    return DecidedItem(item=item, answers=given, labels=labels)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Four questions with spans as answers."""
    return write_set(tmp_path / "set", dev=[question(number) for number in range(4)])


def test_an_item_gives_nothing_away(dataset: Path, tmp_path: Path) -> None:
    candidates = write_set(tmp_path / "choice", dev=[question(number, candidates=True) for number in range(4)])
    for made in (task(dataset), task(candidates, options={"metric": "qangaroo"})):
        for item in made.items():
            number = int(item.id[1:])
            plain = json.loads(json.dumps(item.shown))
            text = json.dumps([{**document, "text": ""} for document in plain.pop("documents")])
            assert "supporting" not in text
            assert f"c{number}" not in json.dumps({key: value for key, value in plain.items() if key != "candidates"})
            assert set(item.hidden) == {"sample", "split", "content"}
    assert {item.shown["support"] for item in task(dataset).items()} == {True}


def test_live_checks(dataset: Path, tmp_path: Path) -> None:
    item = next(iter(task(dataset).items()))
    first = item.shown["documents"][0]
    marked = {"text": first["text"][3:9], "document": first["id"], "start": 3}
    cases: list[tuple[dict[str, Any], list[tuple[str, bool]]]] = [
        ({}, [("kind", True)]),
        ({"kind": "none"}, []),
        ({"kind": "yes"}, [("support", False)]),
        ({"kind": "spans", "support": [first["id"]]}, [("spans", True)]),
        ({"kind": "spans", "spans": [{"text": " "}], "support": [first["id"]]}, [("spans", True)]),
        ({"kind": "spans", "spans": [marked, {"text": "typed"}], "support": [first["id"]]}, []),
        ({"kind": "spans", "spans": [{**marked, "start": 4}], "support": [first["id"]]}, [("spans", True)]),
        ({"kind": "spans", "spans": [{**marked, "document": "nowhere"}], "support": [first["id"]]}, [("spans", True)]),
        ({"kind": "spans", "spans": [marked], "support": ["nowhere"]}, [("support", True)]),
        ({"kind": "spans", "spans": [marked], "sentences": [{"document": first["id"], "sentence": 5}]}, [("support", True)]),
        ({"kind": "number", "number": "1,200.5", "unit": "miles", "support": [first["id"]]}, []),
        ({"kind": "number", "number": "twelve", "support": [first["id"]]}, [("number", True)]),
        ({"kind": "number", "number": "nan", "support": [first["id"]]}, [("number", True)]),
        ({"kind": "candidate", "candidate": "c0", "support": [first["id"]]}, [("kind", True)]),
    ]
    for given, faults in cases:
        found = STEP.faults(item, QuestionAnswer.model_validate(given))
        assert [(fault.field, fault.blocking) for fault in found] == faults, given
    choice = write_set(tmp_path / "choice", dev=[question(0, candidates=True)])
    (item,) = task(choice, options={"metric": "qangaroo"}).items()
    for given, fields in (({"kind": "candidate", "candidate": "c0"}, []), ({"kind": "candidate"}, ["kind"]), ({"kind": "yes"}, ["kind"])):
        assert [fault.field for fault in STEP.faults(item, QuestionAnswer.model_validate(given))] == fields
    wrong: dict[str, Any]
    for wrong in (
        {"kind": "maybe"},
        {"spans": [{"text": "x" * 1001}]},
        {"spans": [{}] * 101},
        {"x": 1},
        {"sentences": [{"document": "a", "sentence": -1}]},
    ):
        with pytest.raises(ValidationError):
            QuestionAnswer.model_validate(wrong)


def test_sentences_are_marked_where_the_metric_scores_them(tmp_path: Path) -> None:
    dataset = write_set(tmp_path / "set", dev=[question(0)])
    (item,) = task(dataset, options={"metric": "hotpotqa"}).items()
    assert all(document["sentences"][0] == 0 for document in item.shown["documents"])
    answer = QuestionAnswer.model_validate({"kind": "spans", "spans": [{"text": "vax"}], "sentences": [{"document": "p0", "sentence": 1}]})
    assert STEP.faults(item, answer) == []
    made = task(dataset, options={"metric": "hotpotqa"})
    figures = {figure.name: figure.value.mean for figure in made.figures([decided(item, answer)])}
    assert figures["joint_f1, most frequent answer"] == 100.0


def test_the_human_figures_of_musique(dataset: Path) -> None:
    made = task(dataset)
    by_number = {int(item.id[1:]): item for item in made.items()}
    votes = {
        0: [span(CAPITALS[0], "p0"), span(f"The {CAPITALS[0]}", "p0"), span("wrong", "p1")],
        1: [span(f"{CAPITALS[1]} town", "p1"), span(f"{CAPITALS[1]} town", "p1"), span(CAPITALS[1], "p1", "p2")],
        2: [span("x"), span("x"), span("x", "p2")],
        3: [QuestionAnswer(kind="none"), span(CAPITALS[3], "p3"), span(CAPITALS[3], "p3")],
    }
    some = [decided(by_number[number], *answers) for number, answers in votes.items()]
    human = made.human_figures(some)
    # The answer of 1 has one token too many; nobody found that of 2, where one of three marked the right paragraph.
    assert (human.metric, human.questions, human.compared) == ("musique", 4, 4)
    assert human.score["answer_f1"].mean == pytest.approx(100 * (1 + 2 / 3 + 0 + 1) / 4)
    assert human.score["support_f1"].mean == pytest.approx(100 * (1 + 1 + 0 + 1) / 4)
    assert human.best["answer_f1"].mean == pytest.approx(100 * 3 / 4)
    assert human.best["support_f1"].mean == 100.0
    assert human.people["cat"]["answer_f1"].mean == pytest.approx(100 * (0 + 1 + 0 + 1) / 4)
    # Whoever is drawn: 0 at least matches when ann or bob is; 1 and 3 too; 2 always.
    assert 25.0 <= human.agreement["answer_f1"].mean <= 100.0
    assert human.score["answer_f1"].low <= human.score["answer_f1"].mean <= human.score["answer_f1"].high
    assert human.answerability is None
    assert made.human_figures(some) == human
    names = [figure.name for figure in made.figures(some)]
    assert names[:3] == ["answer_f1, most frequent answer", "support_f1, most frequent answer", "answer_f1, best answer"]
    assert "answer_f1, one person against the others" in names
    assert {int(instance.id[1:]) for _, instance in made.instances(some)} == {0, 3}


def test_agreement_is_that_of_the_drawn_person_with_the_best_of_the_others() -> None:
    def human(person: str, text: str) -> HumanAnswer:
        return HumanAnswer(person=person, parts=(text,), support=frozenset({text}))

    means: Counter[tuple[float, float]] = Counter()
    for seed in range(60):
        answered = [Answered(instance=question(0), answers=(human("ann", "a b"), human("bob", "a b"), human("cat", "a c")))]
        found = human_figures(answered, metric="musique", seed=seed)
        means[round(found.agreement["answer_f1"].mean, 1), round(found.agreement["support_f1"].mean, 1)] += 1
    # "a" is an article: cat's "c" has nothing in common with "b".
    assert set(means) == {(100.0, 100.0), (0.0, 0.0)}
    assert 10 < means[0.0, 0.0] < 30


def test_ties_are_broken_by_the_seed_alone() -> None:
    answers = tuple(HumanAnswer(person=name, parts=(text,)) for name, text in (("ann", "vax"), ("bob", "wim")))
    scores = [
        human_figures([Answered(instance=question(0), answers=answers)], metric="musique", seed=seed).score["answer_f1"].mean
        for seed in range(40)
    ]
    assert set(scores) == {0.0, 100.0}
    assert scores[3] == human_figures([Answered(instance=question(0), answers=answers)], metric="musique", seed=3).score["answer_f1"].mean


def test_wikihops_accuracy(tmp_path: Path) -> None:
    dataset = write_set(tmp_path / "set", dev=[question(number, candidates=True) for number in range(4)])
    made = task(dataset, options={"metric": "qangaroo"})
    some = []
    for item in made.items():
        number = int(item.id[1:])
        right, wrong = (QuestionAnswer(kind="candidate", candidate=f"c{place}") for place in (number, (number + 1) % 16))
        some.append(decided(item, *([right, right, wrong] if number < 3 else [wrong, wrong, right])))
    human = made.human_figures(some)
    assert (human.score["accuracy"].mean, human.best["accuracy"].mean, human.people["cat"]["accuracy"].mean) == (75.0, 100.0, 25.0)
    assert human.agreement["accuracy"].mean <= 100.0
    assert {instance.id for _, instance in made.instances(some)} == {"q0", "q1", "q2"}


@pytest.mark.parametrize(
    ("metric", "instance", "given", "score"),
    [
        (
            "drop", {"answer_type": "spans", "answers": ("vax", "wim")}, {"kind": "spans", "spans": [{"text": "wim"}, {"text": "vax"}]},
            {EXACT: 100.0},
        ),
        ("iirc", {"answer_type": "number", "answers": ("1200",)}, {"kind": "number", "number": "1200", "unit": "miles"}, {EXACT: 100.0}),
        ("iirc", {"answer_type": "none", "answers": (), "answerable": False}, {"kind": "none"}, {EXACT: 100.0}),
        ("squad2", {"answer_type": "none", "answers": (), "answerable": False}, {"kind": "spans", "spans": [{"text": "x"}]}, {"f1": 0.0}),
        ("strategyqa", {"answer_type": "boolean", "answers": ("yes",)}, {"kind": "yes"}, {"Accuracy": 100.0}),
        ("squad", {}, {"kind": "spans", "spans": [{"text": "vax city"}]}, {"exact_match": 0.0, "f1": 100 * 2 / 3}),
    ],
)  # fmt: skip
def test_kinds_of_answers_by_their_metrics(metric: str, instance: dict[str, Any], given: dict[str, Any], score: dict[str, float]) -> None:
    asked: Instance = question(0, **instance)
    answer = human_answer("ann", QuestionAnswer.model_validate(given), {})
    human = human_figures([Answered(instance=asked, answers=(answer,))], metric=metric, seed=0)
    for name, value in score.items():
        assert human.score[name].mean == pytest.approx(value)
    if not asked.answerable:
        assert human.answerability is not None
        assert human.answerability[0].mean == (100.0 if given["kind"] == "none" else 0.0)


def test_hidden_answers_are_compared_with_each_other_alone() -> None:
    asked = replace(question(0), answers=())
    answers = tuple(HumanAnswer(person=name, parts=("vax",)) for name in ("ann", "bob"))
    human = human_figures([Answered(instance=asked, answers=answers)], metric="musique", seed=0)
    assert (human.questions, human.score, human.best, human.people, human.agreement["answer_f1"].mean) == (0, {}, {}, {}, 100.0)


def test_a_metric_is_that_of_the_set_or_named(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the metric is unknown"):
        task(dataset, options={})
    with pytest.raises(SettingsError, match=r"project.toml: options.metric: metric 'musiqe' is not known; did you mean musique"):
        task(dataset, options={"metric": "musiqe"})
    with pytest.raises(SettingsError, match=r"options.metric: metric 'dire-probe' is not known"):
        task(dataset, options={"metric": "dire-probe"})
    shaped = write_set(tmp_path / "shaped", dev=[replace(question(0), id="2hop__1_2")])
    assert task(shaped, options={}).metric == "musique"
