"""Contexts hold what a question needs, what else they hold is different, and states no answer for what is asked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings as hypothesis_settings, strategies as st

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.parallel import Threads
from kgqa.recipes.musique.contexts import build_contexts, same_name, without
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP

NAMES = ["Riga", "Oslo", "Rome", "Bern", "Lima", "Doha"]


def tables(texts: list[list[str]], asked: list[tuple[int, str, str]]) -> tuple[pa.Table, pa.Table]:
    """Paragraphs that name some names, and questions about one name with another for answer, on a paragraph each."""
    context = [{"id": f"p{row}", "title": f"t{row}", "text": f"text {row} about {' and '.join(names)}"} for row, names in enumerate(texts)]
    rows = [
        {
            "id": f"q{row}", "source": "", "question": f"What has {subject}?", "answer": answer, "aliases": [],
            "paragraph": place % len(texts), "start": 0, "answer_entity": answer, "kind": "forward", "relations": ["r"],
            "entities": [subject], "names": [subject],
        }
        for row, (place, subject, answer) in enumerate(asked)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, SINGLE_HOP), pa.Table.from_pylist(context, PARAGRAPHS)


@hypothesis_settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(NAMES), max_size=3), min_size=6, max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=2, max_size=5),
    st.integers(4, 8),
    st.integers(0, 5),
)
def test_contexts(texts: list[list[str]], asked: list[tuple[int, str, str]], count: int, seed: int) -> None:
    single_hop, paragraphs = tables(texts, asked)
    hops = np.array([[row, (row + 1) % len(asked)] for row in range(len(asked))], np.int32)
    queries = [" ".join(f"What has {asked[hop][1]}?" for hop in some) for some in hops.tolist()]
    ids = text_hashes(pa.array([str(row) for row in range(len(asked))]))
    context = build_contexts(queries, hops, single_hop, paragraphs, count=count, seed=seed, ids=ids)
    again = build_contexts(queries, hops, single_hop, paragraphs, count=count, seed=seed, ids=ids, engine=Threads(3))
    assert context.tolist() == again.tolist()
    for some, rows in zip(hops.tolist(), context.tolist(), strict=True):
        subject = {single_hop["paragraph"][hop].as_py() for hop in some}
        stating = {
            row
            for row, names in enumerate(texts)
            for hop in some
            if asked[hop][2] in names and (asked[hop][1] in names or row == single_hop["paragraph"][hop].as_py())
        }
        possible = len(subject | (set(range(len(texts))) - stating))
        if -1 in rows:
            assert possible < count
            continue
        assert len(set(rows)) == count
        assert subject <= set(rows)
        assert not (set(rows) - subject) & stating


def test_what_is_like_the_question_comes_first() -> None:
    single_hop, paragraphs = tables(
        [["Riga"], ["Oslo"], *[[] for _ in range(40)], ["Rome", "Bern"]], [(0, "Bern", "Riga"), (1, "Lima", "Oslo")]
    )
    ids = text_hashes(pa.array(["one"]))
    context = build_contexts(["What has Bern?"], np.array([[0, 1]], np.int32), single_hop, paragraphs, count=4, seed=0, ids=ids)
    assert {0, 1, 42} < set(context[0].tolist())


def test_places_are_taken_out_from_the_end() -> None:
    assert without("from Riga to Rome", [(5, 9), (13, 17)], "___") == "from ___ to ___"


def test_what_is_masked_is_masked_wherever_it_stands() -> None:
    text = "Who led Rome when rome burned, in Romegna or Rome-by-sea?"
    assert same_name(text, 8, 12) == [(8, 12), (18, 22), (45, 49)]
    assert same_name("Is it C++?", 6, 9) == [(6, 9)]
    assert without(text, [*same_name(text, 8, 12), (8, 12)], "___") == "Who led ___ when ___ burned, in Romegna or ___-by-sea?"


def test_other_names_of_what_is_asked_about_are_known() -> None:
    """All names of a subject are looked for: "Rom has Riga" states what Rome has."""
    single_hop, paragraphs = tables(
        [["Riga"], ["Rome"], ["Rom", "Riga"], *[[] for _ in range(9)]], [(0, "Rome", "Riga"), (1, "Lima", "Rome")]
    )
    rows = single_hop.to_pylist()
    rows[0]["called"] = ["Rom"]
    ids = text_hashes(pa.array(["one"]))
    hops = np.array([[0, 1]], np.int32)
    for table, is_known in ((single_hop, False), (pa.Table.from_pylist(rows, SINGLE_HOP), True)):
        context = build_contexts(["Rom Riga text"], hops, table, paragraphs, count=6, seed=0, ids=ids)
        assert (2 in context[0].tolist()) != is_known


def test_no_text_is_shown_twice_whatever_its_punctuation() -> None:
    single_hop, paragraphs = tables([["Riga"], ["Oslo"], *[[] for _ in range(8)]], [(0, "Bern", "Riga"), (1, "Lima", "Oslo")])
    rows = paragraphs.to_pylist()
    for row in (3, 4):  # copies of the second, which another set wrote with other signs and another title
        rows[row] |= {"title": f"copy {row}", "text": rows[2]["text"].replace(" about ", ", About: ") + "." * row}
    rows[5] |= {"title": "copy of one that supports", "text": rows[1]["text"].upper() + "!"}
    ids = text_hashes(pa.array(["one"]))
    hops = np.array([[0, 1]], np.int32)
    copied = pa.Table.from_pylist(rows, PARAGRAPHS)
    context = build_contexts(["What has text about?"], hops, single_hop, copied, count=7, seed=0, ids=ids)
    assert set(context[0].tolist()) >= {0, 1, 6, 7, 8, 9}
    assert len(set(context[0].tolist()) & {2, 3, 4}) == 1
    assert build_contexts(["What has text about?"], hops, single_hop, copied, count=8, seed=0, ids=ids)[0].min() == -1


def test_a_question_whose_own_paragraphs_are_copies_is_not_shown() -> None:
    single_hop, paragraphs = tables([["Riga"], ["Oslo"], *[[] for _ in range(8)]], [(0, "Bern", "Riga"), (1, "Lima", "Oslo")])
    rows = paragraphs.to_pylist()
    rows[1] |= {"text": rows[0]["text"] + " !"}
    ids = text_hashes(pa.array(["one"]))
    context = build_contexts(
        ["What?"], np.array([[0, 1]], np.int32), single_hop, pa.Table.from_pylist(rows, PARAGRAPHS), count=4, seed=0, ids=ids
    )
    assert context[0].min() == -1
