"""The replay of a journal: what counts after undoing, withdrawing, replacing and deciding again, and what is damaged."""

from __future__ import annotations

import json
import random
from typing import Any

import polars as pl
import pytest

from kgqa.collection.events import Event
from kgqa.collection.state import EVENTS, State, replay, rows_table, table_of
from kgqa.errors import BrokenInput
from tests.collection.simulated import journal


class Story:
    """A journal that a test writes, one event a call."""

    def __init__(self, *items: str, seats: int = 2) -> None:
        self.written: list[Event] = []
        self.add("open", settings={"people": ["Ada", "Ben"], "leads": ["Lea"]})
        self.seats = seats
        for item in items:
            self.item(item)

    def add(self, kind: str, person: str = "", item: str = "", **body: Any) -> int:
        number = len(self.written) + 1
        self.written.append(Event(number=number, time=float(number), kind=kind, person=person, item=item, body=body))
        return number

    def item(self, item: str, **body: Any) -> int:
        fields: dict[str, Any] = {"step": "s", "purpose": "work", "seats": self.seats, "shown": {"text": item}, "hidden": {}, "authors": []}
        return self.add("item", item=item, **{**fields, **body})

    def submit(self, person: str, item: str, label: str = "yes", **body: Any) -> int:
        return self.add("submit", person, item, answer={"value": label}, labels={"q": label}, seconds=10.0, **body)

    def state(self) -> State:
        return replay(self.written)

    def states(self) -> dict[str, str]:
        return dict(self.state().items.select("item", "state").iter_rows())


def test_an_item_goes_from_open_to_decided_and_back() -> None:
    story = Story("a", "b")
    assert story.states() == {"a": "open", "b": "open"}
    story.submit("Ada", "a")
    assert story.states()["a"] == "begun"
    story.submit("Ben", "a", "no")
    story.add("decide", item="a", state="disputed", labels={})
    assert story.states()["a"] == "disputed"
    story.add("adjudicate", "Lea", "a", answer={"value": "no"}, labels={"q": "no"})
    decision = story.state().decisions.row(0, named=True)
    assert (story.states()["a"], decision["adjudicated"], decision["person"], json.loads(decision["labels"])) == (
        "decided", True, "Lea", {"q": "no"},
    )  # fmt: skip
    story.add("decide", item="a", state="open", labels={})
    assert story.states()["a"] == "begun"
    story.add("decide", item="a", state="decided", labels={"q": "no"})
    assert story.states() == {"a": "decided", "b": "open"}


def test_only_ones_own_answer_is_taken_back() -> None:
    story = Story("a")
    first, _ = story.submit("Ada", "a"), story.submit("Ben", "a")
    story.add("undo", "Ben", "a", event=first)
    assert list(story.state().answers["person"]) == ["Ada", "Ben"]
    story.add("undo", "Ada", "a", event=first)
    assert list(story.state().submissions["status"]) == ["undone", "current"]
    story.submit("Ada", "a", "no")
    assert dict(story.state().answers.select("person", "answer").iter_rows()) == {"Ben": '{"value":"yes"}', "Ada": '{"value":"no"}'}


def test_people_who_withdraw_are_left_out_from_then_on_and_before() -> None:
    story = Story("a", "b")
    story.submit("Ada", "a")
    story.add("withdraw", "Ada", reason="left")
    story.submit("Ada", "b")
    state = story.state()
    assert state.answers.is_empty()
    assert list(state.submissions["status"]) == ["withdrawn", "withdrawn"]
    ada = state.people.filter(pl.col("person") == "Ada").row(0, named=True)
    assert (ada["submitted"], ada["answers"], ada["withdrawn"], ada["seconds"]) == (2, 0, "left", 20.0)


def test_an_item_with_the_id_of_another_takes_its_place() -> None:
    story = Story("a", "b")
    story.submit("Ada", "a")
    story.add("decide", item="a", state="decided", labels={"q": "yes"})
    story.add("refuse", item="a", reason="its question was taken back")
    assert story.states()["a"] == "refused"
    number = story.item("a", shown={"text": "anew"})
    state = story.state()
    assert story.states()["a"] == "open"
    assert list(state.items["item"]) == ["b", "a"]
    assert state.items.row(1, named=True)["number"] == number
    assert state.items.row(1, named=True)["shown"] == '{"text":"anew"}'
    assert list(state.submissions["status"]) == ["replaced"]
    assert state.refused.is_empty()
    assert state.decisions.is_empty()


def test_attempts_of_the_qualification_count_one_by_one() -> None:
    story = Story()
    story.item("a", purpose="qualification", gold={"value": "yes"})
    for attempt, label in ((1, "no"), (2, "yes")):
        story.submit("Ada", "a", label, attempt=attempt)
        story.add("qualify", "Ada", right=attempt - 1, of=1, passed=label == "yes", attempt=attempt)
    state = story.state()
    assert list(state.answers["attempt"]) == [1, 2]
    assert state.people.filter(pl.col("person") == "Ada").select("tries", "passed").row(0) == (2, True)
    # A second answer to the same attempt replaces the first.
    story.submit("Ada", "a", "no", attempt=2)
    assert list(story.state().submissions["status"]) == ["current", "replaced", "current"]


def test_models_fill_no_seat() -> None:
    story = Story("a")
    story.submit("model:small", "a")
    state = story.state()
    assert state.items.row(0, named=True)["answers"] == 0
    assert story.states() == {"a": "open"}
    assert dict(state.people.select("person", "model").iter_rows()) == {"Ada": False, "Ben": False, "Lea": False, "model:small": True}


def test_settings_are_those_of_the_last_change() -> None:
    story = Story("a")
    story.add("change", settings={"people": ["Ada", "Cleo"], "leads": []})
    state = story.state()
    assert state.settings["people"] == ["Ada", "Cleo"]
    assert list(state.people["person"]) == ["Ada", "Cleo"]


def test_a_replay_depends_on_the_events_alone() -> None:
    events = journal(items=40, seed=1)
    first = replay(events)
    shuffled = events.copy()
    random.Random(2).shuffle(shuffled)
    table = table_of(events)
    rows = rows_table((e.number, e.time, e.kind, e.person, e.item, json.dumps(e.body)) for e in events)
    for source in (shuffled, table, table.to_arrow(), rows):
        again = replay(source)
        for name in ("items", "submissions", "decisions", "people", "refused", "flags", "skips"):
            assert getattr(again, name).equals(getattr(first, name)), name
    assert first.answers["answer"].str.contains("“é").all()


def test_an_empty_journal_has_empty_tables() -> None:
    state = replay([])
    assert (state.events, state.items.height, state.people.height, dict(state.settings)) == (0, 0, 0, {})
    assert state.labels_of(state.answers).is_empty()


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("invent", "{}", "event 1 of the journal: its kind 'invent' is not known"),
        ("submit", '{"labels": {}}', "event 1 of the journal: its field 'answer' is missing"),
        ("submit", '{"answer": {"a": ', "event 1 of the journal: its field 'answer' is missing or damaged"),
        ("item", '{"step": "s", "purpose": "work", "seats": "many"}', "its field 'seats' is missing or damaged"),
        ("open", '{"settings": ', "event 1 of the journal: its field 'settings' is missing or damaged"),
    ],
)
def test_what_is_damaged_is_named(kind: str, body: str, words: str) -> None:
    with pytest.raises(BrokenInput, match=words):
        replay(pl.DataFrame([(1, 0.0, kind, "Ada", "a", body)], schema=EVENTS, orient="row"))
