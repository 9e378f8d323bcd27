"""Rows of the hub's common question sets, which are flat, as the records that their own formats read.

SQuAD, HotpotQA, 2WikiMultihopQA and DROP look different on the hub from their official files; MuSiQue, StrategyQA, QAngaroo and BoolQ do
not. The rows are the same in Parquet, in JSON lines and in a JSON list; their lists may be columns, objects, pairs as in the official
files, or JSON in a text. DROP's rows keep the answers of all annotators in one list: a number or date is an annotator's whole answer, and
spans are one annotator's until one comes again. Quoref's rows are SQuAD's, told from them as Quoref's file is, by the first rows.
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
"""By so many rows SQuAD and Quoref are told apart; these are in memory."""


class Facts(Closed):
    """HotpotQA's supporting facts, as columns."""

    title: list[str]
    sent_id: list[int]


class Context(Closed):
    """HotpotQA's paragraphs, as columns."""

    title: list[str]
    sentences: list[list[str]]


class Marked(Closed):
    """SQuAD's answers, as columns."""

    text: list[str]
    answer_start: list[int]


class Typed(Closed):
    """DROP's answers, as columns."""

    spans: list[str]
    types: list[str]


class HotpotqaRow(Open):
    """A question of ``hotpotqa/hotpot_qa``."""

    id: str
    question: str
    context: Context
    supporting_facts: NotRequired[Facts]


class SquadRow(Open):
    """A question of ``rajpurkar/squad`` or ``rajpurkar/squad_v2``."""

    id: str
    title: NotRequired[str]
    context: str
    question: str
    answers: Marked


class DropRow(Open):
    """A question of ``ucinlp/drop``."""

    section_id: str
    query_id: str
    passage: str
    question: str
    answers_spans: Typed


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A set that is known by its columns."""

    name: str
    columns: frozenset[str]
    kind: TypeAdapter[Any]
    read: Callable[[Any, str, int], Instance]
    """Makes an Instance of a row of this kind, whose place it is told, and its number in the split, from 0."""
    flat: bool = False
    """Whether its rows are other than the records of its official files."""
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of fields that are columns, their names, in the order in which a pair has their values."""

    record: type | None = None
    """The official record of such a set, by whose fields more of its columns are known."""

    @property
    def known(self) -> frozenset[str]:
        """All columns that it knows."""
        return self.columns | getattr(self.record, "__annotations__", {}).keys()


def instances(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Instance]]:
    """The Instances of ``rows``, each with its place, in the form that the first of them show.

    Memory: ``LOOK`` rows. Raises InputError with row and column.
    """
    rows = iter(rows)
    begun = list(islice(rows, 1))
    if not begun:
        return
    form = form_of(begun[0][1], begun[0][0])
    if form.name == squad.NAME:
        begun += islice(rows, LOOK - 1)
        if quoref.has_parts(_marked(form, row) for _, row in begun):
            form = QUOREF
    for number, (where, row) in enumerate(chain(begun, rows)):
        yield where, instance_of(form, row, where, number)


def form_of(row: Row, where: str) -> Form:
    """The form with the columns of this ``row``, and perhaps more; BrokenInput that names them where there is none.

    Columns are no proof: those of another set may be among them. So a form is passed over whose kind the row is not, where it does not know
    most of the row's columns.
    """
    named = _with_id(row)
    doubts = ""
    for form in FORMS:
        if form.columns <= named.keys():
            if 2 * len(form.known & named.keys()) > len(named):
                return form
            try:
                instance_of(form, row, "", 0)
            except InputError as error:
                doubts += f" It is not {form.name}, some of whose columns it has: {str(error).partition(';')[0].lstrip(', ')}."
            else:
                return form
    names = ", ".join(name if name.isprintable() else repr(name) for name in row)
    known = ", ".join(form.name for form in FORMS)
    rename = f".{doubts} Rename" if doubts else "; rename"
    raise BrokenInput(f"{where}: no known question set has these columns ({names}){rename} them to those of {known}.")


def _with_id(row: Row) -> Row:
    """``row`` with the official files' ``_id`` under its name on the hub."""
    return {"id": row["_id"], **_without(row, "_id")} if "_id" in row and "id" not in row else row


def is_row(record: Mapping[str, Any]) -> bool:
    """Whether ``record`` is a row of a set whose rows differ from its official records: columns in place of lists of objects."""
    named = _with_id(dict(record))
    return any(form.columns <= named.keys() for form in FORMS if form.flat)


def instance_of(form: Form, row: Row, where: str, number: int) -> Instance:
    """The Instance in a row, whose ``number`` in the split counts from 0; a column that is null is one that is not there.

    Raises InputError with the field.
    """
    for column, value in row.items():
        if not _is_json(value):
            raise BrokenInput(f"{where}, field {column!r}: expected text, numbers, lists and objects alone; drop the column.")
    said = row if form.kind is ROW else _as_columns(form, {column: value for column, value in row.items() if value is not None})
    return form.read(validated(said, form.kind, where), where, number)


