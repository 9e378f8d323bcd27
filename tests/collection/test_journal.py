"""The journal: who gets what, what is kept, what is taken back."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kgqa.collection.journal import Journal, Refused
from kgqa.collection.project import read_project
from kgqa.database import database_at
from kgqa.errors import BrokenInput, DuplicateId, InputError, KgqaError, MissingInput, SettingsError, TableChanged, UnknownId
from tests.collection.conftest import Clock, MakeJournal, write_project

_tokens = iter(range(10**9))


def answer(journal: Journal, person: str, colour: str = "red") -> str:
    """Answer the person's next item; returns its id."""
    reservation = journal.next_item(person)
    assert reservation is not None
    body: dict[str, Any] = {"colour": colour} if reservation.item.step == "name" else {"right": True}
    journal.submit(person, reservation.item.id, body, token=f"token-{next(_tokens):08}")
    return reservation.item.id


def kinds(journal: Journal) -> list[str]:
    """The kinds of all events."""
    return [event.kind for event in journal.events()]


def test_people_get_different_seats_and_nobody_an_item_twice(make_journal: MakeJournal) -> None:
    journal = make_journal(per_item=2)
    given = {person: [answer(journal, person) for _ in range(2)] for person in ("ana", "ben")}
    assert given == {"ana": ["thing-1", "thing-2"], "ben": ["thing-1", "thing-2"]}
    assert answer(journal, "cem") == "thing-3"
    assert journal.next_item("cem") is None
    assert answer(journal, "ana") == "thing-3"
    assert journal.next_item("ben") is None
    assert [each.item.id for each in journal.decided()] == ["thing-1", "thing-2", "thing-3"]
    numbers = [event.number for event in journal.events()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_reservation_is_kept_then_released(make_journal: MakeJournal, clock: Clock) -> None:
    journal = make_journal(minutes=10)
    first = journal.next_item("ana")
    clock.now += 300
    again = journal.next_item("ana")
    assert first is not None
    assert again is not None
    assert again.item.id == first.item.id == "thing-1"
    assert again.until > first.until
    clock.now += 601
    other = journal.next_item("ben")
    assert other is not None
    assert other.item.id == "thing-1"
    assert "release" in kinds(journal)


def test_a_late_answer_is_kept_beside_the_one_of_the_person_who_got_the_seat(make_journal: MakeJournal, clock: Clock) -> None:
    journal = make_journal(minutes=10)
    journal.next_item("ana")
    clock.now += 601
    assert answer(journal, "ben", "blue") == "thing-1"
    journal.submit("ana", "thing-1", {"colour": "blue"}, token="late-token")
    decided = next(journal.decided())
    assert [(given.person, given.answer.model_dump()["colour"]) for given in decided.answers] == [("ben", "blue"), ("ana", "blue")]


def test_what_is_sent_twice_counts_once(make_journal: MakeJournal) -> None:
    journal = make_journal()
    journal.next_item("ana")
    numbers = {journal.submit("ana", "thing-1", {"colour": "red"}, token="same-token") for _ in range(3)}
    assert len(numbers) == 1
    assert kinds(journal).count("submit") == 1
    with pytest.raises(TableChanged, match="item thing-1 was already answered by ana"):
        journal.submit("ana", "thing-1", {"colour": "red"}, token="other-token")


def test_an_item_that_was_not_given_is_refused(make_journal: MakeJournal) -> None:
    journal = make_journal()
    with pytest.raises(UnknownId, match="was not assigned to ana"):
        journal.submit("ana", "thing-2", {"colour": "red"}, token="token-of-ana")
    with pytest.raises(UnknownId, match="'dora' is not one of the people of this project"):
        journal.next_item("dora")
    with pytest.raises(UnknownId, match="is not an item of this project"):
        journal.submit("ana", "thing-9", {"colour": "red"}, token="token-of-ana")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "colour: it is missing"),
        ({"colour": "red", "shade": 1}, "shade: there is no such field"),
        ({"colour": 7}, "colour: it must be a text"),
        ({"colour": "a\x00b"}, "null character"),
        ({"colour": "x" * 20_001}, "at most 20000 characters"),
    ],
)
def test_answers_of_a_wrong_shape_are_one_sentence(make_journal: MakeJournal, body: dict[str, Any], sentence: str) -> None:
    journal = make_journal()
    journal.next_item("ana")
    with pytest.raises(InputError, match=sentence):
        journal.submit("ana", "thing-1", body, token="some-token")
    assert "submit" not in kinds(journal)


