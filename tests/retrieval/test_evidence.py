"""Evidence by steps is what one search per step finds, merged by score, and equal to one search where there is one query."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, strategies as st

from kgqa.records import Step
from kgqa.retrieval.bm25 import Bm25
from kgqa.retrieval.evidence import evidence, step_queries

WORDS = [f"w{number}" for number in range(12)]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def naive(index: Bm25, texts: list[str], count: int) -> list[tuple[int, float]]:
    """The best score of each paragraph over all queries, in a dict."""
    best: dict[int, float] = {}
    for text in texts:
        rows, scores = index.search(index.queries(pa.array([text], pa.string())), count)
        for row, score in zip(rows[0].tolist(), scores[0].tolist(), strict=True):
            if row >= 0:
                best[row] = max(best.get(row, 0.0), score)
    return sorted(best.items(), key=lambda entry: (-entry[1], entry[0]))[:count]


@given(st.lists(TEXT, min_size=1, max_size=30), st.lists(st.lists(TEXT, max_size=4), max_size=5), st.integers(1, 6))
def test_results_of_steps_are_merged_by_score(texts: list[str], queries: list[list[str]], count: int) -> None:
    index = Bm25(pa.array(texts))
    rows, scores = evidence(index, queries, count)
    assert rows.shape == scores.shape == (len(queries), count)
    for asked, found, said in zip(queries, rows.tolist(), scores.tolist(), strict=True):
        wanted = naive(index, asked, count)
        assert [row for row in found if row >= 0] == [row for row, _ in wanted]
        np.testing.assert_allclose(said[: len(wanted)], [score for _, score in wanted])
        assert found[len(wanted) :] == [-1] * (count - len(wanted))


def test_one_query_is_an_ordinary_search() -> None:
    index = Bm25(pa.array(["red fox", "blue whale", "red whale of the sea", "green tree", "grey wolf"]))
    rows, scores = evidence(index, [["red whale"]], 3)
    plain_rows, plain_scores = index.search(index.queries(pa.array(["red whale"])), 3)
    assert rows.tolist() == plain_rows.tolist()
    assert scores.tolist() == plain_scores.tolist()


def test_a_question_without_steps_asks_itself() -> None:
    assert step_queries("Could a llama climb?", None) == ("Could a llama climb?",)
    assert step_queries("Could a llama climb?", ()) == ("Could a llama climb?",)
    step = Step(id="2", question="Is #1 above #2 or &#39;x&#39;?", answer=None, paragraph_id=None, depends_on=("1",))
    assert step_queries("q", [step]) == ("Is   above   or &#39;x&#39;?",)
