"""Which of the questions a dataset has: as many as fit under all limits, and their splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
import polars as pl

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import Adjacency
from kgqa.settings.iirc import IircSettings, PatternSettings
from kgqa.sources.tables import arrow
from kgqa.splits.cut import leak_free
from kgqa.splits.groups import assign_splits

ALWAYS = 5
"""Questions with one answer, or over the same relations, that every set may have."""
FITTING = 0.2
"""Share of the questions that must fit under the limit of a pattern; otherwise the limit is raised."""
CLOSE = 0.99
"""The limits are shares of the questions that fit under them; the search for that number ends at this ratio."""
REASONS = {
    "type": "enough questions have this type of answer",
    "pattern": "enough questions are of this pattern",
    "relations": "enough questions of this pattern are over these relations",
    "answer": "enough questions have this answer",
    "none": "the pattern over these relations has as many unanswerable questions as answerable ones",
    "passage": "enough questions are on this passage",
    "article": "enough questions need this article",
    "size": "there are enough questions",
}
"""Limit → the sentence in reports."""
LIMITS = {
    "type": "iirc.answers", "pattern": "iirc.max_pattern", "relations": "iirc.max_relations", "answer": "iirc.max_answer",
    "none": "iirc.answers",
    "passage": "iirc.max_per_passage", "article": "iirc.max_per_article", "size": "iirc.size",
}  # fmt: skip
"""Limit → its setting."""
_KEYS = {
    "passage": ("passage",), "article": ("article",), "answer": ("answer_type", "answer"),
    "none": ("pattern", "relations", "answer_type"), "relations": ("pattern", "relations"),
    "pattern": ("pattern",), "type": ("answer_type",),
}  # fmt: skip


def possible_limits(
    questions: pl.DataFrame, patterns: Mapping[str, PatternSettings], settings: IircSettings
) -> tuple[dict[str, float], dict[str, float], bool]:
    """The shares of patterns and of answer types, and whether any was raised: with few of them hardly a question would fit."""
    counts = dict(questions.group_by("pattern").len().iter_rows())
    share = settings.max_pattern
    while share < 1 and _fitting(list(counts.values()), share) < FITTING * questions.height:
        share = min(1.0, share + 0.05)
    by_pattern = {name: min(patterns[name].share, share) for name in counts}
    types = [name for name in questions["answer_type"].unique().to_list() if name != "none"]
    total = sum(settings.answers[name] for name in types)
    unanswerable_share = settings.answers["none"] if (questions["answer_type"] == "none").any() else 0.0
    factor = max(1.0, (1 - unanswerable_share) / total) if total else 1.0
    by_type = {name: min(1.0, factor * settings.answers[name]) for name in types} | {"none": settings.answers["none"]}
    return by_pattern, by_type, share > settings.max_pattern or factor > 1


def _fitting(counts: Sequence[int], share: float) -> int:
    """The largest number of questions of which no pattern has more than ``share``; ``counts``: those of each pattern."""
    size = sum(counts)
    while (fitting := sum(min(count, ceil(share * size)) for count in counts)) < size:
        size = fitting
    return size


def chosen(
    questions: pl.DataFrame, patterns: Mapping[str, PatternSettings], settings: IircSettings
) -> tuple[pl.Series, dict[str, int], bool]:
    """Whether each question is chosen, the number that each limit leaves out, and whether limits were raised.

    ``questions`` are in random order. Rare patterns come first, so that they keep their passages.
    """
    by_pattern, by_type, is_raised = possible_limits(questions, patterns, settings)
    frequency = questions.group_by("pattern").len("of_pattern")
    rows = questions.with_row_index("row").join(frequency, on="pattern", maintain_order="left")
    rows = rows.with_columns(
        article=pl.col("articles").list.first(),
        pattern_share=pl.col("pattern").replace_strict(by_pattern, return_dtype=pl.Float64),
        type_share=pl.col("answer_type").replace_strict(by_type, return_dtype=pl.Float64),
    )
    rows = rows.sort("of_pattern", "pattern", "row")
    size = min(settings.size, rows.height)
    while True:
        kept_mask, drops = _under_limits(rows, settings, size)
        if kept_mask.height >= CLOSE * size or kept_mask.height == 0:
            break
        size = kept_mask.height
    mask = np.zeros(questions.height, np.bool_)
    mask[kept_mask["row"].to_numpy()] = True
    return pl.Series(mask), drops, is_raised


def _under_limits(rows: pl.DataFrame, settings: IircSettings, size: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """The first questions that fit, where shares are of ``size``."""
    is_free = (pl.col("kind") == "boolean") | (pl.col("answer_type") == "none")
    of_answer = pl.when(is_free).then(pl.lit(size)).otherwise(pl.lit(max(ALWAYS, ceil(settings.max_answer * size))))
    is_none = pl.col("answer_type") == "none"
    most = {
        "passage": pl.lit(settings.max_per_passage),
        "article": pl.lit(settings.max_per_article),
        "answer": of_answer,
        "none": pl.when(is_none)
        .then(
            pl.min_horizontal((~is_none).sum().over("pattern", "relations"), pl.lit(max(ALWAYS, ceil(settings.max_relations * size)) // 2))
        )
        .otherwise(pl.lit(size)),
        "relations": pl.lit(max(ALWAYS, ceil(settings.max_relations * size))),
        "pattern": (pl.col("pattern_share") * size).ceil(),
        "type": (pl.col("type_share") * size).ceil() - (pl.col("answer_type") == "none"),
    }
    drops = {}
    for name, key in _KEYS.items():
        before = rows.height
        rows = rows.filter(pl.int_range(pl.len()).over(*key) < most[name])
        drops[name] = before - rows.height
        if name == "passage":  # from here on, one pattern after the other no longer matters, but a mixture of types does
            rows = rows.sort("row")
    drops["size"] = max(0, rows.height - size)
    return rows.head(size), drops


def splits_of(questions: pl.DataFrame, settings: IircSettings, *, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """For each question its split, or -1: splits share no passage and no article that a question needs, and with them no fact."""
    shares = (settings.split.train, settings.split.dev, settings.split.test)
    if not settings.split.leak_free:
        return assign_splits(arrow(questions.select("id"))["id"].combine_chunks(), shares, seed=seed)
    documents = questions.with_row_index("row").select("row", document=pl.concat_list("passage", "articles")).explode("document")
    hashes = text_hashes(arrow(documents.select("document"))["document"])
    _, numbers = np.unique(hashes, return_inverse=True)
    items = Adjacency.from_pairs(documents["row"].to_numpy().astype(np.int64), numbers, questions.height)
    kinds = questions["answer_type"].rank("dense").to_numpy().astype(np.int8)
    return leak_free(items, shares, seed=seed, kinds=kinds).split
