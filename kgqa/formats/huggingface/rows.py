"""The flat rows of common question sets on the hub, converted to the official records that the formats read.

SQuAD, HotpotQA, 2WikiMultihopQA and DROP look different on the hub from their official files; MuSiQue, StrategyQA, QAngaroo and BoolQ do
not. Rows have the same fields in Parquet, in JSON lines and in a JSON list. Their lists may be columns, objects, pairs as in the official
files, or JSON in a text. DROP's rows keep the answers of all annotators in one list: a number or date is a whole answer; consecutive spans
belong to one annotator until a span is repeated. Quoref's rows have SQuAD's fields; the first rows tell the two apart, as in Quoref's file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from typing import Any, NotRequired

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, InputError
from kgqa.formats import boolq, columns, drop, hotpotqa, musique, qangaroo, quoref, squad, squad2, twowiki
from kgqa.formats.instance_json import ROW, from_row
from kgqa.formats.json.validate import Closed, Open, validated
from kgqa.formats.strategyqa import format as strategyqa
from kgqa.records import Instance

Row = dict[str, Any]
LOOK = 10_000
"""Number of rows to inspect, and to keep in memory, to tell SQuAD and Quoref apart."""


class FactColumns(Closed):
    """HotpotQA's supporting facts, as columns."""

    title: list[str]
    sent_id: list[int]


class ContextColumns(Closed):
    """HotpotQA's paragraphs, as columns."""

    title: list[str]
    sentences: list[list[str]]


class SquadAnswerColumns(Closed):
    """SQuAD's answers, as columns."""

    text: list[str]
    answer_start: list[int]


class DropAnswerColumns(Closed):
    """DROP's answers, as columns."""

    spans: list[str]
    types: list[str]


class HotpotqaRow(Open):
    """A question of ``hotpotqa/hotpot_qa``."""

    id: str
    question: str
    context: ContextColumns
    supporting_facts: NotRequired[FactColumns]


class SquadRow(Open):
    """A question of ``rajpurkar/squad`` or ``rajpurkar/squad_v2``."""

    id: str
    title: NotRequired[str]
    context: str
    question: str
    answers: SquadAnswerColumns


class DropRow(Open):
    """A question of ``ucinlp/drop``."""

    section_id: str
    query_id: str
    passage: str
    question: str
    answers_spans: DropAnswerColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A set that is recognised by its columns."""

    name: str
    columns: frozenset[str]
    kind: TypeAdapter[Any]
    read: Callable[[Any, str, int], Instance]
    """Makes an Instance of a row, its place for messages, and its number in the split, from 0."""
    flat: bool = False
    """Whether its rows differ from the records of its official files."""
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Field that is an object of columns → names of the columns, in the order of their values in a pair."""

    record: type | None = None
    """The official record of the set, whose fields may be further columns."""

    @property
    def all_columns(self) -> frozenset[str]:
        """The required columns and the fields of the official record."""
        return self.columns | getattr(self.record, "__annotations__", {}).keys()


def instances(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Instance]]:
    """Place and Instance of each row; the first rows decide the form.

    Memory: ``LOOK`` rows. Raises InputError with row and column.
    """
    rows = iter(rows)
    first_rows = list(islice(rows, 1))
    if not first_rows:
        return
    form = form_of(first_rows[0][1], first_rows[0][0])
    if form.name == squad.NAME:
        first_rows += islice(rows, LOOK - 1)
        if quoref.has_parts(_answer_objects(form, row) for _, row in first_rows):
            form = QUOREF
    for number, (location, row) in enumerate(chain(first_rows, rows)):
        yield location, instance_of(form, row, location, number)


def form_of(row: Row, location: str) -> Form:
    """The form that has the columns of ``row``. Raises BrokenInput, which names the columns, if no form fits.

    Columns alone prove little, since another set may use the same names. A form that knows at most half of the columns is accepted only if
    the row can be read with it.
    """
    columns_of_row = _with_id(row).keys()
    doubts = ""
    for form in FORMS:
        if form.columns <= columns_of_row:
            if 2 * len(form.all_columns & columns_of_row) > len(columns_of_row):
                return form
            try:
                instance_of(form, row, "", 0)
            except InputError as error:
                doubts += f" It is not {form.name}, some of whose columns it has: {str(error).partition(';')[0].lstrip(', ')}."
            else:
                return form
    names = ", ".join(name if name.isprintable() else repr(name) for name in row)
    choices = ", ".join(form.name for form in FORMS)
    rename = f".{doubts} Rename" if doubts else "; rename"
    raise BrokenInput(f"{location}: no known question set has these columns ({names}){rename} them to those of {choices}.")


