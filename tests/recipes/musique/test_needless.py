"""Hops that what comes before them already says are known by facts, by kinds of hops and by paragraphs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgqa.recipes.musique.needless import Shortcuts, needless_chains, needless_pairs
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP


def pool(asked: list[tuple[str, str, str]], texts: list[str]) -> tuple[pa.Table, pa.Table]:
    """Questions (relation, subject, answer), each on the paragraph of its number."""
    rows = [
        {
            "id": f"q{row}", "source": "", "question": f"What is the {relation} of {subject}?", "answer": answer, "aliases": [],
            "paragraph": row, "start": 0, "answer_entity": answer, "kind": "forward", "relations": [relation], "entities": [subject],
            "names": [subject],
        }
        for row, (relation, subject, answer) in enumerate(asked)
    ]  # fmt: skip
    context = [{"id": f"p{row}", "title": f"t{row}", "text": text} for row, text in enumerate(texts)]
    return pa.Table.from_pylist(rows, SINGLE_HOP), pa.Table.from_pylist(context, PARAGRAPHS)


def pairs_of(rows: list[tuple[int, int]]) -> pa.Table:
    columns = {"head": [head for head, _ in rows], "tail": [tail for _, tail in rows], "slot": [0] * len(rows)}
    return pa.table({name: pa.array(values, pa.int32()) for name, values in columns.items()})


FACTS = pa.table({"head": ["Arlia"], "tail": ["Earth"]})


def test_a_fact_that_joins_both_ends() -> None:
    """Arlia is in Earth, whatever the place of its capital; of Bemia nobody knows."""
    questions = [("capital", "Arlia", "Riga"), ("world", "Riga", "Earth"), ("capital", "Bemia", "Oslo"), ("world", "Oslo", "Mars")]
    single_hop, paragraphs = pool(questions, ["Riga it is.", "Earth is round.", "Oslo it is.", "Mars is red."])
    shortcuts = Shortcuts.of(single_hop, paragraphs, FACTS)
    result = needless_pairs(pairs_of([(0, 1), (2, 3)]), single_hop, shortcuts, 0.25)
    assert result["joined"].tolist() == [True, False]
    assert result["implied"].tolist() == [False, False]  # two pairs show nothing
    assert result["early"].tolist() == [False, False]
    assert not Shortcuts.of(single_hop, paragraphs, None).joins(np.array([0]), np.array([1])).any()


def test_kinds_of_hops_that_follow_from_each_other() -> None:
    """Of four capitals one is in a world in which its country is too, as the graph knows: so are the others."""
    questions = [("capital", f"Land{n}", f"Town{n}") for n in range(4)] + [("world", f"Town{n}", f"World{n}") for n in range(4)]
    single_hop, paragraphs = pool(questions, ["Text."] * 8)
    shortcuts = Shortcuts.of(single_hop, paragraphs, pa.table({"head": ["Land0"], "tail": ["World0"]}))
    pairs = pairs_of([(n, n + 4) for n in range(4)])
    assert needless_pairs(pairs, single_hop, shortcuts, 0.25)["implied"].tolist() == [True] * 4
    assert needless_pairs(pairs, single_hop, shortcuts, 0.26)["implied"].tolist() == [False] * 4


def test_an_earlier_paragraph_that_states_the_answer() -> None:
    questions = [("capital", "Arlia", "Riga"), ("mayor", "Riga", "Ada"), ("child", "Ada", "Bob")]
    single_hop, paragraphs = pool(questions, ["Riga it is. Bob lives there.", "Ada leads.", "Bob is small."])
    shortcuts = Shortcuts.of(single_hop, paragraphs, None)
    assert needless_pairs(pairs_of([(0, 1), (1, 2)]), single_hop, shortcuts, 0.25)["early"].tolist() == [False, False]
    result = needless_chains(np.array([[0, 1, -1, -1], [0, 1, 2, -1]], np.int32), shortcuts)
    assert result["early"].tolist() == [False, True]
    assert result["joined"].tolist() == [False, False]
