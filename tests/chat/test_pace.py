"""Limits of an endpoint: requests a minute, and the time that it wants to be left alone."""

from __future__ import annotations

import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from kgqa.chat.ask import ask_all
from kgqa.chat.pace import pace_of
from kgqa.errors import EndpointError
from kgqa.settings.llm import LlmSettings
from kgqa.sources.retry_after import seconds_until
from tests.chat.test_ask import Verdict, said, well
from tests.chat_server import ChatServer, Reply, chat_server

pytest.importorskip("openai")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")


def answers(server: ChatServer, recording: Path, count: int, settings: LlmSettings) -> int:
    talks = [said(f"{recording.name} {number}") for number in range(count)]
    asked = ask_all(talks, Verdict, model="m", recording=recording, endpoint=server.address, settings=settings)
    return sum(one.value is not None for one in asked)


def test_requests_a_minute_are_those_of_all_threads_and_readers(tmp_path: Path) -> None:
    """Eleven requests, a tenth of a second from each other: eight threads for some, and another recording for the others."""
    settings = LlmSettings(at_once=8, requests_per_minute=600)
    with chat_server(well) as server:
        begin = time.monotonic()
        assert answers(server, tmp_path / "a.jsonl", 8, settings) + answers(server, tmp_path / "b.jsonl", 3, settings) == 11
        assert time.monotonic() - begin >= 10 * 0.1
        assert len(server.requests) == 11


def test_recorded_answers_are_not_waited_for(tmp_path: Path) -> None:
    settings = LlmSettings(requests_per_minute=0.5)
    with chat_server(well) as server:
        begin = time.monotonic()
        for _ in range(3):
            assert answers(server, tmp_path / "a.jsonl", 1, settings) == 1
        assert len(server.requests) == 1
    assert time.monotonic() - begin < 60


def test_no_thread_sends_before_the_time_that_the_endpoint_names(tmp_path: Path) -> None:
    """The first of four requests is refused for a second; the others end before that, and what comes next waits too."""
    times: list[float] = []

    def refusing(request: dict[str, Any]) -> Reply:
        times.append(time.monotonic())
        return Reply(status=429, headers={"Retry-After": "1"}) if len(times) == 1 else Reply(content=well(request).content, delay=0.4)

    with chat_server(refusing) as server:
        assert answers(server, tmp_path / "a.jsonl", 12, LlmSettings(at_once=4)) == 12
    assert len(times) == 13
    later = [moment - times[0] for moment in times[1:] if moment - times[0] > 0.35]
    assert len(later) >= 9
    assert min(later) >= 1


def test_a_longer_wait_than_the_limit_ends_the_run_and_goes_on_later(tmp_path: Path) -> None:
    def full(_: dict[str, Any]) -> Reply:
        return Reply(status=429, headers={"Retry-After": "3600"}, content="quota")

    with chat_server(full) as server, pytest.raises(EndpointError) as raised:
        answers(server, tmp_path / "a.jsonl", 3, LlmSettings(at_once=1))
    assert len(server.requests) == 1
    assert "it wants no request for 3,600 s (status 429: " in str(raised.value)
    assert "or raise longest_wait" in str(raised.value)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2", 2.0), ("0.5", 0.5), (formatdate(0, usegmt=True), 0.0), ("", None), ("soon", None), ("-1", None), ("nan", None), ("inf", None)],
)
def test_a_header_is_a_number_or_a_date(header: str, seconds: float | None) -> None:
    assert seconds_until(header) == seconds


def test_a_date_in_the_future() -> None:
    seconds = seconds_until(formatdate(time.time() + 100, usegmt=True))
    assert seconds is not None
    assert 90 < seconds <= 100


def test_each_address_has_a_pace_of_its_own() -> None:
    assert pace_of("http://a/v1") is pace_of("http://a/v1")
    assert pace_of("http://a/v1") is not pace_of("http://b/v1")
