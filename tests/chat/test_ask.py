"""Questions to a model whose answers are JSON of a given form."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from kgqa.chat.ask import Asked, ask, ask_all, strict_schema
from kgqa.errors import BrokenInput, EndpointError, SettingsError, WorkspaceBusy
from kgqa.settings.llm import LlmSettings
from tests.chat_server import Reply, chat_server

pytest.importorskip("openai")
KEY = "sk-very-secret"
ONCE = LlmSettings(at_once=1, retries=0)
AWAY = "http://127.0.0.1:9/v1"


class Part(BaseModel):
    title: str = Field(default="", max_length=900)


class Verdict(BaseModel):
    sound: Literal["yes", "no"]
    faults: list[Part] = Field(default_factory=list, max_length=3)
    score: int | None = None


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def well(request: dict[str, Any]) -> Reply:
    return Reply(content=json.dumps({"sound": "yes", "faults": [{"title": request["messages"][0]["content"]}], "score": 3}))


def test_an_answer_is_an_instance_and_is_recorded(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    with chat_server(well) as server:
        first = ask(said("one"), Verdict, model="m", recording=recording, endpoint=server.address)
        many = ask_all([said("two"), said("one"), said("two")], Verdict, model="m", recording=recording, endpoint=server.address)
        assert len(server.requests) == 2
        form = server.requests[0]["response_format"]["json_schema"]
    assert first == Asked(value=Verdict(sound="yes", faults=[Part(title="one")], score=3))
    assert [asked.value and asked.value.faults[0].title for asked in many] == ["two", "one", "two"]
    assert (form["strict"], form["name"], form["schema"]) == (True, "verdict", strict_schema(Verdict))
    again = ask_all([said("two"), said("one")], Verdict, model="m", recording=recording, endpoint=AWAY)
    assert again == [many[0], first]


def test_a_strict_schema_requires_all_fields_and_keeps_their_names() -> None:
    schema = strict_schema(Verdict)
    assert schema["required"] == ["sound", "faults", "score"]
    assert schema["additionalProperties"] is False
    part = schema["$defs"]["Part"]
    assert part["properties"] == {"title": {"type": "string"}}
    assert part["required"] == ["title"]


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(tmp_path: Path) -> None:
    with chat_server(well) as server:
        asked = ask(said("a \ud800"), Verdict, model="m", recording=tmp_path / "r.jsonl", endpoint=server.address)
    assert asked.value is not None
    assert asked.value.faults[0].title == "a ?"


def test_what_is_wrong_is_said_and_asked_again(tmp_path: Path) -> None:
    answers = iter(['{"sound": "perhaps"}', 'Here: ```json\n{"sound": "no"}\n```', '{"sound": "yes"}'])
    with chat_server(lambda _: Reply(content=next(answers))) as server:
        asked = ask(
            said("one"), Verdict, model="m", recording=tmp_path / "r.jsonl", endpoint=server.address,
            settings=LlmSettings(tries=3), check=lambda verdict: "it must be sound" if verdict.sound == "no" else "",
        )  # fmt: skip
        complaints = [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "user"]
    assert asked.value == Verdict(sound="yes")
    assert "sound: Input should be 'yes' or 'no'" in complaints[1]
    assert "This cannot be used: it must be sound." in complaints[2]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(content="no JSON"), "not of the form"),
        (Reply(finish="content_filter"), "refuses to answer"),
        (Reply(status=400, body='{"error": {"code": "context_length_exceeded", "message": "long"}}'), "longer than the model reads"),
    ],
)
def test_no_answer_has_a_reason(tmp_path: Path, reply: Reply, reason: str) -> None:
    with chat_server(lambda _: reply) as server:
        asked = ask(said("one"), Verdict, model="m", recording=tmp_path / "r.jsonl", endpoint=server.address)
    assert asked.value is None
    assert reason in asked.reason


def test_an_error_after_others_are_sent_is_raised_and_what_was_answered_stays(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    talks = [said(str(number)) for number in range(12)]

    def fifth(request: dict[str, Any]) -> Reply:
        slow = Reply(content=well(request).content, delay=0.2)
        return Reply(status=401) if request["messages"][0]["content"] == "5" else slow

    with chat_server(fifth) as server, pytest.raises(EndpointError, match="it refuses the key"):
        ask_all(talks, Verdict, model="m", recording=recording, endpoint=server.address)
    kept = len(recording.read_text("utf-8").splitlines())
    assert 0 < kept < 12
    with chat_server(well) as server:
        assert all(asked.value for asked in ask_all(talks, Verdict, model="m", recording=recording, endpoint=server.address))
        assert len(server.requests) == 12 - kept


@pytest.mark.parametrize("usage", [(-5, -5), (1 << 39, 1 << 39), (0, 10)])
def test_tokens_that_no_request_or_answer_has_are_not_believed(tmp_path: Path, usage: tuple[int, int]) -> None:
    def lying(request: dict[str, Any]) -> Reply:
        return Reply(content=well(request).content, tokens=usage)

    with chat_server(lying) as server:
        ask(said("one " * 50), Verdict, model="m", recording=tmp_path / "r.jsonl", endpoint=server.address)
    answer = json.loads((tmp_path / "r.jsonl").read_text("utf-8"))["answer"]
    assert 50 < answer["input_tokens"] < 1000
    assert 5 < answer["output_tokens"] < 1000


def test_a_recording_that_another_run_uses_is_refused(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    with recording.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(WorkspaceBusy, match="another run records its answers here"):
            ask(said("one"), Verdict, model="m", recording=recording, endpoint=AWAY)
    with pytest.raises(BrokenInput, match="this is no file"):
        ask(said("one"), Verdict, model="m", recording=tmp_path, endpoint=AWAY)


@pytest.mark.parametrize("text", ['{"a": 1}', "words", '{"request": "x", "answer": {}}'])
def test_a_file_of_something_else_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.jsonl").write_text(text, "utf-8")
    with pytest.raises(BrokenInput, match="line 1: this is no recorded answer"):
        ask(said("one"), Verdict, model="m", recording=tmp_path / "r.jsonl", endpoint=AWAY)
    assert (tmp_path / "r.jsonl").read_text("utf-8") == text


def test_a_line_that_was_cut_off_is_written_again(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    with chat_server(well) as server:
        ask_all([said("one"), said("two")], Verdict, model="m", recording=recording, endpoint=server.address, settings=ONCE)
        whole = recording.read_bytes()
        for size in (len(whole) - 5, whole.index(b"\n") + 1 + 4):
            recording.write_bytes(whole[:size])
            ask_all([said("one"), said("two")], Verdict, model="m", recording=recording, endpoint=server.address, settings=ONCE)
            assert recording.read_bytes() == whole


def test_a_limit_without_prices_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="max_cost needs prices"):
        ask(said("one"), Verdict, model="m", recording=tmp_path / "r.jsonl", endpoint=AWAY, settings=LlmSettings(max_cost=1))
    with pytest.raises(EndpointError, match="it cannot be reached"):
        ask(said("one"), Verdict, model="m", recording=tmp_path / "r.jsonl", endpoint=AWAY, settings=ONCE)
    assert not list(tmp_path.iterdir())
