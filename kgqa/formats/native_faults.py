"""Faults in rows of the native format: wrong types of columns, forbidden nulls, unknown answer types, wrong grades.

Arrow allows more than an Instance does, so columns are checked before any Instance is made. A mention or sentence outside its text is a
fault of content, which ``faults.py`` finds.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.records import ANSWER_TYPES

NULLABLE = frozenset(
    {
        "title",
        "supporting",
        "mentions",
        "sentences",
        "supporting_sentences",
        "answer_id",
        "alternatives",
        "candidates",
        "chains",
        "grades",
        "decomposition",
        "provenance",
        "answer",
        "paragraph_id",
    }
)
"""Fields, at any depth, that may be null."""
NULLABLE_ELEMENTS = frozenset({"grades"})
"""Lists whose elements may be null."""


def same_kind(actual_type: pa.DataType, expected_type: pa.DataType) -> bool:
    """Whether ``actual_type`` holds the same values as ``expected_type``, whatever the width of its offsets and numbers."""
    if pa.types.is_struct(expected_type):
        fields = {field.name: field.type for field in actual_type} if pa.types.is_struct(actual_type) else {}
        return set(fields) == {field.name for field in expected_type} and all(
            same_kind(fields[field.name], field.type) for field in expected_type
        )
    if pa.types.is_list(expected_type):
        return (pa.types.is_list(actual_type) or pa.types.is_large_list(actual_type)) and same_kind(
            actual_type.value_type, expected_type.value_type
        )
    if pa.types.is_string(expected_type):
        return bool(pa.types.is_string(actual_type) or pa.types.is_large_string(actual_type))
    if pa.types.is_integer(expected_type):
        return bool(pa.types.is_signed_integer(actual_type))
    if pa.types.is_floating(expected_type):
        return bool(pa.types.is_floating(actual_type))
    return bool(actual_type == expected_type)


def first_fault(rows: pa.RecordBatch) -> tuple[int, str] | None:
    """Number and fault of the first row that is not an Instance, as ``field 'question': this is null and must not be``; None without
    faults.

    Repeated ids of questions are not checked, since a batch is not the whole file.
    """
    if _fault(rows) is None:
        return None
    for number in range(rows.num_rows):
        fault = _fault(rows.slice(number, 1))
        if fault is not None:
            return number, fault
    raise AssertionError("a fault of several rows that no row has")


def _fault(rows: pa.RecordBatch) -> str | None:
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        place = _null(column, name)
        if place:
            return f"field {place!r}: this is null and must not be"
    unknown_types = set(pc.unique(rows["answer_type"]).to_pylist()) - ANSWER_TYPES.keys()
    if unknown_types:
        return f"field 'answer_type': {sorted(unknown_types)[0]!r} is none of {', '.join(ANSWER_TYPES)}"
    return _grade_fault(rows) if "grades" in rows.schema.names else None


def _grade_fault(rows: pa.RecordBatch) -> str | None:
    counts = pc.list_value_length(rows["grades"])
    # Null grades are unknown and never wrong; null candidates count as an empty list.
    is_wrong = pc.fill_null(pc.not_equal(counts, pc.fill_null(pc.list_value_length(rows["candidates"]), 0)), False)
    if is_wrong.true_count:
        return "field 'grades': expected one for each candidate"
    confidences = rows["grades"].flatten().drop_null().field("confidence")
    outside = confidences.filter(pc.invert(pc.and_(pc.greater_equal(confidences, 0), pc.less_equal(confidences, 1))))
    return f"field 'grades.confidence': {outside[0].as_py():g} is not from 0 to 1" if len(outside) else None


def _null(column: pa.Array, path: str) -> str | None:
    """The path of the first field in ``column`` that is null without being NULLABLE."""
    if column.null_count and path.rpartition(".")[2] not in NULLABLE:
        return path
    if pa.types.is_struct(column.type):
        # Null rows of a struct were reported above, since only lists may be null.
        children = [(column.field(field.name), f"{path}.{field.name}") for field in column.type]
        return next((inner for child, name in children if (inner := _null(child, name))), None)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        values = column.flatten()
        if values.null_count and path in NULLABLE_ELEMENTS:
            values = values.drop_null()
        return f"{path}.element" if values.null_count else _null(values, path)
    return None
