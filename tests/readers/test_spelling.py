"""What a lossy tokenizer took from a text comes back from its source."""

from __future__ import annotations

import doctest

from hypothesis import given, strategies as st

from kgqa.readers import spelling
from kgqa.readers.spelling import pieces, respelled


def test_examples() -> None:
    assert doctest.testmod(spelling).failed == 0


@given(st.text(alphabet="aBé#1>'. ?", max_size=30), st.text(alphabet="aBé#1>'. ?", max_size=30))
def test_pieces_stay_the_same(text: str, source: str) -> None:
    joined = " ".join(pieces(text))
    assert "".join(pieces(respelled(joined, source))) == "".join(pieces(text))


def test_a_text_is_its_own_best_source() -> None:
    text = "When was Yanni's “José & Sons” (2nd ed.) founded in #1?"
    assert respelled(" ".join(pieces(text)), text) == text
