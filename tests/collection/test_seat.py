"""A model fills a seat: what it is asked, what it may answer, and under which name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kgqa.chat.ask import Asked, ask
from kgqa.collection.project import Project, ProjectSettings
from kgqa.collection.seat import conduct, seat_name
from kgqa.collection.task import Item, Step, Task, find_task
from kgqa.errors import SettingsError
from kgqa.settings.llm import LlmSettings
from tests.chat_server import ChatServer, Reply, chat_server
from tests.collection.composed import composed
from tests.collection.strategy import FOUND, PEOPLE, QUESTION, STEPS, decided, task as strategy_task
from tests.small_questions import question, write_set

pytest.importorskip("openai")


def on_set(name: str, folder: Path, **options: Any) -> tuple[Task, Item]:
    """A task on a small set, and the item on its question with candidates."""
    data = write_set(folder / "set", train=[question(0, candidates=True), composed(1)])
    settings = {"name": "n", "task": name, "data": str(data), "people": ["ann"], "options": options}
    task = find_task(name)(Project(path=folder / "project.toml", settings=ProjectSettings.model_validate(settings)))
    return task, next(item for item in task.items() if item.id == "q0")


class Talk:
    """A conversation with a server that gives these answers in turn."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder, self.server = folder, server

    def __call__(self, messages: Sequence[Mapping[str, str]], form: type[BaseModel], check: Any) -> Asked[BaseModel]:
        settings = LlmSettings(tries=2, retries=0)
        return ask(
            messages, form, model="m", recording=self.folder / "r.jsonl", endpoint=self.server.address, settings=settings, check=check
        )  # type: ignore[return-value]


def conducted(step: Step, item: Item, folder: Path, *answers: Mapping[str, Any]) -> tuple[dict[str, Any] | str, list[str]]:
    """The answer, and the last message of each request."""
    waiting = list(answers)
    with chat_server(lambda request: Reply(content=json.dumps(waiting.pop(0)))) as server:
        answer = conduct(step, item, ask_model=Talk(folder, server))
        return answer, [request["messages"][-1]["content"] for request in server.requests]


def verdict(**more: Any) -> dict[str, Any]:
    return {"note": "It says so.", "verdict": "follows", "marks": [], "candidate": "", **more}


def test_a_sample_is_validated(tmp_path: Path) -> None:
    task, item = on_set("validate", tmp_path)
    step = task.steps["validate"]
    answer, asked = conducted(step, item, tmp_path, verdict())
    assert not isinstance(answer, str)
    assert step.labels(step.answer.model_validate(answer))["valid"] == "yes"
    assert all(document["text"] in asked[0] for document in item.shown["documents"])
    assert item.shown["question"] in asked[0]


def test_an_answer_that_the_checks_refuse_is_asked_for_again(tmp_path: Path) -> None:
    task, item = on_set("validate", tmp_path)
    answer, asked = conducted(task.steps["validate"], item, tmp_path, verdict(candidate="c9"), verdict(verdict="likely"))
    assert "not another candidate" in asked[1]
    assert not isinstance(answer, str)
    assert answer["verdict"] == "likely"
    (tmp_path / "again").mkdir()
    answer, asked = conducted(task.steps["validate"], item, tmp_path / "again", verdict(candidate="c8"), verdict(candidate="c7"))
    assert isinstance(answer, str)
    assert "not another candidate" in answer


def test_a_hidden_answer_is_shown_after_the_models_own(tmp_path: Path) -> None:
    task, item = on_set("validate", tmp_path, hide_answer=True)
    answer, asked = conducted(task.steps["validate"], item, tmp_path, {"answer": "c0"}, verdict())
    assert "Answer of the dataset" not in asked[0]
    assert "Answer of the dataset: vax" in asked[1]
    assert not isinstance(answer, str)
    assert (answer["own"], answer["uncovered"], answer["verdict"]) == ("c0", True, "follows")


def test_questions_are_answered(tmp_path: Path) -> None:
    task, item = on_set("answer", tmp_path, metric="squad")
    form = {"kind": "candidate", "spans": [], "number": "", "unit": "", "candidate": "c0", "support": ["p0"]}
    answer, asked = conducted(task.steps["answer"], item, tmp_path, form)
    assert not isinstance(answer, str)
    assert (answer["candidate"], answer["support"]) == ("c0", ["p0"])
    assert "- c0: vax" in asked[0]


def test_evidence_is_verified(tmp_path: Path) -> None:
    made = strategy_task(tmp_path)
    [item] = made.steps["question"].follow(decided(made, next(iter(made.items())), QUESTION))
    [item] = made.steps["decomposition"].follow(decided(made, item, STEPS, people=PEOPLE[1:]))
    [item] = made.steps["evidence"].follow(decided(made, item, FOUND, people=PEOPLE[2:]))
    form = {"steps": ["Halden", "Halden", "yes"], "answer": "yes"}
    answer, asked = conducted(made.steps["verification"], item, tmp_path, form)
    assert answer == form
    assert "Orlind is a country of low hills" in asked[0]
    assert "Step 3: Is #1 among #2?" in asked[0]


def test_names_of_seats() -> None:
    assert seat_name("gpt-9", None) == "model:gpt-9"
    assert seat_name("gpt-9", "judge") == seat_name("gpt-9", "model:judge") == "model:judge"
    for name in ("", " a", "a\n", "x" * 100):
        with pytest.raises(SettingsError, match="no name for a seat"):
            seat_name("m", name)
