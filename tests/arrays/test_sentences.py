"""Where sentences begin, on real sentences and against the rule character by character."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.sentences import sentence_starts

DIVIDED = {
    "three ends": ["He left. ", "Why? ", "Nobody knew! ", "It was late."],
    "initials": ["J. S. Bach was born in Eisenach. ", "He died in Leipzig."],
    "an initial inside": ["The critic H. L. Mencken (edited by A. Knopf) wrote it. ", "It sold well."],
    "a state's letters": ["He served in the U.S. Army. ", "He was a captain."],
    "a small letter": ["The firm, est. in Rome, grew. ", "It failed."],
    "a number": ["The river is 3.5 km long. ", "2 bridges cross it."],
    "lines": ["A list\n", "of items\n", "\n", "with a gap"],
    "a full stop and a line": ["One.\n", "Two!\n", "three."],
    "accents": ["Élan vital é um conceito. ", "Ética vem depois. ", "Łódź jest w Polsce."],
    "no spaces": ["江州在河阳的东边。", "它有三座桥吗？", "有！", "他说：“桥很旧。”", "没有人听见。"],
    "no spaces, in a mixed text": ["橋は古い。 ", "It is old. ", "『古い。』", "終わり。"],
    "danda": ["यह पुल पुराना है। ", "वह नया है।"],
    "no division": ["Nothing ends here"],
    "an abbreviation, which divides too often": ["Dr. ", "Smith met Mr. ", "Jones."],
}


def starts(texts: list[str]) -> list[list[int]]:
    rows = sentence_starts(pa.chunked_array([texts], pa.string()))
    return [part.tolist() for part in np.split(rows.targets, rows.offsets[1:-1])] if texts else []


@pytest.mark.parametrize("name", DIVIDED)
def test_sentences_begin_where_people_see_them(name: str) -> None:
    parts = DIVIDED[name]
    assert starts(["".join(parts)]) == [[sum(map(len, parts[:i])) for i in range(len(parts))]]


def by_the_rule(text: str) -> list[int]:
    """The same from the docstring, one character after the other; what is left after an end must be longer than one character."""
    found = {0}
    for at, letter in enumerate(text):
        left = text[at + 1 :]
        if letter == "\n" and len(left.encode()) > 1:
            found.add(at + 1)
        if letter in "。！？":
            begins = at + 1
            while text[begins : begins + 1] in tuple(" 」”"):
                begins += 1
            if text[begins : begins + 1] not in ("", "\n", "。", "！", "？"):
                found.add(begins)
        if letter in ".!?" and left[:1] == " " and len(left.encode()) > 1:
            initial = letter == "." and "A" <= text[at - 1 : at] <= "Z" and (at == 1 or text[at - 2] in " .(")
            if not initial and not "a" <= left[1] <= "z":
                found.add(at + 2)
    return sorted(found)


TEXTS = st.lists(st.text(st.sampled_from("abzAZ.!? \n(é東😀1。！」”"), max_size=25), max_size=6)


@given(texts=TEXTS)
def test_the_kernel_does_what_the_rule_says(texts: list[str]) -> None:
    assert starts(texts) == [by_the_rule(text) for text in texts]


@given(texts=TEXTS)
def test_every_text_begins_and_no_sentence_begins_twice_or_outside(texts: list[str]) -> None:
    for text, found in zip(texts, starts(texts), strict=True):
        assert found[0] == 0
        assert found == sorted(set(found))
        assert found[-1] < max(1, len(text))


@given(texts=TEXTS, cut=st.integers(0, 6))
def test_texts_do_not_see_each_other_nor_their_chunks(texts: list[str], cut: int) -> None:
    rows = sentence_starts(pa.chunked_array([texts[:cut], texts[cut:]], pa.string()))
    assert rows.targets.tolist() == [start for text in texts for start in starts([text])[0]]


def test_many_sentences_outgrow_the_first_buffer() -> None:
    text = "A b. " * 40_000
    assert starts([text, text, "x"]) == [list(range(0, len(text), 5))] * 2 + [[0]]
