"""An article becomes paragraphs that hold the same words, and each mention keeps its text."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
from hypothesis import given, strategies as st

from kgqa.arrays.words import length
from kgqa.recipes.musique.article_paragraphs import LINE, divided, moved

LINES = st.lists(st.integers(0, 6), min_size=1, max_size=8)


def article(sizes: list[int], name: str) -> str:
    return LINE.join(" ".join(f"{name}{line}w{word}" for word in range(size)) for line, size in enumerate(sizes))


def world(articles: list[list[int]]) -> tuple[dict[str, pa.Table], list[tuple[str, str, int, int]]]:
    """Articles whose words are all mentions, each of its own entity."""
    texts = [article(sizes, f"d{row}x") for row, sizes in enumerate(articles)]
    spans = []
    for row, text in enumerate(texts):
        at = 0
        for word in text.replace(LINE, " ").split(" "):
            if word:
                spans.append((f"d{row}", word, at, at + len(word)))
            at += len(word) + 1
    documents = pa.table(
        {"id": [f"d{row}" for row in range(len(texts))], "about": ["e"] * len(texts), "text": pa.array(texts, pa.large_string())}
    )
    columns = list(zip(*spans, strict=True)) or [(), (), (), ()]
    mentions = pa.table(
        [
            pa.array(columns[0], pa.string()),
            pa.array(columns[1], pa.string()),
            pa.array(columns[2], pa.int32()),
            pa.array(columns[3], pa.int32()),
        ],
        names=["document", "entity", "start", "end"],
    )
    links = pa.table({"document": mentions["document"], "entity": mentions["entity"], "count": pa.array([1] * len(mentions), pa.int64())})
    return {"documents": documents, "mentions": mentions, "links": links}, spans


@given(st.lists(LINES, min_size=1, max_size=4), st.integers(0, 9))
def test_paragraphs_hold_the_words_and_mentions_of_their_article(articles: list[list[int]], least: int) -> None:
    tables, spans = world(articles)
    parts, places = divided(tables, least, [])
    texts = dict(zip(parts["documents"]["id"].to_pylist(), parts["documents"]["text"].to_pylist(), strict=True))
    assert len(texts) == len(parts["documents"])
    for row in range(len(articles)):
        of_article = places.filter(pl.col("document") == f"d{row}").sort("begin")["part"].to_list()
        assert of_article[0] == f"d{row}"
        assert LINE.join(texts[part] for part in of_article) == tables["documents"]["text"][row].as_py()
        assert len(of_article) == 1 or all(length(texts[part]) >= least > 0 for part in of_article)
    mentions = parts["mentions"].to_pylist()
    assert sorted(texts[row["document"]][row["start"] : row["end"]] for row in mentions) == sorted(word for _, word, *_ in spans)
    assert all(texts[row["document"]][row["start"] : row["end"]] == row["entity"] for row in mentions)
    assert {(row["document"], row["entity"]) for row in parts["links"].to_pylist()} == {
        (row["document"], row["entity"]) for row in mentions
    }


def test_a_span_moves_with_its_paragraph() -> None:
    places = pl.DataFrame({"document": ["d", "d", "e"], "part": ["d", "d#2", "e"], "begin": [0, 10, 0]})
    spans = pl.DataFrame({"document": ["d", "d", "e"], "start": [3, 12, 12], "end": [5, 14, 14]})
    assert moved(spans, places).rows() == [("d", 3, 5), ("d#2", 2, 4), ("e", 12, 14)]
