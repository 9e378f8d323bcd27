"""What is wrong with rows of the native format: columns of another kind, null where something must be, answer types that are not known.

Arrow lets a file say less than an Instance must; what is wrong is found here, column by column, before any record is made of it. A mention
or sentence outside its text is no fault of the form: ``faults.py`` sees it.
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
        "candidates",
        "chains",
        "decomposition",
        "provenance",
        "answer",
        "paragraph_id",
    }
)
"""Fields, wherever they stand, that may be null."""


def same_kind(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a column of type ``found`` holds what ``expected`` does, whatever the width of its offsets and numbers."""
    if pa.types.is_struct(expected):
        fields = {field.name: field.type for field in found} if pa.types.is_struct(found) else {}
        return set(fields) == {field.name for field in expected} and all(same_kind(fields[field.name], field.type) for field in expected)
    if pa.types.is_list(expected):
        return (pa.types.is_list(found) or pa.types.is_large_list(found)) and same_kind(found.value_type, expected.value_type)
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
    if pa.types.is_integer(expected):
        return bool(pa.types.is_signed_integer(found))
    return bool(found == expected)


def first_fault(rows: pa.RecordBatch) -> tuple[int, str] | None:
    """The first row that is no Instance and what is wrong with it, as ``field 'question': expected text, found null``; None: all are sound.

    Repeated ids of questions are not looked for: a batch is not the whole file.
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
    unknown = set(pc.unique(rows["answer_type"]).to_pylist()) - ANSWER_TYPES.keys()
    if unknown:
        return f"field 'answer_type': {sorted(unknown)[0]!r} is none of {', '.join(ANSWER_TYPES)}"
    return None


def _null(column: pa.Array, path: str) -> str | None:
    """The path of the first field in ``column`` that is null without being NULLABLE."""
    if column.null_count and path.rpartition(".")[2] not in NULLABLE:
        return path
    if pa.types.is_struct(column.type):
        # Rows that are null themselves were reported above: only lists may be.
        children = [(column.field(field.name), f"{path}.{field.name}") for field in column.type]
        return next((found for child, name in children if (found := _null(child, name))), None)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        values = column.flatten()
        return f"{path}.element" if values.null_count else _null(values, path)
    return None
