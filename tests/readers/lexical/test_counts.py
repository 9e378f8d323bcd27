"""Counts of a stream, however often they are added up on the way."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
from hypothesis import given, strategies as st

from kgqa.readers.lexical import counts
from kgqa.readers.lexical.counts import Counts

KEYS = st.tuples(st.integers(0, 3), st.sampled_from([0, 5, 2**64 - 1]))


@given(st.lists(st.lists(KEYS, max_size=6), max_size=6), st.integers(0, 8))
def test_every_key_is_counted(batches: list[list[tuple[int, int]]], room: int) -> None:
    made = Counts("cue", "answer")
    with patch.object(counts, "ROOM", room):
        for batch in batches:
            made.add(*(np.array([key[place] for key in batch], np.uint64) for place in range(2)))
        table = made.table()
    expected = Counter(key for batch in batches for key in batch)
    assert [tuple(row.values()) for row in table.to_pylist()] == [(*key, count) for key, count in sorted(expected.items())]