def _with_id(row: Row) -> Row:
    """``row`` with the official files' ``_id`` renamed to ``id``, as on the hub."""
    return {"id": row["_id"], **_without(row, "_id")} if "_id" in row and "id" not in row else row


def is_row(record: Mapping[str, Any]) -> bool:
    """Whether ``record`` has the columns of a set whose rows differ from its official records."""
    columns_of_row = _with_id(dict(record)).keys()
    return any(form.columns <= columns_of_row for form in FORMS if form.flat)


def instance_of(form: Form, row: Row, location: str, number: int) -> Instance:
    """The Instance in a row; ``number`` counts the rows of the split from 0, and a null column counts as missing.

    Raises InputError with the field.
    """
    for column, value in row.items():
        if not _is_json(value):
            raise BrokenInput(f"{location}, field {column!r}: expected only text, numbers, lists and objects; drop the column.")
    record = row if form.kind is ROW else _as_columns(form, {column: value for column, value in row.items() if value is not None})
    return form.read(validated(record, form.kind, location), location, number)


def _as_columns(form: Form, row: Row) -> Row:
    """``row`` with its lists as columns and its id renamed, as ``form`` needs them; they may be lists of objects or pairs, or JSON."""
    row = _with_id(row) if form.flat else row
    return row | {name: _columns(row[name], names) for name, names in form.lists.items() if name in row}


def _answer_objects(form: Form, row: Row) -> Row:
    """The answers of a row of SQuAD's form as objects; empty if they are not columns."""
    answers = _as_columns(form, row).get("answers")
    columns = [answers.get(name) for name in form.lists["answers"]] if isinstance(answers, dict) else []
    if not columns or not all(isinstance(column, list) for column in columns):
        return {}
    return {"answers": [dict(zip(form.lists["answers"], entry, strict=False)) for entry in zip(*columns, strict=False)]}


