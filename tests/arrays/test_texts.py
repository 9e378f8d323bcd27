"""Characters are counted as Python counts them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, strategies as st

from kgqa.arrays.texts import characters_at

TEXTS = st.lists(st.text(st.sampled_from("aZé中😀 "), max_size=8), min_size=1, max_size=4)


@given(texts=TEXTS, data=st.data())
def test_characters_at_places_are_those_of_the_text_in_any_order(texts: list[str], data: st.DataObject) -> None:
    asked = data.draw(st.lists(st.tuples(st.integers(0, len(texts) - 1), st.integers(0, 9)), max_size=12))
    rows, places = np.array(asked, np.int32).reshape(-1, 2).T
    found = characters_at(pa.array(texts, pa.string()), rows, places)
    assert found.tolist() == [ord(texts[row][place]) if place < len(texts[row]) else 0 for row, place in asked]