def test_checks_refuse_or_warn(make_journal: MakeJournal) -> None:
    journal = make_journal()
    journal.next_item("ana")
    with pytest.raises(Refused, match="Name a colour") as refused:
        journal.submit("ana", "thing-1", {"colour": ""}, token="some-token")
    assert refused.value.faults[0].field == "colour"
    assert [fault.blocking for fault in journal.faults("ana", "thing-1", {"colour": "RED"})] == [False]
    journal.submit("ana", "thing-1", {"colour": "RED"}, token="some-token")
    assert list(journal.events())[-2].body["warnings"] == ["Do not shout."]


def test_drafts_are_kept_and_tabs_do_not_overwrite_each_other(make_journal: MakeJournal) -> None:
    journal = make_journal()
    journal.next_item("ana")
    version = journal.save_draft("ana", "thing-1", {"colour": "r"}, version=0)
    version = journal.save_draft("ana", "thing-1", {"colour": "re"}, version=version)
    with pytest.raises(TableChanged, match="open in another tab"):
        journal.save_draft("ana", "thing-1", {"colour": "b"}, version=version - 1)
    reservation = journal.next_item("ana")
    assert reservation is not None
    assert reservation.draft == {"colour": "re"}
    assert reservation.version == version
    journal.submit("ana", "thing-1", {"colour": "red"}, token="some-token")
    after = journal.next_item("ana")
    assert after is not None
    assert after.draft == {}


def test_the_last_answer_is_taken_back_and_becomes_the_draft(make_journal: MakeJournal) -> None:
    journal = make_journal()
    answer(journal, "ana", "red")
    answer(journal, "ana", "green")
    journal.next_item("ana")
    back = journal.undo("ana")
    assert back.item.id == "thing-2"
    assert back.draft == {"colour": "green"}
    assert [each.item.id for each in journal.decided()] == ["thing-1"]
    assert answer(journal, "ben") == "thing-3"
    assert answer(journal, "ana", "blue") == "thing-2"
    assert [each.labels["colour"] for each in journal.decided()] == ["red", "blue", "red"]
    journal.undo("ana")
    journal.undo("ana")
    with pytest.raises(InputError, match="no answer to undo"):
        journal.undo("ana")


def test_a_skipped_item_goes_to_somebody_else(make_journal: MakeJournal) -> None:
    journal = make_journal()
    journal.next_item("ana")
    with pytest.raises(InputError, match="with a reason"):
        journal.skip("ana", "thing-1", " ")
    journal.skip("ana", "thing-1", "I do not know it")
    assert answer(journal, "ana") == "thing-2"
    assert answer(journal, "ben") == "thing-1"
    journal.flag("ben", "thing-1", "odd")
    assert kinds(journal)[-1] == "flag"


def test_a_lead_settles_a_disagreement(make_journal: MakeJournal) -> None:
    journal = make_journal(per_item=2, leads=["lea"], people=["ana", "ben"])
    answer(journal, "ana", "red")
    answer(journal, "ben", "blue")
    assert [(each.item.id, len(each.answers)) for each in journal.disputes()] == [("thing-1", 2)]
    assert list(journal.decided()) == []
    with pytest.raises(InputError, match="is not a lead"):
        journal.adjudicate("ana", "thing-1", {"colour": "red"}, token="token-of-ana")
    journal.adjudicate("lea", "thing-1", {"colour": "red"}, token="token-of-lea")
    decided = next(journal.decided())
    assert decided.labels == {"colour": "red"}
    assert decided.lead is not None
    with pytest.raises(TableChanged, match="no longer disputed"):
        journal.adjudicate("lea", "thing-1", {"colour": "red"}, token="again-by-lea")


def test_a_withdrawn_person_leaves_open_seats(make_journal: MakeJournal) -> None:
    journal = make_journal(per_item=2)
    answer(journal, "ana")
    answer(journal, "ben")
    assert len(list(journal.decided())) == 1
    assert journal.withdraw("ana", "changed their mind") == 1
    assert list(journal.decided()) == []
    assert journal.next_item("ana") is None
    assert answer(journal, "cem") == "thing-1"
    assert [given.person for given in next(journal.decided()).answers] == ["ben", "cem"]


def test_decided_items_lead_to_the_next_step_but_not_for_their_authors(make_journal: MakeJournal) -> None:
    journal = make_journal(options={"things": 2, "check": 1})
    assert answer(journal, "ana") == "thing-1"
    assert answer(journal, "ana") == "thing-2"
    assert journal.next_item("ana") is None
    journal.undo("ana")
    answer(journal, "ana", "blue")
    check = journal.next_item("ben")
    assert check is not None
    assert check.item.id == "thing-1-right"
    journal.undo("ana")
    with pytest.raises(InputError, match="another person has built on this answer"):
        journal.undo("ana")
    assert [event.item for event in journal.events() if event.kind == "refuse"] == ["thing-2-right", "thing-2-right"]
    answer(journal, "ana", "blue")
    answer(journal, "ben")
    last = journal.next_item("ben")
    assert last is not None
    assert last.item.shown == {"colour": "blue"}


