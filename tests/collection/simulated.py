"""Journals of people who disagree, take answers back, skip, flag and leave: random, the same ones for a seed."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgqa.collection.events import Event

PEOPLE = ("Ada", "Ben", "Cleo", "Dora")
MODEL = "model:small"
VERDICTS = ("follows", "likely", "does-not-follow")


def journal(*, items: int, seed: int, people: tuple[str, ...] = PEOPLE, model: bool = True, after: int = 0) -> list[Event]:
    """A journal with every kind of event; three people answer each item. ``after`` is the number of the event before the first."""
    return list(Simulation(items=items, seed=seed, people=people, model=model, after=after).events())


class Simulation:
    def __init__(self, *, items: int, seed: int, people: tuple[str, ...], model: bool, after: int) -> None:
        self.rng = random.Random(seed)
        self.items, self.people, self.model = items, people, model
        self.number, self.time = after, 1_000_000.0

    def event(self, kind: str, *, person: str = "", item: str = "", **body: Any) -> Event:
        self.number += 1
        self.time += self.rng.random()
        return Event(number=self.number, time=self.time, kind=kind, person=person, item=item, body=body)

    def events(self) -> Iterator[Event]:
        rng = self.rng
        settings = {"name": "simulated", "task": "validate", "people": [*self.people, "Nobody"], "leads": ["Lea"], "agreement": 0.5}
        yield self.event("open", settings=settings)
        truth = {f"i{number}": rng.choice(VERDICTS) for number in range(self.items)}
        purposes = {item: rng.choice(("gold", "work", "work", "work", "work", "work", "qualification")) for item in truth}
        for item, verdict in truth.items():
            yield self.item(item, purposes[item], verdict)
        for person in self.people:
            yield self.event("qualify", person=person, right=1, of=2, passed=rng.random() < 0.7, attempt=1)
        for item, verdict in truth.items():
            labels: list[str] = []
            seats = self.people if purposes[item] != "work" else rng.sample(self.people, min(3, len(self.people)))
            for person in [*seats, *([MODEL] if self.model and rng.random() < 0.5 else [])]:
                for event in self.answer(item, person, verdict, purposes[item]):
                    yield event
                    if event.kind == "submit" and person != MODEL:
                        labels.append(str(event.body["labels"].get("verdict", "")))
            if purposes[item] == "work" and rng.random() < 0.9:
                yield from self.decide(item, labels)
            if rng.random() < 0.03:
                yield self.event("refuse", item=item, reason=rng.choice(("flagged as bad", "a reader answers it")))
                if rng.random() < 0.5:
                    yield self.item(item, purposes[item], verdict)
        yield self.event("change", settings=settings | {"agreement": 0.6})
        if len(self.people) > 3:
            yield self.event("withdraw", person=self.people[-1], reason="asked to")

    def item(self, item: str, purpose: str, truth: str) -> Event:
        step = "second" if item.endswith("7") else "first"
        gold: dict[str, Any] = (
            {"gold": {"verdict": truth}, "gold_labels": {"verdict": truth, "trivial": "no"}} if purpose != "work" else {"gold": None}
        )
        body: dict[str, Any] = {"shown": {"question": f"Who is {item}?"}, "hidden": {"sample": item}, "seats": 3, "authors": [], **gold}
        return self.event("item", item=item, step=step, purpose=purpose, **body)

    def answer(self, item: str, person: str, truth: str, purpose: str) -> Iterator[Event]:
        rng = self.rng
        yield self.event("reserve", person=person, item=item, until=self.time + 60)
        if purpose == "work" and rng.random() < 0.05:
            yield self.event("skip", person=person, item=item, reason=rng.choice(("too long", "not my field")))
            return
        for again in range(2):
            verdict = truth if rng.random() < 0.7 else rng.choice(VERDICTS)
            labels = {"verdict": verdict} | ({"trivial": rng.choice(("yes", "no", "no"))} if rng.random() < 0.8 else {})
            extra = {"attempt": 1} if purpose == "qualification" else {}
            submitted = self.event(
                "submit", person=person, item=item, answer={"verdict": verdict, "note": "“é\n"}, labels=labels,
                seconds=round(rng.expovariate(1 / 40), 3), **extra,
            )  # fmt: skip
            yield submitted
            if again or rng.random() > 0.05:
                break
            yield self.event("undo", person=person, item=item, event=submitted.number)
        if rng.random() < 0.04:
            yield self.event("flag", person=person, item=item, reason="the text is cut")

    def decide(self, item: str, labels: list[str]) -> Iterator[Event]:
        best = max(sorted(set(labels)), key=labels.count, default="")
        if not best or labels.count(best) * 2 <= len(labels):
            yield self.event("decide", item=item, state="disputed", labels={})
            if self.rng.random() < 0.5:
                yield self.event("adjudicate", person="Lea", item=item, answer={"verdict": "likely"}, labels={"verdict": "likely"})
            return
        yield self.event("decide", item=item, state="decided", labels={"verdict": best})
        if self.rng.random() < 0.05:
            yield self.event("decide", item=item, state="open", labels={})


def write_database(events: list[Event], path: Path) -> None:
    """The events as the tables that the journal has."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE kgqa_project (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO kgqa_project VALUES (1, 'simulated')")
        connection.execute(
            "CREATE TABLE kgqa_event (project INTEGER, number INTEGER, time REAL, kind TEXT, person TEXT, item TEXT, body TEXT, token TEXT)"
        )
        connection.executemany(
            "INSERT INTO kgqa_event VALUES (1, ?, ?, ?, ?, ?, ?, NULL)",
            [(e.number, e.time, e.kind, e.person, e.item, json.dumps(e.body, ensure_ascii=False)) for e in events],
        )
    connection.close()
