"""The hash of a text never changes, because data depend on it, and is that of the text alone."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.hashes import text_hashes

TEXT = st.text(st.characters(codec="utf-8"), max_size=24)


@pytest.mark.parametrize(
    ("text", "seed", "frozen"),
    [
        ("", 0, 17032346009401513798),
        ("a", 0, 1169258806031718597),
        ("a", 1, 10369633894942056314),
        ("Q42\tP19\tQ350", 0, 3028903139092823697),
        ("São Paulo", 1, 5404575921329824718),
    ],
)
def test_text_hashes_never_change(text: str, seed: int, frozen: int) -> None:
    assert text_hashes(pa.array([text], pa.string()), seed=seed).tolist() == [frozen]


@given(texts=st.lists(TEXT, min_size=1, max_size=6), cut=st.integers(0, 6))
def test_text_hashes_do_not_depend_on_neighbours_or_pieces(texts: list[str], cut: int) -> None:
    pieces = pa.chunked_array([pa.array(texts[:cut], pa.string()), pa.array(["before", *texts[cut:]], pa.string()).slice(1)])
    alone = [text_hashes(pa.array([text], pa.string()))[0] for text in texts]
    assert text_hashes(pieces).tolist() == alone
    assert len(set(alone)) == len(set(texts))
