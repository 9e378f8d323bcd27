"""Ids become the rows of a table, whether a column has them as texts or as dictionaries that differ from chunk to chunk."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, strategies as st

from kgqa.arrays.ids import numbers

IDS = st.text("abcé", max_size=2)


@given(st.lists(st.lists(st.none() | IDS, max_size=5), max_size=4), st.lists(IDS, unique=True))
def test_each_value_gets_its_row_or_minus_one(chunks: list[list[str | None]], ids: list[str]) -> None:
    column, among = pa.chunked_array(chunks, pa.string()), pa.chunked_array([ids], pa.string())
    expected = [ids.index(value) if value in ids else -1 for chunk in chunks for value in chunk]
    assert numbers(column, among).tolist() == expected
    if None not in {value for chunk in chunks for value in chunk}:
        coded = pa.chunked_array(
            [pa.array(chunk, pa.string()).dictionary_encode() for chunk in chunks], pa.dictionary(pa.int32(), pa.string())
        )
        assert numbers(coded, among).tolist() == expected
