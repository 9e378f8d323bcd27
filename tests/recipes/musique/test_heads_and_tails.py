"""A name is a whole one where no other word goes on with it, in any script; and answers that hold others are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kgqa.recipes.musique.heads_and_tails import Sides, answers_within
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP
from kgqa.settings.musique import PairSettings, ShapeSettings


def pool(*asked: tuple[str, str], **other: Any) -> pa.Table:
    """Questions with their answers, each on a paragraph of its own."""
    rows = [
        {
            "id": str(row), "source": "", "question": question, "answer": answer, "aliases": [], "paragraph": row, "start": 0,
            "answer_entity": None, "kind": "asked", "relations": [], "entities": [], "names": [], "noun": None, **other,
        }
        for row, (question, answer) in enumerate(asked)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, SINGLE_HOP)


@pytest.mark.parametrize(
    ("question", "name", "is_whole"),
    [
        ("Where is York?", "York", True),
        ("Where is New York?", "York", False),
        ("Where is York City?", "York", False),
        ("Where is York Österberg?", "York", False),
        ("Where is Öst York?", "York", False),
        ("Где находится Новый Орлеан?", "Орлеан", False),
        ("Где находится город Орлеан?", "Орлеан", True),
        ("Который Орлеан Северный?", "Орлеан", False),
        ("Where is York öst?", "York", True),
        ("Where is York 5?", "York", False),
        ("Where is York ٣?", "York", False),
        ("Österreich York borders what?", "York", True),  # the first word of a question has a capital anyway
        ("東京 はどこですか?", "東京", True),
    ],
)
def test_whole_names(question: str, name: str, is_whole: bool) -> None:
    single_hop = pool((question, "nothing"), ("Which one is it?", name))
    context = pa.Table.from_pylist([{"id": str(row), "title": "", "text": f"It is {name}."} for row in range(2)], PARAGRAPHS)
    sides = Sides.of(single_hop, context, PairSettings(), ShapeSettings(max_tokens=99), seed=0)
    [whole] = sides.tails.filter(sides.tails["tail"] == 0)["alone"].to_list()
    assert whole == is_whole


def test_answers_that_hold_others() -> None:
    single_hop = pool(
        ("?", "Richmond, Virginia"), ("?", "Virginia"), ("?", "virginia"), ("?", "Virginian"), ("?", "West Virginia"), ("?", "-")
    )
    within = answers_within(single_hop)
    ones, neighbours = np.divmod(np.arange(36), 6)
    result = {
        (first, second)
        for first, second, is_so in zip(ones, neighbours, within.joins(ones, neighbours), strict=True)
        if is_so and first != second
    }
    assert result == {(0, 1), (0, 2), (4, 1), (4, 2), (1, 2), (2, 1)}


def test_other_names_of_entities_count() -> None:
    single_hop = pool(("?", "Bank of America"), ("?", "United States"), kind="forward", answer_entity="Q1", aliases=["America"])
    assert answers_within(single_hop).joins(np.array([0, 1]), np.array([1, 0])).tolist() == [True, False]
