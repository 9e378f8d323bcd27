"""The fast way to columns gives the very table that the plain way gives, whichever paragraphs are shared."""

from __future__ import annotations

from dataclasses import asdict

import pyarrow as pa
from hypothesis import given, strategies as st

from kgqa.formats import native
from kgqa.formats.columns import SCHEMA, table_of
from kgqa.records import Instance
from tests.formats.drawing import instances


@given(st.lists(instances(), max_size=4), st.lists(st.integers(0, 3), max_size=4))
def test_the_table_is_the_same(found: list[Instance], again: list[int]) -> None:
    found += [found[number] for number in again if number < len(found)]
    table = table_of(found)
    table.validate(full=True)
    assert table.equals(pa.Table.from_pylist([asdict(instance) for instance in found], schema=SCHEMA))
    assert [native.instance(row) for row in table.to_pylist()] == found