def _as_columns(form: Form, row: Row) -> Row:
    """``row`` with the id's name and the columns of its form, whose rows may have lists of objects or of pairs, or JSON, in their place."""
    row = _with_id(row) if form.flat else row
    return row | {name: _columns(row[name], names) for name, names in form.lists.items() if name in row}


def _marked(form: Form, row: Row) -> Row:
    """The answers of a row of SQuAD's form as objects, as far as they are columns."""
    answers = _as_columns(form, row).get("answers")
    columns = [answers.get(name) for name in form.lists["answers"]] if isinstance(answers, dict) else []
    if not columns or not all(isinstance(column, list) for column in columns):
        return {}
    return {"answers": [dict(zip(form.lists["answers"], entry, strict=False)) for entry in zip(*columns, strict=False)]}


def _columns(value: object, names: tuple[str, ...]) -> object:
    """``value`` as an object of lists called ``names``; itself where it is neither a list of such objects nor one of such tuples."""
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


def _aligned(row: Mapping[str, Any], field: str, kind: type, where: str) -> list[list[Any]]:
    """The lists of ``kind`` in a field, entry by entry."""
    names = list(kind.__annotations__)
    lists: list[list[Any]] = [row[field][name] for name in names]
    if any(len(one) != len(other) for one, other in pairwise(lists)):
        raise BrokenInput(f"{where}, field {field!r}: {' and '.join(names)} are not of the same length; fix or drop the row.")
    return [list(entry) for entry in zip(*lists, strict=True)]


def _without(row: Mapping[str, Any], *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _hotpotqa(row: HotpotqaRow, where: str, _: int) -> Instance:
    return hotpotqa.from_record(validated(_with_context(row, where), hotpotqa.RECORD, where))


def _twowiki(row: HotpotqaRow, where: str, _: int) -> Instance:
    return twowiki.from_record(validated(_with_context(row, where), twowiki.RECORD, where))


def _with_context(row: HotpotqaRow, where: str) -> Row:
    """The official record, whose paragraphs and facts are lists of pairs."""
    record = {
        **_without(row, "id", "context", "supporting_facts"),
        "_id": row["id"],
        "context": _aligned(row, "context", Context, where),
    }
    if "supporting_facts" in row:
        record["supporting_facts"] = _aligned(row, "supporting_facts", Facts, where)
    return record


def _squad(row: SquadRow, where: str, _: int) -> Instance:
    """A row without answers is SQuAD 2.0's; one with answers is alike in both."""
    question = _question(row, where)
    marked = question["answers"]
    if not marked:
        question["is_impossible"] = True
    entry = squad.Entry(where=where, question=question, title=row.get("title"), paragraph_id="0", text=row["context"], notes={})
    return squad.instance_of(entry, squad.NAME, squad.Question) if marked else squad.instance_of(entry, squad2.NAME, squad2.Question)


def _quoref(row: SquadRow, where: str, _: int) -> Instance:
    """A row whose answers are parts of one."""
    entry = squad.Entry(
        where=where, question=_question(row, where), title=row.get("title"), paragraph_id="0", text=row["context"], notes={}
    )
    return squad.instance_of(entry, quoref.NAME, squad.Question, faults=squad.absent_answer(entry), parts=True)


def _question(row: SquadRow, where: str) -> Row:
    """The official question of a row, its answers as objects."""
    marked = _aligned(row, "answers", Marked, where)
    return _without(row, "title", "context") | {"answers": [{"text": text, "answer_start": start} for text, start in marked]}


def _drop(row: DropRow, where: str, _: int) -> Instance:
    answers = _annotators(_aligned(row, "answers_spans", Typed, where))
    question = _without(row, "section_id", "passage", "answers_spans")
    if answers:
        question |= {"answer": answers[0], "validated_answers": answers[1:]}
    passage = validated({"passage": row["passage"], "qa_pairs": [question]}, PASSAGE, where)
    return drop.instance_of(passage["qa_pairs"][0], row["section_id"], passage)


def _annotators(typed: list[list[Any]]) -> list[Row]:
    """What each annotator answered."""
    found: list[Row] = []
    before = None
    for text, kind in typed:
        if kind == "span" and before == "span" and text not in found[-1]["spans"]:
            found[-1]["spans"].append(text)
        else:
            found.append({"number": text} if kind == "number" else {"spans": [text]})
        before = kind
    return found


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
    record=squad2.Question,
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
        record=drop.Question,
    ),
    SQUAD,
    Form(
        name="twowiki", columns=TWOWIKI_COLUMNS, kind=TypeAdapter(HotpotqaRow), read=_twowiki, flat=True, lists=PAGES, record=twowiki.Record
    ),
    Form(
        name="hotpotqa",
        columns=frozenset({"id", "context", "question", "supporting_facts"}),
        kind=TypeAdapter(HotpotqaRow),
        read=_hotpotqa,
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
"""In the order in which they are tried."""
