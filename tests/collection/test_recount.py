"""A journal that people wrote: its replay says what its own tables say, and its figures are those of a recount."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

from kgqa.collection.exports import decided
from kgqa.collection.figures import figures
from kgqa.collection.journal import Journal
from kgqa.collection.state import replay, rows_table
from kgqa.errors import InputError
from tests.collection.conftest import Clock, MakeJournal
from tests.collection.recount import differences, recount

COLOURS = ("red", "blue", "green")


def work(journal: Journal, clock: Clock, *, turns: int, seed: int) -> None:
    """People answer, disagree, take back, skip, flag, come late and withdraw; a lead settles some of the disputes."""
    rng = random.Random(seed)
    people = ["ana", "ben", "cem", "dan", "model:m"]
    journal.seat_model("model:m")
    for turn in range(turns):
        clock.now += rng.choice((1, 20, 20, 1900 if turn % 50 == 0 else 5))
        person = rng.choice(people)
        if turn == turns * 2 // 3:
            journal.withdraw("dan", "left")
            people.remove("dan")
            continue
        reservation = journal.next_item(person)
        if reservation is None:
            continue
        item, act = reservation.item, rng.random()
        try:
            if act < 0.05:
                journal.skip(person, item.id, rng.choice(("too hard", "no colour")))
            elif act < 0.1:
                journal.flag(person, item.id, "cannot be seen")
            elif act < 0.17:
                journal.undo(person)
            elif act < 0.18:
                journal.refuse(item.id, "flagged as bad")
            elif act < 0.95:
                colour = rng.choice(COLOURS) if rng.random() < 0.4 else COLOURS[len(item.id) % 3]
                body: dict[str, Any] = {"colour": colour} if item.step == "name" else {"right": True}
                journal.submit(person, item.id, body, token=f"token-{seed}-{turn}", seconds=rng.random() * 60)
        except InputError:
            pass  # as a skip in the qualification, or nothing to undo
        disputes = journal.disputes() if turn % 20 == 0 else []
        for each in disputes[: len(disputes) // 2]:
            journal.adjudicate("lea", each.item.id, {"colour": "red"}, token=f"lead-{turn}-{each.item.id}"[-40:])


def test_a_replay_is_what_the_journals_own_tables_say(make_journal: MakeJournal, clock: Clock, tmp_path: Path) -> None:
    known = [json.dumps({"item": f"thing-{number}", "answer": {"colour": "red"}}) for number in range(1, 9)]
    (tmp_path / "gold.jsonl").write_text("\n".join(known[:6]), "utf-8")
    (tmp_path / "first.jsonl").write_text("\n".join(known[6:]), "utf-8")
    journal = make_journal(
        people=["ana", "ben", "cem", "dan"], leads=["lea"], per_item=2, agreement=0.6, options={"things": 50, "check": 3},
        gold={"file": "gold.jsonl", "every": 4}, qualification={"file": "first.jsonl", "needed": 0.5, "tries": 5},
    )  # fmt: skip
    work(journal, clock, turns=300, seed=1)
    state = replay(rows_table(journal.event_rows()))
    assert replay(journal.events()).submissions.equals(state.submissions)

    connection = sqlite3.connect(tmp_path / "journal.sqlite")
    states = dict(connection.execute("SELECT id, state FROM kgqa_item"))
    done = {row[0] for row in connection.execute("SELECT event FROM kgqa_seat WHERE state = 'done'")}
    connection.close()
    assert {"open", "decided", "disputed", "refused"} <= set(states.values())
    ours = {item: "open" if found == "begun" else found for item, found in state.items.select("item", "state").iter_rows()}
    assert ours == states
    counted = state.answers.join(state.items.select("item", found="state"), on="item")
    assert set(counted.filter(counted["found"] != "refused")["number"]) <= done <= set(state.answers["number"])
    assert list(decided(state, journal.task.steps)) == list(journal.decided())

    found = json.loads(json.dumps(figures(state).record()))
    assert not differences(found, recount(tmp_path / "journal.sqlite", "shades"))
    assert found["drift"]
    assert found["pairs"]
    assert found["models"]
    assert found["left_out"]
