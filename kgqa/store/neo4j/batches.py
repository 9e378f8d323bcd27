"""Rows of tables as parameters of the loading queries: lists of values, where an id is an index into the batch's list of ids.

The server then looks up each id once per batch instead of once per row, which makes relationships a third cheaper. Values are lists, not
tuples, because the driver checks the type of each tuple in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

Item = TypeVar("Item")


def listed(table: pa.Table) -> list[list[Any]]:
    """The rows of ``table`` as lists of values, for ``UNWIND``."""
    return list(map(list, zip(*(column.to_pylist() for column in table.columns), strict=True)))


def by_place(table: pa.Table, columns: Mapping[str, str]) -> tuple[pa.Table, dict[str, list[str]]]:
    """``table`` with list indexes in place of the ids in some ``columns`` (column → name of its list), and these lists."""
    lists = {name: distinct_ids(table[column] for column, kind in columns.items() if kind == name) for name in columns.values()}
    for column, name in columns.items():
        table = table.set_column(table.column_names.index(column), column, pc.index_in(table[column], value_set=lists[name]))
    return table, {name: ids.to_pylist() for name, ids in lists.items()}


def distinct_ids(columns: Iterable[pa.ChunkedArray]) -> pa.Array:
    """The distinct values of all ``columns``."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    return pc.unique(pa.chunked_array(chunks, chunks[0].type if chunks else pa.string()))


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """``items``, with the next one computed while the caller uses the last one."""
    end = object()
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, items, end)
            yield item  # type: ignore[misc] # it is none that we made