def known(path: Path, *things: int) -> str:
    """A file of known answers: red for all."""
    path.write_text("".join(json.dumps({"item": f"thing-{thing}", "answer": {"colour": "red"}}) + "\n" for thing in things))
    return path.name


def test_the_qualification_may_be_tried_twice(make_journal: MakeJournal, tmp_path: Path) -> None:
    file = known(tmp_path / "known.jsonl", 2, 3)
    journal = make_journal(qualification={"file": file, "needed": 1.0, "tries": 2})
    assert [answer(journal, "ana") for _ in range(3)] == ["thing-2", "thing-3", "thing-1"]
    assert [answer(journal, "ben", "blue") for _ in range(4)] == ["thing-2", "thing-3", "thing-2", "thing-3"]
    assert journal.next_item("ben") is None
    assert journal.standing("ben").state == "failed"
    qualify = [(event.person, event.body["right"], event.body["passed"]) for event in journal.events() if event.kind == "qualify"]
    assert qualify == [("ana", 2, True), ("ben", 0, False), ("ben", 0, False)]
    assert [given.person for each in journal.decided() for given in each.answers] == ["ana"]


def test_gold_items_are_mixed_in_for_everybody(make_journal: MakeJournal, tmp_path: Path) -> None:
    file = known(tmp_path / "known.jsonl", 1, 2)
    journal = make_journal(per_item=2, gold={"file": file, "every": 2}, options={"things": 6})
    assert [answer(journal, "ana") for _ in range(5)] == ["thing-3", "thing-1", "thing-4", "thing-2", "thing-5"]
    assert [answer(journal, "ben") for _ in range(4)] == ["thing-3", "thing-1", "thing-4", "thing-2"]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ('{"item": "thing-1"}', "line 1: the item 'thing-1' has no answer"),
        ('{"item": "thing-1", "answer": {"colour": 1}}', "line 1: colour: it must be a text"),
        ('{"item": "thing-9", "answer": {"colour": "red"}}', "line 1: there is no item 'thing-9'"),
        ("{", "line 1: this is not JSON"),
        ("[1]", "line 1: the line has no item"),
        ("", "no known answer"),
        ('{"item": "thing-1", "answer": {"colour": "red"}}\n' * 2, "line 2: the item 'thing-1' occurs twice"),
    ],
)
def test_a_faulty_file_of_known_answers_starts_nothing(make_journal: MakeJournal, tmp_path: Path, lines: str, sentence: str) -> None:
    (tmp_path / "known.jsonl").write_text(lines)
    with pytest.raises(KgqaError, match=sentence):
        make_journal(gold={"file": "known.jsonl"})
    assert make_journal().next_item("ana") is not None


def test_a_changed_project_says_what_may_change(make_journal: MakeJournal) -> None:
    make_journal()
    with pytest.raises(SettingsError, match=r"options was .* cannot change while the project runs"):
        make_journal(options={"things": 4})
    journal = make_journal(people=["ana", "dora"])
    assert [(each.person, each.state) for each in journal.members()] == [
        ("ana", "active"), ("ben", "removed"), ("cem", "removed"), ("dora", "active"),
    ]  # fmt: skip
    assert kinds(journal)[-1] == "change"
    assert journal.next_item("ben") is None
    make_journal(people=["ana", "dora"])
    assert kinds(journal).count("change") == 1


def test_a_journal_of_another_project_is_refused(make_journal: MakeJournal) -> None:
    make_journal()
    with pytest.raises(InputError, match="this is the journal of the project 'shades', not of 'tints'"):
        make_journal(name="tints")


