"""Single texts have the words that the kernels see, and the boundaries and lengths that follow from them."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.arrays.particles import are_particles
from kgqa.arrays.words import begins, composed, ends, length, lengths, places, tokens, words
from tests.lengths import example_count
from tests.linking import oracle

TEXT = st.text(st.sampled_from("ab É́ñ中京は.,'-_0٣🎉\u200b\tパーっ한솔은시에서เกาินํ្កស𠮷Iıς１Ａ。"), max_size=14)


@settings(max_examples=example_count(400))
@given(text=TEXT)
def test_tokens_are_those_of_the_documented_rules(text: str) -> None:
    assert tokens(text) == [token.folded for token in oracle.tokens(composed(text))]


@given(text=TEXT)
def test_words_are_the_tokens_that_are_no_signs(text: str) -> None:
    assert words(text) == [token.folded for token in oracle.tokens(composed(text)) if oracle.sort(token.written[0]) != "sign"]


@settings(max_examples=example_count(300))
@given(texts=st.lists(TEXT, min_size=1, max_size=4))
def test_one_text_is_as_long_as_it_is_among_others(texts: list[str]) -> None:
    assert lengths(pl.Series(texts, dtype=pl.String)).to_list() == [length(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("It is 3.5 km – far", 6),
        ("한솔은 서울에서 왔다.", 3),
        ("风桥由工程师王小明建造。", 7),
        ("ABC公司 in 中国", 5),
        ("ルーヴル・テスト", 2),
    ],
)
def test_lengths(text: str, expected: int) -> None:
    assert length(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("에서는", True), ("으로부터", True), ("이었다", True), ("시에서", False), ("인", False), ("", False)]
)
def test_particles(text: str, expected: bool) -> None:
    assert are_particles(text) is expected


def test_a_place_is_bounded_by_the_script_that_stands_there() -> None:
    assert list(places("서울", "서울은 서울대학교, 구서울, 서울.")) == [(0, 2), (16, 18)]
    assert (begins("가나", 1), ends("가나", 1), ends("가는", 1)) == (False, True, True)
