"""What the events of a journal amount to, as tables: items, answers, decisions, people.

A replay is a function of the events alone. Bodies are JSON; each kind's fields are read a column at a time, and a value that has no fixed
shape (an answer, what a page shows) stays JSON text. A million events take some seconds (``python -m benchmarks.annotate_recount``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from kgqa.collection.events import KINDS, Event
from kgqa.errors import BrokenInput

if TYPE_CHECKING:
    import pyarrow as pa

EVENTS = {
    "number": pl.Int64, "time": pl.Float64, "kind": pl.String, "person": pl.String, "item": pl.String, "body": pl.String,
}  # fmt: skip
"""The columns of a journal; ``body`` is a JSON object as text."""
STATES = {
    "open": "nobody has answered it",
    "begun": "some of its seats have an answer",
    "answered": "all of its seats have an answer, and nothing is decided yet",
    "disputed": "its answers differ, and no lead has settled it",
    "decided": "a majority or a lead gave it labels",
    "refused": "it is left out of the results",
}
"""State of an item → what it means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The tables of a journal. Times are seconds since 1970; ``number`` is the event's."""

    settings: Mapping[str, Any]
    """The project's settings after the last change."""
    events: int
    items: pl.DataFrame
    """``number, item, step, purpose, seats, shown, hidden, gold, gold_labels, authors, answers, state``: one row per item, in the order in
    which they entered. ``answers`` counts the current ones; ``state`` is a key of ``STATES``."""
    submissions: pl.DataFrame
    """``number, time, item, person, answer, labels, warnings, seconds, model, step, purpose, status``: one row per submission. ``status`` is
    *current*, *undone*, *withdrawn* (its person was) or *replaced* (the person submitted the item again)."""
    decisions: pl.DataFrame
    """``number, time, item, person, labels, answer, adjudicated, disputed``: the decision of each item. One by a majority lapses when an
    answer that it counted is undone or its person withdrawn; one by a lead stays."""
    people: pl.DataFrame
    """``person, model, submitted, answers, undone, skipped, flagged, seconds, withdrawn, tries, passed``: everybody in the journal who did
    something. ``answers`` are the current ones, ``seconds`` the time over all submissions, ``withdrawn`` the reason or null, ``tries`` the
    finished tries of the qualification, ``passed`` whether the last one was, null without one."""
    refused: pl.DataFrame
    """``number, time, item, reason``: one row per refused item."""
    flags: pl.DataFrame
    """``number, time, item, person, reason``."""
    skips: pl.DataFrame
    """``number, time, item, person, reason``."""

    @property
    def answers(self) -> pl.DataFrame:
        """The current submissions."""
        return self.submissions.filter(pl.col("status") == "current")

    def labels_of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One row per label of ``rows`` (answers or decisions): their columns without ``labels``, and ``question, label``."""
        texts = rows.get_column("labels").unique().drop_nulls().sort()
        pairs = [(text, question, str(label)) for text in texts for question, label in json.loads(text).items()]
        table = pl.DataFrame(pairs, schema={"labels": pl.String, "question": pl.String, "label": pl.String}, orient="row")
        return rows.join(table, on="labels", how="inner", maintain_order="left_right").drop("labels")


def replay(events: Iterable[Event] | pl.DataFrame | pa.Table) -> State:
    """The tables of the journal ``events``: Event records, or a table of ``EVENTS``, in any order.

    Raises BrokenInput for a kind of event that kgqa does not know, and for a body that is no JSON of the kind's shape. Memory: the events,
    and about as much again.
    """
    table = _table(events).sort("number")
    unknown = table.filter(~pl.col("kind").is_in(KINDS))
    if unknown.height:
        number, kind = unknown.row(0, named=True)["number"], unknown.row(0, named=True)["kind"]
        raise BrokenInput(f"event {number} of the journal: its kind {kind!r} is not known; read it with the version of kgqa that wrote it.")
    kinds: dict[str, pl.DataFrame] = {kind: table.filter(pl.col("kind") == kind).drop("kind") for kind in KINDS}
    withdrawn = _fields(kinds["withdraw"], reason=pl.String).unique("person", keep="first", maintain_order=True)
    items = _items(kinds["item"])
    submissions = _submissions(kinds["submit"], kinds["undo"], withdrawn, items)
    refused = _reasons(kinds["refuse"]).drop("person").unique("item", keep="first", maintain_order=True)
    decisions = _decisions(kinds["decide"], kinds["adjudicate"], submissions)
    flags, skips = _reasons(kinds["flag"]), _reasons(kinds["skip"])
    return State(
        settings=_settings(kinds["open"], kinds["change"]),
        events=table.height,
        items=_with_states(items, submissions, decisions, refused),
        submissions=submissions,
        decisions=decisions,
        people=_people(submissions, skips, flags, withdrawn, kinds["qualify"]),
        refused=refused,
        flags=flags,
        skips=skips,
    )


def table_of(events: Iterable[Event]) -> pl.DataFrame:
    """The events as a table of ``EVENTS``."""
    rows = [
        (event.number, event.time, event.kind, event.person, event.item, json.dumps(event.body, ensure_ascii=False)) for event in events
    ]
    return pl.DataFrame(rows, schema=EVENTS, orient="row")


def _table(events: Iterable[Event] | pl.DataFrame | pa.Table) -> pl.DataFrame:
    if isinstance(events, pl.DataFrame):
        return events.select(pl.col(name).cast(kind) for name, kind in EVENTS.items())
    if hasattr(events, "column_names"):
        frame = pl.from_arrow(events)
        assert isinstance(frame, pl.DataFrame)
        return _table(frame)
    return table_of(events)


def _fields(events: pl.DataFrame, *, needed: Sequence[str] = (), **fields: Any) -> pl.DataFrame:
    """The events with fields of their bodies as columns, in place of ``body``; an object or list as String stays JSON text.

    A field that is absent is null. Raises BrokenInput where a ``needed`` field is.
    """
    columns = [_field(name, kind).alias(name) for name, kind in fields.items()]
    # One select, so that the fields are read side by side.
    found = events.lazy().with_columns(columns).drop("body").collect()
    for name in needed:
        absent = found.filter(pl.col(name).is_null())
        if absent.height:
            raise BrokenInput(
                f"event {absent['number'][0]} of the journal: its field {name!r} is missing or damaged; restore the journal from a copy."
            )
    return found


def _field(name: str, kind: Any) -> pl.Expr:
    value = pl.col("body").str.json_path_match(f"$.{name}")
    if kind == pl.Boolean:
        return value == "true"
    return value if kind == pl.String else value.cast(kind, strict=False)


def _reasons(events: pl.DataFrame) -> pl.DataFrame:
    return _fields(events, reason=pl.String).with_columns(pl.col("reason").fill_null(""))


def _settings(opened: pl.DataFrame, changed: pl.DataFrame) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for body in [*opened["body"], *changed["body"]]:
        settings |= json.loads(body).get("settings") or {}
    return settings


def _items(events: pl.DataFrame) -> pl.DataFrame:
    fields = dict.fromkeys(("step", "purpose", "shown", "hidden", "gold", "gold_labels", "authors"), pl.String) | {"seats": pl.Int64}
    return (
        _fields(events, needed=("step",), **fields)
        .drop("time", "person")
        .with_columns(pl.col("purpose").fill_null("work"), pl.col("seats").fill_null(1))
        .with_columns(pl.col("authors").fill_null("[]").str.json_decode(pl.List(pl.String)))
        .unique("item", keep="first", maintain_order=True)
    )


def _submissions(submits: pl.DataFrame, undos: pl.DataFrame, withdrawn: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    texts = dict.fromkeys(("answer", "labels", "warnings", "model"), pl.String)
    rows = _fields(submits, needed=("answer",), **texts, seconds=pl.Float64)
    rows = rows.with_columns(pl.col("labels").fill_null("{}"), pl.col("warnings").fill_null("[]"), pl.col("seconds").fill_null(0.0))
    # Only the person who submitted an answer takes it back.
    taken = _fields(undos, needed=("event",), event=pl.Int64).select(number="event", person="person", undone="number")
    taken = taken.unique(["number", "person"], keep="first", maintain_order=True)
    left = withdrawn.select("person", withdrawn="number")
    rows = (
        rows.join(taken, on=["number", "person"], how="left", maintain_order="left")
        .join(left, on="person", how="left", maintain_order="left")
        .join(items.select("item", "step", "purpose"), on="item", how="inner", maintain_order="left")
    )
    last = pl.col("number") == pl.col("number").max().over("item", "person", pl.col("undone").is_null())
    return rows.with_columns(
        status=pl.when(pl.col("undone").is_not_null())
        .then(pl.lit("undone"))
        .when(pl.col("withdrawn").is_not_null())
        .then(pl.lit("withdrawn"))
        .when(~last)
        .then(pl.lit("replaced"))
        .otherwise(pl.lit("current"))
    )


def _decisions(decided: pl.DataFrame, adjudicated: pl.DataFrame, submissions: pl.DataFrame) -> pl.DataFrame:
    fields = {"labels": pl.String, "disputed": pl.Boolean, "answer": pl.String}
    rows = pl.concat(
        [
            _fields(events, **fields).with_columns(pl.lit(by_lead).alias("adjudicated"))
            for events, by_lead in ((decided, False), (adjudicated, True))
        ]
    )
    lost = submissions.filter(pl.col("undone").is_not_null() | (pl.col("number") < pl.col("withdrawn")))
    lost = lost.group_by("item").agg(lost=pl.coalesce("undone", "withdrawn").max())
    return (
        rows.join(lost, on="item", how="left")
        .filter(pl.col("adjudicated") | (pl.col("number") > pl.col("lost").fill_null(0)))
        .sort("number")
        .unique("item", keep="last", maintain_order=True)
        .with_columns(pl.col("labels").fill_null("{}"), pl.col("disputed").fill_null(False))
        .drop("lost")
    )


def _with_states(items: pl.DataFrame, submissions: pl.DataFrame, decisions: pl.DataFrame, refused: pl.DataFrame) -> pl.DataFrame:
    current = submissions.filter(pl.col("status") == "current").group_by("item").agg(answers=pl.len().cast(pl.Int64))
    state = (
        pl.when(pl.col("item").is_in(refused["item"].implode()))
        .then(pl.lit("refused"))
        .when(pl.col("disputed"))
        .then(pl.lit("disputed"))
        .when(pl.col("disputed").is_not_null())
        .then(pl.lit("decided"))
        .when(pl.col("answers") >= pl.col("seats"))
        .then(pl.lit("answered"))
        .when(pl.col("answers") > 0)
        .then(pl.lit("begun"))
        .otherwise(pl.lit("open"))
    )
    return (
        items.join(current, on="item", how="left", maintain_order="left")
        .join(decisions.select("item", "disputed"), on="item", how="left", maintain_order="left")
        .with_columns(pl.col("answers").fill_null(0))
        .with_columns(state=state)
        .drop("disputed")
    )


def _people(
    submissions: pl.DataFrame, skips: pl.DataFrame, flags: pl.DataFrame, withdrawn: pl.DataFrame, qualified: pl.DataFrame
) -> pl.DataFrame:
    status = pl.col("status")
    submitted = submissions.group_by("person").agg(
        model=pl.col("model").drop_nulls().first(),
        submitted=pl.len().cast(pl.Int64),
        answers=(status == "current").sum().cast(pl.Int64),
        undone=(status == "undone").sum().cast(pl.Int64),
        seconds=pl.col("seconds").sum(),
    )
    tries = _fields(qualified, passed=pl.Boolean).sort("number").group_by("person")
    passes = tries.agg(tries=pl.len().cast(pl.Int64), passed=pl.col("passed").last())
    parts = [
        submitted,
        skips.group_by("person").agg(skipped=pl.len().cast(pl.Int64)),
        flags.group_by("person").agg(flagged=pl.len().cast(pl.Int64)),
        withdrawn.select("person", withdrawn=pl.col("reason").fill_null("")),
        passes,
    ]
    people = pl.concat([part.select("person") for part in parts]).unique().sort("person")
    for part in parts:
        people = people.join(part, on="person", how="left", maintain_order="left")
    counts = ("submitted", "answers", "undone", "skipped", "flagged", "tries")
    columns = ("person", "model", *counts[:5], "seconds", "withdrawn", "tries", "passed")
    return people.with_columns(*(pl.col(name).fill_null(0) for name in counts), pl.col("seconds").fill_null(0.0)).select(columns)
