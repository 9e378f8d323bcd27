"""How texts bring two entities together, mention by mention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.rows import Adjacency
from kgqa.recipes.qangaroo import hops
from kgqa.recipes.qangaroo.hops import NEAR, OPENING, TextHops, text_hops
from kgqa.traversal.base import Graph

ENTITIES, FIRST, CLOSE = 5, 6, 12
Hop = tuple[int, int, int]
"""Document, entity before, entity after."""
PARTS = ["Ann ", "met Bo. ", "Then ", "Rome fell. ", "and so on ", "It rained\n", "a. b "]


@dataclass(frozen=True, kw_only=True)
class Text:
    """One document."""

    parts: list[str]
    """Of which those that end with a full stop or a line end a sentence; all begin it with a capital but "and so on" and "a. b"."""
    mentions: list[tuple[int, int, int]]
    """Start, end, entity; ordered."""
    about: int | None
    leading: set[int]
    """Entities from which the traversal enters it; it goes on to ``out``."""
    out: set[int]

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def sentence(self, at: int) -> int:
        """In which sentence the character stands."""
        text, number = self.text, 0
        for end in range(1, at + 1):
            line = text[end - 1] == "\n"
            stop = text[max(0, end - 2) : end] == ". " and not text[end : end + 1].islower()
            number += line or stop
        return number


@st.composite
def documents(draw: st.DrawFn) -> list[Text]:
    made, subjects = [], draw(st.permutations(range(ENTITIES)))
    for number in range(draw(st.integers(1, 3))):
        parts = [*draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=8)), "The end here"]
        size = len("".join(parts)) - 3
        spans = draw(st.sets(st.tuples(st.integers(0, size), st.integers(1, 3), st.integers(0, ENTITIES - 1)), max_size=8))
        some = st.sets(st.integers(0, ENTITIES - 1), max_size=ENTITIES)
        about = draw(st.sampled_from([None, subjects[number]]))
        mentions = sorted((start, start + length, entity) for start, length, entity in spans)
        made.append(Text(parts=parts, mentions=mentions, about=about, leading=draw(some), out=draw(some)))
    return made


def found(texts: list[Text]) -> tuple[TextHops, dict[Hop, int]]:
    """As columns, and as a dictionary."""
    ids = [f"Q{i}" for i in range(ENTITIES)]
    names = [f"d{i}" for i in range(len(texts))]
    spans = [(name, *mention) for name, text in zip(names, texts, strict=True) for mention in text.mentions]
    tables = {
        "entities": pa.table({"id": ids}),
        "documents": pa.table(
            {
                "id": names,
                "text": pa.array([text.text for text in texts]),
                "about": pa.array([None if text.about is None else ids[text.about] for text in texts], pa.string()),
            }
        ),
        "mentions": pa.table(
            {
                "document": pa.array([name for name, _, _, _ in spans], pa.string()),
                "entity": pa.array([ids[entity] for *_, entity in spans], pa.string()),
                "start": pa.array([start for _, start, _, _ in spans], pa.int32()),
                "end": pa.array([end for _, _, end, _ in spans], pa.int32()),
            }
        ),
    }
    graph = Graph(documents_of=rows([text.leading for text in texts], ENTITIES).reversed(ENTITIES), entities_of=rows(
        [text.out for text in texts], len(texts)))  # fmt: skip
    made = text_hops(graph, tables)
    document = np.repeat(np.arange(len(texts)), np.diff(made.offsets)).tolist()
    keys = list(zip(document, made.before.tolist(), made.after.tolist(), strict=True))
    assert keys == sorted(set(keys)), "hops are ordered, and each is there once"
    return made, dict(zip(keys, made.grades.tolist(), strict=True))


def rows(sets: list[set[int]], count: int) -> Adjacency:
    pairs = np.array([(i, value) for i, values in enumerate(sets) for value in sorted(values)], np.int32).reshape(-1, 2)
    return Adjacency.from_pairs(pairs[:, 0], pairs[:, 1], max(count, len(sets)))


def wanted(texts: list[Text], opening: int, near: int) -> dict[Hop, int]:
    """The same, from the definition."""
    grades = {}
    for number, text in enumerate(texts):
        for x in text.leading:
            for z in text.out - {x}:
                grade = 0
                for start, end, _ in (mention for mention in text.mentions if mention[2] == z):
                    if text.about == x:
                        grade = max(grade, 2 if start < opening else 1 if start < near else 0)
                    for other_start, other_end, _ in (mention for mention in text.mentions if mention[2] == x):
                        between = max(start - other_end, other_start - end)
                        same = text.sentence(start) == text.sentence(other_start)
                        grade = max(grade, 2 if same else 1 if between < near else 0)
                grades[number, x, z] = grade
    return grades


@given(texts=documents())
def test_every_hop_has_the_best_grade_of_its_mentions(texts: list[Text]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hops, "OPENING", FIRST)
        patch.setattr(hops, "NEAR", CLOSE)
        assert found(texts)[1] == wanted(texts, FIRST, CLOSE)


@given(texts=documents())
def test_the_best_of_all_documents_is_that_of_a_pair(texts: list[Text]) -> None:
    made, grades = found(texts)
    (first, second), best = made.best()
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    expected = {(x, z): max(g for (_, a, b), g in grades.items() if (a, b) == (x, z)) for _, x, z in grades}
    assert pairs == sorted(expected)
    assert dict(zip(pairs, best.tolist(), strict=True)) == expected


def article(*parts: str, second: str) -> Text:
    """An article about entity 0 that mentions entity 1 where ``second`` stands."""
    text = "".join(parts)
    at = text.index(second)
    return Text(parts=list(parts), mentions=[(at, at + len(second), 1)], about=0, leading={0}, out={1})


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        (article("It is a town in Norway. ", "It is old.", second="Norway"), 2),
        (article("It is a town. ", "It is in Norway.", second="Norway"), 2),
        (article("It is a town. ", "X" * OPENING, " and in Norway.", second="Norway"), 1),
        (article("It is a town. ", "X" * NEAR, " and in Norway.", second="Norway"), 0),
    ],
)
def test_an_article_is_about_its_subject_though_it_does_not_name_it(text: Text, grade: int) -> None:
    assert found([text])[1] == {(0, 0, 1): grade}


@pytest.mark.parametrize(("between", "grade"), [(NEAR - 1, 1), (NEAR, 0)])
@pytest.mark.parametrize("is_first", [True, False])
def test_near_means_less_than_the_given_number_of_characters(between: int, grade: int, is_first: bool) -> None:
    filling = ". X".ljust(between, "x")
    text = Text(
        parts=["Ab" + filling + "Cd."], mentions=[(0, 2, 0 if is_first else 1), (2 + between, 4 + between, 1 if is_first else 0)],
        about=None, leading={0}, out={1},
    )  # fmt: skip
    assert found([text])[1] == {(0, 0, 1): grade}


@pytest.mark.parametrize(("start", "grade"), [(OPENING - 1, 2), (OPENING, 1), (NEAR - 1, 1), (NEAR, 0)])
def test_the_opening_of_an_article_has_the_given_number_of_characters(start: int, grade: int) -> None:
    text = Text(parts=["Ab. X".ljust(start, "x") + "Cd."], mentions=[(start, start + 2, 1)], about=0, leading={0}, out={1})
    assert found([text])[1] == {(0, 0, 1): grade}


def test_a_document_with_many_mentions_outgrows_the_first_buffers() -> None:
    many = 3000
    text = Text(parts=["Ab. " * many], mentions=[(4 * i, 4 * i + 2, i % 2) for i in range(many)], about=None, leading={0}, out={1})
    assert found([text])[1] == {(0, 0, 1): 1}
