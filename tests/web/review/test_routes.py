"""The page without a browser: what it shows, what it writes down, what it refuses, and that data stay data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from kgqa.collection.tables.table import read_table
from kgqa.collection.verdicts import MARKS, VERDICTS
from kgqa.formats import native
from kgqa.records import Instance, Paragraph
from kgqa.web.explore.app import STATIC as EXPLORE
from kgqa.web.guard import POLICY
from kgqa.web.review.app import create_app
from kgqa.web.review.session import MOST_NOTE, Session
from tests.web.review.conftest import client, opened


def said(session: Session, **changed: Any) -> dict[str, Any]:
    """What the page sends of its first sample."""
    return {"sample": next(iter(session.places)), "verdict": "follows", "marks": [], "candidate": "", "note": "", "seen": "", **changed}


def test_a_sample_is_laid_open(session: Session) -> None:
    for reading in session.readings:
        page = client(session).get("/sample", params={"id": reading.instance.id})
        assert page.status_code == 200
        text = unescape(re.sub(r"<[^>]+>", "", page.text))
        assert reading.instance.question in text
        for chain in reading.answer_chains[:3]:
            for hop in chain:
                assert reading.names[hop.entity] in text
                assert hop.document in text
                assert all(label in text for label in (*hop.forward, *hop.backward))
        assert all(candidate.text in text for candidate in reading.others)
        for paragraph in reading.instance.paragraphs:
            assert " ".join(paragraph.text.split()) in " ".join(text.split())
        for each in (*VERDICTS.values(), *MARKS.values()):
            assert each.sentence in text


def test_the_start_is_the_first_sample_without_a_verdict(session: Session) -> None:
    page, ids = client(session), list(session.places)
    for sample in ids:
        start = page.get("/", follow_redirects=False)
        assert (start.status_code, start.headers["location"]) == (303, f"/sample?id={sample}")
        assert page.post("/api/judgement", json=said(session, sample=sample, verdict="", note="later")).status_code == 200
        assert page.get("/", follow_redirects=False).headers["location"] == f"/sample?id={sample}"
        (seen,) = re.findall(r'data-seen="(\w+)"', page.get("/sample", params={"id": sample}).text)
        assert page.post("/api/judgement", json=said(session, sample=sample, seen=seen)).status_code == 200
    assert page.get("/", follow_redirects=False).headers["location"] == "/list"
    assert f"{len(ids)} of {len(ids)} have a verdict" in page.get("/list").text


def test_what_is_said_is_in_the_table_when_the_answer_comes(session: Session) -> None:
    reading = next(each for each in session.readings if each.others)
    result = said(
        session, sample=reading.instance.id, marks=["wrong-link", "another"], candidate=reading.others[0].id, note="a\tb\nc </textarea>"
    )
    answer = client(session).post("/api/judgement", json=result)
    assert {key: value for key, value in answer.json().items() if key != "seen"} == {"done": 1, "of": len(session.readings)}
    (found,) = read_table(session.book.path).judgements
    assert (found.sample, found.reader, found.verdict, found.note) == (reading.instance.id, "ann", "follows", result["note"])
    assert (found.marks, found.candidate) == (("another", "wrong-link"), reading.others[0].id)
    page = client(session).get("/sample", params={"id": reading.instance.id}).text
    assert re.findall(r'value="([\w-]+)"[^>]*checked', page) == ["follows", "another", "wrong-link"]
    assert "a\tb\nc &lt;/textarea&gt;</textarea>" in page


@pytest.mark.parametrize(
    ("changed", "status", "part"),
    [
        ({"sample": "../../etc"}, 404, "is not among the 6"),
        ({"sample": 5}, 400, "has the fields"),
        ({"verdict": "perhaps"}, 400, "'perhaps' is not known"),
        ({"verdict": None}, 400, "has the fields"),
        ({"marks": "another"}, 400, "list of texts"),
        ({"marks": ["anothr"]}, 400, "did you mean another?"),
        ({"candidate": "Q0"}, 404, "not another candidate"),
        ({"seen": 1}, 400, "has the fields"),
        ({"note": "x" * (MOST_NOTE + 1)}, 400, "2,000 is the most"),
        ({"path": "/etc/passwd"}, 400, "has the fields"),
    ],
)
def test_what_cannot_be_said_is_one_sentence(changed: dict[str, Any], status: int, part: str, session: Session) -> None:
    before = session.book.path.read_bytes()
    answer = client(session).post("/api/judgement", json=said(session, **changed))
    assert (answer.status_code, answer.json()["error"]["status"]) == (status, status)
    assert part in answer.json()["error"]["sentence"]
    assert session.book.path.read_bytes() == before


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"1", b'"x"', b"\xff", b"[" * 100_000])
def test_what_is_no_judgement_is_one_sentence(body: bytes, session: Session) -> None:
    answer = client(session).post("/api/judgement", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "lacks 1" not in answer.json()["error"]["sentence"]  # a place in the text is no name of a field
    assert answer.json()["error"]["sentence"].endswith(".")


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "null",
        "https://evil.example",
        "http://127.0.0.1:1",
        "https://127.0.0.1",
        "http://127.0.0.1.evil.example",
        "http://localhost",
    ],
)
def test_another_page_may_not_write(origin: str | None, session: Session) -> None:
    before = session.book.path.read_bytes()
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = client(session, origin=origin).request(method, "/api/judgement", json=said(session))
        assert (answer.status_code, answer.json()["error"]["status"]) == (403, 403)
        assert answer.headers["Content-Security-Policy"] == POLICY
    assert session.book.path.read_bytes() == before
    assert client(session, origin=origin).get("/list").status_code == 200


def test_another_host_name_gets_nothing(session: Session) -> None:
    before = session.book.path.read_bytes()
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert client(session).get("/list", headers={"Host": host}).status_code == 421
        answer = client(session).post("/api/judgement", json=said(session), headers={"Host": host, "Origin": f"http://{host}"})
        assert answer.status_code == 421
    assert session.book.path.read_bytes() == before


def test_one_route_writes_and_no_other(session: Session) -> None:
    methods = {route.path: route.methods for route in every_route(create_app(session)) if isinstance(route, Route)}
    assert {path for path, allowed in methods.items() if allowed and allowed - {"GET", "HEAD"}} == {"/api/judgement"}
    for address in ("/", "/list", "/sample?id=x", "/static/review.js"):
        assert client(session).post(address).status_code == 405


def every_route(app: Any) -> Iterator[Any]:
    """The routes, those of included routers too."""
    for route in app.routes:
        inner = getattr(route, "original_router", None)
        yield from every_route(inner) if inner is not None else (route,)


@pytest.mark.parametrize(
    ("address", "status", "part"),
    [
        ("/sample?id=nothing", 404, "is not among the 6"),
        ("/sample", 400, "The address lacks"),
        ("/nothing", 404, "no such page"),
        ("/static/../app.py", 404, "no such page"),
        ("/static/explore/%2e%2e/app.py", 404, "no such page"),
        ("/docs", 404, "no such page"),
    ],
)
def test_a_mistake_is_one_sentence(address: str, status: int, part: str, session: Session) -> None:
    answer = client(session).get(address)
    (sentence,) = re.findall(r'role="alert">(.*?)</p>', answer.text)
    assert (answer.status_code, part in sentence) == (status, True)


def test_every_answer_forbids_what_is_not_ours(session: Session) -> None:
    for address in ("/list", f"/sample?id={next(iter(session.places))}", "/nothing", "/static/review.js", "/static/explore/page.css"):
        answer = client(session).get(address)
        assert answer.headers["Content-Security-Policy"] == POLICY
        if answer.headers["content-type"].startswith("text/html"):
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", answer.text)
            for found in re.findall(r'(?:src|href)="([^"]+)"', answer.text):
                assert found.startswith(("/", "#")), found
    assert (EXPLORE / "page.css").is_file()


def test_names_and_texts_are_shown_as_they_are(awkward: Path, tmp_path: Path) -> None:
    session = opened(awkward, tmp_path / "table.tsv", sample=1000)
    pages = [client(session).get("/sample", params={"id": sample}).text for sample in session.places] + [client(session).get("/list").text]
    assert any("&lt;script&gt;window.owned=" in page for page in pages)
    for page in pages:
        assert not re.search(r"<script(?![^>]*\bsrc=)|<svg|<img", page)


def test_a_table_that_was_broken_meanwhile_is_told_and_kept(session: Session) -> None:
    session.book.path.write_text("mine\n")
    for answer in (client(session).post("/api/judgement", json=said(session)), client(session).get("/list")):
        assert answer.status_code == 500
        assert f"{session.book.path}, line 1: a table of kgqa review begins with" in unescape(answer.text)
    assert session.book.path.read_text() == "mine\n"


def test_a_candidate_is_named_beside_its_mark_only(session: Session) -> None:
    reading = next(each for each in session.readings if each.others)
    result = said(session, sample=reading.instance.id, marks=["wrong-link"], candidate=reading.others[0].id)
    answer = client(session).post("/api/judgement", json=result)
    assert (answer.status_code, "not the mark 'another'" in answer.json()["error"]["sentence"]) == (400, True)
    assert session.book.judgements() == {}


def test_a_word_that_a_page_has_not_shown_is_not_overwritten(session: Session) -> None:
    first, second = client(session), client(session)
    seen = first.post("/api/judgement", json=said(session, note="first")).json()["seen"]
    answer = second.post("/api/judgement", json=said(session, verdict="likely"))
    assert (answer.status_code, "load the page again" in answer.json()["error"]["sentence"]) == (409, True)
    assert [each.note for each in session.book.judgements().values()] == ["first"]
    # What is in the table already is no conflict: the answer to a first try may have been lost.
    assert second.post("/api/judgement", json=said(session, note="first")).json()["seen"] == seen
    taken_back = first.post("/api/judgement", json=said(session, verdict="", seen=seen)).json()
    assert (taken_back["done"], taken_back["seen"], session.book.judgements()) == (0, "", {})
    assert first.post("/api/judgement", json=said(session)).status_code == 200


def test_a_file_is_called_as_it_is(monkeypatch: pytest.MonkeyPatch, wikihop: Path, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    session = opened(wikihop, Path("table.tsv"))
    session.book.path.write_text("mine\n")
    assert client(session).post("/api/judgement", json=said(session)).json()["error"]["sentence"].startswith("table.tsv, line 1: ")


def test_a_table_mended_by_hand_is_gone_on_with(session: Session) -> None:
    ids = list(session.places)
    client(session).post("/api/judgement", json=said(session))
    with session.book.path.open("a") as file:
        file.write(f"{ids[1]}\tann\tlikely\t\t\tby hand\n")
    assert client(session).post("/api/judgement", json=said(session, sample=ids[2])).json()["done"] == 3
    assert "by hand" in client(session).get("/sample", params={"id": ids[1]}).text


def test_a_set_without_chains_and_candidates_is_read_as_well(tmp_path: Path) -> None:
    paragraphs = tuple(Paragraph(id=f"p{number}", title=None, text=f"Text {number}.", supporting=number == 2) for number in range(3))
    instance = Instance(
        id="q1", question="Which?", paragraphs=paragraphs, answers=("this one", "this"), answer_type="span", answerable=True, group="g",
        provenance=None,
    )  # fmt: skip
    native.write([instance], tmp_path / "dev.parquet")
    session = opened(tmp_path, tmp_path / "table.tsv")
    page = client(session).get("/sample?id=q1").text
    assert "The record holds no chain to it." in page
    assert re.findall(r"<details[^>]*open[^>]*><summary>(\w+)", page) == ["p2"]
    assert "Which?</label>" not in page
    assert client(session).post("/api/judgement", json=said(session)).json()["done"] == 1
