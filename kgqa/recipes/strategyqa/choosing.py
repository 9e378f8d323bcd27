"""Chooses questions among the candidates: balanced answers, no frequent entity, no dominating pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.recipes.strategyqa.sides import STAGE
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.strategyqa import StrategyqaSettings
from kgqa.sources.tables import arrow

KEYS = ["pattern", "split"]


def choose(candidates: pl.DataFrame, settings: StrategyqaSettings, *, limit: int | None, seed: int, rows: list[FunnelRow]) -> pl.DataFrame:
    """The chosen candidates, in their order, with ``id`` and ``draw``.

    In each pattern and split half of the answers are yes, and an entity is named once as the first and once as the second.
    """
    table = candidates.with_columns(draw=pl.Series(text_hashes(_keys(candidates), seed=seed))).sort("draw", "pattern", "a", "b")
    remaining = table.unique(["pattern", "b"], keep="first", maintain_order=True).unique(
        ["pattern", "a"], keep="first", maintain_order=True
    )
    rows.append(_row("the pattern asks about one of the entities already", table.height, remaining.height))
    entity_uses = remaining.with_row_index("row").select("row", entity=pl.concat_list("a", "b")).explode("entity", empty_as_null=False)
    uses = entity_uses.with_columns(use=pl.int_range(pl.len()).over("entity"))
    often = uses.filter(pl.col("use") >= settings.per_entity)["row"].unique()
    few = remaining.with_row_index("row").filter(~pl.col("row").is_in(often.implode())).drop("row")
    rows.append(_row("an entity is named in enough questions", remaining.height, few.height, "strategyqa.per_entity"))
    ranked_rows = few.with_columns(rank=pl.int_range(pl.len()).over([*KEYS, "yes"]))
    balanced = ranked_rows.with_columns(answers=pl.col("yes").n_unique().over([*KEYS, "rank"])).filter(pl.col("answers") == 2)
    rows.append(_row("no question has the other answer, so that half would be yes", few.height, balanced.height))
    # A yes and a no question of one rank stay or go together.
    twins = balanced.with_columns(twin=pl.col("draw").min().over([*KEYS, "rank"]))
    most = _largest(twins.group_by("pattern").len()["len"].to_list(), settings)
    place = pl.struct("twin", "split").rank("dense").over("pattern") * 2
    capped = twins.filter(place <= most)
    rows.append(_row("the pattern has enough questions", balanced.height, capped.height, "strategyqa.most"))
    if limit is not None:
        surplus = capped.filter(pl.struct("twin", "split", "pattern").rank("dense") * 2 <= max(limit, 2))
        rows.append(_row("only so many questions are wanted for a try (--limit)", capped.height, surplus.height))
        capped = surplus
    counts = capped["pattern"].value_counts()["count"].to_list()
    if max(counts, default=0) > settings.share * capped.height:
        reason = f"{len(counts)} patterns have questions, too few for none to have more than {100 * settings.share:g}% of them"
        rows.append(FunnelRow(stage=STAGE, what="questions", reason=reason, setting="strategyqa.share"))
    ids = [f"{pattern}__{number:016x}" for pattern, number in zip(capped["pattern"], text_hashes(_keys(capped)).tolist(), strict=True)]
    return capped.drop("rank", "answers", "twin").with_columns(id=pl.Series(ids, dtype=pl.String))


def _keys(questions: pl.DataFrame) -> pa.ChunkedArray:
    return arrow(questions.select(key=pl.concat_str("pattern", "a", "b", separator="\0")))["key"]


def _largest(sizes: Sequence[int], settings: StrategyqaSettings) -> int:
    """The most questions that a pattern may have so that none has a larger share than allowed; the maximum where that cannot be."""
    mosts = np.arange(settings.most, 1, -1)
    sizes_under_cap = np.minimum(np.array(sizes, np.int64)[:, None], mosts)
    fitting = np.flatnonzero(sizes_under_cap.max(axis=0, initial=0) <= settings.share * sizes_under_cap.sum(axis=0))
    return int(mosts[fitting[0]]) if len(fitting) else settings.most


def _row(reason: str, before: int, after: int, setting: str = "") -> FunnelRow:
    return FunnelRow(stage=STAGE, what="questions", reason=reason, removed=before - after, left=after, setting=setting)
