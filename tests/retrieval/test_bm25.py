"""The search finds what adding up bm25s' own scores finds, whatever the machine, and puts equal scores in order."""

from __future__ import annotations

import bm25s
import numpy as np
import pyarrow as pa
from hypothesis import given, strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.retrieval.bm25 import COMMON, K1, B, Bm25

WORDS = [f"w{number}" for number in range(12)]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=40)


def naive(texts: list[str], query: str) -> list[tuple[int, float]]:
    """Rows and scores, the best first, of the paragraphs with any searched word."""
    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    split = [text.split() for text in texts]
    known = sorted({word for words in split for word in words})
    if not known:
        return []
    index.index(split, show_progress=False)
    most = max(1.0, COMMON * len(texts))
    searched = [word for word in query.split() if 0 < sum(word in words for words in split) <= most]
    if not searched:
        return []
    scores = np.zeros(len(texts), np.float32)
    for word in searched:
        scores += index.get_scores([word])
    found = [(row, float(score)) for row, score in enumerate(scores) if score > 0]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


@given(TEXTS, st.lists(st.lists(st.sampled_from([*WORDS, "never"]), max_size=6).map(" ".join), min_size=1, max_size=6), st.integers(1, 8))
def test_search_adds_up_the_scores_of_bm25s(texts: list[str], asked: list[str], count: int) -> None:
    index = Bm25(pa.array(texts))
    rows, scores = index.search(index.queries(pa.array(asked)), count)
    for query, found, said in zip(asked, rows.tolist(), scores.tolist(), strict=True):
        wanted = naive(texts, query)[:count]
        assert [row for row in found if row >= 0] == found[: len(wanted)]
        np.testing.assert_allclose(said[: len(wanted)], [score for _, score in wanted], rtol=1e-5)
        # Sums in another order may differ in the last bit, and so may the order of nearly equal ones.
        assert {row for row in found if row >= 0} == {row for row, _ in wanted} or len(wanted) == count


def test_equal_scores_come_by_row_for_any_number_of_workers() -> None:
    texts = ["apple pear", "plum", "apple pear", "fig", "apple pear", *[f"other{number}" for number in range(20)]]
    index = Bm25(pa.array(texts))
    queries = index.queries(pa.array(["apple"] * 700))
    one, _ = index.search(queries, 2)
    assert one.tolist() == [[0, 2]] * 700
    many, _ = index.search(queries, 2, engine=Threads(4))
    assert many.tolist() == one.tolist()


def test_texts_without_words() -> None:
    index = Bm25(pa.array(["", "?"]))
    rows, _ = index.search(index.queries(pa.array(["a"])), 3)
    assert rows.tolist() == [[-1, -1, -1]]
