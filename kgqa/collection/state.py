"""What the events of a journal amount to, as tables: items, answers, decisions, people.

A replay is a function of the events alone. Bodies are JSON; each kind's fields are read a column at a time, and a value that has no fixed
shape (an answer, what a page shows) stays JSON text. A million events take some seconds (``python -m benchmarks.annotate_recount``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from kgqa.collection.events import KINDS, MODEL, Event
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
    "disputed": "its answers differ, and no lead has settled it",
    "decided": "a majority or a lead gave it labels",
    "refused": "it is left out of the results",
}
"""State of an item → what it means."""
BATCH = 50_000
"""Rows of a database that are held as Python objects at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The tables of a journal. Times are seconds since 1970; ``number`` is the event's."""

    settings: Mapping[str, Any]
    """The project's settings after the last change."""
    events: int
    items: pl.DataFrame
    """``number, item, step, purpose, seats, shown, hidden, gold, gold_labels, authors, answers, state``: one row per item, in the order in
    which they are given out; of several events with one id the last. ``answers`` are the current ones of people; ``state`` is a key of
    ``STATES``."""
    submissions: pl.DataFrame
    """``number, time, item, person, model, step, purpose, attempt, answer, labels, warnings, seconds, status``: one row per submission.
    ``model``: whether a model made it. ``status``: *current*, *undone*, *withdrawn* (its person was), or *replaced* (another item took the
    place of its item, or the person submitted again)."""
    decisions: pl.DataFrame
    """``number, time, item, person, labels, answer, adjudicated, disputed``: the last decision of each item that has one."""
    people: pl.DataFrame
    """``person, model, submitted, answers, undone, skipped, flagged, adjudicated, seconds, withdrawn, tries, passed``: the people of the
    settings and everybody who did something. ``answers`` are the current ones, ``seconds`` the time over all submissions, ``withdrawn``
    the reason or null, ``tries`` the finished attempts of the qualification, ``passed`` whether the last was, null without one."""
    refused: pl.DataFrame
    """``number, time, item, reason``: one row per refused item."""
    flags: pl.DataFrame
    """``number, time, item, person, reason``."""
    skips: pl.DataFrame
    """``number, time, item, person, reason``."""

    @property
    def answers(self) -> pl.DataFrame:
        """The submissions with the status *current*: not undone, withdrawn or replaced."""
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
    refused = _since(items, _reasons(kinds["refuse"])).drop("person").unique("item", keep="last", maintain_order=True)
    decisions = _decisions(kinds["decide"], kinds["adjudicate"], items)
    settings = _settings(kinds["open"], kinds["change"])
    flags, skips = _reasons(kinds["flag"]), _reasons(kinds["skip"])
    members = pl.DataFrame({"person": sorted({*settings.get("people", ()), *settings.get("leads", ())})}, schema={"person": pl.String})
    people = [members, _submitted(submissions), _count(skips, "skipped"), _count(flags, "flagged")]
    people += [_count(kinds["adjudicate"], "adjudicated"), withdrawn.select("person", withdrawn=pl.col("reason").fill_null(""))]
    return State(
        settings=settings,
        events=table.height,
        items=_with_states(items, submissions, decisions, refused),
        submissions=submissions,
        decisions=decisions,
        people=_people([*people, _tries(kinds["qualify"])]),
        refused=refused,
        flags=flags,
        skips=skips,
    )


def table_of(events: Iterable[Event]) -> pl.DataFrame:
    """The events as a table of ``EVENTS``."""
    return rows_table(
        (event.number, event.time, event.kind, event.person, event.item, json.dumps(event.body, ensure_ascii=False)) for event in events
    )


def rows_table(rows: Iterable[Sequence[Any]]) -> pl.DataFrame:
    """Rows with the columns of ``EVENTS``, as a database gives them, as a table."""
    iterator, parts = iter(rows), [pl.DataFrame(schema=EVENTS)]
    while batch := list(islice(iterator, BATCH)):
        parts.append(pl.DataFrame([tuple(row) for row in batch], schema=EVENTS, orient="row"))
    return pl.concat(parts)


