"""The routes, as a page's script uses them, and as others should not."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from kgqa.web.annotate.app import create_app
from kgqa.web.annotate.visitor import RateLimit
from tests.collection.conftest import Clock, MakeJournal
from tests.web.annotate.conftest import Person, key_of
from tests.web.explore.conftest import HERE


def test_a_link_lets_one_person_in(make_journal: MakeJournal) -> None:
    journal = make_journal()
    ana = Person(journal, "ana")
    assert "Thing 1" in ana.page()
    cookie = ana.entered.history[0].headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("", "not valid here"),
        ("nonsense", "not valid here"),
        ("W10.W10", "not valid here"),
        ("é.é", "not valid here"),
        ("x" * 1999, "not valid here"),
    ],
)
def test_a_forged_link_is_refused(make_journal: MakeJournal, key: str, sentence: str) -> None:
    client = TestClient(create_app(make_journal()), base_url=HERE)
    answer = client.get("/enter", params={"key": key})
    assert (answer.status_code, sentence in answer.text) == (403, True)


def test_links_end_and_belong_to_one_project_and_its_people(make_journal: MakeJournal, tmp_path: Any) -> None:
    journal = make_journal()
    client = TestClient(create_app(journal), base_url=HERE)
    assert "this link has expired".capitalize() in client.get("/enter", params={"key": key_of(journal, "ana", days=-1)}).text
    assert "is not one of the people" in client.get("/enter", params={"key": key_of(journal, "dora")}).text
    other = make_journal(at=tmp_path / "other.sqlite", name="tints")
    assert "not valid here" in client.get("/enter", params={"key": key_of(other, "ana")}).text
    key = key_of(journal, "ana")
    journal.renew_secret()
    assert TestClient(create_app(journal), base_url=HERE).get("/enter", params={"key": key}).status_code == 403


def test_without_a_link_nothing_is_shown(make_journal: MakeJournal) -> None:
    client = TestClient(create_app(make_journal()), base_url=HERE, headers={"Origin": HERE})
    for path in ("/", "/disputes", "/api/document?item=a&id=b", "/api/search?item=a&q=b"):
        assert client.get(path).status_code == 401, path
    for path in ("draft", "check", "submit", "undo", "skip", "flag", "adjudicate"):
        answer = client.post(f"/api/{path}", json={})
        assert answer.status_code == 401, path


def test_an_item_is_drafted_checked_and_submitted_once(make_journal: MakeJournal) -> None:
    journal = make_journal()
    ana = Person(journal, "ana")
    item, token = ana.item()
    assert ana.post("draft", item=item, answer={"colour": "re"}, version=0).json() == {"version": 1}
    assert ">re</textarea>" in ana.page().replace("\n", "")
    assert ana.post("check", item=item, answer={"colour": ""}).json()["faults"][0]["sentence"] == "Name a colour."
    refused = ana.post("submit", item=item, answer={"colour": ""}, token=token, seconds=1.5)
    assert (refused.status_code, refused.json()["error"]["sentence"]) == (422, "Name a colour.")
    for _ in range(2):
        assert ana.post("submit", item=item, answer={"colour": "red"}, token=token, seconds=1.5).status_code == 200
    submitted = [event for event in journal.events() if event.kind == "submit"]
    assert [(event.body["answer"], event.body["seconds"]) for event in submitted] == [({"colour": "red"}, 1.5)]
    assert ana.item()[0] == "thing-2"
    assert ana.post("undo").json() == {"item": "thing-1"}
    assert ana.item()[0] == "thing-1"
    assert ana.post("skip", item="thing-1", reason="").status_code == 400
    assert ana.post("skip", item="thing-1", reason="too dark").status_code == 200
    assert ana.post("flag", item="thing-2", reason="odd").status_code == 200
    assert ana.item()[0] == "thing-2"


def test_two_tabs_do_not_overwrite_each_other(make_journal: MakeJournal) -> None:
    ana = Person(make_journal(), "ana")
    item, _ = ana.item()
    assert ana.post("draft", item=item, answer={"colour": "one"}, version=0).status_code == 200
    second = ana.post("draft", item=item, answer={"colour": "two"}, version=0)
    assert second.status_code == 409
    assert "another tab" in second.json()["error"]["sentence"]


def test_changes_come_from_the_persons_own_page(make_journal: MakeJournal) -> None:
    journal = make_journal()
    app = create_app(journal)
    ana, ben = Person(journal, "ana", app), Person(journal, "ben", app)
    item, token = ana.item()
    ben.page()
    body = {"item": item, "answer": {"colour": "red"}, "token": token, "seconds": 0.0}
    ana.client.headers["X-Kgqa-Form"] = ben.client.headers["X-Kgqa-Form"]
    assert ana.post("submit", **body).status_code == 403
    ana.page()
    ana.client.headers["Origin"] = "http://127.0.0.1:1234"
    assert ana.post("submit", **body).status_code == 403
    ana.client.headers["Origin"] = HERE
    assert ana.client.post("/api/submit", json=body, headers={"Host": "evil.example"}).status_code == 421
    assert ana.post("submit", **body).status_code == 200


def test_another_persons_link_asks_first(make_journal: MakeJournal) -> None:
    journal = make_journal()
    ana = Person(journal, "ana")
    text = ana.client.get("/enter", params={"key": key_of(journal, "ben")}).text
    assert "Are you ben?" in text
    assert "· ana" in ana.page()
    ana.client.post("/enter", params={"key": key_of(journal, "ben")})
    assert "· ben" in ana.page()


def test_only_leads_see_and_settle_disputes(make_journal: MakeJournal) -> None:
    journal = make_journal(per_item=2, people=["ana", "ben"], leads=["lea"])
    app = create_app(journal)
    ana, ben, lea = (Person(journal, name, app) for name in ("ana", "ben", "lea"))
    for person, colour in ((ana, "red"), (ben, "blue")):
        item, token = person.item()
        person.post("submit", item=item, answer={"colour": colour, "note": "<b>sure</b>"}, token=token, seconds=0.0)
    assert ana.client.get("/disputes").status_code == 403
    assert ana.client.get("/progress").status_code == 403
    assert '<th scope="row">ana</th>' in lea.client.get("/progress").text
    assert 'href="/dispute?id=thing-1"' in lea.client.get("/disputes").text
    text = lea.client.get("/dispute", params={"id": "thing-1"}).text
    assert "&lt;b&gt;sure&lt;/b&gt;" in text
    assert "<b>sure</b>" not in text
    body = {"item": "thing-1", "answer": {"colour": "red"}, "token": "token-of-lea", "seconds": 0.0}
    assert ana.post("adjudicate", **body).status_code == 403
    lea.page()
    assert lea.post("adjudicate", **body).status_code == 200
    assert "All answers so far agree" in lea.client.get("/disputes").text
    assert lea.client.get("/dispute", params={"id": "thing-1"}).url.path == "/disputes"


def test_answers_of_others_and_what_is_hidden_are_not_on_the_page(make_journal: MakeJournal) -> None:
    journal = make_journal(per_item=2)
    app = create_app(journal)
    ana, ben = Person(journal, "ana", app), Person(journal, "ben", app)
    item, token = ana.item()
    ana.post("submit", item=item, answer={"colour": "vermilion"}, token=token, seconds=0.0)
    assert "vermilion" not in ben.page()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("draft", {"item": "thing-1", "answer": [], "version": 0}),
        ("draft", {"item": "thing-1", "answer": {}, "version": -1}),
        ("draft", {"item": "thing-1", "answer": {}, "version": 0, "more": 1}),
        ("submit", {"item": 1, "answer": {}, "token": "long-enough", "seconds": 0.0}),
        ("submit", {"item": "thing-1", "answer": {"colour": "red"}, "token": "x", "seconds": 0.0}),
        ("submit", {"item": "thing-1", "answer": {"colour": "red"}, "token": "long-enough", "seconds": -1.0}),
        ("skip", {"item": "thing-1", "reason": "x" * 2001}),
        ("skip", {"item": "thing-3", "reason": "not mine"}),
        ("flag", {"item": "thing-9", "reason": "none"}),
    ],
)
def test_bad_requests_are_one_sentence(make_journal: MakeJournal, path: str, body: dict[str, Any]) -> None:
    ana = Person(make_journal(), "ana")
    ana.item()
    answer = ana.post(path, **body)
    assert answer.status_code in {400, 404}, answer.text
    sentence = answer.json()["error"]["sentence"]
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_runaway_page_is_slowed_down(make_journal: MakeJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.web.annotate.visitor.BURST", 5)
    monkeypatch.setattr("kgqa.web.annotate.visitor.RATE", 0.001)
    app = create_app(make_journal())
    ana, ben = Person(make_journal(), "ana", app), Person(make_journal(), "ben", app)
    assert [ana.client.get("/").status_code for _ in range(6)][-2:] == [429, 429]
    assert ben.client.get("/").status_code == 200


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    limit = RateLimit(rate=2.0, burst=3, clock=lambda: now[0])
    assert [limit.take("ana") for _ in range(4)] == [True, True, True, False]
    now[0] += 1.0
    assert [limit.take("ana") for _ in range(3)] == [True, True, False]
    now[0] += 1000.0
    assert [limit.take("ana") for _ in range(4)] == [True, True, True, False]


def test_a_removed_person_is_told_so(make_journal: MakeJournal, clock: Clock) -> None:
    journal = make_journal()
    ana = Person(journal, "ana")
    ana.page()
    smaller = make_journal(people=["ben", "cem"])
    assert "no longer in this project" in Person(smaller, "ana").entered.text


def test_people_are_told_which_of_their_answers_were_left_out(make_journal: MakeJournal) -> None:
    journal = make_journal()
    ana = Person(journal, "ana")
    item, token = ana.item()
    ana.post("submit", item=item, answer={"colour": "red"}, token=token, seconds=0.0)
    assert "left out" not in ana.page()
    journal.solve(item, [], refusal="Four readers answer it <at once>.")
    assert "1 of your answers was left out" in ana.page()
    assert "Four readers answer it &lt;at once&gt;." in ana.page()
    assert journal.refusals("ben") == []
