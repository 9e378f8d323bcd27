"""SQuAD's normal form: case, punctuation, articles, white space, in this order, and nothing else."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, strategies as st

from kgqa.metrics.normalize import normalize


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Answer", "answer"),
        ("U.S.", "us"),
        ("well-known", "wellknown"),
        ("the-end", "theend"),
        ("a an the", ""),
        ("another theory", "another theory"),
        ("A.", ""),
        ("ÉCOLE", "école"),
        ("e\u0301", "e\u0301"),
        ("“quoted”", "“quoted”"),
        ("\tone\n two\u00a0three ", "one two three"),
        ("", ""),
    ],
)
def test_worked_examples(text: str, normal: str) -> None:
    assert normalize(text) == normal


@given(st.text())
def test_nothing_is_left_to_remove(text: str) -> None:
    normal = normalize(text)
    assert not set(normal) & set(string.punctuation)
    assert not {"a", "an", "the"} & set(normal.split())
    assert normal == " ".join(normal.split()) == normalize(normal)


@given(st.text(), st.sampled_from(string.punctuation))
def test_punctuation_leaves_no_space(text: str, mark: str) -> None:
    assert normalize(text + mark) == normalize(text)
    assert normalize(f"x{mark}y") == "xy"
