"""Endpoints that would take the machine's memory or time, the user's data or key."""

from __future__ import annotations

import gzip
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.errors import BrokenInput, EndpointError
from tests.chat_server import ChatServer, Reply, chat_server, completion
from tests.recipes.musique.test_writers import KEY, Place, composed, well
from tests.small_single_hops import single_hop

pytest.importorskip("openai")
ONE = "at_once = 1\nretries = 0\ntries = 1\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    single_hop(tmp_path / "set")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Place(tmp_path)


def refused(place: Place, reply: Callable[[dict[str, Any]], Reply], llm: str = ONE) -> str:
    """The sentence; it blames the endpoint, and the workspace holds no answer."""
    with chat_server(reply) as server, pytest.raises(EndpointError) as raised:
        place.compose(server, llm=llm)
    message = str(raised.value)
    assert message.startswith(server.address)
    assert "workspace" not in message
    assert KEY not in message
    assert not place.recording.exists() or not place.answers
    return message


class Counted:
    """Chunks, and how many were taken."""

    def __init__(self, chunk: bytes, *, wait: float = 0.0) -> None:
        self.taken, self._chunk, self._wait = 0, chunk, wait

    def __iter__(self) -> Iterator[bytes]:
        for _ in itertools.count():
            yield self._chunk
            self.taken += len(self._chunk)
            time.sleep(self._wait)


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_end_is_read_so_far_as_an_answer_can_be(place: Place, status: int) -> None:
    endless = Counted(b" " * 65536)
    message = refused(place, lambda _: Reply(chunks=endless, status=status))
    assert "its answer is longer than 1,112,576 bytes, which no answer of max_output_tokens tokens is" in message
    assert endless.taken < 1 << 25  # what the system keeps between the two sides is more than what is read


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip"])
def test_a_packed_answer_is_not_unpacked(place: Place, encoding: str) -> None:
    bomb = gzip.compress(b" " * (1 << 22))
    message = refused(place, lambda _: Reply(chunks=[bomb], headers={"Content-Encoding": encoding}))
    assert f"its answer is compressed ({encoding}), but the request asked for plain bytes" in message


def test_many_choices_are_no_answer(place: Place) -> None:
    body = json.dumps({"choices": [{"message": {"content": "x"}}] * 20_000})
    assert "it answers with 20,000 choices instead of one" in refused(place, lambda _: Reply(body=body))


@pytest.mark.parametrize("body", ['{"choices": ' + "[" * 200_000, '{"choices": [' + "9" * 5_000 + "]}", '{"choices": [7]}', "[]", "7"])
def test_what_is_no_completion_is_said(place: Place, body: str) -> None:
    assert "it answers with no chat completion" in refused(place, lambda _: Reply(body=body))


def test_a_drip_ends(place: Place) -> None:
    begin = time.monotonic()
    message = refused(place, lambda _: Reply(chunks=Counted(b" ", wait=0.1)), f"{ONE}timeout_seconds = 0.7")
    assert "no answer in 0.7 s, or none that ended" in message
    assert time.monotonic() - begin < 10


def test_no_data_goes_where_nobody_sent_it(place: Place) -> None:
    with chat_server(well) as second:
        target = second.address.replace("127.0.0.1", "localhost")
        message = refused(place, lambda _: Reply(status=307, headers={"Location": f"{target}/chat/completions"}))
        assert not second.requests
    assert f"it sends on to {target.removesuffix('/v1')}, where no data is taken unasked" in message


@pytest.mark.parametrize("location", ["http://[", "//", "file:///etc/passwd", "http://a:99999/", "/v1/chat/completions"])
def test_where_it_sends_on_to_is_no_place(place: Place, location: str) -> None:
    message = refused(place, lambda _: Reply(status=307, headers={"Location": location}))
    assert "it sends on to" in message or "redirects" in message


def test_a_redirect_within_the_address_is_followed(place: Place) -> None:
    questions: list[str] = []

    def moved(request: dict[str, Any]) -> Reply:
        questions.append("")
        return Reply(status=307, headers={"Location": "/v1/other"}) if len(questions) % 2 else well(request)

    with chat_server(moved) as server:
        output = place.compose(server, llm=ONE)
    assert len(server.requests) == 2 * sum(output.counts.values())


@pytest.mark.parametrize("written", [KEY, KEY.replace("v", "\\u0076").replace("s", "\\u0073"), KEY.replace("-", "\\u002D")])
def test_a_key_that_comes_back_is_not_kept(place: Place, written: str) -> None:
    def echo(request: dict[str, Any]) -> Reply:
        text = json.dumps({"question": composed(request).replace("?", " @?"), "refusal": ""}).replace("@", written)
        return Reply(content=text, finish="key_" + KEY.replace("-", "_"))

    with chat_server(echo) as server:
        output = place.compose(server, llm=ONE)
    texts = [path.read_bytes() for path in (place.folder / "w").rglob("*") if path.is_file()]
    assert not [text for text in texts if KEY.encode() in text]
    assert sum(output.counts.values()) == len(server.requests)
    assert all(
        "…" in json.loads(json.loads(line)["answer"]["text"])["question"] for line in place.recording.read_text("utf-8").splitlines()
    )


def test_a_word_in_the_place_of_a_key_is_no_secret(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the")
    with chat_server(well) as server:
        place.compose(server, llm=ONE)
    assert "the" in place.recording.read_text("utf-8")
    assert "…" not in place.recording.read_text("utf-8")


def negative(request: dict[str, Any]) -> Reply:
    return Reply(body=json.dumps(completion(well(request)) | {"usage": {"prompt_tokens": -5_000, "completion_tokens": True}}))


def test_negative_tokens_are_not_believed(place: Place) -> None:
    server: ChatServer
    with chat_server(negative) as server:
        place.compose(server, llm=ONE)
    lines = place.recording.read_text("utf-8").splitlines()
    assert all(json.loads(line)["answer"]["input_tokens"] > 100 for line in lines)
    assert all(json.loads(line)["answer"]["output_tokens"] > 5 for line in lines)
    result = json.loads(lines[2])
    result["answer"]["input_tokens"] = -10_000_000
    place.recording.write_text("\n".join([*lines[:2], json.dumps(result), *lines[3:], ""]), "utf-8")
    with pytest.raises(BrokenInput, match=r"composer\.jsonl, line 3: this is no recorded answer"):
        place.compose("http://127.0.0.1:9/v1", llm=ONE)
