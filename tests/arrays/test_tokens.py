"""Tokens stand where the plain tokeniser says, and their hashes never change, because data depends on them."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings, strategies as st

from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import TABLE_SIZE, character_tables, spellings, token_hashes, tokenize
from tests.lengths import example_count
from tests.linking import oracle

TEXT = st.text(st.characters(codec="utf-8"), max_size=24)


def bounds(text: str) -> list[tuple[int, int]]:
    """Where the kernel sees tokens, turned from bytes into characters."""
    data, offsets = text_buffers(pa.array([text], pa.string()))
    room = len(data) + 1
    starts, ends = np.empty(room, np.int32), np.empty(room, np.int32)
    hashes, spelling, initials = (np.empty(room, np.uint64) for _ in range(3))
    count = tokenize(data, int(offsets[0]), int(offsets[1]), *character_tables(), starts, ends, hashes, spelling, initials)
    before = text.encode()
    return [
        (len(before[:a].decode()), len(before[:b].decode())) for a, b in zip(starts[:count].tolist(), ends[:count].tolist(), strict=True)
    ]


def hashes_of(text: str) -> list[int]:
    return list(token_hashes(pa.array([text], pa.string()))[1].tolist())


@settings(max_examples=example_count(400))
@given(text=TEXT)
def test_tokens_stand_where_the_documented_rules_say(text: str) -> None:
    assert bounds(text) == [(token.start, token.end) for token in oracle.tokens(text)]


def test_every_character_of_the_basic_plane_has_the_documented_class_and_fold() -> None:
    characters = [chr(code) for code in range(TABLE_SIZE) if not 0xD800 <= code <= 0xDFFF]
    expected = [oracle.tokens(c) for c in characters]
    found, hashes = token_hashes(pa.array(characters, pa.string()))
    assert np.diff(found).tolist() == [len(part) for part in expected]
    by_fold: dict[str, set[int]] = {}
    for code, token in zip(hashes.tolist(), [part[0] for part in expected if part], strict=True):
        by_fold.setdefault(token.folded, set()).add(code)
    assert all(len(codes) == 1 for codes in by_fold.values())
    assert len(set().union(*by_fold.values())) == len(by_fold)


@settings(max_examples=example_count(200))
@given(texts=st.lists(TEXT, min_size=1, max_size=6))
def test_a_text_has_the_same_hashes_among_others_as_alone(texts: list[str]) -> None:
    cuts, hashes = token_hashes(pa.array(texts, pa.string()))
    assert [hashes[a:b].tolist() for a, b in pairwise(cuts)] == [hashes_of(text) for text in texts]


@settings(max_examples=example_count(200))
@given(text=TEXT, other=TEXT)
def test_hashes_are_equal_exactly_where_folded_tokens_are(text: str, other: str) -> None:
    for one in (other, text.lower(), text.upper(), unicodedata.normalize("NFC", text)):
        same = [token.folded for token in oracle.tokens(text)] == [token.folded for token in oracle.tokens(one)]
        assert (hashes_of(text) == hashes_of(one)) == same


@settings(max_examples=example_count(200))
@given(text=TEXT.filter(oracle.tokens), other=st.sampled_from(["upper", "lower", "swapcase", "title", "capitalize"]))
def test_spellings_tell_how_tokens_are_written_beyond_their_fold(text: str, other: str) -> None:
    turned = getattr(text, other)()
    first, second = ([token.written for token in oracle.tokens(one)] for one in (text, turned))
    if [token.folded for token in oracle.tokens(text)] == [token.folded for token in oracle.tokens(turned)]:
        whole, but_first = (spellings(pa.array([text, turned], pa.string())).T[i].tolist() for i in (0, 1))
        assert (whole[0] == whole[1]) == (first == second)
        assert (but_first[0] == but_first[1]) == ([first[0][1:], *first[1:]] == [second[0][1:], *second[1:]])


def test_equal_spellings_in_another_order_differ() -> None:
    whole = spellings(pa.array(["Ab ab", "ab Ab", "AB ab", "ab AB"], pa.string())).T[0]
    assert len(set(whole.tolist())) == 4


def test_token_hashes_and_spellings_never_change() -> None:
    assert hashes_of("São Paulo's 東京 🌍") == [
        11878453719861856241, 17812566977114566049, 773705901295743527, 15059124422710596915, 8817475910137101650, 9859916871584789517,
        8206270167164556336,
    ]  # fmt: skip
    assert spellings(pa.array(["São Paulo's", "eGFR"], pa.string())).tolist() == [
        [3610706352375280167, 363758911032048867], [16872981270370564966, 16872981270370564966]
    ]  # fmt: skip
