"""Which answers are named entities, and of which type: what is looked at column by column is what a look at each of them says."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.recipes.musique.named_entities import entity_answers, paragraph_of
from kgqa.recipes.musique.pool import PARAGRAPHS
from kgqa.recipes.musique.same_entity import same_type
from kgqa.recipes.names.kinds import CLASSES, answer_kinds, split_title, title_kinds
from kgqa.settings.musique import PairSettings
from tests.recipes.musique.test_heads_and_tails import pool

WORDS = (
    "York",
    "der",
    "of",
    "May",
    "ten",
    "Ten",
    "12",
    "3M",
    "XII",
    "Ⅷ",
    "ⅷ",
    "½",
    "²a",
    "Ñu",
    "ñu",
    "e\u0301a",
    "東京",
    "İz",
    "Ⓐ",
    "O'neil",
    "French",
)
ANSWERS = st.one_of(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), st.text(min_size=1, max_size=12))
QUESTIONS = st.sampled_from(
    ("Who ruled?", "What is it?", "Which river is it?", "What year was it?", "Where was Ada born?", "What word is it?")
)


def paragraphs(texts: Sequence[tuple[str, str]]) -> pa.Table:
    rows = [{"id": str(row), "title": title, "text": text} for row, (title, text) in enumerate(texts)]
    return pa.Table.from_pylist(rows, PARAGRAPHS)


def is_name(question: str, answer: str, title: str, text: str) -> bool:
    """The rule for one answer, as it is told."""
    kinds = answer_kinds(question, answer, [paragraph_of(title, text)])
    if kinds:
        return kinds[0][0] not in {"figures", "phrase"}
    words = answer.split()
    return not any(word[0].isdigit() for word in words) and not any(word[0].islower() and len(word) > 3 for word in words)


def begins_large(answer: str) -> bool:
    """Whether the first letter, or figure that is no digit, is a capital, or one of a script without."""
    first = next((letter for letter in answer if letter.isalnum() and not letter.isdecimal()), "")
    return first.isupper() or unicodedata.category(first or " ") == "Lo"


@given(st.lists(st.tuples(QUESTIONS, ANSWERS), min_size=1, max_size=8))
def test_every_answer_is_judged_as_if_it_was_alone(asked: list[tuple[str, str]]) -> None:
    texts = [(answer, f"{answer} is a river. It is {answer}.") for _, answer in asked]
    expected = [is_name(question, answer, *text) for (question, answer), text in zip(asked, texts, strict=True)]
    result = entity_answers(pool(*asked), paragraphs(texts), PairSettings(capital_share=0))
    assert result.tolist() == expected
    output = entity_answers(pool(*asked), paragraphs(texts), PairSettings())
    for (_, answer), is_one, is_written in zip(asked, expected, output.tolist(), strict=True):
        assert not is_written or (is_one and begins_large(answer))


@pytest.mark.parametrize(
    ("answer", "is_one"),
    [
        ("York", True),
        ("york", False),
        ("Ⅷ", True),
        ("ⅷ Rom", False),
        ("(Ñu)", True),
        ("3 Rivers", True),
        ("東京", True),
        ("둔바르", True),
        ("カステル", True),
        ("เชียงใหม่", True),
        ("القاهرة", True),
    ],
)  # fmt: skip
def test_a_name_begins_with_a_capital(answer: str, is_one: bool) -> None:
    facts = pool(("?", answer), kind="forward", answer_entity="Q1")
    assert entity_answers(facts, paragraphs([("", f"Here {answer} stood.")]), PairSettings()).tolist() == [is_one]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("The Arvik army came. The Arvik fleet fled, as the Arvik king said.", False),
        ("Sie wohnte in Arvik und malte. Er ging nach Arvik zurück, weil Arvik schön war.", True),
        ("Arvik şehrine gitti. Sonra Arvik yolundan ve Arvik köprüsünden döndü.", True),
    ],
)
def test_only_english_tells_adjectives_by_what_follows(text: str, is_one: bool) -> None:
    assert entity_answers(pool(("?", "Arvik"), kind="forward", answer_entity="Q1"), paragraphs([("", text)]), PairSettings()).tolist() == [
        is_one
    ]


@given(st.lists(st.tuples(QUESTIONS, st.sampled_from(("York", "york", "Ada", "Rhine"))), min_size=1, max_size=6), st.integers(0, 3))
def test_types_are_compared_as_if_each_head_was_alone(asked: list[tuple[str, str]], kind: int) -> None:
    nouns = ("river", "king", "city", "film")
    texts = [
        (f"{answer} (note)" if row % 2 else answer, f"{answer} is a {nouns[(row + kind) % 4]} of old.")
        for row, (_, answer) in enumerate(asked)
    ]
    about: dict[str, set[str]] = {}
    for title, text in texts:
        data = title_kinds(title, text)
        if data and data[0][0]:
            about.setdefault(split_title(title)[0].lower(), set()).add(data[0][0])
    expected = []
    for (question, answer), subject in zip(asked, texts, strict=True):
        output = answer_kinds(question, answer, [paragraph_of(*subject)])
        group = next((item[0] for item in output if len(item) > 1 and item[0] in CLASSES), None)
        of_name = about.get(answer.lower())
        expected.append(not of_name or group is None or group in of_name)
    pairs = pl.DataFrame({"head": np.arange(len(asked), dtype=np.int32)})
    assert same_type(pairs, pool(*asked), paragraphs(texts)).tolist() == expected


def test_what_a_graph_knows_needs_no_type() -> None:
    facts = pool(("Which river is it?", "York"), kind="forward")
    assert same_type(pl.DataFrame({"head": [0]}, {"head": pl.Int32}), facts, paragraphs([("York", "York is a city.")])).tolist() == [True]