def _table(events: Iterable[Event] | pl.DataFrame | pa.Table) -> pl.DataFrame:
    if isinstance(events, pl.DataFrame):
        return events.select(pl.col(name).cast(kind) for name, kind in EVENTS.items())
    if hasattr(events, "column_names"):
        frame = pl.from_arrow(events)
        assert isinstance(frame, pl.DataFrame)  # a table, no single column
        return _table(frame)
    return table_of(events)


def _fields(events: pl.DataFrame, *, needed: Sequence[str] = (), **fields: Any) -> pl.DataFrame:
    """The events with fields of their bodies as columns, in place of ``body``; an object or list as String stays JSON text.

    A field that is absent is null. Raises BrokenInput where a ``needed`` field is.
    """
    columns = [_field(name, kind).alias(name) for name, kind in fields.items()]
    # One select, so that the fields are read side by side.
    values = events.lazy().with_columns(columns).drop("body").collect()
    for name in needed:
        absent = values.filter(pl.col(name).is_null())
        if absent.height:
            raise BrokenInput(
                f"event {absent['number'][0]} of the journal: its field {name!r} is missing or damaged; restore the journal from a copy."
            )
    return values


def _field(name: str, kind: Any) -> pl.Expr:
    body = pl.col("body")
    # Looking for the name is much faster than parsing, and most bodies lack the rare fields.
    value = pl.when(body.str.contains(f'"{name}"', literal=True)).then(body).str.json_path_match(f"$.{name}")
    if kind == pl.Boolean:
        return value == "true"
    return value if kind == pl.String else value.cast(kind, strict=False)


def _reasons(events: pl.DataFrame) -> pl.DataFrame:
    return _fields(events, reason=pl.String).with_columns(pl.col("reason").fill_null(""))


def _settings(opened: pl.DataFrame, changes: pl.DataFrame) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for text in _fields(pl.concat([opened, changes]), needed=("settings",), settings=pl.String)["settings"]:
        settings |= json.loads(text)
    return settings


def _items(events: pl.DataFrame) -> pl.DataFrame:
    texts = ("step", "purpose", "shown", "hidden", "gold", "gold_labels", "authors")
    fields: dict[str, Any] = dict.fromkeys(texts, pl.String) | {"seats": pl.Int64}
    return (
        _fields(events, needed=("step", "purpose", "seats"), **fields)
        .drop("time", "person")
        .with_columns(pl.col("authors").fill_null("[]").str.json_decode(pl.List(pl.String)))
        .unique("item", keep="last", maintain_order=True)
    )


