"""The columns of the native format, and Instances as such a table. A paragraph shared by many Instances is converted once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import accumulate, chain
from typing import Any

import pyarrow as pa

from kgqa.errors import BrokenInput
from kgqa.records import Instance, Mention, Paragraph

LIMIT = 1 << 31
"""Character offsets must be below this: their columns are 32-bit integers."""
MENTION = pa.struct([("entity", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
PARAGRAPH = pa.struct(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("supporting", pa.bool_()),
        ("mentions", pa.list_(MENTION)),
        ("sentences", pa.list_(pa.int32())),
        ("supporting_sentences", pa.list_(pa.int32())),
    ]
)
CANDIDATE = pa.struct([("id", pa.string()), ("text", pa.string())])
GRADE = pa.struct([("confidence", pa.float32()), ("path", pa.string()), ("text", pa.string())])
STEP = pa.struct(
    [
        ("id", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("paragraph_id", pa.string()),
        ("depends_on", pa.list_(pa.string())),
    ]
)
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("question", pa.string()),
        ("paragraphs", pa.list_(PARAGRAPH)),
        ("answers", pa.list_(pa.string())),
        ("alternatives", pa.list_(pa.list_(pa.string()))),
        ("answer_id", pa.string()),
        ("answer_type", pa.string()),
        ("candidates", pa.list_(CANDIDATE)),
        ("chains", pa.list_(pa.list_(pa.list_(pa.string())))),
        ("grades", pa.list_(GRADE)),
        ("decomposition", pa.list_(STEP)),
        ("answerable", pa.bool_()),
        ("group", pa.string()),
        ("provenance", pa.string()),
    ]
)
MEANINGS = {
    "id": "the question's id",
    "question": "the question; for WikiHop and MedHop the query, a relation and a subject",
    "paragraphs": "the context, in this order; `supporting`: whether the answer needs the paragraph; `mentions`: entities and places, in "
    "characters; `sentences`: start of each sentence; `supporting_sentences`: their indices from 0; null: unknown",
    "answers": "acceptable answers; if `answer_type` is `spans`, the parts of one answer",
    "alternatives": "other acceptable answers of several parts; else null",
    "answer_id": "the answer's entity in the graph; else null",
    "answer_type": "candidate, span, spans, number, boolean or none",
    "candidates": "the answer options of a multiple-choice question; else null",
    "chains": "for each candidate its chains: alternating ids of entities and documents, from the subject to the candidate",
    "grades": "for each candidate the confidence (0 to 1) that its best chain entails it, with `path` and `text`; else null",
    "decomposition": "the single-hop questions in order, each with its answer, its paragraph and the steps that it needs; else null",
    "answerable": "whether the paragraphs answer the question",
    "group": "questions made from the same question share a group",
    "provenance": "JSON: the source of the question, and further fields",
}
"""Column → what is in it, for cards."""
OPTIONAL = frozenset({"alternatives", "grades"})
"""Columns that older datasets do not have; null is read there."""
OF_RECIPES = SCHEMA.remove(SCHEMA.get_field_index("alternatives"))
"""The columns that recipes write; they put every right answer into ``answers``."""


def table_of(instances: Sequence[Instance], schema: pa.Schema = SCHEMA) -> pa.Table:
    """The Instances as a table of ``schema``, which is ``SCHEMA`` or ``OF_RECIPES``. Raises BrokenInput for an offset of ``LIMIT`` or more.

    Memory: the table, and each distinct paragraph once more.
    """
    try:
        return _table_of(instances, schema)
    except (pa.ArrowInvalid, OverflowError):
        wide = next((instance for instance in instances if any(map(_is_wide, instance.paragraphs))), None)
        if wide is None:
            raise
        raise BrokenInput(f"instance {wide.id}: a mention or sentence is at a place beyond {LIMIT:,}; fix or drop the record.") from None


def _is_wide(paragraph: Paragraph) -> bool:
    places = (place for mention in paragraph.mentions or () for place in (mention.start, mention.end))
    return any(not -LIMIT <= place < LIMIT for place in (*places, *(paragraph.sentences or ()), *(paragraph.supporting_sentences or ())))


def _table_of(instances: Sequence[Instance], schema: pa.Schema) -> pa.Table:
    columns: dict[str, pa.Array] = {"paragraphs": _shared_paragraphs(instances)}
    columns["candidates"] = _optional([instance.candidates for instance in instances], pa.list_(CANDIDATE))
    columns["grades"] = _optional([instance.grades for instance in instances], pa.list_(GRADE))
    columns["decomposition"] = _optional([instance.decomposition for instance in instances], pa.list_(STEP))
    for field in schema:
        if field.name not in columns:
            columns[field.name] = pa.array([getattr(instance, field.name) for instance in instances], field.type)
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def _shared_paragraphs(instances: Sequence[Instance]) -> pa.Array:
    """A list array of each Instance's paragraphs. Each paragraph object is converted once; comparing identities costs nothing."""
    numbers: dict[int, int] = {}
    different: list[Paragraph] = []
    places = []
    for paragraph in chain.from_iterable(instance.paragraphs for instance in instances):
        number = numbers.setdefault(id(paragraph), len(different))
        if number == len(different):
            different.append(paragraph)
        places.append(number)
    offsets = pa.array(list(accumulate((len(instance.paragraphs) for instance in instances), initial=0)), pa.int32())
    return pa.ListArray.from_arrays(offsets, _paragraphs(different).take(pa.array(places, pa.int64())))


def _paragraphs(paragraphs: Sequence[Paragraph]) -> pa.Array:
    columns = []
    for field in PARAGRAPH:
        values = [getattr(paragraph, field.name) for paragraph in paragraphs]
        columns.append(_mentions(values) if field.name == "mentions" else pa.array(values, field.type))
    return pa.StructArray.from_arrays(columns, fields=list(PARAGRAPH))


def _mentions(lists: Sequence[tuple[Mention, ...] | None]) -> pa.Array:
    every = list(chain.from_iterable(mentions or () for mentions in lists))
    columns = [pa.array([getattr(mention, field.name) for mention in every], field.type) for field in MENTION]
    ends = accumulate(len(mentions or ()) for mentions in lists)
    # ListArray takes a null offset for a missing list. The last offset only ends the last list, so it must be a number.
    starts = [0, *ends]
    mention_starts: list[int | None] = [None if mentions is None else start for mentions, start in zip(lists, starts, strict=False)]
    return pa.ListArray.from_arrays(
        pa.array([*mention_starts, starts[-1]], pa.int32()), pa.StructArray.from_arrays(columns, fields=list(MENTION))
    )


def _optional(lists: Iterable[tuple[Any, ...] | None], kind: pa.DataType) -> pa.Array:
    return pa.array([None if values is None else [value and asdict(value) for value in values] for values in lists], kind)
