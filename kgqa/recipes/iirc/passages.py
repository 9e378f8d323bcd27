"""Seed passages (Ferguson et al. 2020, section 2.1): the beginning of an article that links to at least ten other articles.

A link is the first mention of an entity that has an article of its own: a mention that the source marks, as a hyperlink, or one that the
linker found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import polars as pl
import pyarrow as pa

from kgqa.arrays.sentences import sentence_starts
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.iirc import IircSettings
from kgqa.sources.tables import frame

REASONS = {
    "title": "another document has the same title, by which IIRC's files name articles",
    "subject": "the document is nobody's article",
    "few": "the passage links to too few articles",
    "many": "the passage links to too many articles, as lists do",
}
"""Reason against a document as a passage or linked article → the sentence in reports."""


def seed_passages(tables: Mapping[str, pa.Table], settings: IircSettings, rows: list[FunnelRow]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """``passage, subject`` and ``passage, entity, article, start, end``: the passages, and their links in order.

    ``tables``: documents cut to the length that is shown, and their mentions.
    """
    documents = frame(tables["documents"].select(["id", "title", "about"]))
    titled = documents.filter(pl.col("title").str.to_lowercase().is_first_distinct() & ~pl.col("title").is_in(["", "main"]))
    _count(rows, "title", documents.height, titled.height)
    subjects = titled.filter(pl.col("about").is_not_null()).select(passage="id", subject="about")
    _count(rows, "subject", titled.height, subjects.height)
    articles = subjects.select(article="passage", entity="subject")
    links = frame(tables["mentions"]).join(articles, on="entity").join(subjects, left_on="document", right_on="passage")
    links = links.filter(pl.col("entity") != pl.col("subject")).rename({"document": "passage"})
    links = links.sort("passage", "start", "entity").unique(["passage", "entity"], keep="first", maintain_order=True)
    counts = subjects.join(links.group_by("passage").len("links"), on="passage", how="left").with_columns(pl.col("links").fill_null(0))
    enough = counts.filter(pl.col("links") >= settings.min_links)
    _count(rows, "few", counts.height, enough.height, "iirc.min_links")
    good = enough.filter(pl.col("links") <= settings.max_links)
    _count(rows, "many", enough.height, good.height, "iirc.max_links")
    links = links.join(good.select("passage"), on="passage", how="semi")
    return good.select("passage", "subject").sort("passage"), links.select("passage", "entity", "article", "start", "end").sort(
        "passage", "start", "entity"
    )


def _count(rows: list[FunnelRow], reason: str, before: int, after: int, setting: str = "") -> None:
    rows.append(FunnelRow(stage="passages", what="documents", reason=REASONS[reason], removed=before - after, left=after, setting=setting))


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Passages, their links, and the articles that they lead to."""

    titles: Mapping[str, str]
    """Document → title; ``texts`` and ``sentences`` are by document too."""
    texts: Mapping[str, str]
    sentences: Mapping[str, Sequence[int]]
    """Where each sentence begins, in characters."""
    links: Mapping[str, Mapping[str, tuple[str, int, int]]]
    """Passage → linked entity → article, start, end."""
    withheld: frozenset[str]
    """Articles that no question shows."""

    @classmethod
    def of(cls, links: pa.Table, documents: pa.Table) -> Self:
        """From ``passage, entity, article, start, end, withheld`` and ``id, title, text``."""
        by_passage: dict[str, dict[str, tuple[str, int, int]]] = {}
        for passage, entity, article, start, end in frame(links.select(["passage", "entity", "article", "start", "end"])).iter_rows():
            by_passage.setdefault(passage, {})[entity] = (article, start, end)
        starts = sentence_starts(documents["text"])
        ids = documents["id"].to_pylist()
        return cls(
            titles=dict(zip(ids, documents["title"].to_pylist(), strict=True)),
            texts=dict(zip(ids, documents["text"].to_pylist(), strict=True)),
            sentences={name: starts.targets[starts.offsets[row] : starts.offsets[row + 1]].tolist() for row, name in enumerate(ids)},
            links=by_passage,
            withheld=frozenset(frame(links).filter("withheld")["article"].to_list()),
        )

    def sentence(self, document: str, at: int) -> tuple[int, int]:
        """Start and end of the sentence with the character ``at``, without white space around it."""
        starts, text = self.sentences[document], self.texts[document]
        place = bisect_right(starts, at)
        start, end = starts[place - 1], starts[place] if place < len(starts) else len(text)
        sentence = text[start:end]
        return start + len(sentence) - len(sentence.lstrip()), end - len(sentence) + len(sentence.rstrip())
