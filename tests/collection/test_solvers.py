"""Solvers in the loop: real readers answer new questions, learn from the accepted ones, and refuse what they know."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.collection.journal import Journal
from kgqa.collection.project import Project, ProjectSettings
from kgqa.collection.solvers import Solvers, SolverThread
from kgqa.database import database_at
from kgqa.errors import InputError, SettingsError
from kgqa.records import Instance
from tests.collection.strategy import QUESTION, STEPS, project as strategy_project
from tests.small_questions import write_set


def asked(number: int, answer: str, text: str = "Is it {}?") -> Instance:
    """A yes-or-no question without paragraphs."""
    return Instance(
        id=f"q{number}", question=text.format(number), paragraphs=(), answers=(answer,), answer_type="boolean", answerable=True,
        group=f"q{number}", provenance=None,
    )  # fmt: skip


def project(folder: Path, **solvers: Any) -> Project:
    settings = {"name": "n", "task": "strategyqa", "data": "corpus", "people": ["ann", "bob"], "solvers": solvers}
    return Project(path=folder / "project.toml", settings=ProjectSettings.model_validate(settings))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Readers that always say yes, and one that always says no."""
    folder = tmp_path_factory.mktemp("runs")
    for name, answer in (("yes", "yes"), ("no", "no")):
        data = write_set(folder / f"{name}-set", train=[asked(number, answer) for number in range(3)])
        kgqa.train("prior", data, out=folder / name)
    return folder


def test_fixed_readers_refuse_what_enough_of_them_know(runs: Path, tmp_path: Path) -> None:
    solvers = Solvers(project(runs, fixed=["yes", "no", "yes"], refuse_fixed=2), tmp_path)
    try:
        easy, hard = solvers.questions([asked(7, "yes"), asked(8, "no")])
    finally:
        solvers.close()
    assert [(answer.name, answer.run, answer.answer, answer.right) for answer in easy.answers] == [
        ("fixed 1", "yes", "yes", True), ("fixed 2", "no", "no", False), ("fixed 3", "yes", "yes", True),
    ]  # fmt: skip
    assert easy.refusal == "2 of 3 readers answer the question, so it is too easy; write one that implies more."
    assert (hard.id, hard.refusal) == ("q8", "")
    assert hard.body()[1] == {"name": "fixed 2", "run": "no", "answer": "no", "right": True}


@pytest.mark.slow
def test_readers_are_trained_on_the_accepted_questions_while_others_are_answered(runs: Path, tmp_path: Path) -> None:
    settings = project(runs, fixed=["no"], refuse_fixed=1, trained=2, reader="prior", every=2)
    results: dict[str, Any] = {}
    thread = SolverThread(Solvers(settings, tmp_path), lambda result: results.update({result.id: result}))
    try:
        thread.put(asked(0, "no"))  # taken back, and written anew
        for number, answer in enumerate(("yes", "no", "yes")):
            thread.put(asked(number, answer))
        deadline = time.monotonic() + 300
        while thread.solvers.generation < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert thread.solvers.generation == 2, thread.solvers.trouble
        thread.put(asked(3, "yes"))
    finally:
        thread.close()
    assert results["q1"].refusal.startswith("1 of 1 readers")  # not among the questions to learn from
    assert not results["q0"].refusal
    assert not results["q2"].refusal
    assert [(answer.name, answer.run, answer.right) for answer in results["q3"].answers] == [
        ("fixed 1", "no", False),
        ("trained 1", "after-00000002/trained-1", True),
        ("trained 2", "after-00000002/trained-2", True),
    ]
    assert results["q3"].refusal == "All 2 readers that learned from the questions so far answer it; write one of another kind."
    assert [run.reader for run in kgqa.training_runs(tmp_path).runs] == ["prior", "prior"]
    again = Solvers(settings, tmp_path)  # opened again, it has the readers that are there
    assert again.generation == 2
    again.close()


@pytest.mark.slow
def test_a_failed_training_is_told_and_tried_once(runs: Path, tmp_path: Path) -> None:
    solvers = Solvers(project(runs, trained=1, reader="prior", every=1), tmp_path)
    blocked = tmp_path / "after-00000001" / "trained-1"
    blocked.parent.mkdir()
    blocked.write_text("in the way", "utf-8")
    try:
        solvers.add([asked(0, "yes")])
        deadline = time.monotonic() + 300
        while not solvers.trouble and time.monotonic() < deadline:
            time.sleep(0.1)
            solvers.look()
        assert "trained-1" in solvers.trouble
        solvers.look()
        assert solvers._training is None  # the same questions would fail again
        assert solvers.questions([asked(1, "yes")])[0].answers == ()
    finally:
        solvers.close()


def test_readers_that_cannot_be_solvers(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there are neither fixed nor trained readers"):
        Solvers(project(runs), tmp_path)
    with pytest.raises(SettingsError, match="refuse_fixed is 4, but there are 1"):
        Solvers(project(runs, fixed=["yes"]), tmp_path)
    with pytest.raises(InputError, match="no run of kgqa train here"):
        Solvers(project(runs, fixed=["nothing"], refuse_fixed=1), tmp_path)
    with pytest.raises(SettingsError, match="decomposer answers nothing"):
        Solvers(project(runs, trained=1, reader="decomposer"), tmp_path)
    with pytest.raises(SettingsError, match="'proir' is not known; did you mean prior"):
        Solvers(project(runs, trained=1, reader="proir"), tmp_path)


def test_a_question_that_solvers_know_takes_its_followers_along(tmp_path: Path) -> None:
    journal = Journal(
        database_at(tmp_path / "journal.sqlite", option="--journal", file="journal.sqlite"), strategy_project(tmp_path, sample=1)
    )
    try:
        reserved = journal.next_item("ann")
        assert reserved is not None
        question = reserved.item.id
        journal.submit("ann", question, QUESTION.model_dump(mode="json"), token="0" * 8)
        journal.undo("ann")
        journal.solve(question, [], refusal="Too easy.")  # comes too late
        assert not [event for event in journal.events() if event.kind == "solve"]
        journal.submit("ann", question, QUESTION.model_dump(mode="json"), token="a" * 8)
        waiting = journal.next_item("bob")
        assert waiting is not None
        journal.submit("bob", waiting.item.id, STEPS.model_dump(mode="json"), token="b" * 8)
        assert journal.next_item("cat") is not None
        journal.solve(question, [{"name": "fixed 1", "run": "yes", "answer": "yes", "right": True}], refusal="Too easy.")
        refused = [event.item for event in journal.events() if event.kind == "refuse"]
        assert refused[-3:] == [f"{question}-evidence", f"{question}-decomposition", question]
        assert all(journal.next_item(person) is None for person in ("ann", "bob", "cat", "dan"))
        assert not list(journal.decided())
    finally:
        journal.close()