def _since(items: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that are about the items as they are now, not about earlier ones with their ids."""
    begins = items.select("item", begun="number")
    return rows.join(begins, on="item", how="inner", maintain_order="left").filter(pl.col("number") > pl.col("begun")).drop("begun")


def _submissions(submits: pl.DataFrame, undos: pl.DataFrame, withdrawn: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    rows = _fields(
        submits, needed=("answer",), answer=pl.String, labels=pl.String, warnings=pl.String, seconds=pl.Float64, attempt=pl.Int64
    )
    # Only the person who submitted an answer takes it back.
    undone_events = _fields(undos, needed=("event",), event=pl.Int64).select("person", number="event", undone=True)
    rows = (
        rows.join(undone_events.unique(["number", "person"]), on=["number", "person"], how="left", maintain_order="left")
        .join(withdrawn.select("person", left=True), on="person", how="left", maintain_order="left")
        .join(items.select("item", "step", "purpose", begun="number"), on="item", how="inner", maintain_order="left")
    )
    undone = pl.col("undone").is_not_null()
    last = pl.col("number").max().over("item", "person", pl.col("attempt").fill_null(0), undone)
    status = pl.when(undone).then(pl.lit("undone")).when(pl.col("left").is_not_null()).then(pl.lit("withdrawn"))
    replaced = (pl.col("number") < pl.col("begun")) | (pl.col("number") < last)
    columns = (
        "number",
        "time",
        "item",
        "person",
        "model",
        "step",
        "purpose",
        "attempt",
        "answer",
        "labels",
        "warnings",
        "seconds",
        "status",
    )
    return rows.with_columns(
        pl.col("labels").fill_null("{}"), pl.col("warnings").fill_null("[]"), pl.col("seconds").fill_null(0.0),
        model=_is_model(), status=status.when(replaced).then(pl.lit("replaced")).otherwise(pl.lit("current")),
    ).select(columns)  # fmt: skip


def _is_model() -> pl.Expr:
    return pl.col("person").str.starts_with(MODEL)


def _decisions(decided: pl.DataFrame, adjudicated: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    fields: dict[str, Any] = {"labels": pl.String, "state": pl.String, "answer": pl.String}
    rows = pl.concat([_fields(decided, **fields), _fields(adjudicated, **fields).with_columns(state=pl.lit("adjudicated"))])
    return (
        _since(items, rows.sort("number"))
        .unique("item", keep="last", maintain_order=True)
        .filter(pl.col("state") != "open")
        .with_columns(
            pl.col("labels").fill_null("{}"), adjudicated=pl.col("state") == "adjudicated", disputed=pl.col("state") == "disputed"
        )
        .drop("state")
    )


def _with_states(items: pl.DataFrame, submissions: pl.DataFrame, decisions: pl.DataFrame, refused: pl.DataFrame) -> pl.DataFrame:
    current = submissions.filter(pl.col("status") == "current", ~pl.col("model"))
    state = (
        pl.when(pl.col("refused").is_not_null())
        .then(pl.lit("refused"))
        .when(pl.col("disputed").is_not_null())
        .then(pl.when("disputed").then(pl.lit("disputed")).otherwise(pl.lit("decided")))
        .otherwise(pl.when(pl.col("answers") > 0).then(pl.lit("begun")).otherwise(pl.lit("open")))
    )
    return (
        items.join(current.group_by("item").agg(answers=_length()), on="item", how="left", maintain_order="left")
        .join(decisions.select("item", "disputed"), on="item", how="left", maintain_order="left")
        .join(refused.select("item", refused="number"), on="item", how="left", maintain_order="left")
        .with_columns(pl.col("answers").fill_null(0))
        .with_columns(state=state)
        .drop("disputed", "refused")
    )


def _submitted(submissions: pl.DataFrame) -> pl.DataFrame:
    status = pl.col("status")
    return submissions.group_by("person").agg(
        submitted=_length(),
        answers=(status == "current").sum().cast(pl.Int64),
        undone=(status == "undone").sum().cast(pl.Int64),
        seconds=pl.col("seconds").sum(),
    )


def _tries(qualified: pl.DataFrame) -> pl.DataFrame:
    tries = _fields(qualified, passed=pl.Boolean).sort("number")
    return tries.group_by("person").agg(tries=_length(), passed=pl.col("passed").last())


def _count(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    return rows.group_by("person").agg(_length().alias(name))


def _length() -> pl.Expr:
    return pl.len().cast(pl.Int64)


def _people(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One row per person in any of ``parts``, with the columns of all of them."""
    people = pl.concat([part.select("person") for part in parts]).unique().sort("person")
    for part in parts[1:]:
        people = people.join(part, on="person", how="left", maintain_order="left")
    counts = ("submitted", "answers", "undone", "skipped", "flagged", "adjudicated")
    people = people.with_columns(pl.col(*counts, "tries", "seconds").fill_null(0), model=_is_model())
    return people.select("person", "model", *counts, "seconds", "withdrawn", "tries", "passed")