def test_a_file_that_is_no_database_is_refused(make_journal: MakeJournal, tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_text("not a database, but a text that is long enough to look like one" * 30)
    with pytest.raises(BrokenInput, match="no database of SQLite"):
        make_journal()


def test_a_clock_that_is_set_back_changes_no_order(make_journal: MakeJournal, clock: Clock) -> None:
    journal = make_journal()
    answer(journal, "ana")
    clock.now -= 5000
    answer(journal, "ben")
    times = [event.time for event in journal.events()]
    assert times == sorted(times)


def test_a_model_fills_seats_of_its_own_name(make_journal: MakeJournal) -> None:
    journal = make_journal(per_item=2)
    with pytest.raises(SettingsError, match="not the name of a model"):
        journal.seat_model("ana")
    journal.seat_model("model:m")
    assert answer(journal, "model:m", "blue") == "thing-1"
    answer(journal, "ana")
    assert list(journal.decided()) == []
    answer(journal, "ben")
    assert next(journal.decided()).labels == {"colour": "red"}


def test_two_journals_of_one_database_give_no_seat_twice(make_journal: MakeJournal) -> None:
    first, second = make_journal(options={"things": 40}), make_journal(options={"things": 40})
    given = [answer(journal, person) for _ in range(20) for journal, person in ((first, "ana"), (second, "ben"))]
    assert len(given) == len(set(given)) == 40


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"task": "colors"}, r"task: task 'colors' is not known; did you mean colours\?$"),
        ({"people": ["ana", "Ana"]}, "'ana' is listed twice"),
        ({"people": []}, r"the setting 'people' cannot be \[\]: the list is empty\.$"),
        ({"per_item": 4}, "per_item is 4, but there are 3 people"),
        ({"people": ["ana "]}, "is not a valid name"),
        ({"colour": 1}, "colour is not a project setting; choose one of agreement"),
    ],
)
def test_a_faulty_project_file_is_one_sentence(make_journal: MakeJournal, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        make_journal(**settings)


def test_names_of_the_event_kinds_are_complete(make_journal: MakeJournal) -> None:
    from kgqa.collection.events import KINDS

    journal = make_journal()
    answer(journal, "ana")
    assert set(kinds(journal)) <= set(KINDS)


def test_a_repeated_item_starts_nothing(make_journal: MakeJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.collection.colours import Colours

    items = Colours.items
    monkeypatch.setattr(Colours, "items", lambda self: [*items(self), *items(self)])
    with pytest.raises(DuplicateId, match="thing-1 occurs twice"):
        make_journal()


def test_what_a_lead_settled_stays_when_people_leave(make_journal: MakeJournal) -> None:
    journal = make_journal(per_item=2, people=["ana", "ben", "cem"], leads=["lea"])
    answer(journal, "ana", "red")
    answer(journal, "ben", "blue")
    journal.adjudicate("lea", "thing-1", {"colour": "red"}, token="token-of-lea")
    with pytest.raises(InputError, match="a lead settled the item of your last answer"):
        journal.undo("ben")
    assert journal.withdraw("ben", "left") == 1
    assert [each.labels for each in journal.decided()] == [{"colour": "red"}]
    reservation = journal.next_item("cem")
    assert reservation is not None
    assert reservation.item.id == "thing-2"


def test_leads_get_no_items(make_journal: MakeJournal) -> None:
    assert make_journal(leads=["lea"]).next_item("lea") is None


@pytest.mark.parametrize("name", ["../up", "/abs", "a/b", "a\\\\b", ".hidden", " x", "c:d"])
def test_the_name_of_a_project_leads_to_no_other_folder(make_journal: MakeJournal, name: str) -> None:
    with pytest.raises(SettingsError, match="is not a valid project name"):
        make_journal(name=name)


def test_a_person_is_not_named_like_a_model(make_journal: MakeJournal) -> None:
    with pytest.raises(SettingsError, match="is the name of a model"):
        make_journal(people=["ana", "model:x"])


def test_known_answers_cannot_be_added_while_a_project_runs(make_journal: MakeJournal, tmp_path: Path) -> None:
    file = known(tmp_path / "known.jsonl", 1)
    make_journal()
    with pytest.raises(SettingsError, match=r"gold\.file was None when the project began"):
        make_journal(gold={"file": file})


def test_known_answers_pass_the_checks_of_people(make_journal: MakeJournal, tmp_path: Path) -> None:
    (tmp_path / "known.jsonl").write_text('{"item": "thing-1", "answer": {"colour": "", "note": "x"}}')
    with pytest.raises(InputError, match="line 1: people could not give this answer: Name a colour"):
        make_journal(gold={"file": "known.jsonl"})
    assert not (tmp_path / "journal.sqlite").exists()


def test_a_project_begins_only_where_it_shall(make_journal: MakeJournal, tmp_path: Path) -> None:
    project = read_project(write_project(tmp_path))
    database = database_at(tmp_path / "journal.sqlite", option="--journal", file="x")
    with pytest.raises(MissingInput, match="the project 'shades' has not begun here"):
        Journal(database, project, begin=False)
    assert not (tmp_path / "journal.sqlite").exists()
    make_journal()
    assert (tmp_path / "journal.sqlite").stat().st_mode & 0o077 == 0
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(BrokenInput, match="another program's database"):
        make_journal(at=tmp_path / "other.sqlite")