def _columns(value: object, names: tuple[str, ...]) -> object:
    """``value``, a list of objects or of tuples or its JSON, as an object of lists called ``names``; any other value is returned as it is.

    >>> _columns([["Weir", 0], ["Una Holm", 2]], ("title", "sent_id"))
    {'title': ['Weir', 'Una Holm'], 'sent_id': [0, 2]}
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if not isinstance(value, list):
        return value
    if all(isinstance(entry, dict) and set(names) <= entry.keys() for entry in value):
        return {name: [entry[name] for entry in value] for name in names}
    if all(isinstance(entry, list) and len(entry) == len(names) for entry in value):
        return {name: [entry[at] for entry in value] for at, name in enumerate(names)}
    return value


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _entries(row: Mapping[str, Any], field: str, kind: type, location: str) -> list[list[Any]]:
    """The entries of a field whose columns are those of ``kind``; BrokenInput if the columns differ in length."""
    names = list(kind.__annotations__)
    lists: list[list[Any]] = [row[field][name] for name in names]
    if any(len(first) != len(second) for first, second in pairwise(lists)):
        raise BrokenInput(f"{location}, field {field!r}: {' and '.join(names)} are not of the same length; fix or drop the row.")
    return [list(entry) for entry in zip(*lists, strict=True)]


def _without(row: Mapping[str, Any], *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _with_context(row: HotpotqaRow, location: str) -> Row:
    """The official record, with paragraphs and facts as lists of pairs."""
    record = {
        **_without(row, "id", "context", "supporting_facts"),
        "_id": row["id"],
        "context": _entries(row, "context", ContextColumns, location),
    }
    if "supporting_facts" in row:
        record["supporting_facts"] = _entries(row, "supporting_facts", FactColumns, location)
    return record


def _squad(row: SquadRow, location: str, _: int) -> Instance:
    """The Instance of a row of SQuAD; a row without answers comes from SQuAD 2.0."""
    entry = _entry(row, location)
    if entry.question["answers"]:
        return squad.instance_of(entry, squad.NAME, squad.SquadQuestion)
    question = {**entry.question, "is_impossible": True}
    return squad.instance_of(replace(entry, question=question), squad2.NAME, squad2.Squad2Question)


def _quoref(row: SquadRow, location: str, _: int) -> Instance:
    """The Instance of a row of Quoref, whose answers are parts of one answer."""
    entry = _entry(row, location)
    return squad.instance_of(entry, quoref.NAME, squad.SquadQuestion, faults=squad.absent_answer(entry), parts=True)


def _entry(row: SquadRow, location: str) -> squad.Entry:
    """A row of SQuAD, with its answers as objects."""
    answers = _entries(row, "answers", SquadAnswerColumns, location)
    question = _without(row, "title", "context") | {"answers": [{"text": text, "answer_start": start} for text, start in answers]}
    return squad.Entry(where=location, question=question, title=row.get("title"), paragraph_id="0", text=row["context"], notes={})


def _drop(row: DropRow, location: str, _: int) -> Instance:
    answers = _annotators(_entries(row, "answers_spans", DropAnswerColumns, location))
    question = _without(row, "section_id", "passage", "answers_spans")
    if answers:
        question |= {"answer": answers[0], "validated_answers": answers[1:]}
    passage = validated({"passage": row["passage"], "qa_pairs": [question]}, PASSAGE, location)
    return drop.instance_of(passage["qa_pairs"][0], row["section_id"], passage)


def _annotators(answers: list[list[Any]]) -> list[Row]:
    """The official answer of each annotator, from pairs of text and type: consecutive spans belong together until one is repeated.

    >>> _annotators([["3", "number"], ["Weir", "span"], ["Skarn", "span"], ["Weir", "span"]])
    [{'number': '3'}, {'spans': ['Weir', 'Skarn']}, {'spans': ['Weir']}]
    """
    annotators: list[Row] = []
    kind_before = None
    for text, kind in answers:
        if kind == "span" and kind_before == "span" and text not in annotators[-1]["spans"]:
            annotators[-1]["spans"].append(text)
        else:
            annotators.append({"number": text} if kind == "number" else {"spans": [text]})
        kind_before = kind
    return annotators


PASSAGE = TypeAdapter(drop.Passage)
TWOWIKI_COLUMNS = frozenset({"id", "context", "question", "supporting_facts", "evidences"})
DROP_COLUMNS = frozenset({"section_id", "query_id", "passage", "question", "answers_spans"})
PAGES = {"context": ("title", "sentences"), "supporting_facts": ("title", "sent_id")}
SQUAD = Form(
    name="squad",
    columns=frozenset({"id", "context", "question", "answers"}),
    kind=TypeAdapter(SquadRow),
    read=_squad,
    flat=True,
    lists={"answers": ("text", "answer_start")},
    record=squad2.Squad2Question,
)
QUOREF = replace(SQUAD, name="quoref", read=_quoref)
FORMS = (
    Form(
        name="native", columns=frozenset(columns.SCHEMA.names) - columns.OPTIONAL, kind=ROW, read=lambda row, where, _: from_row(row, where)
    ),
    Form(
        name="drop",
        columns=DROP_COLUMNS,
        kind=TypeAdapter(DropRow),
        read=_drop,
        flat=True,
        lists={"answers_spans": ("spans", "types")},
        record=drop.DropQuestion,
    ),
    SQUAD,
    Form(
        name="twowiki",
        columns=TWOWIKI_COLUMNS,
        kind=TypeAdapter(HotpotqaRow),
        read=lambda row, where, _: twowiki.from_record(validated(_with_context(row, where), twowiki.RECORD, where)),
        flat=True,
        lists=PAGES,
        record=twowiki.Record,
    ),
    Form(
        name="hotpotqa",
        columns=frozenset({"id", "context", "question", "supporting_facts"}),
        kind=TypeAdapter(HotpotqaRow),
        read=lambda row, where, _: hotpotqa.from_record(validated(_with_context(row, where), hotpotqa.RECORD, where)),
        flat=True,
        lists=PAGES,
        record=hotpotqa.Record,
    ),
    Form(
        name="qangaroo",
        columns=frozenset({"id", "query", "answer", "candidates", "supports"}),
        kind=qangaroo.RECORD,
        record=qangaroo.Record,
        read=lambda row, *_: qangaroo.from_record(row),
    ),
    Form(
        name="musique",
        columns=frozenset({"id", "question", "paragraphs", "question_decomposition"}),
        kind=musique.RECORD,
        record=musique.Record,
        read=lambda row, where, _: musique.from_record(row, where),
    ),
    Form(
        name="strategyqa",
        columns=frozenset({"qid", "question", "answer"}),
        kind=strategyqa.RECORD,
        record=strategyqa.Record,
        read=lambda row, *_: strategyqa.from_record(row),
    ),
    Form(
        name="boolq",
        columns=frozenset({"question", "answer", "passage"}),
        kind=boolq.RECORD,
        record=boolq.Record,
        read=lambda row, _, number: boolq.from_record(row, str(number)),
    ),
)
"""All forms, in the order of recognition."""
