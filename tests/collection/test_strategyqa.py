"""The task ``strategyqa``: primed questions, what follows from each step, and a file that reads as an official one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kgqa.collection.task import AuthoredAnswer, DecidedItem
from kgqa.collection.tasks.strategyqa import (
    MatchedEvidence,
    StepEvidence,
    VerifiedEvidence,
    WrittenDecomposition,
    WrittenQuestion,
    WrittenStep,
)
from kgqa.errors import MissingInput, SettingsError, UnknownId
from kgqa.formats.provenance import noted
from kgqa.formats.strategyqa import format as official
from kgqa.records import Instance
from tests.collection.strategy import FOUND, QUESTION, STEPS, decided, task, verified


def test_terms_prime_as_many_questions_with_yes_as_with_no(tmp_path: Path) -> None:
    items = list(task(tmp_path, sample=41, per_term=3).items())
    assert len({item.id for item in items}) == 41
    answers = [item.shown["answer"] for item in items]
    assert all(abs(answers[:count].count("yes") - answers[:count].count("no")) <= 1 for count in range(1, 42))
    assert len({tuple(answers[place : place + 2]) for place in range(0, 40, 2)}) == 2  # and the order of a pair is not known in advance
    assert max(Counter(item.shown["term"] for item in items).values()) <= 3
    assert len({item.shown["term"] for item in items[:14]}) == 14  # each term once before any comes again
    assert [(item.id, item.shown) for item in task(tmp_path, sample=41, per_term=3).items()] == [(item.id, item.shown) for item in items]
    assert all(item.seats == 1 and item.shown["description"] for item in items)
    by_title = list(task(tmp_path, sample=3, terms=None).items())
    assert all(item.shown["description"] for item in by_title)


def follow(made: Any, *verdicts: VerifiedEvidence) -> list[DecidedItem]:
    """All steps of the first question, with one evidence matcher fewer than could be."""
    question = decided(made, next(iter(made.items())), QUESTION)
    [item] = made.steps["question"].follow(question)
    decomposition = decided(made, item, STEPS, people=("bob",))
    [item] = made.steps["decomposition"].follow(decomposition)
    partly = MatchedEvidence(steps=(StepEvidence(no_evidence=True), StepEvidence(paragraphs=("text 2",)), StepEvidence(operation=True)))
    evidence = decided(made, item, FOUND, partly, people=("cat", "dan"))
    [item] = made.steps["evidence"].follow(evidence)
    return [question, decomposition, evidence, decided(made, item, *verdicts, people=("bob", "eve", "dan"))]


def test_each_step_follows_from_the_one_before_and_leaves_the_author_out(tmp_path: Path) -> None:
    made = task(tmp_path)
    question, decomposition, evidence, verification = follow(made, verified("yes"))
    assert decomposition.item.shown["facts"] == list(QUESTION.facts)
    assert (decomposition.item.seats, evidence.item.seats, verification.item.seats) == (1, 3, 3)
    assert decomposition.item.authors == evidence.item.authors == ("ann",)
    assert verification.item.authors == ("ann",)  # three verifiers are wanted, and only two people had no part in it
    [item] = task(tmp_path, verifiers=2).steps["evidence"].follow(evidence)
    assert (item.seats, item.authors) == (2, ("ann", "cat", "dan"))
    assert [step["page"] for step in evidence.item.shown["steps"]] == ["Orlind", "Orlind", ""]
    assert [[p["id"] for p in step["paragraphs"]] for step in verification.item.shown["steps"]] == [
        ["text 1"], ["text 1", "text 3", "text 2"], [],
    ]  # fmt: skip
    assert "answer" not in verification.item.shown
    assert verification.item.hidden["answer"] == question.item.shown["answer"]
    for each in (question, decomposition, evidence):
        assert made.steps[each.item.step].follow(each) == made.steps[each.item.step].follow(each)
        json.dumps([[item.shown, item.hidden] for item in made.steps[each.item.step].follow(each)])


def test_bad_questions_go_no_further(tmp_path: Path) -> None:
    made = task(tmp_path)
    question, decomposition, evidence, _ = follow(made, verified("yes"))
    for judgement in ("wrong", "indefinite"):
        assert not made.steps["decomposition"].follow(decided(made, decomposition.item, WrittenDecomposition(judgement=judgement)))
    wrong = MatchedEvidence(judgement="wrong")
    assert not made.steps["evidence"].follow(decided(made, evidence.item, FOUND, wrong, wrong))
    nothing = MatchedEvidence(steps=(StepEvidence(no_evidence=True), StepEvidence(paragraphs=("text 1",)), StepEvidence(operation=True)))
    assert not made.steps["evidence"].follow(decided(made, evidence.item, nothing, nothing))
    assert not made.steps["question"].follow(DecidedItem(item=question.item, answers=(), labels={}))  # its author withdrew


def finished(made: Any, *verdicts: VerifiedEvidence) -> list[tuple[str, Instance]]:
    return list(made.instances(follow(made, *verdicts)))


def test_finished_questions_read_as_the_official_file_does(tmp_path: Path) -> None:
    made = task(tmp_path, test=["ann"])
    wanted = next(iter(made.items())).shown["answer"]
    other = {"yes": "no", "no": "yes"}[wanted]
    [(split, instance)] = finished(made, verified(wanted), verified(wanted), verified(other))
    assert (split, instance.answers, instance.answer_type) == ("test", (wanted,), "boolean")
    assert instance.question == QUESTION.question
    assert [step.depends_on for step in instance.decomposition or ()] == [(), (), ("1", "2")]
    assert [paragraph.id for paragraph in instance.paragraphs] == ["text 1", "text 3", "text 2"]
    people = noted(instance, "people")
    assert people == {
        "writer": "ann", "decomposer": "bob", "matchers": ["cat", "dan"], "pages": ["Orlind", "Orlind", ""],
        "verdicts": {wanted: 2, other: 1},
    }  # fmt: skip
    file = tmp_path / "test.json"
    official.write([instance], file)
    [record] = json.loads(file.read_text("utf-8"))
    assert record["evidence"] == [
        [[["text 1"]], [["text 1", "text 3"]], ["operation"]],
        [["no_evidence"], [["text 2"]], ["operation"]],
    ]
    assert (record["answer"], record["facts"]) == (wanted == "yes", list(QUESTION.facts))
    assert record["term"] == next(iter(made.items())).shown["term"]
    [again] = official.read(file)
    assert (again.question, again.answers, again.decomposition) == (instance.question, instance.answers, instance.decomposition)
    assert again.paragraphs == instance.paragraphs


def test_a_leads_evidence_comes_beside_that_of_people(tmp_path: Path) -> None:
    made = task(tmp_path, verifiers=0)
    question, decomposition, evidence, _ = follow(task(tmp_path), verified("yes"))
    wrong = MatchedEvidence(judgement="wrong")
    given = tuple(AuthoredAnswer(person=name, answer=answer) for name, answer in (("cat", FOUND), ("dan", wrong)))
    settled = DecidedItem(item=evidence.item, answers=given, labels={"answer": "right"}, lead=FOUND)
    [(_, instance)] = made.instances([question, decomposition, settled])
    assert noted(instance, "people")["matchers"] == ["cat", "lead"]
    assert len(official.to_record(instance)["evidence"]) == 2


def test_evidence_that_does_not_give_the_answer_keeps_a_question_out(tmp_path: Path) -> None:
    made = task(tmp_path)
    wanted = next(iter(made.items())).shown["answer"]
    assert not finished(made, *[verified({"yes": "no", "no": "yes"}[wanted])] * 3)
    assert not finished(made, *[VerifiedEvidence(answer="cannot say")] * 3)
    assert not list(made.instances(follow(made, verified(wanted))[:3]))  # not verified yet
    assert not list(made.instances(follow(made, verified(wanted))[:1]))
    unverified = task(tmp_path, verifiers=0)
    question, decomposition, evidence = follow(made, verified(wanted))[:3]
    assert not unverified.steps["evidence"].follow(evidence)
    assert len(list(unverified.instances([question, decomposition, evidence]))) == 1
    figures = {figure.name: figure.value.mean for figure in made.figures(follow(made, *[VerifiedEvidence(answer="cannot say")] * 3))}
    assert figures == {"answer is right and definite": 100.0, "evidence for each step": 100.0, "evidence gives the answer": 0.0}


def test_what_each_step_refuses(tmp_path: Path) -> None:
    made = task(tmp_path)
    items = {each.item.step: each.item for each in follow(made, verified("yes"))}

    def fields(step: str, answer: Any) -> list[str]:
        return [fault.field for fault in made.steps[step].faults(items[step], answer) if fault.blocking]

    assert fields("question", QUESTION) == []
    assert fields("question", WrittenQuestion(question="Is the town where clocks are made old?", facts=("x",))) == ["question"]
    assert fields("decomposition", STEPS) == []
    assert fields("decomposition", WrittenDecomposition(judgement="wrong")) == []
    assert fields("decomposition", WrittenDecomposition(steps=(WrittenStep(question="Who?", page="x"),))) == ["steps"]
    assert fields("evidence", FOUND) == []
    assert fields("evidence", MatchedEvidence(steps=FOUND.steps[:2])) == ["steps"]
    unknown = MatchedEvidence(steps=(StepEvidence(paragraphs=("no such",)), *FOUND.steps[1:]))
    assert fields("evidence", unknown) == ["steps.0"]
    assert fields("evidence", MatchedEvidence(steps=(StepEvidence(), *FOUND.steps[1:]))) == ["steps.0"]
    assert fields("verification", verified("yes")) == []
    assert fields("verification", VerifiedEvidence()) == ["answer"]
    assert fields("verification", verified("no", steps=("Halden", ""))) == ["steps.1"]
    assert fields("verification", VerifiedEvidence(answer="cannot say")) == []


def test_the_corpus_is_searched_for_evidence_alone(tmp_path: Path) -> None:
    made = task(tmp_path)
    items = {each.item.step: each.item for each in follow(made, verified("yes"))}
    found = made.search(items["evidence"], "Orlind hills and tidal rivers", 2)
    assert (len(found), found[0]["id"], found[0]["title"]) == (2, "text 1", "Orlind")
    assert made.document(items["evidence"], "text 1") == found[0]
    for step in ("question", "decomposition", "verification"):
        with pytest.raises(UnknownId):
            made.search(items[step], "Orlind", 2)
        with pytest.raises(UnknownId):
            made.document(items[step], "text 1")


def test_the_solvers_get_the_question_alone(tmp_path: Path) -> None:
    made = task(tmp_path)
    item = next(iter(made.items()))
    asked = made.steps["question"].asked(item, QUESTION)
    assert asked is not None
    assert (asked.id, asked.question, asked.paragraphs, asked.answers) == (item.id, QUESTION.question, (), (item.shown["answer"],))


def test_projects_that_cannot_be_finished(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="list two or more"):
        task(tmp_path, people=("ann",))
    with pytest.raises(SettingsError, match="'zoe' is not among the people"):
        task(tmp_path, test=["zoe"])
    with pytest.raises(SettingsError, match="'ann' is under dev and test"):
        task(tmp_path, test=["ann"], dev=["ann"])
    with pytest.raises(SettingsError, match=r"options\.per_term"):
        task(tmp_path, per_term=6)
    with pytest.raises(MissingInput):
        list(task(tmp_path, terms="nowhere.tsv").items())
    two = task(tmp_path, people=("ann", "bob"))
    question = decided(two, next(iter(two.items())), QUESTION)
    [item] = two.steps["question"].follow(question)
    [item] = two.steps["decomposition"].follow(decided(two, item, STEPS, people=("bob",)))
    assert item.seats == 1  # three are wanted, but only one person is not the author
